/* The outputs of a tile of Wilder's averages from its sums. */
#ifndef SYI_KERNELS_WILDER_SETTLE_H
#define SYI_KERNELS_WILDER_SETTLE_H

#include "wilder/tile.h"

SYI_INLINE syi_dd started(const sums *start, const sums *sum, int l)
{
    syi_dd s = syi_dd_of_sum(start->high[l], sum->high[l]);
    s.low += start->low[l] + sum->low[l];
    return s;
}

/* The number nearest to a value known to within epsilon * |value|; not 0.0 when in doubt, and then
 * that nearest to the largest it may be. */
SYI_INLINE double settle_near(double high, double low, double epsilon, double *y)
{
    double above = high + fma(high, epsilon, low), below = high + fma(high, -epsilon, low);
    *y = above;
    return above - below;
}

/* 100 * up / total, whose relative errors sum up to less than epsilon - EPSILON. */
SYI_INLINE double settle_index(syi_dd up, syi_dd total, double epsilon, double *y)
{
    double part = 100.0 * up.high, rest = fma(100.0, up.low, fma(100.0, up.high, -part));
    double inverse = 1.0 / total.high, first = part * inverse;
    double left = fma(-first, total.high, part) + fma(-first, total.low, rest);
    return settle_near(first, left * inverse, epsilon, y);
}

SYI_INLINE double settle_at(const weights *w, const tile *t, int64_t i, int l, double error,
                            double *y)
{
    syi_dd total = started(&t->total_start, &t->total[i], l);
    if (IS_RANGE) {
        double mean = total.high * w->out_high[i], rest = fma(total.high, w->out_high[i], -mean);
        rest = fma(total.low, w->out_high[i], fma(total.high, w->out_low[i], rest));
        return settle_near(mean, rest, error, y);
    }
    return settle_index(started(&t->up_start, &t->up[i], l), total, error, y);
}

#if SYI_HAVE_VECTORS

SYI_INLINE group_sum started_group(const sums *start, const sums *sum, int first)
{
    group_sum s;
    syi_vec rest;
    syi_vec_two_sum(syi_vec_load(start->high + first), syi_vec_load(sum->high + first), &s.high,
                    &rest);
    s.low = rest + (syi_vec_load(start->low + first) + syi_vec_load(sum->low + first));
    return s;
}

/* settle_index() before the rounding. */
SYI_INLINE group_sum index_of(group_sum up, group_sum total)
{
    const syi_vec hundred = syi_vec_of(100.0);
    syi_vec part = up.high * hundred, rest = syi_vec_fma(up.high, hundred, -part);
    syi_vec inverse = syi_vec_of(1.0) / total.high, first = part * inverse;
    syi_vec left = syi_vec_fnma(first, total.low, syi_vec_fma(up.low, hundred, rest));
    left += syi_vec_fnma(first, total.high, part);
    return (group_sum){first, left * inverse};
}

/* And of ranges. */
SYI_INLINE group_sum mean_of(group_sum total, double by, double fine)
{
    syi_vec factor = syi_vec_of(by), mean = total.high * factor;
    syi_vec rest = syi_vec_fma(total.high, factor, -mean);
    rest = syi_vec_fma(total.low, factor, syi_vec_fma(total.high, syi_vec_of(fine), rest));
    return (group_sum){mean, rest};
}

/* settle_near(). */
SYI_INLINE syi_vec round_near(group_sum value, syi_vec epsilon, syi_bits_vec *unsure)
{
    syi_vec above = value.high + syi_vec_fma(value.high, epsilon, value.low);
    syi_vec below = value.high + syi_vec_fnma(value.high, epsilon, value.low);
    syi_vec_differ(unsure, above, below);
    return above;
}

/* Those of column i of the lanes from `first` on. */
SYI_INLINE syi_vec settle_group(const weights *w, const tile *t, int64_t i, int first,
                                syi_vec epsilon, syi_bits_vec *unsure)
{
    group_sum s = started_group(&t->total_start, &t->total[i], first);
    if (IS_RANGE)
        s = mean_of(s, w->out_high[i], w->out_low[i]);
    else
        s = index_of(started_group(&t->up_start, &t->up[i], first), s);
    return round_near(s, epsilon, unsure);
}

/* The values to y, `past` the cache or not; returns not 0 when one is in doubt. */
SYI_INLINE int settle_tile(const weights *w, const tile *t, double error, double *y, int past)
{
    const syi_vec epsilon = syi_vec_of(error);
    syi_bits_vec unsure = {0};
    for (int first = 0; first < LANES; first += SYI_VECTOR)
        for (int64_t i = 0; i < t->steps; i += SYI_VECTOR) {
            syi_vec r[SYI_VECTOR];
            SYI_UNROLL(8)
            for (int k = 0; k < SYI_VECTOR; k++)
                r[k] = settle_group(w, t, i + k, first, epsilon, &unsure);
            syi_vec_rows(y + first * t->steps + i, t->steps, r, past);
        }
    return syi_vec_any(unsure);
}

/* In which lanes the tile's columns i are in doubt, as bits. */
SYI_INLINE void find_unsure(const weights *w, const tile *t, double error, uint64_t *lanes)
{
    for (int64_t i = 0; i < t->steps; i++) {
        lanes[i] = 0;
        for (int first = 0; first < LANES; first += SYI_VECTOR) {
            syi_bits_vec unsure = {0};
            settle_group(w, t, i, first, syi_vec_of(error), &unsure);
            if (syi_vec_any(unsure))
                lanes[i] |= syi_vec_which(unsure) << first;
        }
    }
}

#else

/* As they lie in the row. */
SYI_INLINE void gather(double (*from)[LANES], int64_t steps, double *to)
{
    for (int l = 0; l < LANES; l++)
        for (int64_t i = 0; i < steps; i++)
            to[l * steps + i] = from[i][l];
}

/* The same. */
SYI_INLINE int settle_tile(const weights *w, const tile *t, double error, double *y, int past)
{
    double value[STEPS][LANES], room[LANES * STEPS], doubt[LANES] = {0.0}, doubts = 0.0;
    for (int64_t i = 0; i < t->steps; i++) {
        for (int l = 0; l < LANES; l++)
            doubt[l] += settle_at(w, t, i, l, error, &value[i][l]);
    }
    for (int l = 0; l < LANES; l++)
        doubts += doubt[l];
    gather(value, t->steps, past ? room : y);
    if (past)
        syi_put_past(y, room, LANES * t->steps);
    return doubts != 0.0;
}

SYI_INLINE void find_unsure(const weights *w, const tile *t, double error, uint64_t *lanes)
{
    double y;
    for (int64_t i = 0; i < t->steps; i++) {
        lanes[i] = 0;
        for (int l = 0; l < LANES; l++)
            lanes[i] |= (uint64_t)(settle_at(w, t, i, l, error, &y) != 0.0) << l;
    }
}

#endif

#endif
