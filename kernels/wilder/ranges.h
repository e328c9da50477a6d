/*
 * A tile of true ranges with their average, on vectors: what atr does with prices that are all
 * alike, none of them more than twice another, so that their differences are exact. The sums are
 * those of wilder/tile.h, of which it takes weights, terms and chain, but split on a grid: `high`
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
#ifndef SYI_KERNELS_WILDER_RANGES_H
#define SYI_KERNELS_WILDER_RANGES_H

#include "wilder/tile.h"

#if SYI_HAVE_VECTORS

/* Prices from here to MOST_PRICE. */
#define LEAST_PRICE 0x1p-200
#define LEAST_BOUND 0x1p-600
/* With more than this an output is too often in doubt. */
#define MOST_RANGE_ERROR 0x1p-66

/* What the prices were like. */
typedef struct range_traits {
    syi_vec least, most;
    syi_vec_mask ordered;
} range_traits;

/* How far the prices are apart; NaN when they are not for this way. */
SYI_INLINE double apart(const range_traits *what)
{
    double low = what->least[0], high = what->most[0];
    for (int k = 1; k < SYI_VECTOR; k++) {
        low = what->least[k] < low ? what->least[k] : low;
        high = what->most[k] > high ? what->most[k] : high;
    }
    if (!syi_vec_mask_is_full(what->ordered) || !(low >= LEAST_PRICE) || !(high <= MOST_PRICE))
        return syi_nan();
    return high <= 2.0 * low ? high - low : syi_nan();
}

SYI_INLINE syi_vec take_range(syi_vec low, syi_vec high, syi_vec before, range_traits *what)
{
    what->ordered = syi_vec_mask_ordered(what->ordered, low, high);
    low = syi_vec_min(low, before);
    high = syi_vec_max(high, before);
    what->least = syi_vec_min(low, what->least);
    what->most = syi_vec_max(high, what->most);
    return high - low;
}

/* The terms of columns i .. as they come; their outputs' lines are fetched. A NaN among the closes
 * makes a term NaN. */
SYI_INLINE void take_some(const syi_wilder_prices *x, int64_t i, tile *t, range_traits *what,
                          const double *y)
{
    syi_ask_ahead(x->low + i, SYI_VECTOR * SYI_VECTOR);
    syi_ask_ahead(x->high + i, SYI_VECTOR * SYI_VECTOR);
    syi_ask_ahead(x->close + i, SYI_VECTOR * SYI_VECTOR);
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++, i += SYI_VECTOR) {
        syi_vec_store(t->high + i, take_range(syi_vec_load(x->low + i), syi_vec_load(x->high + i),
                                              syi_vec_load(x->close + i - 1), what));
        __builtin_prefetch(y + i, 1);
    }
}

/* The tile's terms where the close before may have no place in the row. */
SYI_INLINE range_traits take_first(const syi_wilder_prices *x, double close, tile *t)
{
    range_traits what = {syi_vec_of(close), syi_vec_of(close), syi_vec_mask_full()};
    double before[SYI_VECTOR] = {close};
    memcpy(before + 1, x->close, sizeof before - sizeof close);
    syi_vec_store(t->high, take_range(syi_vec_load(x->low), syi_vec_load(x->high),
                                      syi_vec_load(before), &what));
    for (int64_t i = SYI_VECTOR; i < LANES * t->steps; i += SYI_VECTOR)
        syi_vec_store(t->high + i, take_range(syi_vec_load(x->low + i), syi_vec_load(x->high + i),
                                              syi_vec_load(x->close + i - 1), &what));
    return what;
}

/* What a lane's sums are held with, and how far they may be off. */
typedef struct range_grid {
    _Alignas(64) double shift[LANES];
    double error[LANES];
} range_grid;

/* `more` bounds what the terms add; 0: there is nothing to hold. */
SYI_INLINE int choose_grid(range_grid *grid, const tile *t, double before, double more)
{
    syi_bits_vec small = {0};
    for (int q = 0; q < GROUPS; q++) {
        syi_vec size = syi_vec_of(before) * syi_vec_load(t->fade + q * SYI_VECTOR);
        size = (size + syi_vec_of(more)) * syi_vec_of(1.0 + 0x1p-40);
        syi_vec binade =
            (syi_vec)((syi_bits_vec)size & ((syi_bits_vec){0} + (UINT64_C(0x7ff) << 52)));
        small |= (syi_bits_vec)(size < LEAST_BOUND);
        syi_vec_store(grid->shift + q * SYI_VECTOR, binade * syi_vec_of(6.0));
        syi_vec_store(grid->error + q * SYI_VECTOR, binade * syi_vec_of(0x1p-91));
    }
    return !syi_vec_any(small);
}

