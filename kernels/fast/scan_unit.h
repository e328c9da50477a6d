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

typedef struct scan_shared {
    double x[SCAN_COLUMNS];
    double end_mean[SCAN_COLUMNS], end_square[SCAN_COLUMNS]; /* by the column they begin at */
    double mean[FAST_WINDOWS], square[FAST_WINDOWS];         /* of what a block begins with */
    double inverse[SYI_SCAN_MOST + 1];
} scan_shared;

SYI_DEVICE void scan_load(const fast_chunk *chunk, scan_shared *shared)
{
    for (int i = SYI_THREAD; i < chunk->columns; i += SYI_WINDOW_UNIT_THREADS)
        shared->x[i] = chunk->x[i];
    for (int k = SYI_THREAD + 1; k <= chunk->period; k += SYI_WINDOW_UNIT_THREADS)
        shared->inverse[k] = 1.0 / (double)k;
    SYI_SYNC();
}

/* From a border outwards: to the left for odd threads. */
SYI_DEVICE void scan_borders(const fast_chunk *chunk, int phase, scan_shared *shared)
{
    const int period = chunk->period, columns = chunk->columns;
    const int back = SYI_THREAD & 1, step = back ? -1 : 1, least = back ? 0 : period - 1;
    const int border = period - 1 - phase + (SYI_THREAD >> 1) * period;
    const int most = back ? period - 1 : period, room = back ? border : columns - border;
    const int steps = most < room ? most : room;
    double *const mean = back ? shared->end_mean : shared->mean;
    double *const square = back ? shared->end_square : shared->square;
    if (border < columns && steps > 0) {
        const double first = shared->x[border];
        int i = back ? border - 1 : border;
        double next = shared->x[i], inverse = 1.0;
        syi_scan scan = {0.0, 0.0};
#pragma unroll 1
        for (int k = 1; k <= steps; k++, i += step) {
            const double x = next - first, now = inverse;
            if (k < steps) { /* read a step ahead: nobody else computes meanwhile */
                next = shared->x[i + step];
                inverse = shared->inverse[k + 1];
            }
            syi_scan_add(&scan, x, now);
            if (i >= least) {
                mean[i - least] = scan.mean;
                square[i - least] = scan.square;
            }
        }
    }
    SYI_SYNC();
}

SYI_DEVICE void scan_put(const fast_chunk *chunk, const syi_window *window,
                         const scan_shared *shared, double factor, int phase, int j)
{
    const int period = chunk->period, last = j + period - 1;
    const int count = (phase + j) % period + 1;
    const double part = syi_scan_part((double)count, (double)period, shared->inverse[period]);
    const double border = shared->x[last - (count - 1)];
    const syi_scan newer = {shared->mean[j], shared->square[j]};
    syi_scan older = {0.0, 0.0}, all;
    double out[3];
    if (count < period)
        older = (syi_scan){shared->end_mean[j], shared->end_square[j]};
    all = syi_scan_join(&older, &newer, (double)count * part, part);
    syi_scan_result(window->kind, factor, border, shared->x[last] - border, &all, out);
    if (window->kind == SYI_WINDOW_BANDS)
        syi_scan_bands(out[0], out[1], out);
    for (int k = 0; k < (window->kind == SYI_WINDOW_BANDS ? 3 : 1); k++)
        chunk->out[k][j] = syi_is_finite(out[0]) ? out[k] : syi_nan();
}

/* Window j ends in a block's column `phase` + j, or blocks later. */
SYI_DEVICE void syi_scan_chunk(const fast_chunk *chunk, const syi_window *window, int phase,
                               scan_shared *shared)
{
    const double factor = syi_scan_factor(window);
    scan_load(chunk, shared);
    scan_borders(chunk, phase, shared);
#pragma unroll 1
    for (int j = SYI_THREAD; j < chunk->windows; j += SYI_WINDOW_UNIT_THREADS)
        scan_put(chunk, window, shared, factor, phase, j);
    SYI_SYNC(); /* before the next chunk */
}

#endif
