/*
 * A batch of rolling deviations, scores or bands (squares.h), or one after another of stretches
 * (stretches.h): loops over its columns that are short enough to overlap; which of them are
 * unrolled has been measured. Compiled for several instruction sets.
 */
#include "window/stretches.h"

#if SYI_HAVE_VECTORS

/* The changes since each lane's beginning. */
SYI_INLINE void squares_slide(squares *s, squares_batch *b, const double *x, const double *old,
                              squares_way way)
{
    squares_moments m = s->start;
    for (int k = 0; k < LANE; k += SYI_VECTOR) {
        syi_vec in[SYI_VECTOR], out[SYI_VECTOR];
        syi_vec_columns(x + k, LANE, in);
        syi_vec_columns(old + k, LANE, out);
        SYI_UNROLL(8)
        for (int j = 0; j < SYI_VECTOR; j++) {
            squares_change(s, &m, in[j], out[j], way);
            b->sum[k + j] = m.sum;
            if (squares_have_low(way))
                b->sum_low[k + j] = m.sum_low;
            if (way == SQUARES_DEEP)
                b->sum_least[k + j] = m.sum_least;
            b->square[k + j] = m.square;
            b->square_low[k + j] = m.square_low;
        }
    }
    b->before = squares_before(s, &m, way);
}

/* What the low parts of column k's sums are, with the third ones; the first ones get of them what
 * they hold. */
SYI_INLINE syi_vec squares_join(squares_batch *b, int k, syi_vec *sum,
                                const squares_moments *before, squares_way way)
{
    syi_vec low = syi_vec_plus(b->sum_low[k], before->sum_low);
    if (way == SQUARES_DEEP) {
        syi_vec_two_sum(*sum, low, sum, &low);
        low += b->sum_least[k] + before->sum_least;
        syi_vec_two_sum(*sum, low, sum, &low);
    } else {
        syi_vec_quick_sum(*sum, low, sum, &low);
    }
    return low;
}

/* The windows' sums, and in the place of the squares count * square - sum^2. */
SYI_INLINE void squares_spreads(const squares *s, squares_batch *b, squares_way way)
{
    const squares_moments before = b->before;
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        syi_vec sum = syi_vec_plus(b->sum[k], before.sum), low, spread, rest;
        syi_vec square = b->square[k] + before.square;
        if (squares_have_low(way))
            b->sum_low[k] = low = squares_join(b, k, &sum, &before, way);
        syi_vec scaled = s->by.count * square, below = syi_vec_fma(s->by.count, square, -scaled);
        below = syi_vec_fma(s->by.count, syi_vec_plus(b->square_low[k], before.square_low), below);
        square = sum * sum;
        below += syi_vec_fnma(sum, sum, square);
        if (squares_have_low(way))
            below = syi_vec_fnma(sum, low, syi_vec_fnma(sum, low, below));
        b->sum[k] = sum;
        syi_vec_quick_sum(scaled, -square, &spread, &rest);
        syi_vec_quick_sum(spread, below + rest, &b->square[k], &b->square_low[k]);
    }
}

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

/* count * (newest value - mean) / root. What is divided is exact: a multiple of the data's unit, at
 * most 2^(length + 1) times as large as they. The quotient is off by as much as the root in
 * proportion, the bound of whose error is twice too large, which covers their product. */
