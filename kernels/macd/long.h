/* A slab's long lanes (recurrence/long.h). */
#ifndef SYI_KERNELS_MACD_LONG_H
#define SYI_KERNELS_MACD_LONG_H

#include "macd/slab.h"
#include "recurrence/long.h"

#if SYI_HAVE_VECTORS

/* How much longer than for the slowest of its averages: the signal still takes up what that one has
 * not forgotten, and n b^n decays later than b^n. */
#define MACD_LATER 1.125

SYI_INLINE int64_t macd_run_in_columns(const syi_macd *macd)
{
    double longest = macd->slow > macd->fast ? macd->slow : macd->fast;
    longest = longest > macd->signal ? longest : macd->signal;
    return syi_long_run_in(MACD_LATER * longest, MACD_BLOCK);
}

/* The block of each lane at column `at` of it; y is NULL where nothing is written, `before` the
 * value before x[0]. */
SYI_INLINE void macd_go_to(macd_slab *s, const double *x, double *const *y, double before,
                           int64_t at)
{
    s->x = x + at;
    for (int k = 0; k < 3; k++)
        s->y[k] = y ? y[k] + at : NULL;
    s->before = at ? s->x[-1] : before;
    s->first = at;
    s->length = s->columns_each - at < MACD_BLOCK ? s->columns_each - at : MACD_BLOCK;
}

/* While the price stands still, what is claimed of a lane's start stays as large beside the
 * averages as it was, and so leaves columns in doubt. At most so many of a lane are run again, when
 * its neighbour's end is known. */
#define MACD_MOST_VAGUE 4096

/* Whether columns of a block, at column `at` of those that are run, may be put off so. */
SYI_INLINE int macd_make_vague(macd_slab *s, int lane, int64_t at, int columns)
{
    const int64_t end = s->first + at + columns;
    if (lane == 0 || s->are_rows || s->length == s->stride || end > MACD_MOST_VAGUE)
        return 0;
    s->vague[lane] = end;
    return 1;
}

/* Whether they have been, with all before them in their lane. */
SYI_INLINE int macd_is_vague(macd_slab *s, int lane, int64_t at, int columns)
{
    return s->vague[lane] == s->first + at && macd_make_vague(s, lane, at, columns);
}

/* Whether a value has been out of range: a NaN, of which the extremes may know nothing, is still in
 * the state behind it. */
SYI_INLINE int macd_is_lost(const macd_slab *s)
{
    syi_bits_vec lost = s->outside;
    for (int q = 0; q < MACD_GROUPS; q++)
        lost |= ~(syi_bits_vec)(syi_vec_abs(s->lanes[q].stage[SIGNAL].high) <= SYI_HUGE);
    return syi_vec_any(lost);
}

/* The run-ins, of x's lanes; `range` is that of the values in them. */
SYI_INLINE void macd_run_in(macd_slab *s, const double *x, int64_t columns, syi_long_range *range)
{
    const syi_deviation none = {{0.0, 0.0}, 0.0};
    const syi_macd_triple guess = {none, none, none};
    const int64_t first = s->stride - columns;
    macd_go_to(s, x, NULL, x[0], first);
    for (int lane = 0; lane < MACD_LANES; lane++)
        macd_set(s, lane, &guess);
    for (int64_t at = first; at < s->stride; at += MACD_BLOCK) {
        macd_go_to(s, x, NULL, x[0], at);
        macd_read(s, 0, MACD_BLOCK);
        for (int q = 0; q < MACD_GROUPS; q++) {
            macd_try(s, q, 0, MACD_BLOCK);
            range[q] = at == first ? (syi_long_range){s->least[q], s->most[q]}
                                   : syi_long_widen(&range[q], s->least[q], s->most[q]);
        }
    }
}

/* Claims the starts of all lanes but the first. Returns 0 when prices are out of range, or lie on a
 * line through a block of a run-in: then less is left of an average than any claim. */
SYI_INLINE int macd_claim(macd_slab *s, const double *x, int64_t run_in)
{
    const syi_macd_map *left = &s->map; /* of run_in columns */
    const double signal =
        left->signal.above + fabs(left->from_fast.high) + fabs(left->from_slow.high);
    syi_long_range range[MACD_GROUPS];
    s->straight = s->outside = (syi_bits_vec){0};
    memset(s->vague, 0, sizeof s->vague);
    macd_run_in(s, x, run_in, range);
    for (int lane = 0; lane < MACD_LANES; lane++) {
        const syi_long_range *own = &range[lane / SYI_VECTOR];
        const double apart = own->most[lane % SYI_VECTOR] - own->least[lane % SYI_VECTOR];
        syi_macd_triple *start = &s->start[lane + 1];
        if (!(apart > 0.0))
            return 0;
        *start = macd_end(s, lane);
        start->fast = syi_long_claim(start->fast, left->fast.above, apart);
        start->slow = syi_long_claim(start->slow, left->slow.above, apart);
        start->signal = syi_long_claim(start->signal, signal, apart);
    }
    return !macd_is_lost(s) && !syi_vec_any(s->straight);
}

/* Whether what was claimed of a lane's start was true, its left neighbour having ended so. */
SYI_INLINE int macd_agrees(const syi_macd_triple *claimed, const syi_macd_triple *end)
{
    return syi_deviation_agrees(&claimed->fast, &end->fast) &&
           syi_deviation_agrees(&claimed->slow, &end->slow) &&
           syi_deviation_agrees(&claimed->signal, &end->signal);
}

#endif
#endif
