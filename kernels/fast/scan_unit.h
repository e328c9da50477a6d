/*
 * Scanned windows (fast/scan.h) on a GPU. A thread goes through a block's ends or beginnings in
 * shared memory, two for each border; then every thread joins the parts of its windows.
 */
#ifndef SYI_KERNELS_FAST_SCAN_UNIT_H
#define SYI_KERNELS_FAST_SCAN_UNIT_H

#include "cuda/forms.h"

#include "cuda/window_unit.h"
#include "fast/scan.h"

/* FAST_EACH: windows of a thread, of a chunk at most. */
enum { FAST_EACH = 3, FAST_WINDOWS = FAST_EACH * SYI_WINDOW_UNIT_THREADS };
enum { SCAN_COLUMNS = FAST_WINDOWS + SYI_SCAN_MOST };

/* Windows that go together: window j is x[j .. j + period). */
typedef struct fast_chunk {
    const double *x;
    double *out[3]; /* of window 0 */
    int windows, columns, period;
} fast_chunk;

/* What a window consists of: what ends a block, by the column that it begins at, or what begins
 * one. */
typedef struct scan_parts {
    double sum[FAST_WINDOWS], square[FAST_WINDOWS];
} scan_parts;

typedef struct scan_shared {
    double x[SCAN_COLUMNS];
    scan_parts ends, beginnings;
} scan_shared;

SYI_DEVICE void scan_load(const fast_chunk *chunk, scan_shared *shared)
{
    for (int i = SYI_THREAD; i < chunk->columns; i += SYI_WINDOW_UNIT_THREADS)
        shared->x[i] = chunk->x[i];
    SYI_SYNC();
}

SYI_DEVICE void scan_keep(const syi_scan *scan, int j, scan_parts *parts)
{
    const syi_part part = syi_scan_part(scan);
    parts->sum[j] = part.sum;
    parts->square[j] = part.square;
}

SYI_DEVICE syi_part scan_kept(const scan_parts *parts, int j)
{
    return (syi_part){parts->sum[j], parts->square[j]};
}

/* From a border outwards: to the left for odd threads. */
SYI_DEVICE void scan_borders(const fast_chunk *chunk, int phase, scan_shared *shared)
{
    const int period = chunk->period, columns = chunk->columns;
    const int back = SYI_THREAD & 1, step = back ? -1 : 1, least = back ? 0 : period - 1;
    const int border = period - 1 - phase + (SYI_THREAD >> 1) * period;
    const int most = back ? period - 1 : period, room = back ? border : columns - border;
    const int steps = most < room ? most : room;
    scan_parts *const parts = back ? &shared->ends : &shared->beginnings;
    if (border < columns && steps > 0) {
        int i = back ? border - 1 : border;
        const double origin = shared->x[border];
        double next = shared->x[i];
        syi_scan scan = {{0.0, 0.0}, {0.0, 0.0}};
#pragma unroll 1
        for (int k = 0; k < steps; k++, i += step) {
            const double x = next;
            if (k + 1 < steps) /* read a step ahead: nobody else computes meanwhile */
                next = shared->x[i + step];
            if (k % SYI_SCAN_STEPS == 0)
                syi_scan_join(&scan);
            syi_scan_add(&scan, x - origin);
            if (i >= least && i - least < chunk->windows)
                scan_keep(&scan, i - least, parts);
        }
    }
    SYI_SYNC();
}

SYI_DEVICE void scan_put(const fast_chunk *chunk, const syi_window *window,
                         const scan_shared *shared, const syi_scan_weights *by, int phase, int j)
{
    const int period = chunk->period, outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    const int count = (phase + j) % period + 1, newest = j + period - 1; /* in the newer part */
    const double origin = shared->x[newest - (count - 1)];
    const syi_part newer = scan_kept(&shared->beginnings, j);
    syi_part older = {0.0, 0.0};
    double out[3];
    if (count < period)
        older = scan_kept(&shared->ends, j);
    syi_scan_result(window->kind, by, origin, shared->x[newest] - origin, &older, &newer, 0, out);
    if (window->kind == SYI_WINDOW_BANDS)
        syi_scan_bands(out[0], out[1], out);
    for (int k = 0; k < outputs; k++)
        chunk->out[k][j] = syi_is_finite(out[0]) ? out[k] : syi_nan();
}

/* Window j ends in a block's column `phase` + j, or blocks later. */
SYI_DEVICE void syi_scan_chunk(const fast_chunk *chunk, const syi_window *window, int phase,
                               scan_shared *shared)
{
    const syi_scan_weights by = syi_scan_weights_of(window);
    scan_load(chunk, shared);
    scan_borders(chunk, phase, shared);
#pragma unroll 1
    for (int j = SYI_THREAD; j < chunk->windows; j += SYI_WINDOW_UNIT_THREADS)
        scan_put(chunk, window, shared, &by, phase, j);
    SYI_SYNC(); /* before the next chunk */
}

#endif
