/* What a batch's windows are from their sums and spreads (squares.h). */
#ifndef SYI_KERNELS_WINDOW_RESULTS_H
#define SYI_KERNELS_WINDOW_RESULTS_H

#include "window/squares.h"

#if SYI_HAVE_VECTORS

/* The root of a > 0 and half its reciprocal, off by 2^-51 and 2^-34 of themselves at most; no
 * numbers for a <= 0. They begin with a guess that is off by 2^-14, or 1.5 * 2^-12. */
SYI_INLINE void squares_root(const squares *s, syi_vec a, syi_vec *root, syi_vec *half)
{
#if SYI_VECTOR == 8
    const syi_vec one_half = syi_vec_of(0.5);
    syi_vec guess = (syi_vec)_mm512_rsqrt14_pd((__m512d)a), rest;
    (void)s;
    *root = a * guess;
    *half = one_half * guess;
    for (int i = 0; i < 2; i++) {
        rest = syi_vec_fnma(*root, *half, one_half);
        *root = syi_vec_fma(*root, rest, *root);
        *half = syi_vec_fma(*half, rest, *half);
    }
#else
    __m128 narrow = _mm_rsqrt_ps(_mm256_cvtpd_ps((__m256d)(a * s->down)));
    syi_vec guess = (syi_vec)_mm256_cvtps_pd(narrow) * s->up, rest;
    *root = (syi_vec)_mm256_sqrt_pd((__m256d)a);
    rest = syi_vec_fnma(*root, guess, syi_vec_of(1.0));
    guess *= syi_vec_of(0.5);
    *half = syi_vec_fma(guess, syi_vec_fma(rest, rest, rest), guess);
#endif
}

/* The roots and what they lack: below 2^-51 of them, of which less than 2^-34 is lost. This is the
 * longest time without results to be put, so what is read later is asked for, from `next` on. */
SYI_INLINE void squares_roots(const squares *s, squares_batch *b, uintptr_t next)
{
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        syi_ask_for(next + (uintptr_t)k * SYI_VECTOR * sizeof(double), 1);
        syi_vec spread = b->square[k], root, half;
        squares_root(s, spread, &root, &half);
        b->root[k] = root;
        b->half[k] = half;
        b->root_low[k] = (syi_vec_fnma(root, root, spread) + b->square_low[k]) * half;
    }
}

/* (high + low) * factor. */
SYI_INLINE void squares_scale(const squares *s, syi_vec high, syi_vec low, syi_vec *product,
                              syi_vec *below)
{
    *product = high * s->factor;
    *below = syi_vec_fma(high, s->factor, -*product);
    *below = syi_vec_fma(low, s->factor, syi_vec_fma(high, s->factor_low, *below));
}

/* high + low, which is off by `bound` at most, rounded as the largest it can be, and *least as the
 * least. Of no numbers none is sure. */
SYI_INLINE syi_vec squares_round(syi_vec high, syi_vec low, syi_vec bound, syi_vec *least,
                                 syi_vec_mask *sure)
{
    const syi_vec most = high + (low + bound);
    *least = high + syi_vec_less(low, bound);
    *sure = syi_vec_mask_ordered(*sure, most, *least);
    return most;
}

/* The mean and a step up or, for the lower one, down, with what both lack; `bound` is that of its
 * error. */
SYI_INLINE syi_vec squares_band(syi_vec mean, syi_vec step, int lower, syi_vec low, syi_vec bound,
                                squares_way way, syi_vec *least, syi_vec_mask *sure)
{
    syi_vec band, rest;
    if (squares_are_far(way) || way == SQUARES_WHOLE) {
        syi_vec_two_sum(mean, lower ? -step : step, &band, &rest);
    } else if (lower) {
        band = mean - step;
        rest = (mean - band) - step;
    } else {
        syi_vec_quick_sum(mean, step, &band, &rest);
    }
    return squares_round(band, syi_vec_plus(low, rest), bound, least, sure);
}

/* The means, and the bands at their sides. Without `low` a mean lacks two of its last places at
 * most: what is lost in adding to `low` is below 2^-102 of the mean. */
