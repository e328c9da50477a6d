/*
 * The rolling kernels in fast accuracy on a GPU. A block computes a unit of windows: of means it
 * doubles the length of the stretches in shared memory, in place, and after each doubling every
 * thread joins what its windows have of that length; of spreads it makes all groups there, of which
 * every thread joins those of its windows. The order of operations is that of mean_run.c and
 * spread_run.h.
 */
#ifndef SYI_KERNELS_FAST_WINDOW_UNIT_H
#define SYI_KERNELS_FAST_WINDOW_UNIT_H

#include "cuda/forms.h"

#include "cuda/window_unit.h"
#include "fast/scan_unit.h"
#include "fast/spread.h"

/* FAST_AHEAD: columns that a thread reads before any is written. FAST_SUMS, FAST_SPREADS: columns
 * there is room for, as many as are ever wanted. */
enum { FAST_AHEAD = 4 };
enum { FAST_SUMS = FAST_WINDOWS + SYI_MEAN_MOST, FAST_SPREADS = FAST_WINDOWS + SYI_SCAN_LEAST };

/* The groups (fast/spread.h) by their first column, or the first of those that their rise is of. */
typedef struct fast_shared {
    double rise[FAST_SPREADS], square[FAST_SPREADS];
    syi_spread_weights by;
} fast_shared;

/* Spreads are put together from groups or scanned. */
typedef union spread_shared {
    fast_shared groups;
    scan_shared scan;
} spread_shared;

/* The window of this thread with number k; those from chunk->windows on are nobody's. */
#define FAST_WINDOW(k) (SYI_THREAD + (k)*SYI_WINDOW_UNIT_THREADS)

/* A step of a pass over columns: what is read is read before anything is written. */
#define FAST_PASS(from, count)                                                                     \
    for (int from = SYI_THREAD; from - SYI_THREAD < (count);                                       \
         from += FAST_AHEAD * SYI_WINDOW_UNIT_THREADS)
#define FAST_COLUMN(from, k) ((from) + (k)*SYI_WINDOW_UNIT_THREADS)

/* Sums of `length` columns become such of twice as many. */
SYI_DEVICE void fast_sums_twice(double *sums, int length, int count)
{
    FAST_PASS(from, count)
    {
        double sum[FAST_AHEAD];
#pragma unroll
        for (int k = 0; k < FAST_AHEAD; k++) {
            int j = FAST_COLUMN(from, k);
            sum[k] = j < count ? sums[j] + sums[j + length] : 0.0;
        }
        SYI_SYNC();
#pragma unroll
        for (int k = 0; k < FAST_AHEAD; k++)
            if (FAST_COLUMN(from, k) < count)
                sums[FAST_COLUMN(from, k)] = sum[k];
    }
    SYI_SYNC();
}

SYI_DEVICE void fast_means(const fast_chunk *chunk, double *sums)
{
    const int period = chunk->period;
    double mean[FAST_EACH];
    int have = 0;
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++)
        mean[k] = 0.0;
    for (int j = SYI_THREAD; j < chunk->columns; j += SYI_WINDOW_UNIT_THREADS)
        sums[j] = chunk->x[j];
    SYI_SYNC();
    for (int length = 1;; length *= 2) {
        const int from = period - have - length;
#pragma unroll
        for (int k = 0; k < FAST_EACH; k++)
            if ((period & length) && FAST_WINDOW(k) < chunk->windows)
                mean[k] = syi_join_mean(mean[k], sums[FAST_WINDOW(k) + from], length, have);
        have += period & length;
        if (have == period)
            break;
        fast_sums_twice(sums, length, chunk->columns - 2 * length + 1);
    }
    /* No barrier before the next chunk: the last stretch is the oldest, so what was read last is
     * what the same thread writes next. */
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++)
        if (FAST_WINDOW(k) < chunk->windows) {
            const double y = syi_plus_zero(mean[k]);
            chunk->out[0][FAST_WINDOW(k)] = syi_is_finite(y) ? y : syi_nan();
        }
}

/* The squares of steps, and the rises of two columns. */
SYI_DEVICE void fast_spread_begin(const fast_chunk *chunk, fast_shared *shared)
{
    for (int j = SYI_THREAD; j + 1 < chunk->columns; j += SYI_WINDOW_UNIT_THREADS) {
        const double *x = chunk->x + j;
        const double step = syi_step(x + 1);
        shared->square[j] = step * step;
        if (j + 3 < chunk->columns)
            shared->rise[j] = syi_rise_of_two(x + 3);
    }
    if (SYI_THREAD == 0)
        shared->by = syi_spread_weights_of(chunk->period);
    SYI_SYNC();
}

