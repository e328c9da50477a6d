/*
 * The quick way through a stretch of rolling deviations, scores and bands. Values are taken as
 * distances d from a pivot among them and cut on a grid, d = a + b, a having so few bits that sums
 * of a^2 are exact doubles. The sums of the a, of the b and of the a^2 slide exactly, as in
 * window/grid.h; that of the rest, b * (d + a), is small and its error is bounded. The mean is
 * certain, what is made of the deviation is tested.
 *
 * With |d| < 2^top, a window of at most 2^length values and g = 2^(top - bits) the a^2 are
 * multiples of g^2 below 2^(2 bits) g^2, so that twice a window of them stays below 2^53 g^2 for 2
 * bits + length + 1 = 53. A rest is below 2^(2 top - bits) =: r. A vector of 8 rests, each the
 * difference of two that were rounded twice, and their prefix sums add at most (112 + period) r /
 * 2^53 to the sum's error, the first window (period / 4 + 10) * period.
 */
#ifndef SYI_KERNELS_WINDOW_SQUARES_H
#define SYI_KERNELS_WINDOW_SQUARES_H

#include "exact/vector.h"
#include "window/certify.h"

#if SYI_HAVE_VECTORS

/* Longer windows leave too few bits. */
#define SQUARES_LONGEST 4096

typedef struct squares {
    int64_t period;
    syi_vec pivot, shift;
    syi_vec sum_high, sum_low, high, low; /* of the a, b, a^2 and rests of the window so far */
    syi_vec spread_error;                 /* of period * sum of squares - square of the sum */
    syi_vec count, reciprocal, width;
    syi_vec inverse, inverse_low; /* times the spread: the variance, that of a score's divisor */
    int past;                     /* whole batches of bands go past the cache */
} squares;

typedef enum squares_fit {
    SQUARES_UNFIT,
    SQUARES_FLAT, /* all values are one */
    SQUARES_FIT,
} squares_fit;

/* The square root's reciprocal, off by 2^-50 of itself at most; a > 0. */
SYI_INLINE syi_vec squares_root(syi_vec a)
{
#if SYI_VECTOR == 8
    const syi_vec half = syi_vec_of(0.5);
    syi_vec y = (syi_vec)_mm512_rsqrt14_pd((__m512d)a), part = half * a;
    y = syi_vec_fma(y, syi_vec_fnma(part * y, y, half), y);
    return syi_vec_fma(y, syi_vec_fnma(part * y, y, half), y);
#else
    return syi_vec_of(1.0) / (syi_vec)_mm256_sqrt_pd((__m256d)a);
#endif
}

/* What x[0 .. count) are made of, and their least and largest value. */
typedef struct squares_range {
    syi_span span;
    double least, most;
} squares_range;

SYI_INLINE squares_range squares_measure_any(const double *x, int64_t count, const double *out)
{
    squares_range range = {syi_vec_measure(x, count, out), x[0], x[0]};
    syi_vec low = syi_vec_of(x[0]), high = low;
    int64_t i = 0;
    for (; i + SYI_VECTOR <= count; i += SYI_VECTOR) {
        low = syi_vec_min(low, syi_vec_load(x + i));
        high = syi_vec_max(high, syi_vec_load(x + i));
    }
    for (int k = 0; k < SYI_VECTOR; k++) {
        range.least = low[k] < range.least ? low[k] : range.least;
        range.most = high[k] > range.most ? high[k] : range.most;
    }
    for (; i < count; i++) {
        range.least = x[i] < range.least ? x[i] : range.least;
        range.most = x[i] > range.most ? x[i] : range.most;
    }
    return range;
}

/* The lines of out[0 .. count), unless it is NULL, are fetched for writing on the way. Positive
 * numbers are in the order of their bits, which are below those of all others. */
