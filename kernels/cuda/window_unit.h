/*
 * The rolling kernels on a GPU. A block computes a unit of windows: it measures the data the
 * windows touch, and when they are integers of one limb in a common unit, sums them exactly in any
 * order it likes. A warp owns neighbouring columns; what lies to its left is added up by all warps,
 * the rest is a scan over the lanes of (newest - oldest). Other data are left in doubt.
 */
#ifndef SYI_KERNELS_CUDA_WINDOW_UNIT_H
#define SYI_KERNELS_CUDA_WINDOW_UNIT_H

#include "cuda/forms.h"

#include "cuda/device.h"
#include "window/certify.h"
#include "window/window.h"

#define WINDOW_WARPS (SYI_WINDOW_UNIT_THREADS / SYI_WARP)
/* Columns of a warp. */
#define WINDOW_SHARE (SYI_WINDOW_UNIT_COLUMNS / WINDOW_WARPS)

/* Sums over some columns; `odd` counts the values that are not finite. */
typedef struct window_sums {
    int64_t sum;
    uint64_t square_low, square_high;
    int64_t odd; /* below 2^25 */
} window_sums;

typedef struct window_shared {
    int64_t largest[WINDOW_WARPS], least[WINDOW_WARPS];
    window_sums before[WINDOW_WARPS], own[WINDOW_WARPS];
    int64_t doubt_first[WINDOW_WARPS], doubt_last[WINDOW_WARPS];
} window_shared;

/* One window kernel's task in a unit; columns are counted from the unit's first. */
typedef struct window_task {
    const double *x;
    double *out[3];
    int64_t begin, count; /* columns [begin, count) have a value */
    int64_t start;        /* where the first of these windows begins */
    syi_window window;
    int squares; /* whether they are wanted */
    int warp, lane;
} window_task;

SYI_DEVICE window_sums sums_plus(window_sums a, window_sums b)
{
    syi_u128 square = ((syi_u128)a.square_high << 64 | a.square_low) +
                      ((syi_u128)b.square_high << 64 | b.square_low);
    return (window_sums){(int64_t)((uint64_t)a.sum + (uint64_t)b.sum), (uint64_t)square,
                         (uint64_t)(square >> 64), a.odd + b.odd};
}

/* The value at x[0], and less the one at `old` where there is one. */
SYI_DEVICE window_sums sums_change(const double *x, const double *old, double scale)
{
    double newest = *x, oldest = old ? *old : 0.0;
    int64_t in = syi_narrow_value(newest, scale), out = syi_narrow_value(oldest, scale);
    syi_u128 square = (syi_u128)((syi_i128)(in - out) * (in + out));
    return (window_sums){in - out, (uint64_t)square, (uint64_t)(square >> 64),
                         syi_is_finite(oldest) - syi_is_finite(newest)};
}

/* A lane's sums by one of the shuffles; squares that nobody wants stay at home. */
#define SUMS_SHUFFLED(s, squares, how, how_odd, by)                                                \
    ((window_sums){(int64_t)how((uint64_t)(s).sum, by), (squares) ? how((s).square_low, by) : 0,   \
                   (squares) ? how((s).square_high, by) : 0, how_odd((int)(s).odd, by)})

SYI_DEVICE window_sums sums_of_warp(window_sums s, int squares)
{
    for (int by = SYI_WARP / 2; by > 0; by /= 2)
        s = sums_plus(s, SUMS_SHUFFLED(s, squares, syi_shuffle_xor, SYI_SHUFFLE_XOR, by));
    return s;
}

/* The sums of the lanes up to each. */
SYI_DEVICE window_sums sums_scan(window_sums s, int squares, int lane)
{
    for (int by = 1; by < SYI_WARP; by *= 2) {
        window_sums left = SUMS_SHUFFLED(s, squares, syi_shuffle_up, SYI_SHUFFLE_UP, by);
        if (lane >= by)
            s = sums_plus(s, left);
    }
    return s;
}

