/*
 * What the quick ways through windows share: the range of a block's data, and batches of columns of
 * which each lane of the vectors has successive ones. So sums slide along all lanes at once, from
 * nothing, and what comes before each lane is added after.
 */
#ifndef SYI_KERNELS_WINDOW_LANES_H
#define SYI_KERNELS_WINDOW_LANES_H

#include "exact/transpose.h"

/* 2^length >= n > 0. */
SYI_INLINE int window_length(int64_t n)
{
    return n > 1 ? 64 - __builtin_clzll((uint64_t)n - 1) : 0;
}

#if SYI_HAVE_VECTORS

#include <math.h>

#define BATCH ((int64_t)64)
enum { LANE = BATCH / SYI_VECTOR }; /* columns of a lane */

/* How many columns from y on make a batch that ends where a line does. */
SYI_INLINE int64_t lanes_columns(const double *y, int64_t left)
{
    int64_t columns = BATCH - (int64_t)((uintptr_t)y / sizeof *y % SYI_LINE);
    return left < columns ? left : columns;
}

/* What n <= BATCH windows get, which end at x[0 .. n), and what they lose; `fresh`: the first one
 * lacks a value, so none goes. The rest of the batch gets and loses `same`. */
SYI_INLINE void lanes_copy(double *in, double *old, const double *x, int64_t period, int64_t n,
                           int fresh, double same)
{
    for (int k = 0; k < BATCH; k++)
        in[k] = old[k] = same;
    memcpy(in, x, (size_t)n * sizeof *x);
    if (n > fresh)
        memcpy(old + fresh, x + fresh - period, (size_t)(n - fresh) * sizeof *x);
}

/* Column k of each lane. */
SYI_INLINE void lanes_load(const double *x, syi_vec *column)
{
    for (int k = 0; k < LANE; k += SYI_VECTOR)
        syi_vec_columns(x + k, LANE, column + k);
}

/* The opposite, with lanes `stride` apart. With `past`, past the cache; each lane then begins a
 * line of y. */
SYI_INLINE void lanes_put(double *y, int64_t stride, const syi_vec *column, int past)
{
    for (int k = 0; k < LANE; k += SYI_VECTOR) {
        syi_vec row[SYI_VECTOR];
        syi_vec_columns((const double *)(column + k), SYI_VECTOR, row);
        for (int l = 0; l < SYI_VECTOR; l++)
            syi_vec_put(y + l * stride + k, row[l], past);
    }
}

/* The same through the cache, and each lane times a number of its own. */
SYI_INLINE void lanes_put_scaled(double *y, int64_t stride, const syi_vec *column,
                                 const double *scale)
{
    for (int k = 0; k < LANE; k += SYI_VECTOR) {
        syi_vec row[SYI_VECTOR];
        syi_vec_columns((const double *)(column + k), SYI_VECTOR, row);
        for (int l = 0; l < SYI_VECTOR; l++)
            syi_vec_store(y + l * stride + k, row[l] * scale[l]);
    }
}

/* What a sum is divided by: a count, and its reciprocal with what that lacks. */
typedef struct window_divisor {
    syi_vec count, inverse, inverse_low;
} window_divisor;

SYI_INLINE window_divisor window_divisor_of(int64_t count)
{
    const double divisor = (double)count, inverse = 1.0 / divisor;
    return (window_divisor){syi_vec_of(divisor), syi_vec_of(inverse),
                            syi_vec_of(fma(-inverse, divisor, 1.0) / divisor)};
}

/* Exact where the quotient has a bit less than a double. */
SYI_INLINE syi_vec window_divide(syi_vec a, const window_divisor *by)
{
    return syi_vec_fma(a, by->inverse, a * by->inverse_low);
}

/* The mean from the sum of distances from the pivot, but for what it lacks: *rest / count. */
SYI_INLINE syi_vec window_mean(syi_vec sum, syi_vec pivot, const window_divisor *by, syi_vec *rest)
{
    const syi_vec mean = syi_vec_fma(sum, by->inverse, pivot);
    *rest = syi_vec_fma(pivot - mean, by->count, sum);
    return mean;
}

/* Of the sums of values that are cut, or of what changes such sums: each part is what has been cut
 * off the one before. */
typedef struct window_parts {
    syi_vec high, low, least;
} window_parts;

/* What changes a window that gets `in` and loses `out`, of each of which adding and taking away
 * `shift` rounds the first part, and with `twice` `shift_low` the second one. */
