/*
 * A batch of rolling deviations, scores or bands (squares.h), or one after another of stretches
 * (stretches.h): loops over its columns that are short enough to overlap; which of them are
 * unrolled has been measured. Compiled for several instruction sets.
 */
#include "window/outlying.h"

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

/* The windows' sums, and in the place of the squares count * square - sum^2. */
SYI_INLINE void squares_spreads(const squares *s, squares_batch *b, squares_way way)
{
    const squares_moments before = b->before;
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        window_parts parts = {.high = syi_vec_plus(b->sum[k], before.sum)};
        syi_vec sum = parts.high, low, spread, rest;
        syi_vec square = b->square[k] + before.square;
        if (way == SQUARES_DEEP)
            parts.least = b->sum_least[k] + before.sum_least;
        if (squares_have_low(way)) {
            parts.low = syi_vec_plus(b->sum_low[k], before.sum_low);
            window_join_parts(&parts, way == SQUARES_DEEP, &sum, &low);
            b->sum_low[k] = low;
        }
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

/* The batches of columns [at, end); returns as syi_stretches_run(). */
SYI_INLINE int64_t stretches_run_as(const squares *restrict s, stretches *t,
                                    squares_batch *restrict b, double *const *out, int64_t at,
                                    int64_t end, syi_window_kind kind, squares_way way,
                                    int is_outlying)
{
    const syi_vec *column = t->tile + t->before;
    const int asks = kind == SYI_WINDOW_BANDS && !s->past && s->known > STRETCHES_NEAR_COLUMNS;
    squares_moments m = t->moments;
    for (int64_t k = at > 0 ? 0 : -s->period; k < 0; k++)
        stretches_change(s, &m, column[k], s->pivot, way);
    for (; at < end; at += LANE) {
        stretches_slide(s, &m, b, column + at, way);
        if (is_outlying)
            outlying_join(s, t, b, at, kind, way);
        if (asks && at + 2 * LANE <= t->columns)
            stretches_ask(t, out, at + LANE);
        squares_roots(s, b, t->next + (uintptr_t)at * SYI_VECTOR * sizeof(double));
        const syi_vec_mask sure = is_outlying ? outlying_results(s, b, column + at, kind)
                                              : squares_results(s, b, column + at, kind, way);
        if (at + LANE > t->whole || !syi_vec_mask_is_full(sure | t->lost))
            break;
        for (int j = 0; j < syi_window_outputs(kind); j++)
            stretches_put(t, b->out[j], out[j] + at, s->past);
    }
    t->moments = m;
    return at;
}

#define STRETCHES_RUN(name, kind, way, is_outlying)                                                \
    static __attribute__((noinline)) int64_t name(const squares *restrict s, stretches *t,         \
                                                  squares_batch *restrict b, double *const *out,   \
                                                  int64_t at, int64_t end)                         \
    {                                                                                              \
        return stretches_run_as(s, t, b, out, at, end, kind, way, is_outlying);                    \
    }
#define STRETCHES_RUN_EACH_WAY(name, kind)                                                         \
    STRETCHES_RUN(name##_near, kind, SQUARES_NEAR, 0)                                              \
    STRETCHES_RUN(name##_near_outlying, kind, SQUARES_NEAR, 1)                                     \
    STRETCHES_RUN(name##_close, kind, SQUARES_CLOSE, 0)                                            \
    STRETCHES_RUN(name##_close_outlying, kind, SQUARES_CLOSE, 1)                                   \
    STRETCHES_RUN(name##_whole, kind, SQUARES_WHOLE, 0)
#define STRETCHES_EACH_WAY(name)                                                                   \
    {                                                                                              \
        {name##_near, name##_near_outlying}, {name##_close, name##_close_outlying},                \
        {                                                                                          \
            name##_whole                                                                           \
        }                                                                                          \
    }

STRETCHES_RUN_EACH_WAY(stretches_run_bands, SYI_WINDOW_BANDS)
STRETCHES_RUN_EACH_WAY(stretches_run_scores, SYI_WINDOW_SCORE)
STRETCHES_RUN_EACH_WAY(stretches_run_deviations, SYI_WINDOW_DEVIATION)

int64_t SYI_ISA_NAME(syi_stretches_run)(const squares *s, stretches *t, squares_batch *b,
                                        double *const *out, int64_t at)
{
    static int64_t (*const run[][3][2])(const squares *, stretches *, squares_batch *,
                                        double *const *, int64_t, int64_t) = {
        [SYI_WINDOW_BANDS] = STRETCHES_EACH_WAY(stretches_run_bands),
        [SYI_WINDOW_SCORE] = STRETCHES_EACH_WAY(stretches_run_scores),
        [SYI_WINDOW_DEVIATION] = STRETCHES_EACH_WAY(stretches_run_deviations)};
    while (at < t->columns) {
        b->is_outlying = outlying_is_met(t, at);
        const int64_t end = b->is_outlying ? at + LANE : outlying_next(t, at);
        const int64_t reached =
            run[s->kind][s->way - SQUARES_NEAR][b->is_outlying](s, t, b, out, at, end);
        if (reached < end)
            return reached;
        at = end;
    }
    return at;
}

#endif
