/*
 * The quick way through a stretch of rolling deviations, scores and bands. Values are taken as
 * distances d from a pivot among them. The sum of the d slides exactly, as in window/grid.h, that
 * of their squares as Q = high + low, high being a sum large enough to have a grid g itself: adding
 * to it cuts what is added, and low gets what was cut off. The mean is certain, what is made of
 * the deviation is tested.
 *
 * Where no value is more than twice another (`near`), the window changes by i - o and the sum of
 * the squares by (i - o) (i + o), with both factors exact. Else the pivot is 0, and squares come
 * and go.
 *
 * With |d| < 2^top and windows of c <= 2^length values Q stays below 2^50 g for g = 2^(2 top +
 * length - 50), and the sums within 2^51 g of their beginning, 1.5 * 2^52 g. After n additions low
 * is below n g / 2. Each of them and each of the few that join lanes and batches lost 2^-53 of
 * that at most. So c Q - S^2 is off by 1.125 c g n^2 / 2^53 at most, also where what is made of
 * high and low loses something because low is the larger one.
 */
#ifndef SYI_KERNELS_WINDOW_SQUARES_H
#define SYI_KERNELS_WINDOW_SQUARES_H

#include "window/certify.h"
#include "window/lanes.h"
#include "window/window.h"

#if SYI_HAVE_VECTORS

/* Longer windows would be in doubt too often. */
#define SQUARES_LONGEST 4096

/* What is made of a spread's root is off by this much of itself at most, and by what the spread is.
 */
#define SQUARES_SLACK 0x1p-85

typedef struct squares_moments {
    syi_vec sum, sum_low, square, square_low;
} squares_moments;

typedef struct squares {
    squares_moments before; /* of the window so far, in each element */
    squares_moments start;  /* what sums of changes begin with */
    syi_vec pivot, shift;
    syi_vec count, reciprocal;
    /* Times the spread's root: the deviation, or the bands' distance from the mean; a score is
     * divided by the root and multiplied by this. */
    syi_vec factor, factor_low;
    /* Times 0.5 / root: the bound of the result's error. A score's: times its square, times the
     * score. */
    syi_vec error;
    syi_vec least;    /* windows with a larger spread are not flat */
    syi_vec down, up; /* 2^-2e and 2^-e, spreads being below 2^2e */
    int64_t period;
    double width; /* |factor| */
    syi_window_kind kind;
    int near;
    int past;      /* whole batches go past the cache */
    int64_t ahead; /* columns from a batch to what is asked for on the way; 0: nothing is */
} squares;

typedef enum squares_fit {
    SQUARES_UNFIT,
    SQUARES_FLAT, /* all values are one */
    SQUARES_FIT,
} squares_fit;

SYI_INLINE double squares_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Grids and bounds for values of which |d| < 2^top. Spreads that differ by e have roots that differ
 * by e / the larger one at most; what is in proportion to a root is so to the largest one's square
 * / the root. */
SYI_INLINE void squares_bound(squares *s, int top, int64_t count, double largest)
{
    const int length = window_length(s->period);
    const double grid = syi_pow2(2 * top + length - 50), period = (double)s->period;
    const double most = period * syi_pow2(top); /* of a root */
    const double n = (double)((s->near ? 1 : 2) * count + 64);
    const double spread_error = 1.1875 * period * grid * n * n * 0x1p-53;
    double error = 2.0 * spread_error + 2.0 * SQUARES_SLACK * most * most;
    error *= s->kind == SYI_WINDOW_SCORE ? 2.125 : 1.0625 * s->width;
    if (s->kind == SYI_WINDOW_BANDS) /* and 2^-98 of the mean */
        error += 0x1p-97 * largest * most;
    s->error = syi_vec_of(error);
    s->least = syi_vec_of(spread_error);
    s->shift = syi_vec_of(1.5 * syi_pow2(top + length + (s->near ? 3 : 1)));
    s->start.sum = syi_vec_of(s->near ? s->shift[0] : 0.0);
    s->start.square = syi_vec_of(1.5 * grid * 0x1p52);
    s->down = syi_vec_of(syi_pow2(-2 * (top + length)));
    s->up = syi_vec_of(syi_pow2(-(top + length)));
}

