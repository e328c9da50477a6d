/*
 * The rolling kernels' loop: blocks of columns, each with its own scale; in them chunks of windows
 * whose exact moments are made first and rounded in a second loop, which vectorises. This file is
 * compiled for several instruction sets.
 */
#include "window/certify.h"
#include "window/decide.h"
#include "window/grid.h"
#include "window/slide.h"
#include "window/squares.h"
#include "traffic.h"

/* Columns that share a scale; not fewer than a window, so that the work of starting a block anew
 * from its halo stays in proportion. */
#define BLOCK ((int64_t)2048)

SYI_INLINE syi_approx mean_of(const chunk *c, int j, const syi_window_constants *k)
{
    return syi_window_mean((syi_approx){c->sum_high[j], c->sum_low[j], c->sum_error[j]}, k);
}

SYI_INLINE syi_approx deviation_of(const chunk *c, int j, const syi_window_constants *k)
{
    return syi_window_deviation(c->spread_high[j], c->spread_low[j], k);
}

static void finish_means(const chunk *c, int n, const syi_window_constants *k, double *restrict out,
                         double *restrict doubt)
{
    for (int j = 0; j < n; j++)
        out[j] = syi_settle(mean_of(c, j, k), k->unit, &doubt[j]);
}

static void finish_deviations(const chunk *c, int n, const syi_window_constants *k,
                              double *restrict out, double *restrict doubt)
{
    for (int j = 0; j < n; j++)
        out[j] = syi_settle(deviation_of(c, j, k), k->unit, &doubt[j]);
}

/* `x` holds the windows' newest values. A flat window has no score. */
static void finish_scores(const chunk *c, int n, const syi_window_constants *k, double scale,
                          const double *x, double *restrict out, double *restrict doubt)
{
    for (int j = 0; j < n; j++) {
        syi_approx sum = {c->sum_high[j], c->sum_low[j], c->sum_error[j]};
        double value = (syi_is_finite(x[j]) ? x[j] : 0.0) * scale, unsure;
        double score =
            syi_settle(syi_window_score(value, sum, deviation_of(c, j, k), k), 1.0, &unsure);
        int is_flat = c->spread_high[j] == 0.0;
        out[j] = is_flat ? syi_nan() : score;
        doubt[j] = is_flat ? 0.0 : unsure;
    }
}

static void finish_bands(const chunk *c, int n, const syi_window_constants *k,
                         double *restrict upper, double *restrict middle, double *restrict lower,
                         double *restrict doubt)
{
    for (int j = 0; j < n; j++) {
        double up, mid, down;
        syi_approx mean = mean_of(c, j, k), deviation = deviation_of(c, j, k);
        middle[j] = syi_settle(mean, k->unit, &mid);
        upper[j] = syi_settle(syi_window_band(mean, deviation, k->width), k->unit, &up);
        lower[j] = syi_settle(syi_window_band(mean, deviation, -k->width), k->unit, &down);
        doubt[j] = up + mid + down;
    }
}

/* What makes values of doubles of a chunk's unit; NaN, which leaves all in doubt, where that may
 * overflow or underflow. */
static double scale_of(const slide *s)
{
    int unit = slide_unit(s);
    return s->limbs <= 12 && unit > -900 && unit < 900 ? syi_pow2(-unit) : syi_nan();
}

/* Rounds a chunk's windows, ending at x[at .. at + n), into out[..][at .. at + n). */
static void finish(const syi_window *window, const slide *s, const chunk *c, int n, const double *x,
                   double *const *out, int64_t at)
{
    syi_window_constants k =
        syi_window_constants_of(window->period, window->ddof, window->width, slide_unit(s));
    double doubt[CHUNK];
    uint64_t doubts = 0; /* of integers, since a sum of doubles would be a chain */
    if (window->kind == SYI_WINDOW_MEAN)
        finish_means(c, n, &k, out[0] + at, doubt);
    else if (window->kind == SYI_WINDOW_DEVIATION)
        finish_deviations(c, n, &k, out[0] + at, doubt);
    else if (window->kind == SYI_WINDOW_SCORE)
        finish_scores(c, n, &k, scale_of(s), x + at, out[0] + at, doubt);
    else
        finish_bands(c, n, &k, out[0] + at, out[1] + at, out[2] + at, doubt);
    for (int j = 0; j < n; j++)
        doubts |= syi_bits(doubt[j]);
    for (int j = 0; doubts != 0 && j < n; j++) {
        double *place[3] = {out[0] + at + j, NULL, NULL};
        if (doubt[j] == 0.0)
            continue;
        if (window->kind == SYI_WINDOW_BANDS)
            place[1] = out[1] + at + j, place[2] = out[2] + at + j;
        syi_window_decide(window, s->bottom, s->limbs, &c->sum[j * s->limbs],
                          &c->spread[j * 2 * s->limbs], x[at + j], place);
    }
}

