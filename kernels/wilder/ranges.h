/* The true ranges of a tile with their average (grid.h). */
#ifndef SYI_KERNELS_WILDER_RANGES_H
#define SYI_KERNELS_WILDER_RANGES_H

#include "wilder/grid.h"

#if SYI_HAVE_VECTORS

SYI_INLINE syi_vec take_range(syi_vec low, syi_vec high, syi_vec before, price_traits *what)
{
    what->ordered = syi_vec_mask_ordered(what->ordered, low, high);
    low = syi_vec_min(low, before);
    high = syi_vec_max(high, before);
    what->least = syi_vec_min(low, what->least);
    what->most = syi_vec_max(high, what->most);
    return high - low;
}

/* The terms of columns i .. as they come; their outputs' lines are fetched, and half of the tile
 * behind this one, which is `next` columns away. A NaN among the closes makes a term NaN. */
SYI_INLINE void take_ranges(const syi_wilder_prices *x, int64_t i, int64_t next, tile *t,
                            price_traits *what, const double *y)
{
    ask_far(x, next + i / 2, SYI_VECTOR * SYI_VECTOR / 2);
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++, i += SYI_VECTOR) {
        syi_vec_store(t->high + i, take_range(syi_vec_load(x->low + i), syi_vec_load(x->high + i),
                                              syi_vec_load(x->close + i - 1), what));
        if (k % (SYI_LINE / SYI_VECTOR) == 0)
            __builtin_prefetch(y + i, 1);
    }
}

/* The tile's terms where the close before may have no place in the row. */
SYI_INLINE price_traits take_first_ranges(const syi_wilder_prices *x, double close, tile *t)
{
    price_traits what = {syi_vec_of(close), syi_vec_of(close), syi_vec_mask_full()};
    double before[SYI_VECTOR] = {close};
    memcpy(before + 1, x->close, sizeof before - sizeof close);
    syi_vec_store(t->high, take_range(syi_vec_load(x->low), syi_vec_load(x->high),
                                      syi_vec_load(before), &what));
    for (int64_t i = SYI_VECTOR; i < LANES * t->steps; i += SYI_VECTOR)
        syi_vec_store(t->high + i, take_range(syi_vec_load(x->low + i), syi_vec_load(x->high + i),
                                              syi_vec_load(x->close + i - 1), &what));
    return what;
}

/* The second half of a stretch is a chain of its own, so that the two do not wait so long. */
SYI_INLINE int64_t half_of(const tile *t)
{
    return t->steps / 2 / SYI_VECTOR * SYI_VECTOR;
}

/* The sums of each half of a group's stretches from 0; the high parts have the shift. The other
 * half of the tile behind the one at x is asked for. */
SYI_INLINE void sum_ranges(const weights *w, tile *t, const grid *grid, int q,
                           const syi_wilder_prices *x)
{
    const syi_vec shift = syi_vec_load(grid->shift + q * SYI_VECTOR);
    const int64_t half = half_of(t), steps = t->steps, rest = steps - half;
    const double *const term = t->high + q * SYI_VECTOR * steps;
    const syi_wilder_prices from = *x;
    const int64_t next = t->ahead + LANES * steps / 2 + q * SYI_VECTOR * rest;
    group_sum first = {shift, {0}}, second = first;
    for (int64_t i = 0; i < rest; i += SYI_VECTOR) {
        syi_vec a[SYI_VECTOR], b[SYI_VECTOR];
        ask_far(&from, next + i * SYI_VECTOR, SYI_VECTOR * SYI_VECTOR);
        if (i < half)
            syi_vec_columns(term + i, steps, a);
        syi_vec_columns(term + half + i, steps, b);
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_VECTOR; k++) {
            if (i < half)
                sum_weighted(w, i + k, a[k], &first, &t->total[i + k], q);
            sum_weighted(w, half + i + k, b[k], &second, &t->total[half + i + k], q);
        }
    }
    first.high -= shift;
    second.high += first.high - shift;
    syi_vec_store(t->half.high + q * SYI_VECTOR, first.high);
    syi_vec_store(t->half.low + q * SYI_VECTOR, first.low);
    syi_vec_store(t->last.high + q * SYI_VECTOR, second.high);
    syi_vec_store(t->last.low + q * SYI_VECTOR, second.low + first.low);
}

/* Of columns i .. of a group, to which `start` is added; *unsure takes up whether one is in doubt.
 */
SYI_INLINE void settle_ranges(const weights *w, const tile *t, int64_t i, int q, group_sum start,
                              double error, syi_bits_vec *unsure, double *y, int64_t steps,
                              int past)
{
    syi_vec r[SYI_VECTOR];
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++) {
        group_sum s = sum_from(&t->total[i + k], start, q);
        r[k] = round_near(mean_of(s, w->out_high[i + k], w->out_low[i + k]), syi_vec_of(error),
                          unsure);
    }
    syi_vec_rows(y, steps, r, past);
}

/* What the second half of a stretch starts with, too. */
SYI_INLINE void start_half(const tile *t, int q, group_sum *start)
{
    start->high += syi_vec_load(t->half.high + q * SYI_VECTOR);
    start->low += syi_vec_load(t->half.low + q * SYI_VECTOR);
}

#endif
#endif