/* Chooses pivot, if it can the one given, and grids for `count` values, columns - period + 1. */
SYI_INLINE squares_fit squares_begin(squares *s, const window_range *range, double pivot,
                                     int64_t count)
{
    const syi_span *span = &range->span;
    const double least = range->least, most = range->most;
    const double size = squares_larger(most - pivot, pivot - least);
    const int length = window_length(s->period), bits = span->top - span->bottom;
    if (span->has_non_finite)
        return SQUARES_UNFIT;
    if (least == most)
        return SQUARES_FLAT;
    if (bits > 103 - 2 * length || bits > 99 - length || span->bottom < -400 || span->top > 400)
        return SQUARES_UNFIT;
    int top = syi_split(size).exponent + 53;
    s->near = window_is_near(range) && top - span->bottom <= 52;
    if (s->kind == SYI_WINDOW_BANDS) /* the mean is to be larger than what is added */
        s->near &= s->width * (double)s->period * syi_pow2(top + 1) <= squares_larger(least, -most);
    s->pivot = syi_vec_of(s->near ? pivot : 0.0);
    squares_bound(s, s->near ? top : span->top, count, squares_larger(most, -least));
    return SQUARES_FIT;
}

/* A window gets `in` and loses `out`. */
SYI_INLINE void squares_change(const squares *s, squares_moments *m, syi_vec in, syi_vec out,
                               int near)
{
    syi_vec sum, cut;
    if (near) {
        syi_vec change = syi_vec_less(in, out);
        syi_vec both = syi_vec_fma(syi_vec_of(2.0), syi_vec_less(out, s->pivot), change);
        sum = m->sum + change;
        m->sum_low = syi_vec_plus(m->sum_low, change - (sum - m->sum));
        m->sum = sum;
        sum = syi_vec_fma(change, both, m->square);
        m->square_low += syi_vec_fma(change, both, m->square - sum);
        m->square = sum;
        return;
    }
    syi_vec a = (in + s->shift) - s->shift, b = (out + s->shift) - s->shift;
    m->sum += a - b;
    m->sum_low += (in - a) - (out - b);
    sum = syi_vec_fma(in, in, m->square);
    m->square_low += syi_vec_fma(in, in, m->square - sum);
    cut = syi_vec_fnma(out, out, sum);
    m->square_low -= syi_vec_fma(out, out, cut - sum);
    m->square = cut;
}

/* What comes before the lanes that these changes were made in. */
SYI_INLINE squares_moments squares_before(squares *s, const squares_moments *m)
{
    squares_moments *all = &s->before;
    return (squares_moments){lanes_before(&all->sum, m->sum - s->start.sum) - s->start.sum,
                             lanes_before(&all->sum_low, m->sum_low),
                             lanes_before(&all->square, m->square - s->start.square) -
                                 s->start.square,
                             lanes_before(&all->square_low, m->square_low)};
}

/* The first window so far. Zero distances fill up the last vector. */
static inline void squares_fill(squares *s, const double *x, int64_t count)
{
    squares_moments m = s->start;
    s->before = (squares_moments){{0}, {0}, {0}, {0}};
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        syi_vec next = s->pivot;
        if (i + SYI_VECTOR <= count)
            next = syi_vec_load(x + i);
        for (int k = 0; i + SYI_VECTOR > count && k < count - i; k++)
            next[k] = x[i + k];
        squares_change(s, &m, next, s->pivot, s->near);
    }
    squares_before(s, &m);
}

/* ---- a batch, in loops that are short enough to overlap ---- */

typedef struct squares_batch {
    squares_moments before; /* each lane */
    syi_vec sum[LANE], sum_low[LANE], square[LANE], square_low[LANE];
    syi_vec root[LANE], root_low[LANE], half[LANE]; /* 0.5 / root */
    syi_vec out[3][LANE];
    syi_vec_mask sure[LANE]; /* of the windows of a column of each lane */
} squares_batch;