/* NaN for every window of [first, last) that holds a NaN or an infinity. */
static void mark_non_finite(const syi_window *window, const double *x, double *const *out,
                            int64_t first, int64_t last)
{
    int outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    int64_t marked = first; /* windows that end before this column hold the last one found */
    for (int64_t i = first - window->period + 1; i < last; i++) {
        if (!syi_is_finite(x[i]))
            marked = i + window->period;
        for (int k = 0; i >= first && i < marked && k < outputs; k++)
            out[k][i] = syi_nan();
    }
}

/* The windows that end at columns [first, last) of the segment. */
static void run_block(const syi_window *window, const double *x, double *const *out, int64_t first,
                      int64_t last, chunk *c)
{
    int64_t start = first - window->period + 1;
    syi_span span = syi_measure(x + start, last - start);
    slide s;
    slide_begin(&s, &span, window->period, window->kind != SYI_WINDOW_MEAN);
    slide_fill(&s, x + start, window->period - 1);
    for (int64_t at = first; at < last;) {
        int n = slide_capacity(&s);
        n = last - at < n ? (int)(last - at) : n;
        slide_step(&s, c, x + at, n);
        finish(window, &s, c, n, x, out, at);
        at += n;
    }
    if (span.has_non_finite)
        mark_non_finite(window, x, out, first, last);
}

#if SYI_HAVE_VECTORS

/* Where a block of about `stride` columns from `first` on ends: before a whole vector of y. */
static int64_t block_end(const double *y, int64_t first, int64_t last, int64_t stride)
{
    int64_t end = first + stride;
    return last <= end ? last : end - syi_vec_offset(y + end);
}

/* Means of [first, last), a block at a time; blocks of which the grid does not hold the sums go the
 * long way. */
static void run_means(const syi_window *window, const double *x, double *const *out, int64_t first,
                      int64_t last, int64_t stride, int past, chunk *c)
{
    grid grid = {.period = window->period};
    while (first < last) {
        int64_t start = first - window->period + 1, end = block_end(out[0], first, last, stride);
        double *to = out[0] + first;
        syi_span span = syi_vec_measure(x + start, end - start, past ? NULL : to);
        double shift = grid_shift(&span, window->period);
        if (shift != 0.0) {
            grid_means(&grid, shift, x + first, end - first, to, past);
        } else {
            grid.shift = 0.0;
            run_block(window, x, out, first, end, c);
        }
        first = end;
    }
}

#define SQUARES_BLOCK 256
/* More unsure vectors in so many columns than this: they are computed the long way. */
#define SQUARES_UNSURE 8

/* n <= SQUARES_COLUMNS windows that end at x[at ..], with copies; `fresh`: the first one lacks a
 * value, so none goes. */
static void squares_some(squares *s, squares_batch *batch, const double *x, int n, int fresh,
                         syi_window_kind kind, double *const *out, int64_t at)
{
    double in[SQUARES_COLUMNS], old[SQUARES_COLUMNS], results[3][SQUARES_COLUMNS];
    double *const to[3] = {results[0], results[1], results[2]};
    for (int k = 0; k < SQUARES_COLUMNS; k++) {
        in[k] = k < n ? x[at + k] : s->pivot[0];
        old[k] = k < n && k >= fresh ? x[at + k - s->period] : s->pivot[0];
    }
    squares_run(s, batch, in, old, kind, to, 0);
    for (int j = 0; j < (kind == SYI_WINDOW_BANDS ? 3 : 1); j++)
        if (s->past)
            syi_put_past(out[j] + at, results[j], n);
        else
            memcpy(out[j] + at, results[j], (size_t)n * sizeof(double));
}

/* Windows that hold nothing but this value. */
static void put_flat(syi_window_kind kind, double value, double *const *out, int64_t first,
                     int64_t last)
{
    double y = kind == SYI_WINDOW_SCORE       ? syi_nan()
               : kind == SYI_WINDOW_DEVIATION ? 0.0
                                              : value + 0.0; /* a zero is +0 */
    for (int k = 0; k < (kind == SYI_WINDOW_BANDS ? 3 : 1); k++)
        for (int64_t i = first; i < last; i++)
            out[k][i] = y;
}

/* The windows of [first, last) from the moments, which begin with the window before the first one;
 * `fresh`: with all but a value of it, since it may not be there. 0: they are to be computed the
 * long way. */