typedef struct range_sums {
    syi_vec high, low;
} range_sums;

/* Columns i .. of a group's stretches, side by side. */
SYI_INLINE void spread_ranges(const tile *t, int64_t i, int q, syi_vec *term)
{
    for (int k = 0; k < SYI_VECTOR; k++)
        term[k] = syi_vec_load(t->high + (q * SYI_VECTOR + k) * t->steps + i);
    syi_vec_transpose(term);
}

SYI_INLINE void sum_range(const weights *w, tile *t, int64_t i, int q, syi_vec term, range_sums *s)
{
    const syi_vec weight = syi_vec_of(w->high[i]), rest = syi_vec_of(w->low[i]);
    syi_vec next = syi_vec_fma(weight, term, s->high);
    syi_vec lost = syi_vec_fma(weight, term, s->high - next);
    s->high = next;
    s->low += syi_vec_fma(rest, term, lost);
    syi_vec_store(t->total[i].high + q * SYI_VECTOR, next);
    syi_vec_store(t->total[i].low + q * SYI_VECTOR, s->low);
}

/* The second half of a stretch is a chain of its own, so that the two do not wait so long. */
SYI_INLINE int64_t half_of(const tile *t)
{
    return t->steps / 2 / SYI_VECTOR * SYI_VECTOR;
}

/* The sums of each half of a group's stretches from 0; the high parts have the shift. */
SYI_INLINE void sum_group(const weights *w, tile *t, syi_vec shift, int q)
{
    const int64_t half = half_of(t);
    range_sums first = {shift, {0}}, second = first;
    for (int64_t i = 0; i < t->steps - half; i += SYI_VECTOR) {
        syi_vec a[SYI_VECTOR], b[SYI_VECTOR];
        if (i < half)
            spread_ranges(t, i, q, a);
        spread_ranges(t, half + i, q, b);
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_VECTOR; k++) {
            if (i < half)
                sum_range(w, t, i + k, q, a[k], &first);
            sum_range(w, t, half + i + k, q, b[k], &second);
        }
    }
    first.high -= shift;
    second.high += first.high - shift;
    syi_vec_store(t->half.high + q * SYI_VECTOR, first.high);
    syi_vec_store(t->half.low + q * SYI_VECTOR, first.low);
    syi_vec_store(t->last.high + q * SYI_VECTOR, second.high);
    syi_vec_store(t->last.low + q * SYI_VECTOR, second.low + first.low);
}

/* Of columns i .. of a group, to which `high` (less the shift) and `low` are added; *unsure takes
 * up whether one is in doubt. */
SYI_INLINE void settle_some(const weights *w, const tile *t, int64_t i, int q,
                            const syi_vec start[2], double error, syi_bits_vec *unsure, double *y)
{
    syi_vec r[SYI_VECTOR];
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++) {
        const sums *sum = &t->total[i + k];
        syi_vec by = syi_vec_of(w->out_high[i + k]), fine = syi_vec_of(w->out_low[i + k]);
        syi_vec high = syi_vec_load(sum->high + q * SYI_VECTOR) + start[0];
        syi_vec low = syi_vec_load(sum->low + q * SYI_VECTOR) + start[1], mean = high * by;
        low = syi_vec_fma(low, by, syi_vec_fma(high, fine, syi_vec_fma(high, by, -mean)));
        r[k] = mean + syi_vec_fma(mean, syi_vec_of(error), low);
        mean += syi_vec_fma(mean, syi_vec_of(-error), low);
        *unsure |= (syi_bits_vec)r[k] ^ (syi_bits_vec)mean;
    }
    syi_vec_transpose(r);
    for (int k = 0; k < SYI_VECTOR; k++)
        syi_vec_store(y + (q * SYI_VECTOR + k) * t->steps + i, r[k]);
}

/* The values to y; returns not 0 when one is in doubt. Meanwhile the terms of the next tile, whose
 * outputs are to lie at `ahead`, are taken from x, so that the processor waits for neither memory
 * nor arithmetic. */