/* The changes since each lane's beginning. */
SYI_INLINE void squares_slide(squares *s, squares_batch *b, const double *x, const double *old,
                              int near)
{
    squares_moments m = s->start;
    for (int k = 0; k < LANE; k += SYI_VECTOR) {
        syi_vec in[SYI_VECTOR], out[SYI_VECTOR];
        syi_vec_columns(x + k, LANE, in);
        syi_vec_columns(old + k, LANE, out);
        SYI_UNROLL(8)
        for (int j = 0; j < SYI_VECTOR; j++) {
            squares_change(s, &m, in[j], out[j], near);
            b->sum[k + j] = m.sum;
            b->sum_low[k + j] = m.sum_low;
            b->square[k + j] = m.square;
            b->square_low[k + j] = m.square_low;
        }
    }
    b->before = squares_before(s, &m);
}

/* The windows' sums, and in the place of the squares count * square - sum^2. */
SYI_INLINE void squares_spreads(const squares *s, squares_batch *b)
{
    const squares_moments before = b->before;
    for (int k = 0; k < LANE; k++) {
        syi_vec sum, low, spread, rest, square = b->square[k] + before.square;
        syi_vec_quick_sum(syi_vec_plus(b->sum[k], before.sum),
                          syi_vec_plus(b->sum_low[k], before.sum_low), &sum, &low);
        syi_vec scaled = s->count * square, below = syi_vec_fma(s->count, square, -scaled);
        below = syi_vec_fma(s->count, syi_vec_plus(b->square_low[k], before.square_low), below);
        square = sum * sum;
        below -= syi_vec_fma(sum, sum, -square);
        below = syi_vec_fnma(sum, low, syi_vec_fnma(sum, low, below));
        b->sum[k] = sum;
        b->sum_low[k] = low;
        syi_vec_quick_sum(scaled, -square, &spread, &rest);
        syi_vec_quick_sum(spread, below + rest, &b->square[k], &b->square_low[k]);
    }
}

/* The root of a > 0 and half its reciprocal, off by 2^-43 and 2^-34 of themselves at most; no
 * numbers for a <= 0. They begin with a guess that is off by 1.5 * 2^-12. */
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

/* The roots and what they lack: below 2^-42 of them, of which less than 2^-33 is lost. This is the
 * longest time without results to be put, so what lies ahead is asked for. */
