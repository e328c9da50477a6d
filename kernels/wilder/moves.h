/*
 * The moves of a tile and the gains among them with their averages' quotient (grid.h). Of a value
 *
 *     100 * up / total = first + (100 * up - first * total) / total
 *
 * the numerator's second term makes seven operations on `low` of up, not five, 3800 units; with the
 * others that still is below 8 * 2^12. The total's parts are put in order before, so that leaving
 * out the low one in the last division counts for nothing.
 */
#ifndef SYI_KERNELS_WILDER_MOVES_H
#define SYI_KERNELS_WILDER_MOVES_H

#include "wilder/grid.h"

#if SYI_HAVE_VECTORS

SYI_INLINE syi_vec take_move(syi_vec to, syi_vec from, price_traits *what)
{
    what->least = syi_vec_min(to, what->least);
    what->most = syi_vec_max(to, what->most);
    return to - from;
}

/* As take_ranges() and take_first_ranges(), but for what is asked for: sum_moves() does. */
SYI_INLINE void take_moves(const double *x, int64_t i, tile *t, price_traits *what, const double *y)
{
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++, i += SYI_VECTOR)
        syi_vec_store(t->high + i, take_move(syi_vec_load(x + i), syi_vec_load(x + i - 1), what));
    for (int k = SYI_VECTOR * SYI_VECTOR; k > 0; k -= SYI_LINE)
        __builtin_prefetch(y + i - k, 1);
}

SYI_INLINE price_traits take_first_moves(const double *x, double close, tile *t)
{
    price_traits what = {syi_vec_of(close), syi_vec_of(close), syi_vec_mask_full()};
    double before[SYI_VECTOR] = {close};
    memcpy(before + 1, x, sizeof before - sizeof close);
    syi_vec_store(t->high, take_move(syi_vec_load(x), syi_vec_load(before), &what));
    for (int64_t i = SYI_VECTOR; i < LANES * t->steps; i += SYI_VECTOR)
        syi_vec_store(t->high + i, take_move(syi_vec_load(x + i), syi_vec_load(x + i - 1), &what));
    return what;
}

/* The sums of a group's stretches from 0; the high parts have the shift. Meanwhile the memory
 * brings the tile behind the one at x nearer. */
SYI_INLINE void sum_moves(const weights *w, tile *t, const grid *of_total, const grid *of_up, int q,
                          const syi_wilder_prices *x)
{
    const syi_vec shift = syi_vec_load(of_total->shift + q * SYI_VECTOR);
    const syi_vec up_shift = syi_vec_load(of_up->shift + q * SYI_VECTOR);
    const int64_t steps = t->steps, first = q * SYI_VECTOR * steps, next = t->ahead + first;
    const syi_wilder_prices from = *x;
    group_sum total = {shift, {0}}, up = {up_shift, {0}};
    for (int64_t i = 0; i < steps; i += SYI_VECTOR) {
        syi_vec move[SYI_VECTOR];
        ask_far(&from, next + i * SYI_VECTOR, SYI_VECTOR * SYI_VECTOR);
        syi_vec_columns(t->high + first + i, steps, move);
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_VECTOR; k++) {
            sum_weighted(w, i + k, syi_vec_abs(move[k]), &total, &t->total[i + k], q);
            sum_weighted(w, i + k, syi_vec_max(move[k], (syi_vec){0}), &up, &t->up[i + k], q);
        }
    }
    syi_vec_store(t->last.high + q * SYI_VECTOR, total.high - shift);
    syi_vec_store(t->last.low + q * SYI_VECTOR, total.low);
    syi_vec_store(t->up_last.high + q * SYI_VECTOR, up.high - up_shift);
    syi_vec_store(t->up_last.low + q * SYI_VECTOR, up.low);
}

/* The total's parts are ordered first. */
SYI_INLINE syi_vec round_index(group_sum up, group_sum total, syi_vec error, syi_bits_vec *unsure)
{
    const syi_vec high = total.high + total.low;
    total = (group_sum){high, total.low - (high - total.high)};
    return round_near(index_of(up, total), error, unsure);
}

/* Of columns i .. of a group; *unsure takes up whether one is in doubt. */
SYI_INLINE void settle_moves(const tile *t, int64_t i, int q, group_sum total_start,
                             group_sum up_start, double error, syi_bits_vec *unsure, double *y,
                             int64_t steps, int past)
{
    syi_vec r[SYI_VECTOR];
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++) {
        const group_sum total = sum_from(&t->total[i + k], total_start, q);
        const group_sum up = sum_from(&t->up[i + k], up_start, q);
        r[k] = round_index(up, total, syi_vec_of(error), unsure);
    }
    syi_vec_rows(y, steps, r, past);
}

#endif
#endif
