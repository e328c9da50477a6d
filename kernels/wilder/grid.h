/*
 * A tile of Wilder's averages on vectors where prices are all alike, none of them more than twice
 * another, so that their differences are exact: ranges.h for atr, moves.h for rsi. The sums are
 * those of wilder/tile.h, of which they take weights, terms and chain, but split on a grid: `high`
 * is a multiple of a lane's unit g, held with a shift that rounds what is added to it, and `low`
 * takes up the rests. No sum of two needs an error of its own, and the start of a lane is added
 * exactly, too.
 *
 * In a lane that begins with the sum S all sums of weighted terms are at most
 *
 *     M = S + b^-steps * period * (the largest term);
 *
 * g is 2^-50 times M's binade. A rest is below 3/4 g, `low` below 48 g after 64 steps, and what the
 * chain of starts gathers below 8 times that. In units of g / 2^53 a lane's additions to `low` lose
 * less than 1600, its weights, which are no doubles, 100, a value's last five operations 2700: less
 * than 2^13 / 2. The chain loses 4 * 48 * 36. So what a value is off by, its own lane, seven before
 * it and the chain, is below 8 * 2^12, which counts as 2^-91 of M's binade a lane; as no term is
 * negative, it only becomes smaller against the sums that follow.
 */
#ifndef SYI_KERNELS_WILDER_GRID_H
#define SYI_KERNELS_WILDER_GRID_H

#include "wilder/settle.h"

#if SYI_HAVE_VECTORS

/* Prices from here to MOST_PRICE. */
#define LEAST_PRICE 0x1p-200
#define LEAST_BOUND 0x1p-600
/* With more than this an output is too often in doubt; of moves, and soon before a piece's end, a
 * state is too far from what a right neighbour claims of it (state.h), for the gains may be few. */
#define MOST_RANGE_ERROR 0x1p-66
#define MOST_MOVE_ERROR  0x1p-70
#define LAST_MOVE_ERROR  0x1p-73
/* So many periods before the end. */
#define LAST_PERIODS 8.0
#define MOST_WEIGHT  0x1p+8

/* What the prices were like. */
typedef struct price_traits {
    syi_vec least, most;
    syi_vec_mask ordered;
} price_traits;

/* How far the prices are apart; NaN when they are not for this way. */
SYI_INLINE double apart(const price_traits *what)
{
    const double low = syi_vec_least(what->least), high = syi_vec_most(what->most);
    if (!syi_vec_mask_is_full(what->ordered) || !(low >= LEAST_PRICE) || !(high <= MOST_PRICE))
        return syi_nan();
    return high <= 2.0 * low ? high - low : syi_nan();
}

/* What a lane's sums are held with, and how far they may be off. */
typedef struct grid {
    _Alignas(64) double shift[LANES];
    double error[LANES];
} grid;

/* `more` bounds what the terms add; 0: there is nothing to hold. */
SYI_INLINE int choose_grid(grid *grid, const tile *t, double before, double more)
{
    syi_bits_vec small = {0};
    for (int q = 0; q < GROUPS; q++) {
        syi_vec size = syi_vec_of(before) * syi_vec_load(t->left.fade + q * SYI_VECTOR);
        size = (size + syi_vec_of(more)) * syi_vec_of(1.0 + 0x1p-40);
        const syi_vec binade = syi_vec_binade(size);
        small |= (syi_bits_vec)(size < LEAST_BOUND);
        syi_vec_store(grid->shift + q * SYI_VECTOR, binade * syi_vec_of(6.0));
        syi_vec_store(grid->error + q * SYI_VECTOR, binade * syi_vec_of(0x1p-91));
    }
    return !syi_vec_any(small);
}

/* A column more in a sum, whose high part has the shift. */
SYI_INLINE void add_weighted(const weights *w, int64_t i, syi_vec term, group_sum *s)
{
    const syi_vec weight = syi_vec_of(w->high[i]), rest = syi_vec_of(w->low[i]);
    const syi_vec next = syi_vec_fma(weight, term, s->high);
    const syi_vec lost = syi_vec_fma(weight, term, s->high - next);
    s->high = next;
    s->low += syi_vec_fma(rest, term, lost);
}

/* In a group's sums, which go to `to`. */
SYI_INLINE void sum_weighted(const weights *w, int64_t i, syi_vec term, group_sum *s, sums *to,
                             int q)
{
    add_weighted(w, i, term, s);
    syi_vec_store(to->high + q * SYI_VECTOR, s->high);
    syi_vec_store(to->low + q * SYI_VECTOR, s->low);
}

/* The largest of the lanes' relative errors. */
SYI_INLINE double worst_of(const grid *grid, const sums *start)
{
    syi_vec worst = {0};
    for (int q = 0; q < GROUPS; q++)
        worst = syi_vec_max(syi_vec_load(grid->error + q * SYI_VECTOR) /
                                syi_vec_load(start->high + q * SYI_VECTOR),
                            worst);
    double most = worst[0];
    for (int k = 1; k < SYI_VECTOR; k++)
        most = worst[k] > most ? worst[k] : most;
    return most;
}

/* The starts of all lanes of one of the state's sums, which is moved past the tile, `last` being
 * what is in each of them; returns the relative error of the sums that follow. */
SYI_INLINE double chain_grid(const weights *w, const tile *t, const grid *grid, const sums *last,
                             syi_deviation *sum, sums *starts)
{
    double own = looseness(sum), worst;
    chain(w, t, last, sum, starts);
    worst = worst_of(grid, starts) * (LANES * (1.0 + 0x1p-40));
    sum->error = fma(worst * (SYI_PER_FINE * (1.0 + 0x1p-40)), sum->value.high, sum->error);
    return own + worst;
}

/* What is added to a group's sums: the lanes' starts, less the shift. */
SYI_INLINE group_sum start_of(const sums *starts, const grid *grid, int q)
{
    syi_vec shift = syi_vec_load(grid->shift + q * SYI_VECTOR);
    syi_vec high = syi_vec_load(starts->high + q * SYI_VECTOR);
    syi_vec low = syi_vec_load(starts->low + q * SYI_VECTOR), held = (high + shift) - shift;
    return (group_sum){held - shift, low + (high - held)};
}

/* A group's sums of a column, with their start. */
SYI_INLINE group_sum sum_from(const sums *sum, group_sum start, int q)
{
    return (group_sum){syi_vec_load(sum->high + q * SYI_VECTOR) + start.high,
                       syi_vec_load(sum->low + q * SYI_VECTOR) + start.low};
}

#endif
#endif