SYI_INLINE void squares_roots(const squares *s, squares_batch *b, const double *x)
{
    for (int k = 0; k < LANE; k++) {
        if (s->ahead)
            syi_ask_for((uintptr_t)(x + s->ahead + k * SYI_VECTOR), 1);
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

/* high + low rounded; error * size is the bound of its error. */
SYI_INLINE syi_vec squares_round(syi_vec high, syi_vec low, syi_vec error, syi_vec size,
                                 syi_vec_mask *sure)
{
    syi_vec value = high + syi_vec_fma(error, size, low);
    *sure = syi_vec_mask_ordered(*sure, value, high + syi_vec_fnma(error, size, low));
    return value;
}

/* The means, and in the place of the sums what they lack. */
SYI_INLINE void squares_means(const squares *s, squares_batch *b)
{
    for (int k = 0; k < LANE; k++) {
        syi_vec total = b->sum[k], quotient = total * s->reciprocal, mean, low;
        syi_vec left = syi_vec_fnma(quotient, s->count, total) + b->sum_low[k];
        syi_vec part = left * s->reciprocal;
        part = syi_vec_fma(syi_vec_fnma(part, s->count, left), s->reciprocal, part);
        syi_vec_quick_sum(s->pivot, quotient, &mean, &low);
        syi_vec_quick_sum(mean, low + part, &b->out[1][k], &b->sum[k]);
    }
}

/* out[j][k]: the mean and a step. */
SYI_INLINE void squares_band(const squares *s, squares_batch *b, int k, syi_vec step,
                             syi_vec step_low, int j)
{
    syi_vec band, low;
    if (s->near)
        syi_vec_quick_sum(b->out[1][k], step, &band, &low);
    else
        syi_vec_two_sum(b->out[1][k], step, &band, &low);
    low += b->sum[k] + step_low;
    b->out[j][k] = squares_round(band, low, s->error, b->half[k], &b->sure[k]);
}

/* The upper bands, and in the place of the roots the steps from the means. */
SYI_INLINE void squares_upper(const squares *s, squares_batch *b)
{
    for (int k = 0; k < LANE; k++) {
        squares_scale(s, b->root[k], b->root_low[k], &b->root[k], &b->root_low[k]);
        b->sure[k] = syi_vec_mask_full();
        squares_band(s, b, k, b->root[k], b->root_low[k], 0);
    }
}

SYI_INLINE void squares_lower(const squares *s, squares_batch *b)
{
    for (int k = 0; k < LANE; k++)
        squares_band(s, b, k, -b->root[k], -b->root_low[k], 2);
}

SYI_INLINE void squares_deviations(const squares *s, squares_batch *b)
{
    for (int k = 0; k < LANE; k++) {
        syi_vec high, low;
        squares_scale(s, b->root[k], b->root_low[k], &high, &low);
        b->sure[k] = syi_vec_mask_full();
        b->out[0][k] = squares_round(high, low, s->error, b->half[k], &b->sure[k]);
    }
}

/* count * (newest value - mean) / root. What is divided is exact: a multiple of the data's unit, at
 * most 2^(length + 1) times as large as they. The quotient is off by as much as the root in
 * proportion, the bound of whose error is twice too large, which covers their product. */
SYI_INLINE void squares_scores(const squares *s, squares_batch *b, const double *x)
{
    lanes_load(x, b->out[0]);
    for (int k = 0; k < LANE; k++) {
        syi_vec value = b->out[0][k] - s->pivot, high, low;
        syi_vec first = value * s->count, below = syi_vec_fma(value, s->count, -first);
        syi_vec_two_sum(first, -b->sum[k], &high, &low);
        low += below - b->sum_low[k];
        syi_vec_quick_sum(high, low, &b->sum[k], &b->sum_low[k]);
    }
    for (int k = 0; k < LANE; k++) {
        syi_vec root = b->root[k], half = b->half[k], inverse = half + half, score, rest, high, low;
        inverse = syi_vec_fma(inverse, syi_vec_fnma(root, inverse, syi_vec_of(1.0)), inverse);
        score = b->sum[k] * inverse;
        rest = syi_vec_fnma(score, root, b->sum[k]);
        rest += syi_vec_fnma(score, b->root_low[k], b->sum_low[k]);
        squares_scale(s, score, rest * inverse, &high, &low);
        b->sure[k] = syi_vec_mask_ordered(syi_vec_mask_full(), s->least, b->square[k]);
        b->out[0][k] =
            squares_round(high, low, s->error * half * half, syi_vec_abs(high), &b->sure[k]);
    }
}

/* The windows that end at x[0 .. BATCH) and lose old[..]; whether all are sure. Each output is put
 * as soon as it is there: all at once are more than can be on its way past the cache. */
static int squares_run(squares *s, squares_batch *b, const double *x, const double *old,
                       double *const *out, int past)
{
    const int bands = s->kind == SYI_WINDOW_BANDS;
    s->near ? squares_slide(s, b, x, old, 1) : squares_slide(s, b, x, old, 0);
    squares_spreads(s, b);
    if (bands) {
        squares_means(s, b);
        lanes_put(out[1], b->out[1], past);
    }
    squares_roots(s, b, x);
    if (bands)
        squares_upper(s, b);
    else if (s->kind == SYI_WINDOW_SCORE)
        squares_scores(s, b, x);
    else
        squares_deviations(s, b);
    lanes_put(out[0], b->out[0], past);
    if (bands) {
        squares_lower(s, b);
        lanes_put(out[2], b->out[2], past);
    }
    syi_vec_mask sure = b->sure[0];
    for (int k = 1; k < LANE; k++)
        sure &= b->sure[k];
    return syi_vec_mask_is_full(sure);
}

/* Bit i: the batch's window i is not sure. */
SYI_INLINE uint64_t squares_unsure(const squares_batch *b)
{
    uint64_t unsure = 0;
    for (int k = 0; k < LANE; k++) {
        uint64_t sure = syi_vec_mask_bits(b->sure[k]);
        for (int l = 0; l < SYI_VECTOR; l++)
            unsure |= (~sure >> l & 1) << (l * LANE + k);
    }
    return unsure;
}

#endif
#endif