/* Those of groups. */
SYI_DEVICE void fast_spread_groups(fast_shared *shared, int columns)
{
    FAST_PASS(from, columns - 3)
    {
        double rise[FAST_AHEAD], square[FAST_AHEAD];
#pragma unroll
        for (int k = 0; k < FAST_AHEAD; k++) {
            const int j = FAST_COLUMN(from, k);
            const double *two = shared->rise + j, *steps = shared->square + j;
            const double squares = j + 3 < columns ? steps[2] + steps[0] : 0.0;
            rise[k] = j + 7 < columns ? (two[4] + two[2]) + (two[2] + two[0]) : 0.0;
            square[k] = j + 3 < columns ? syi_product_sum(two[0], two[0], squares + squares) : 0.0;
        }
        SYI_SYNC();
#pragma unroll
        for (int k = 0; k < FAST_AHEAD; k++) {
            const int j = FAST_COLUMN(from, k);
            if (j + 3 < columns)
                shared->square[j] = square[k];
            if (j + 7 < columns)
                shared->rise[j] = rise[k];
        }
    }
    SYI_SYNC();
}

SYI_DEVICE syi_spread fast_spread(const fast_chunk *chunk, const fast_shared *shared, int j)
{
    const int groups = chunk->period / SYI_GROUP_COLUMNS, end = j + chunk->period;
    const double *x = chunk->x + end - 1;
    syi_spread_sums sums = {*x - *x, 0.0, 0.0, 0.0};
    int columns = chunk->period - 1;
    if (groups > 0) {
        const double *rise = shared->rise + end - 2 * SYI_GROUP_COLUMNS;
        const double *square = shared->square + end - SYI_GROUP_COLUMNS;
        const int stride = -SYI_GROUP_COLUMNS;
        syi_pair newer = {0.0, 0.0}, older = newer;
        if (groups > 2)
            newer = syi_pair_of(rise, square, stride);
        if (groups > 4)
            older = syi_pair_of(rise + 2 * stride, square + 2 * stride, stride);
        sums = syi_spread_groups(groups, rise, square, stride, newer, older);
        columns = chunk->period % SYI_GROUP_COLUMNS;
    }
    return syi_spread_of(x, groups, columns, &shared->by, sums);
}

SYI_DEVICE void fast_spreads(const fast_chunk *chunk, const syi_window *window, fast_shared *shared)
{
    const double factor = syi_spread_factor(window);
    fast_spread_begin(chunk, shared);
    fast_spread_groups(shared, chunk->columns);
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++) {
        const int j = FAST_WINDOW(k);
        double out[3];
        if (j >= chunk->windows)
            continue;
        const syi_spread all = fast_spread(chunk, shared, j);
        syi_spread_result(window->kind, factor, chunk->x[j + chunk->period - 1], &all, 0, out);
        for (int i = 0; i < (window->kind == SYI_WINDOW_BANDS ? 3 : 1); i++)
            chunk->out[i][j] = syi_is_finite(out[0]) ? out[i] : syi_nan();
    }
    SYI_SYNC(); /* before the next chunk */
}

/* Where a block keeps what its windows are made of: one of these is there. */
typedef struct fast_room {
    double *sums;
    fast_shared *groups;
    scan_shared *scan;
} fast_room;

SYI_DEVICE void fast_window_unit(const syi_launch *launch, const syi_window *window, fast_room room)
{
    const int outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    const int64_t before = window->period - 1;
    syi_unit unit = syi_unit_of(launch, SYI_BLOCK);
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    int64_t at = before - launch->first - unit.at;
    at = at < 0 ? 0 : at > unit.count ? unit.count : at;
    for (int k = 0; k < outputs; k++)
        for (int64_t i = SYI_THREAD; i < at; i += SYI_WINDOW_UNIT_THREADS)
            syi_unit_out(launch, &unit, launch->out[k])[i] = syi_nan();
#pragma unroll 1
    for (; at < unit.count; at += FAST_WINDOWS) {
        fast_chunk chunk = {.x = x + at - before, .period = (int)window->period};
        chunk.windows = (int)(unit.count - at < FAST_WINDOWS ? unit.count - at : FAST_WINDOWS);
        chunk.columns = chunk.windows + chunk.period - 1;
        for (int k = 0; k < outputs; k++)
            chunk.out[k] = syi_unit_out(launch, &unit, launch->out[k]) + at;
        if (room.sums)
            fast_means(&chunk, room.sums);
        else if (room.groups)
            fast_spreads(&chunk, window, room.groups);
        else
            syi_scan_chunk(&chunk, window, (launch->first + unit.at + at) % window->period,
                           room.scan);
    }
    if (SYI_THREAD == 0)
        syi_unit_doubt(launch, &unit, 0, 0);
}

SYI_DEVICE void syi_fast_mean_unit(const syi_launch *launch, const syi_window *window)
{
    __shared__ double sums[FAST_SUMS];
    if (window->period > SYI_MEAN_MOST)
        syi_window_unit(launch, window);
    else
        fast_window_unit(launch, window, (fast_room){sums, NULL, NULL});
}

/* Each in a loop of its own: registers are few. */
SYI_DEVICE void syi_fast_spread_window_unit(const syi_launch *launch, const syi_window *window)
{
    __shared__ spread_shared shared;
    if (window->period > SYI_SCAN_MOST)
        syi_window_unit(launch, window);
    else if (window->period < SYI_SCAN_LEAST)
        fast_window_unit(launch, window, (fast_room){NULL, &shared.groups, NULL});
    else
        fast_window_unit(launch, window, (fast_room){NULL, NULL, &shared.scan});
}

#endif