SYI_INLINE int squares_windows(const syi_window *window, squares *s, const double *x,
                               double *const *out, int64_t first, int64_t last, int fresh, chunk *c)
{
    int64_t unsure[SQUARES_UNSURE], most = (last - first) * SQUARES_UNSURE / SQUARES_BLOCK + 1;
    squares_batch batch;
    int count = 0;
    most = most < SQUARES_UNSURE ? most : SQUARES_UNSURE;
    squares_fill(s, x + first - window->period + fresh, window->period - fresh);
    for (int64_t at = first, next; at < last; at = next) {
        next = at + SQUARES_COLUMNS - syi_vec_offset(out[0] + at);
        next = last < next ? last : next;
        int n = (int)(next - at);
        double *to[3] = {out[0] + at, NULL, NULL};
        if (window->kind == SYI_WINDOW_BANDS)
            to[1] = out[1] + at, to[2] = out[2] + at;
        int lacks = fresh && at == first;
        if (lacks || n < SQUARES_COLUMNS)
            squares_some(s, &batch, x, n, lacks, window->kind, out, at);
        else
            squares_run(s, &batch, x + at, x + at - s->period, window->kind, to, s->past);
        for (int k = 0; k * SYI_VECTOR < n; k++)
            if (syi_vec_any(batch.unsure[k])) {
                if (count == most)
                    return 0;
                unsure[count++] = at + k * SYI_VECTOR;
            }
    }
    for (int k = 0; k < count; k++)
        run_block(window, x, out, unsure[k],
                  last - unsure[k] < SYI_VECTOR ? last : unsure[k] + SYI_VECTOR, c);
    return 1;
}

/* A block of deviations, scores or bands; 0: it is to be computed the long way. */
static int squares_block(const syi_window *window, squares *s, const double *x, double *const *out,
                         int64_t first, int64_t last, int fresh, chunk *c)
{
    int64_t start = first - window->period + fresh, count = last - start;
    squares_range range = squares_measure(x + start, count, s->past ? NULL : out[0] + start);
    squares_fit fit = squares_begin(s, &range, x[start + count / 2], count);
    if (fit == SQUARES_FIT)
        return squares_windows(window, s, x, out, first, last, fresh, c);
    if (fit == SQUARES_FLAT)
        put_flat(window->kind, x[first], out, first, last);
    return fit == SQUARES_FLAT;
}

/* More deviations and scores than bands are unsure, and written once more: what has gone past the
 * cache would have to be fetched again. */
static squares squares_of(const syi_window *window, double *const *out, int past)
{
    syi_window_constants k =
        syi_window_constants_of(window->period, window->ddof, window->width, 0);
    double high = k.inverse_high, low = k.inverse_low;
    if (window->kind == SYI_WINDOW_SCORE) {
        double free = (double)(window->period - window->ddof);
        high = k.period / free;
        low = fma(-high, free, k.period) / free;
    }
    return (squares){.period = window->period,
                     .count = syi_vec_of(k.period),
                     .reciprocal = syi_vec_of(k.reciprocal),
                     .inverse = syi_vec_of(high),
                     .inverse_low = syi_vec_of(low),
                     .width = syi_vec_of(k.width),
                     .past = past && window->kind == SYI_WINDOW_BANDS && syi_in_line(out, 3)};
}

/* Deviations, scores or bands of [first, last). What is too much for a block at once, say for a
 * single value that is far from the others, is as a rule not for most of its quarters. */
static void run_squares(const syi_window *window, const double *x, double *const *out,
                        int64_t first, int64_t last, int past, chunk *c)
{
    squares s = squares_of(window, out, past);
    const int64_t begin = first;
    int64_t stride = window->period > SQUARES_BLOCK / 4 ? 4 * window->period : SQUARES_BLOCK;
    stride -= stride % SQUARES_COLUMNS;
    while (first < last) {
        int64_t end = block_end(out[0], first, last, stride);
        if (squares_block(window, &s, x, out, first, end, first == begin, c))
            first = end;
        while (first < end) {
            int64_t part = block_end(out[0], first, end, stride / 4);
            if (!squares_block(window, &s, x, out, first, part, first == begin, c))
                run_block(window, x, out, first, part, c);
            first = part;
        }
    }
}

#endif

sy_status SYI_ISA_NAME(syi_window_run)(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    int outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    int64_t stride = window->period > BLOCK ? window->period : BLOCK;
    int64_t first = window->period - 1 - segment->first;
    chunk c;
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    for (int k = 0; k < outputs; k++)
        for (int64_t i = 0; i < first; i++)
            segment->out[k][i] = syi_nan();
#if SYI_HAVE_VECTORS
    if (window->kind == SYI_WINDOW_MEAN) {
        run_means(window, segment->in[0], segment->out, first, segment->count, stride,
                  piece->past_cache, &c);
        syi_past_done();
        return SY_OK;
    }
    if (window->period <= SQUARES_LONGEST) {
        run_squares(window, segment->in[0], segment->out, first, segment->count, piece->past_cache,
                    &c);
        syi_past_done();
        return SY_OK;
    }
#endif
    while (first < segment->count) {
        int64_t last = segment->count - first < stride ? segment->count : first + stride;
        run_block(window, segment->in[0], segment->out, first, last, &c);
        first = last;
    }
    return SY_OK;
}