SYI_INLINE squares_range squares_measure(const double *x, int64_t count, const double *out)
{
    syi_bits_vec most[2] = {0}, least[2] = {0};
    uint64_t largest = 0, smallest = UINT64_MAX;
    int64_t i = 0;
    least[0] -= 1;
    least[1] -= 1;
    for (; i + 2 * SYI_VECTOR <= count; i += 2 * SYI_VECTOR) {
        syi_ask_ahead(x + i, 2 * SYI_VECTOR);
        for (int k = 0; k < 2; k++) {
            syi_bits_vec bits = (syi_bits_vec)syi_vec_load(x + i + k * SYI_VECTOR);
            most[k] = syi_vec_greater(bits, most[k]);
            least[k] = syi_vec_lesser(bits, least[k]);
            if (out)
                __builtin_prefetch(out + i + k * SYI_VECTOR, 1);
        }
    }
    most[0] = syi_vec_greater(most[0], most[1]);
    least[0] = syi_vec_lesser(least[0], least[1]);
    for (int k = 0; k < SYI_VECTOR; k++) {
        largest = most[0][k] > largest ? most[0][k] : largest;
        smallest = least[0][k] < smallest ? least[0][k] : smallest;
    }
    for (; i < count; i++) {
        largest = syi_bits(x[i]) > largest ? syi_bits(x[i]) : largest;
        smallest = syi_bits(x[i]) < smallest ? syi_bits(x[i]) : smallest;
    }
    if (smallest == 0 || largest >= (uint64_t)SYI_INFINITY_BITS)
        return squares_measure_any(x, count, out);
    return (squares_range){syi_span_of((int64_t)largest, (int64_t)smallest, 0),
                           syi_from_bits(smallest), syi_from_bits(largest)};
}

/* Chooses pivot, if it can the one given, and grid for `count` values, columns - period + 1. */
SYI_INLINE squares_fit squares_begin(squares *s, const squares_range *range, double pivot,
                                     int64_t count)
{
    const syi_span *span = &range->span;
    const double least = range->least, most = range->most, period = (double)s->period;
    int length = s->period > 1 ? 64 - __builtin_clzll((uint64_t)s->period - 1) : 0;
    int bits = (52 - length) / 2, top;
    /* All distances are exact where no value is more than twice another. */
    if (!(least > 0.0 && least + least >= most) && !(most < 0.0 && most + most <= least))
        pivot = 0.0;
    double size = most - pivot > pivot - least ? most - pivot : pivot - least;
    top = syi_split(size).exponent + 53;
    if (!span->has_non_finite && least == most)
        return SQUARES_FLAT;
    if (span->has_non_finite || span->bottom < -400 || span->top > 400 ||
        span->top - span->bottom > 99 - length || top - bits + length > 52 + span->bottom)
        return SQUARES_UNFIT;
    double vectors = (double)(count / SYI_VECTOR + 2);
    double error = (112.0 + period) * vectors + (0.25 * period + 16.0) * period + 64.0;
    s->pivot = syi_vec_of(pivot);
    s->shift = syi_vec_of(1.5 * syi_pow2(top - bits + 52));
    s->spread_error = syi_vec_of(1.0625 * period * error * syi_pow2(2 * top - bits - 53));
    return SQUARES_FIT;
}

/* a, b, their distance d = a + b and the rest b * (d + a) of a value. */
typedef struct squares_parts {
    syi_vec a, b, rest;
} squares_parts;

SYI_INLINE squares_parts squares_cut(const squares *s, syi_vec x)
{
    syi_vec d = x - s->pivot, a = (d + s->shift) - s->shift, b = d - a;
    return (squares_parts){a, b, b * (d + a)};
}

/* The window gets `in` and loses `out`. */
SYI_INLINE void squares_slide(squares *s, syi_vec in, syi_vec out, syi_vec *sum, syi_vec *sum_low,
                              syi_vec *high, syi_vec *low)
{
    squares_parts i = squares_cut(s, in), o = squares_cut(s, out);
    syi_vec change = i.a - o.a;
    *sum = s->sum_high + syi_vec_scan(change);
    *sum_low = s->sum_low + syi_vec_scan(i.b - o.b);
    *high = s->high + syi_vec_scan(change * (i.a + o.a));
    *low = s->low + syi_vec_scan(i.rest - o.rest);
    s->sum_high = syi_vec_last(*sum);
    s->sum_low = syi_vec_last(*sum_low);
    s->high = syi_vec_last(*high);
    s->low = syi_vec_last(*low);
}