/* What all the unit's windows are made of. */
SYI_DEVICE syi_span window_measure(const window_task *task, window_shared *shared)
{
    int64_t largest = 0, least = INT64_MAX;
#pragma unroll 1
    for (int64_t i = task->start + SYI_THREAD; i < task->count; i += SYI_WINDOW_UNIT_THREADS) {
        int64_t bits = (int64_t)(syi_bits(task->x[i]) & (UINT64_MAX >> 1));
        int64_t kept = bits < SYI_INFINITY_BITS ? bits : 0;
        largest = kept > largest ? kept : largest;
        least = kept != 0 && kept < least ? kept : least;
    }
    largest = syi_warp_most(largest);
    least = syi_warp_least(least);
    if (task->lane == 0) {
        shared->largest[task->warp] = largest;
        shared->least[task->warp] = least;
    }
    SYI_SYNC();
    for (int w = 0; w < WINDOW_WARPS; w++) {
        largest = shared->largest[w] > largest ? shared->largest[w] : largest;
        least = shared->least[w] < least ? shared->least[w] : least;
    }
    return syi_span_of(largest, least, 0);
}

SYI_DEVICE window_sums change_at(const window_task *task, int64_t column, double scale)
{
    const double *x = task->x + column;
    if (column < task->begin || column >= task->count)
        return (window_sums){0, 0, 0, 0};
    return sums_change(x, column > task->begin ? x - task->window.period : NULL, scale);
}

/* The window that ends just before the warp's columns. */
SYI_DEVICE window_sums sums_before_warp(const window_task *task, double scale,
                                        window_shared *shared)
{
    window_sums before = {0, 0, 0, 0}, own = {0, 0, 0, 0};
#pragma unroll 1
    for (int64_t i = task->start + SYI_THREAD; i < task->begin; i += SYI_WINDOW_UNIT_THREADS)
        before = sums_plus(before, sums_change(task->x + i, NULL, scale));
#pragma unroll 1
    for (int i = task->lane; i < WINDOW_SHARE; i += SYI_WARP)
        own = sums_plus(own, change_at(task, task->warp * WINDOW_SHARE + i, scale));
    before = sums_of_warp(before, task->squares);
    own = sums_of_warp(own, task->squares);
    if (task->lane == 0) {
        shared->before[task->warp] = before;
        shared->own[task->warp] = own;
    }
    SYI_SYNC();
    before = shared->before[0];
    for (int w = 1; w < WINDOW_WARPS; w++)
        before = sums_plus(before, shared->before[w]);
    for (int w = 0; w < task->warp; w++)
        before = sums_plus(before, shared->own[w]);
    return before;
}

SYI_DEVICE void window_put(const window_task *task, int64_t column, double upper, double middle,
                           double lower)
{
    if (task->window.kind == SYI_WINDOW_BANDS) {
        task->out[0][column] = upper;
        task->out[1][column] = middle;
        task->out[2][column] = lower;
    } else {
        task->out[0][column] = middle;
    }
}

/* The same as window_round's for a score; a flat window has none. */
SYI_DEVICE double window_score(const window_task *task, int64_t column, const window_sums *s,
                               syi_approx deviation, const syi_window_constants *k)
{
    double doubt, newest = s->odd ? 0.0 : task->x[column] / k->unit;
    double score =
        syi_settle(syi_window_score(newest, syi_narrow_sum(s->sum), deviation, k), 1.0, &doubt);
    int has_none = s->odd || deviation.high == 0.0;
    task->out[0][column] = has_none ? syi_nan() : score;
    return has_none ? 0.0 : doubt;
}

/* Rounds one window; not 0.0 when it is in doubt. */
SYI_DEVICE double window_round(const window_task *task, int64_t column, const window_sums *s,
                               const syi_window_constants *k)
{
    syi_approx mean = syi_window_mean(syi_narrow_sum(s->sum), k), deviation;
    double value, upper = 0.0, lower = 0.0, doubt, also = 0.0, spread_high, spread_low;
    syi_u128 square = (syi_u128)s->square_high << 64 | s->square_low;
    syi_u128 spread =
        square * (uint64_t)task->window.period - (syi_u128)((syi_i128)s->sum * s->sum);
    syi_narrow_spread((uint64_t)(spread >> 64), (uint64_t)spread, &spread_high, &spread_low);
    deviation = syi_window_deviation(spread_high, spread_low, k);
    if (task->window.kind == SYI_WINDOW_SCORE)
        return window_score(task, column, s, deviation, k);
    value =
        syi_settle(task->window.kind == SYI_WINDOW_DEVIATION ? deviation : mean, k->unit, &doubt);
    if (task->window.kind == SYI_WINDOW_BANDS) {
        upper = syi_settle(syi_window_band(mean, deviation, k->width), k->unit, &also);
        doubt += also;
        lower = syi_settle(syi_window_band(mean, deviation, -k->width), k->unit, &also);
        doubt += also;
    }
    if (s->odd)
        value = upper = lower = syi_nan();
    window_put(task, column, upper, value, lower);
    return s->odd ? 0.0 : doubt;
}