SYI_INLINE syi_vec_mask squares_scores(const squares *s, squares_batch *b, const syi_vec *newest,
                                       squares_way way)
{
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(8)
    for (int k = 0; k < LANE; k++) {
        syi_vec value = newest[k] - s->pivot, high, low;
        if (!squares_have_low(way)) { /* which is a double then */
            b->sum[k] = syi_vec_fma(value, s->by.count, -b->sum[k]);
            continue;
        }
        syi_vec first = value * s->by.count, below = syi_vec_fma(value, s->by.count, -first);
        syi_vec_two_sum(first, -b->sum[k], &high, &low);
        syi_vec_quick_sum(high, low + (below - b->sum_low[k]), &b->sum[k], &b->sum_low[k]);
    }
    SYI_UNROLL(8)
    for (int k = 0; k < LANE; k++) {
        syi_vec root = b->root[k], half = b->half[k], inverse = half + half, score, rest, high, low;
        inverse = syi_vec_fma(inverse, syi_vec_fnma(root, inverse, syi_vec_of(1.0)), inverse);
        score = b->sum[k] * inverse;
        rest = syi_vec_fnma(score, root, b->sum[k]);
        rest = syi_vec_fnma(score, b->root_low[k], rest);
        if (squares_have_low(way))
            rest += b->sum_low[k];
        squares_scale(s, score, rest * inverse, &high, &low);
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

SYI_INLINE int squares_run_as(squares *s, squares_batch *b, const double *x, const double *old,
                              double *const *out, int past, syi_window_kind kind, squares_way way)
{
    squares_slide(s, b, x, old, way);
    squares_spreads(s, b, way);
    squares_roots(s, b, (uintptr_t)(x + s->ahead));
    if (kind == SYI_WINDOW_SCORE)
        lanes_load(x, b->out[0]);
    const syi_vec_mask sure = squares_results(s, b, b->out[0], kind, way);
    if (out == NULL || !syi_vec_mask_is_full(sure))
        return 0;
    for (int j = 0; j < syi_window_outputs(kind); j++)
        lanes_put(out[j], LANE, b->out[j], past);
    return 1;
}

/* Each a function: together in one they take 2 to 3 % longer. */
#define SQUARES_RUN(name, kind, way)                                                               \
    static __attribute__((noinline)) int name(squares *s, squares_batch *b, const double *x,       \
                                              const double *old, double *const *out, int past)     \
    {                                                                                              \
        return squares_run_as(s, b, x, old, out, past, kind, way);                                 \
    }
#define SQUARES_RUN_EACH_WAY(name, kind)                                                           \
    SQUARES_RUN(name##_deep, kind, SQUARES_DEEP)                                                   \
    SQUARES_RUN(name##_far, kind, SQUARES_FAR)                                                     \
    SQUARES_RUN(name##_near, kind, SQUARES_NEAR)                                                   \
    SQUARES_RUN(name##_close, kind, SQUARES_CLOSE)

SQUARES_RUN_EACH_WAY(squares_run_bands, SYI_WINDOW_BANDS)
SQUARES_RUN_EACH_WAY(squares_run_scores, SYI_WINDOW_SCORE)
SQUARES_RUN_EACH_WAY(squares_run_deviations, SYI_WINDOW_DEVIATION)

int SYI_ISA_NAME(syi_squares_run)(squares *s, squares_batch *b, const double *x, const double *old,
                                  double *const *out, int past)
{
    static int (*const run[][4])(squares *, squares_batch *, const double *, const double *,
                                 double *const *, int) = {
        [SYI_WINDOW_BANDS] = {squares_run_bands_deep, squares_run_bands_far, squares_run_bands_near,
                              squares_run_bands_close},
        [SYI_WINDOW_SCORE] = {squares_run_scores_deep, squares_run_scores_far,
                              squares_run_scores_near, squares_run_scores_close},
        [SYI_WINDOW_DEVIATION] = {squares_run_deviations_deep, squares_run_deviations_far,
                                  squares_run_deviations_near, squares_run_deviations_close}};
    return run[s->kind][s->way](s, b, x, old, out, past);
}

/* The windows lose `out` and get `in` (stretches.h). */
SYI_INLINE void stretches_change(const squares *s, squares_moments *m, syi_vec in, syi_vec out,
                                 squares_way way)
{
    const syi_vec change = syi_vec_less(in, out), c = s->by.count;
    const syi_vec both = syi_vec_fma(syi_vec_of(2.0), syi_vec_less(out, s->pivot), change);
    syi_vec sum, factor, low = m->square_low, square;
    if (!squares_have_low(way)) {
        sum = m->sum + change;
        factor = syi_vec_fma(c, both, -(m->sum + sum));
    } else {
        const syi_vec more = m->sum_low + change;
        sum = m->sum + more;
        const syi_vec sum_low = more - (sum - m->sum);
        const syi_vec whole = syi_vec_fma(c, both, s->shift) - s->shift;
        factor = whole - ((m->sum - s->shift) + (sum - s->shift));
        low = syi_vec_fma(change, syi_vec_fma(c, both, -whole) - (m->sum_low + sum_low), low);
        m->sum_low = sum_low;
    }
    square = syi_vec_fma(change, factor, m->square);
    m->square_low = low + syi_vec_fma(change, factor, m->square - square);
    m->square = square;
    m->sum = sum;
}

/* The sums and spreads of a batch. */
SYI_INLINE void stretches_slide(const squares *s, squares_moments *m, squares_batch *b,
                                const syi_vec *column, squares_way way)
{
    SYI_UNROLL(8)
    for (int k = 0; k < LANE; k++) {
        stretches_change(s, m, column[k], column[k - s->period], way);
        if (!squares_have_low(way))
            b->sum[k] = m->sum;
        else
            syi_vec_quick_sum(m->sum - s->shift, m->sum_low, &b->sum[k], &b->sum_low[k]);
        syi_vec_quick_sum(m->square - s->start.square, m->square_low, &b->square[k],
                          &b->square_low[k]);
    }
}

/* Columns whose bands a core's own caches hold, with what they are of. */
#define STRETCHES_NEAR_COLUMNS 32768

/* Asks for where bands from column `at` of each stretch on are written: in so many places at once a
 * processor does not look ahead itself. */
SYI_INLINE void stretches_ask(const stretches *t, double *const *out, int64_t at)
{
    for (int j = 0; j < syi_window_outputs(SYI_WINDOW_BANDS); j++)
        for (int l = 0; l < SYI_VECTOR; l++)
            syi_ask_to_write((uintptr_t)(out[j] + at + l * t->apart), LANE);
}

SYI_INLINE int64_t stretches_run_as(const squares *restrict s, stretches *t,
                                    squares_batch *restrict b, double *const *out, int64_t at,
                                    syi_window_kind kind, squares_way way)
{
    const syi_vec *column = t->tile + t->before;
    const int asks = kind == SYI_WINDOW_BANDS && !s->past && s->known > STRETCHES_NEAR_COLUMNS;
    squares_moments m = t->moments;
    for (int64_t k = at > 0 ? 0 : -s->period; k < 0; k++)
        stretches_change(s, &m, column[k], s->pivot, way);
    for (; at < t->columns; at += LANE) {
        stretches_slide(s, &m, b, column + at, way);
        if (asks && at + 2 * LANE <= t->columns)
            stretches_ask(t, out, at + LANE);
        squares_roots(s, b, t->next + (uintptr_t)at * SYI_VECTOR * sizeof(double));
        const syi_vec_mask sure = squares_results(s, b, column + at, kind, way);
        if (at + LANE > t->whole || !syi_vec_mask_is_full(sure | t->lost))
            break;
        for (int j = 0; j < syi_window_outputs(kind); j++)
            stretches_put(t, b->out[j], out[j] + at, s->past);
    }
    t->moments = m;
    return at;
}

#define STRETCHES_RUN(name, kind, way)                                                             \
    static __attribute__((noinline)) int64_t name(const squares *restrict s, stretches *t,         \
                                                  squares_batch *restrict b, double *const *out,   \
                                                  int64_t at)                                      \
    {                                                                                              \
        return stretches_run_as(s, t, b, out, at, kind, way);                                      \
    }
#define STRETCHES_RUN_EACH_WAY(name, kind)                                                         \
    STRETCHES_RUN(name##_near, kind, SQUARES_NEAR)                                                 \
    STRETCHES_RUN(name##_close, kind, SQUARES_CLOSE)                                               \
    STRETCHES_RUN(name##_whole, kind, SQUARES_WHOLE)

STRETCHES_RUN_EACH_WAY(stretches_run_bands, SYI_WINDOW_BANDS)
STRETCHES_RUN_EACH_WAY(stretches_run_scores, SYI_WINDOW_SCORE)
STRETCHES_RUN_EACH_WAY(stretches_run_deviations, SYI_WINDOW_DEVIATION)

int64_t SYI_ISA_NAME(syi_stretches_run)(const squares *s, stretches *t, squares_batch *b,
                                        double *const *out, int64_t at)
{
    static int64_t (*const run[][3])(const squares *, stretches *, squares_batch *, double *const *,
                                     int64_t) = {
        [SYI_WINDOW_BANDS] = {stretches_run_bands_near, stretches_run_bands_close,
                              stretches_run_bands_whole},
        [SYI_WINDOW_SCORE] = {stretches_run_scores_near, stretches_run_scores_close,
                              stretches_run_scores_whole},
        [SYI_WINDOW_DEVIATION] = {stretches_run_deviations_near, stretches_run_deviations_close,
                                  stretches_run_deviations_whole}};
    return run[s->kind][s->way - SQUARES_NEAR](s, t, b, out, at);
}

#endif