/* The first period - 1 values. Zero distances, the pivot, fill up the last vector. */
SYI_INLINE void squares_fill(squares *s, const double *x, int64_t count)
{
    syi_vec sum[4] = {{0}, {0}, {0}, {0}};
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        syi_vec next = s->pivot;
        if (i + SYI_VECTOR <= count)
            next = syi_vec_load(x + i);
        for (int k = 0; i + SYI_VECTOR > count && k < count - i; k++)
            next[k] = x[i + k];
        squares_parts part = squares_cut(s, next);
        sum[0] += part.a;
        sum[1] += part.b;
        sum[2] += part.a * part.a;
        sum[3] += part.rest;
    }
    s->sum_high = syi_vec_last(syi_vec_scan(sum[0]));
    s->sum_low = syi_vec_last(syi_vec_scan(sum[1]));
    s->high = syi_vec_last(syi_vec_scan(sum[2]));
    s->low = syi_vec_last(syi_vec_scan(sum[3]));
}

/* ---- a batch of vectors, in loops that are short enough to overlap ---- */

#define SQUARES_VECTORS 8
#define SQUARES_COLUMNS (SQUARES_VECTORS * SYI_VECTOR)

typedef struct squares_batch {
    syi_vec sum[SQUARES_VECTORS], sum_low[SQUARES_VECTORS];
    syi_vec high[SQUARES_VECTORS], low[SQUARES_VECTORS];
    syi_vec variance[SQUARES_VECTORS], variance_low[SQUARES_VECTORS];
    syi_vec root[SQUARES_VECTORS], rest[SQUARES_VECTORS], error[SQUARES_VECTORS];
    syi_vec inverse[SQUARES_VECTORS];     /* of the root, to 2^-49 of itself */
    syi_bits_vec unsure[SQUARES_VECTORS]; /* not 0: a window is */
} squares_batch;

/* The variances, from the exact moments: sum and high are normalised on the way. */
SYI_INLINE void squares_variances(const squares *s, squares_batch *b)
{
    for (int k = 0; k < SQUARES_VECTORS; k++) {
        syi_vec total = b->sum[k] + b->sum_low[k], under = b->sum_low[k] - (total - b->sum[k]);
        syi_vec square = total * total, square_low = syi_vec_fma(total, total, -square);
        syi_vec scaled = s->count * b->high[k], rest, spread, below;
        syi_vec scaled_low = syi_vec_fma(s->count, b->high[k], -scaled);
        b->sum[k] = total;
        b->sum_low[k] = under;
        syi_vec_two_sum(scaled, -square, &spread, &rest);
        below = syi_vec_fma(s->count, b->low[k], scaled_low - square_low);
        below = syi_vec_fnma(total + total, under, below) + rest;
        syi_vec_two_sum(spread, below, &spread, &rest);
        b->unsure[k] = ~(syi_bits_vec)(spread > syi_vec_of(16.0) * s->spread_error);
        b->variance[k] = spread * s->inverse;
        b->variance_low[k] = syi_vec_fma(spread, s->inverse, -b->variance[k]) +
                             syi_vec_fma(spread, s->inverse_low, rest * s->inverse);
    }
}

SYI_INLINE void squares_roots(const squares *s, squares_batch *b)
{
    for (int k = 0; k < SQUARES_VECTORS; k++) {
        syi_vec variance = b->variance[k], inverse = squares_root(variance);
        syi_vec root = variance * inverse;
        b->root[k] = root;
        b->inverse[k] = inverse;
        b->rest[k] =
            (syi_vec_fnma(root, root, variance) + b->variance_low[k]) * (syi_vec_of(0.5) * inverse);
        b->error[k] = s->spread_error * s->inverse * inverse + root * syi_vec_of(SYI_SLACK);
    }
}