/* The warp's columns; those in doubt lie in [*first, *last). */
SYI_DEVICE void window_columns(const window_task *task, const syi_span *span, window_shared *shared,
                               int64_t *first, int64_t *last)
{
    const syi_window *window = &task->window;
    syi_window_constants k =
        syi_window_constants_of(window->period, window->ddof, window->width, span->bottom);
    double scale = syi_pow2(-span->bottom);
    window_sums before = sums_before_warp(task, scale, shared);
#pragma unroll 1
    for (int i = task->lane; i < WINDOW_SHARE; i += SYI_WARP) {
        int64_t column = task->warp * WINDOW_SHARE + i;
        window_sums change = change_at(task, column, scale);
        window_sums sums = sums_plus(before, sums_scan(change, task->squares, task->lane));
        before = SUMS_SHUFFLED(sums, task->squares, syi_shuffle, SYI_SHUFFLE, SYI_WARP - 1);
        if (column < task->begin || column >= task->count)
            continue;
        if (window_round(task, column, &sums, &k) != 0.0) {
            *first = column < *first ? column : *first;
            *last = column + 1;
        }
    }
}

SYI_DEVICE void window_report(const syi_launch *launch, const syi_unit *unit,
                              const window_task *task, window_shared *shared, int64_t first,
                              int64_t last)
{
    first = syi_warp_least(first);
    last = syi_warp_most(last);
    if (task->lane == 0) {
        shared->doubt_first[task->warp] = first;
        shared->doubt_last[task->warp] = last;
    }
    SYI_SYNC();
    if (SYI_THREAD != 0)
        return;
    for (int w = 1; w < WINDOW_WARPS; w++) {
        first = shared->doubt_first[w] < first ? shared->doubt_first[w] : first;
        last = shared->doubt_last[w] > last ? shared->doubt_last[w] : last;
    }
    syi_unit_doubt(launch, unit, first, last);
}

SYI_DEVICE void syi_window_unit(const syi_launch *launch, const syi_window *window)
{
    __shared__ window_shared shared;
    syi_unit unit = syi_unit_of(launch, SYI_BLOCK);
    window_task task = {syi_unit_in(launch, &unit, launch->in[0]),
                        {syi_unit_out(launch, &unit, launch->out[0]), NULL, NULL},
                        window->period - 1 - launch->first - unit.at,
                        unit.count,
                        0,
                        *window,
                        window->kind != SYI_WINDOW_MEAN,
                        SYI_THREAD / SYI_WARP,
                        SYI_THREAD % SYI_WARP};
    int64_t first = unit.count, last = 0;
    if (window->kind == SYI_WINDOW_BANDS) {
        task.out[1] = syi_unit_out(launch, &unit, launch->out[1]);
        task.out[2] = syi_unit_out(launch, &unit, launch->out[2]);
    }
    task.begin = task.begin < 0 ? 0 : task.begin > unit.count ? unit.count : task.begin;
    task.start = task.begin < task.count ? task.begin + 1 - window->period : task.count;
    syi_span span = window_measure(&task, &shared);
    int fits = syi_window_is_narrow(&span, window->period);
    int64_t blank = fits ? task.begin : unit.count;
    for (int64_t i = SYI_THREAD; i < blank; i += SYI_WINDOW_UNIT_THREADS)
        window_put(&task, i, syi_nan(), syi_nan(), syi_nan());
    if (fits)
        window_columns(&task, &span, &shared, &first, &last);
    else
        first = task.begin, last = unit.count;
    window_report(launch, &unit, &task, &shared, first, last);
}

#endif
