/*
 * The rolling kernels in fast accuracy on a GPU. A block computes a unit of windows: it doubles the
 * length of the stretches in shared memory, in place, and after each doubling every thread joins
 * what its windows have of that length. The order of operations is that of mean_run.c and
 * spread_run.h, where the passes are cut otherwise.
 */
#ifndef SYI_KERNELS_FAST_WINDOW_UNIT_H
#define SYI_KERNELS_FAST_WINDOW_UNIT_H

#include "cuda/forms.h"

#include "cuda/window_unit.h"
#include "fast/join.h"
#include "fast/scan_unit.h"
#include "fast/window.h"

/* FAST_AHEAD: columns that a thread reads before any is written. FAST_SUMS, FAST_SPREADS: columns
 * there is room for, as many as are ever wanted. */
enum { FAST_AHEAD = 4 };
enum { FAST_SUMS = FAST_WINDOWS + SYI_MEAN_MOST, FAST_SPREADS = FAST_WINDOWS + SYI_SCAN_LEAST };

typedef struct fast_shared {
    double drop[FAST_SPREADS], square[FAST_SPREADS]; /* fast/spread.h */
    syi_joint joints[SYI_SPREAD_LENGTHS];
} fast_shared;

/* Spreads are put together from stretches or scanned. */
typedef union spread_shared {
    fast_shared stretches;
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
            double y = mean[k] + 0.0;
            chunk->out[0][FAST_WINDOW(k)] = syi_is_finite(y) ? y : syi_nan();
        }
}

/* The stretches of two columns. */
SYI_DEVICE void fast_spread_begin(const fast_chunk *chunk, fast_shared *shared)
{
    syi_joint joint = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0};
    if (SYI_THREAD < SYI_SPREAD_LENGTHS && (chunk->period >> SYI_THREAD & 1))
        joint = syi_joint_of(chunk->period, (int64_t)1 << SYI_THREAD);
    for (int j = SYI_THREAD; j + 1 < chunk->columns; j += SYI_WINDOW_UNIT_THREADS) {
        const double *x = chunk->x + j;
        double one = x[0] - x[1];
        shared->square[j] = one * one;
        if (j + 3 < chunk->columns)
            shared->drop[j] = (x[0] - x[2]) + (x[1] - x[3]);
    }
    if (SYI_THREAD < SYI_SPREAD_LENGTHS)
        shared->joints[SYI_THREAD] = joint;
    SYI_SYNC();
}

SYI_DEVICE void fast_spread_twice(fast_shared *shared, int length, int columns)
{
    const int count = columns - 2 * length + 1, drops = columns - 4 * length + 1;
    FAST_PASS(from, count)
    {
        double drop[FAST_AHEAD], square[FAST_AHEAD];
#pragma unroll
        for (int k = 0; k < FAST_AHEAD; k++) {
            int j = FAST_COLUMN(from, k);
            double a = j < count ? shared->drop[j] : 0.0;
            double b = j < drops ? shared->drop[j + length] : 0.0;
            double c = j < drops ? shared->drop[j + 2 * length] : 0.0;
            double both = j < count ? shared->square[j] + shared->square[j + length] : 0.0;
            drop[k] = (a + b) + (b + c);
            square[k] = syi_product_sum(a, a, both + both);
        }
        SYI_SYNC();
#pragma unroll
        for (int k = 0; k < FAST_AHEAD; k++) {
            if (FAST_COLUMN(from, k) < count)
                shared->square[FAST_COLUMN(from, k)] = square[k];
            if (FAST_COLUMN(from, k) < drops)
                shared->drop[FAST_COLUMN(from, k)] = drop[k];
        }
    }
    SYI_SYNC();
}

/* What a window, of nothing so far, has of single columns, and the gap of two before them. */
SYI_DEVICE void fast_spread_first(const double *x, int period, syi_spread *all, double *gap)
{
    const double *end = x + (period & ~1);
    if (period > 1)
        *gap = end[-2] - end[-1];
    if (period & 1)
        all->square = end[0] - end[0]; /* not finite where it is not */
    if (period > 1 && (period & 1))
        *gap = syi_scaled_sum(end[-1] - end[0], 2.0, *gap);
}

SYI_DEVICE void fast_spread_put(const fast_chunk *chunk, const syi_window *window, double factor,
                                int j, const syi_spread *all)
{
    double out[3];
    syi_spread_result(window->kind, factor, chunk->x[j + chunk->period - 1], all, out);
    for (int k = 0; k < (window->kind == SYI_WINDOW_BANDS ? 3 : 1); k++)
        chunk->out[k][j] = syi_is_finite(out[0]) ? out[k] : syi_nan();
}

/* Joins the stretches of 2^level to this thread's windows, and makes the gaps of the next ones.
 * `end`: where in a window the stretch ends. */
SYI_DEVICE void fast_spread_join(const fast_chunk *chunk, const fast_shared *shared, int level,
                                 int end, syi_spread *all, double *gap)
{
    const int length = 1 << level, joins = (chunk->period & length) != 0, last = end == length;
    const syi_joint joint = shared->joints[level];
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++) {
        const int at = FAST_WINDOW(k) + end - length;
        if (FAST_WINDOW(k) >= chunk->windows)
            continue;
        if (joins)
            syi_join(&joint, last, shared->square[at], gap[k], &all[k]);
        if (joins && !last)
            gap[k] = syi_scaled_sum(shared->drop[at - length], 2.0, shared->drop[at - 2 * length]);
        else if (!last)
            gap[k] = syi_scaled_sum(gap[k], 2.0, shared->drop[at - length]);
    }
}

SYI_DEVICE void fast_spreads(const fast_chunk *chunk, const syi_window *window, fast_shared *shared)
{
    syi_spread all[FAST_EACH];
    double gap[FAST_EACH], factor;
    int end = chunk->period & ~1;
    fast_spread_begin(chunk, shared);
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++) {
        all[k].square = all[k].distance = all[k].lead = gap[k] = 0.0;
        if (FAST_WINDOW(k) < chunk->windows)
            fast_spread_first(chunk->x + FAST_WINDOW(k), chunk->period, &all[k], &gap[k]);
    }
#pragma unroll 1
    for (int level = 1; end > 0; level++) {
        fast_spread_join(chunk, shared, level, end, all, gap);
        end -= chunk->period & 1 << level;
        if (end > 0)
            fast_spread_twice(shared, 1 << level, chunk->columns);
    }
    factor = syi_spread_factor(window);
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++)
        if (FAST_WINDOW(k) < chunk->windows)
            fast_spread_put(chunk, window, factor, FAST_WINDOW(k), &all[k]);
    SYI_SYNC(); /* before the next chunk */
}

/* Where a block keeps what its windows are made of: one of these is there. */
typedef struct fast_room {
    double *sums;
    fast_shared *stretches;
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
        else if (room.stretches)
            fast_spreads(&chunk, window, room.stretches);
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
        fast_window_unit(launch, window, (fast_room){NULL, &shared.stretches, NULL});
    else
        fast_window_unit(launch, window, (fast_room){NULL, NULL, &shared.scan});
}

#endif