SYI_INLINE void squares_bands(const squares *s, squares_batch *b, double *const *out, int past)
{
    syi_vec size = syi_vec_abs(s->width);
    for (int k = 0; k < SQUARES_VECTORS; k++) {
        syi_vec total = b->sum[k], quotient = total * s->reciprocal, mean, mean_low, sum, low;
        syi_vec left = syi_vec_fnma(quotient, s->count, total) + b->sum_low[k];
        syi_vec part = left * s->reciprocal;
        part = syi_vec_fma(syi_vec_fnma(part, s->count, left), s->reciprocal, part);
        syi_vec_two_sum(s->pivot, quotient, &mean, &mean_low);
        mean_low += part;
        syi_vec_put(out[1] + k * SYI_VECTOR, mean + mean_low, past);
        syi_vec step = s->width * b->root[k], step_low = syi_vec_fma(s->width, b->root[k], -step);
        step_low = syi_vec_fma(s->width, b->rest[k], step_low);
        syi_vec error =
            b->error[k] * size + (syi_vec_abs(mean) + syi_vec_abs(step)) * syi_vec_of(0x1p-98);
        for (int j = 0; j < 3; j += 2) {
            syi_vec_two_sum(mean, j ? -step : step, &sum, &low);
            low += j ? mean_low - step_low : mean_low + step_low;
            syi_vec_put(out[j] + k * SYI_VECTOR, syi_vec_round(sum, low, error, &b->unsure[k]),
                        past);
        }
    }
}

SYI_INLINE void squares_deviations(squares_batch *b, double *out)
{
    for (int k = 0; k < SQUARES_VECTORS; k++) {
        syi_vec value = syi_vec_round(b->root[k], b->rest[k], b->error[k], &b->unsure[k]);
        syi_vec_store(out + k * SYI_VECTOR, value);
    }
}

/* period * (newest value - mean) / root. What is divided is exact: a multiple of the data's unit,
 * at most 2^(length + 1) times as large as they. The quotient is off by as much as the root in
 * proportion, the bound of whose error is twice too large, which covers their product. */
SYI_INLINE void squares_scores(const squares *s, squares_batch *b, const double *newest,
                               double *out)
{
    for (int k = 0; k < SQUARES_VECTORS; k++) {
        syi_vec value = syi_vec_load(newest + k * SYI_VECTOR) - s->pivot, high, low;
        syi_vec first = value * s->count, below = syi_vec_fma(value, s->count, -first);
        syi_vec inverse = b->inverse[k], score, rest;
        syi_vec_two_sum(first, -b->sum[k], &high, &low);
        low += below - b->sum_low[k];
        syi_vec_two_sum(high, low, &high, &low);
        score = high * inverse;
        rest = syi_vec_fnma(score, b->root[k], high) + syi_vec_fnma(score, b->rest[k], low);
        syi_vec error =
            syi_vec_fma(b->error[k], inverse, syi_vec_of(SYI_SLACK)) * syi_vec_abs(score);
        syi_vec_store(out + k * SYI_VECTOR,
                      syi_vec_round(score, rest * inverse, error, &b->unsure[k]));
    }
}

/* The windows that get in[k] and lose old[k], of SQUARES_COLUMNS columns; the outputs have the
 * places of vectors when they go past the cache. */
SYI_INLINE void squares_run(squares *s, squares_batch *b, const double *in, const double *old,
                            syi_window_kind kind, double *const *out, int past)
{
    for (int k = 0; k < SQUARES_VECTORS; k++)
        squares_slide(s, syi_vec_load(in + k * SYI_VECTOR), syi_vec_load(old + k * SYI_VECTOR),
                      &b->sum[k], &b->sum_low[k], &b->high[k], &b->low[k]);
    squares_variances(s, b);
    squares_roots(s, b);
    if (kind == SYI_WINDOW_BANDS)
        squares_bands(s, b, out, past);
    else if (kind == SYI_WINDOW_SCORE)
        squares_scores(s, b, in, out[0]);
    else
        squares_deviations(b, out[0]);
}

#endif
#endif