SYI_INLINE window_parts window_cut(syi_vec in, syi_vec out, syi_vec shift, syi_vec shift_low,
                                   int twice)
{
    const syi_vec a = (in + shift) - shift, b = (out + shift) - shift;
    const syi_vec in_low = in - a, out_low = out - b, none = {0};
    const syi_vec c = (in_low + shift_low) - shift_low, d = (out_low + shift_low) - shift_low;
    if (!twice)
        return (window_parts){a - b, in_low - out_low, none};
    return (window_parts){a - b, c - d, (in_low - c) - (out_low - d)};
}

/* A sum's parts, in two doubles, exactly: those of values that were cut once or twice. */
SYI_INLINE void window_join_parts(const window_parts *parts, int twice, syi_vec *high, syi_vec *low)
{
    if (!twice) {
        syi_vec_quick_sum(parts->high, parts->low, high, low);
        return;
    }
    syi_vec_two_sum(parts->high, parts->low, high, low);
    syi_vec_two_sum(*high, *low + parts->least, high, low);
}

/* What comes before each lane, given what each one adds; *carry is what comes before them all, in
 * every element. Any order of the additions. */
SYI_INLINE syi_vec lanes_before(syi_vec *carry, syi_vec added)
{
    syi_vec sum = syi_vec_scan(added), before = syi_vec_plus(*carry, syi_vec_less(sum, added));
    *carry = syi_vec_plus(*carry, syi_vec_last(sum));
    return before;
}

/* What numbers are made of, and, of finite ones, the least and the largest. Of numbers of both
 * signs, or with zeros, `bottom` is not known before window_bottom(). */
typedef struct window_range {
    syi_span span;
    double least, most;
} window_range;

/* Whether no value is more than twice another: all differences are exact. */
SYI_INLINE int window_is_near(const window_range *range)
{
    double least = range->least, most = range->most;
    return (least > 0.0 && least + least >= most) || (most < 0.0 && most + most <= least);
}

/* Whether besides the sums of `period` of their distances from one of them, multiples of the least
 * one's unit, and all that lies between two of those sums are doubles. */
SYI_INLINE int window_is_close(const window_range *range, int64_t period)
{
    const double size = range->least > 0.0 ? range->least : -range->most;
    const double most = syi_pow2(syi_split(size).exponent + 53);
    return window_is_near(range) && (double)period * (range->most - range->least) < most;
}

/* What finite numbers are multiples of, from the least magnitude that is not 0; 0: all are. */
SYI_INLINE int window_least(const double *x, int64_t count)
{
    const syi_vec zero = {0}, infinity = syi_vec_of(INFINITY);
    syi_vec small[2] = {infinity, infinity};
    double least = INFINITY;
    int64_t i = 0;
    for (; i + 2 * SYI_VECTOR <= count; i += 2 * SYI_VECTOR)
        for (int k = 0; k < 2; k++) {
            syi_vec size = syi_vec_abs(syi_vec_load(x + i + k * SYI_VECTOR));
            syi_bits_vec of_zero = (syi_bits_vec)(size == zero) & (syi_bits_vec)infinity;
            small[k] = syi_vec_min(small[k], (syi_vec)((syi_bits_vec)size | of_zero));
        }
    small[0] = syi_vec_min(small[0], small[1]);
    for (int k = 0; k < SYI_VECTOR; k++)
        least = small[0][k] < least ? small[0][k] : least;
    for (; i < count; i++) {
        double size = x[i] < 0.0 ? -x[i] : x[i];
        least = size != 0.0 && size < least ? size : least;
    }
    return least < INFINITY ? syi_split(least).exponent : 0;
}

/* The next SYI_VECTOR of the numbers x[i .. count), or the last ones again; of fewer the first. */
SYI_INLINE syi_vec window_next(const double *x, int64_t i, int64_t count)
{
    if (count < SYI_VECTOR)
        return syi_vec_load_some(x, count, syi_vec_of(x[0]));
    return syi_vec_load(x + (i + SYI_VECTOR <= count ? i : count - SYI_VECTOR));
}

/* Of numbers that are met a vector at a time: the least and the largest of each element, and what
 * is a NaN as soon as something is not finite. */
typedef struct window_extremes {
    syi_vec least, most, strange;
} window_extremes;

SYI_INLINE window_extremes window_extremes_of(syi_vec first)
{
    return (window_extremes){first, first, first - first};
}

SYI_INLINE void window_meet(window_extremes *e, syi_vec next)
{
    e->most = syi_vec_max(e->most, next);
    e->least = syi_vec_min(e->least, next);
    e->strange = syi_vec_fma(next, (syi_vec){0}, e->strange);
}