SYI_INLINE int settle_ranges(const weights *w, tile *t, const range_grid *grid, double error,
                             double *y, const syi_wilder_prices *x, const double *ahead,
                             range_traits *what)
{
    const syi_vec nothing = {0};
    syi_bits_vec unsure = {0};
    int64_t taken = 0;
    for (int q = 0; q < GROUPS; q++) {
        syi_vec shift = syi_vec_load(grid->shift + q * SYI_VECTOR);
        syi_vec high = syi_vec_load(t->total_start.high + q * SYI_VECTOR);
        syi_vec low = syi_vec_load(t->total_start.low + q * SYI_VECTOR);
        syi_vec held = (high + shift) - shift, start[2] = {held - shift, low + (high - held)};
        for (int64_t i = 0; i < t->steps; i += SYI_VECTOR) {
            int is_half = i == half_of(t);
            start[0] += is_half ? syi_vec_load(t->half.high + q * SYI_VECTOR) : nothing;
            start[1] += is_half ? syi_vec_load(t->half.low + q * SYI_VECTOR) : nothing;
            settle_some(w, t, i, q, start, error, &unsure, y);
            take_some(x, taken, t, what, ahead);
            taken += SYI_VECTOR * SYI_VECTOR;
        }
    }
    return syi_vec_any(unsure);
}

/* The largest of the lanes' relative errors. */
SYI_INLINE double worst_of(const range_grid *grid, const sums *start)
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

/* The starts of all lanes, from the state, which is moved past the tile; returns the relative error
 * of what follows, to which `error` is that of the state. */
SYI_INLINE double chain_ranges(const weights *w, tile *t, const range_grid *grid,
                               syi_deviation *total)
{
    double own = looseness(total), worst;
    chain(w, t, &t->last, total, &t->total_start);
    worst = worst_of(grid, &t->total_start);
    worst *= LANES * (1.0 + 0x1p-40);
    total->error = fma(worst * (SYI_PER_FINE * (1.0 + 0x1p-40)), total->value.high, total->error);
    return own + worst + LAST_ERROR;
}

/* Sums up the tile's terms, which are like `what`, moving the state past it; returns the relative
 * error of its values, NaN when they are not for this way. */
SYI_INLINE double sum_ranges(const weights *w, tile *t, const range_traits *what, range_grid *grid,
                             syi_wilder_state *s)
{
    double error, most = w->high[t->steps - 1] * s->period * (1.0 + 0x1p-40) * apart(what);
    if (!(most >= 0.0) || !choose_grid(grid, t, s->total.value.high, most))
        return syi_nan();
    for (int q = 0; q < GROUPS; q++)
        sum_group(w, t, syi_vec_load(grid->shift + q * SYI_VECTOR), q);
    error = chain_ranges(w, t, grid, &s->total);
    return error <= MOST_RANGE_ERROR && s->total.value.high > 0.0 ? error : syi_nan();
}

/* Whole tiles of columns at x, `most` of them and at least one; returns how many it has done. The
 * next one is not for this way, or one of its values is in doubt. y may be NULL; `past`: it is put
 * past the cache. Not inline: the compiler would lose sight of the vectors of what calls it. */
static __attribute__((noinline)) int64_t run_ranges(const weights *w,
                                                    const syi_wilder_prices *prices, double *y,
                                                    int past, tile *t, syi_wilder_state *s,
                                                    int64_t most)
{
    const int64_t count = LANES * t->steps;
    double room[LANES * STEPS];
    syi_wilder_prices x = *prices;
    range_traits what = take_first(&x, s->close, t);
    for (int64_t done = 0; done < most; done++) {
        syi_wilder_state state = *s;
        range_grid grid = {{0.0}, {0.0}};
        double error = sum_ranges(w, t, &what, &grid, &state);
        state.close = x.close[count - 1];
        if (!(fabs(state.close) <= MOST_PRICE) || !(error >= 0.0))
            return done;
        const int64_t next = done + 1 < most ? count : 0;
        x = (syi_wilder_prices){x.high + next, x.low + next, x.close + next};
        what =
            (range_traits){syi_vec_of(state.close), syi_vec_of(state.close), syi_vec_mask_full()};
        if (y) {
            double *to = past ? room : y + done * count;
            if (settle_ranges(w, t, &grid, error, to, &x, past ? room : to + next, &what))
                return done;
            if (past)
                syi_put_past(y + done * count, room, count);
        } else {
            what = take_first(&x, state.close, t);
        }
        *s = state;
    }
    return most;
}

#endif
#endif