SYI_INLINE syi_vec_mask squares_bands(const squares *s, squares_batch *b, squares_way way)
{
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        syi_vec rest, mean = window_mean(b->sum[k], s->pivot, &s->by, &rest), low, step, step_low;
        const syi_vec bound = way == SQUARES_WHOLE
                                  ? syi_vec_fma(s->error, b->root[k], s->mean_error)
                                  : s->error * b->half[k];
        if (squares_have_low(way))
            rest += b->sum_low[k];
        low = window_divide(rest, &s->by);
        squares_scale(s, b->root[k], b->root_low[k], &step, &step_low);
        b->out[0][k] =
            squares_band(mean, step, 0, low + step_low, bound, way, &b->least[0][k], &sure);
        b->out[1][k] = mean + low;
        b->out[2][k] =
            squares_band(mean, step, 1, low - step_low, bound, way, &b->least[1][k], &sure);
    }
    return sure;
}

SYI_INLINE syi_vec_mask squares_deviations(const squares *s, squares_batch *b, squares_way way)
{
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(8)
    for (int k = 0; k < LANE; k++) {
        syi_vec high, low;
        squares_scale(s, b->root[k], b->root_low[k], &high, &low);
        const syi_vec size = way == SQUARES_WHOLE ? b->root[k] : b->half[k];
        b->out[0][k] = squares_round(high, low, s->error * size, &b->least[0][k], &sure);
    }
    return sure;
}

/* count * (newest value - mean) in the place of column k's sum, of two parts. */
SYI_INLINE void squares_distance(const squares *s, squares_batch *b, int k, syi_vec newest)
{
    const syi_vec value = newest - s->pivot, first = value * s->by.count;
    const syi_vec below = syi_vec_fma(value, s->by.count, -first);
    syi_vec high, low;
    syi_vec_two_sum(first, -b->sum[k], &high, &low);
    syi_vec_quick_sum(high, low + (below - b->sum_low[k]), &b->sum[k], &b->sum_low[k]);
}

/* That divided by the root, and scaled. */
SYI_INLINE void squares_quotient(const squares *s, const squares_batch *b, int k, int have_low,
                                 syi_vec *high, syi_vec *low)
{
    const syi_vec root = b->root[k], half = b->half[k], twice = half + half;
    const syi_vec inverse = syi_vec_fma(twice, syi_vec_fnma(root, twice, syi_vec_of(1.0)), twice);
    const syi_vec score = b->sum[k] * inverse;
    syi_vec rest = syi_vec_fnma(score, root, b->sum[k]);
    rest = syi_vec_fnma(score, b->root_low[k], rest);
    if (have_low)
        rest += b->sum_low[k];
    squares_scale(s, score, rest * inverse, high, low);
}

/* count * (newest value - mean) / root. What is divided is exact: a multiple of the data's unit, at
 * most 2^(length + 1) times as large as they. The quotient is off by as much as the root in
 * proportion, the bound of whose error is twice too large, which covers their product. */
SYI_INLINE syi_vec_mask squares_scores(const squares *s, squares_batch *b, const syi_vec *newest,
                                       squares_way way)
{
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(8)
    for (int k = 0; k < LANE; k++) {
        if (squares_have_low(way))
            squares_distance(s, b, k, newest[k]);
        else /* which is a double then */
            b->sum[k] = syi_vec_fma(newest[k] - s->pivot, s->by.count, -b->sum[k]);
    }
    SYI_UNROLL(8)
    for (int k = 0; k < LANE; k++) {
        const syi_vec half = b->half[k];
        syi_vec high, low;
        squares_quotient(s, b, k, squares_have_low(way), &high, &low);
        sure = syi_vec_mask_ordered(sure, s->least, b->square[k]);
        const syi_vec each = way == SQUARES_WHOLE ? s->error : s->error * half * half;
        b->out[0][k] = squares_round(high, low, each * syi_vec_abs(high), &b->least[0][k], &sure);
    }
    return sure;
}

SYI_INLINE syi_vec_mask squares_results(const squares *s, squares_batch *b, const syi_vec *newest,
                                        syi_window_kind kind, squares_way way)
{
    return kind == SYI_WINDOW_BANDS   ? squares_bands(s, b, way)
           : kind == SYI_WINDOW_SCORE ? squares_scores(s, b, newest, way)
                                      : squares_deviations(s, b, way);
}

#endif
#endif