/* Of finite numbers. */
SYI_INLINE window_range window_range_of(double least, double most)
{
    const double size = most > -least ? most : -least;
    const uint64_t high = syi_bits(size);
    uint64_t low = high;
    if (least > 0.0)
        low = syi_bits(least);
    else if (most < 0.0)
        low = syi_bits(-most);
    return (window_range){syi_span_of((int64_t)high, (int64_t)low, 0), least, most};
}

/* Of all that has been met. */
SYI_INLINE window_range window_met(const window_extremes *e)
{
    if (syi_vec_any((syi_bits_vec)e->strange))
        return (window_range){{0, 0, 1}, 0.0, 0.0};
    return window_range_of(syi_vec_least(e->least), syi_vec_most(e->most));
}

SYI_INLINE window_range window_join(const window_range *a, const window_range *b)
{
    if (a->span.has_non_finite || b->span.has_non_finite)
        return (window_range){{0, 0, 1}, 0.0, 0.0};
    return window_range_of(a->least < b->least ? a->least : b->least,
                           a->most > b->most ? a->most : b->most);
}

/* So many vectors at once: each waits for the one before. */
enum { WINDOW_AT_ONCE = 4 };

#if SYI_VECTOR == 8

/* Of positive numbers by their bits, which as integers are in the same order: what is not finite
 * is the largest then, and need not be looked for. Returns 0 where not all are positive and finite.
 */
SYI_INLINE int window_measure_positive(const double *x, int64_t count, window_range *range)
{
    enum { STEP = WINDOW_AT_ONCE * SYI_VECTOR };
    __m512i least[WINDOW_AT_ONCE], most[WINDOW_AT_ONCE];
    int64_t i = 0;
    for (int k = 0; k < WINDOW_AT_ONCE; k++)
        least[k] = most[k] = (__m512i)syi_vec_of(x[0]);
    for (; i + STEP <= count; i += STEP) {
        for (int k = 0; k < WINDOW_AT_ONCE; k++) {
            __m512i next = (__m512i)syi_vec_load(x + i + k * SYI_VECTOR);
            least[k] = _mm512_min_epi64(least[k], next);
            most[k] = _mm512_max_epi64(most[k], next);
        }
    }
    for (; i < count; i += SYI_VECTOR) {
        __m512i next = (__m512i)window_next(x, i, count);
        least[0] = _mm512_min_epi64(least[0], next);
        most[0] = _mm512_max_epi64(most[0], next);
    }
    for (int k = 1; k < WINDOW_AT_ONCE; k++) {
        least[0] = _mm512_min_epi64(least[0], least[k]);
        most[0] = _mm512_max_epi64(most[0], most[k]);
    }
    int64_t low = _mm512_reduce_min_epi64(least[0]), high = _mm512_reduce_max_epi64(most[0]);
    range->least = syi_from_bits((uint64_t)low);
    range->most = syi_from_bits((uint64_t)high);
    range->span = syi_span_of(high, low, 0);
    return low > 0 && high < SYI_INFINITY_BITS;
}

#else

SYI_INLINE int window_measure_positive(const double *x, int64_t count, window_range *range)
{
    (void)x, (void)count, (void)range;
    return 0;
}

#endif

/* Of count > 0 numbers. */
SYI_INLINE window_range window_measure(const double *x, int64_t count)
{
    enum { STEP = WINDOW_AT_ONCE * SYI_VECTOR };
    window_range positive;
    window_extremes e[WINDOW_AT_ONCE];
    int64_t i = 0;
    if (x[0] > 0.0 && window_measure_positive(x, count, &positive))
        return positive;
    for (int k = 0; k < WINDOW_AT_ONCE; k++)
        e[k] = window_extremes_of(syi_vec_of(x[0]));
    for (; i + STEP <= count; i += STEP) {
        for (int k = 0; k < WINDOW_AT_ONCE; k++)
            window_meet(&e[k], syi_vec_load(x + i + k * SYI_VECTOR));
    }
    for (; i < count; i += SYI_VECTOR)
        window_meet(&e[0], window_next(x, i, count));
    for (int k = 1; k < WINDOW_AT_ONCE; k++) {
        e[0].most = syi_vec_max(e[0].most, e[k].most);
        e[0].least = syi_vec_min(e[0].least, e[k].least);
        e[0].strange += e[k].strange;
    }
    return window_met(&e[0]);
}

/* What may have been left out of the range of these numbers. */
SYI_INLINE void window_bottom(window_range *range, const double *x, int64_t count)
{
    if (!range->span.has_non_finite && range->least <= 0.0 && range->most >= 0.0)
        range->span.bottom = window_least(x, count);
}

#endif
#endif
