/*
 * A batch of scanned windows (fast/scan_run.h, which says by SYI_SPREAD_KIND what is wanted of
 * them), how its columns come to the lanes, and its results from them. Results that go past the
 * cache do so while the next batch is computed; of bands they are kept as what they are made of.
 */
#ifndef SYI_KERNELS_FAST_SCAN_TASK_H
#define SYI_KERNELS_FAST_SCAN_TASK_H

#include "exact/vector.h"
#include "fast/scan.h"
#include "fast/spread_task.h"

/* Columns of a lane at most: so that what is kept of a batch stays in the near caches. */
enum { SCAN_LANE = 1024, SCAN_ROOM = SCAN_LANE * SYI_WIDTH + SYI_LINE };
enum { PARTS = SYI_SPREAD_KIND == SYI_WINDOW_BANDS ? 2 : 1 };

/* By the count of a window's newer part, or of what a scan has gone through. */
typedef struct scan_weights {
    double inverse[SYI_SCAN_MOST + 1], joint[SYI_SCAN_MOST + 1], part[SYI_SCAN_MOST + 1];
} scan_weights;

/* A block's ends, by the column they begin at; behind the last one there is nothing. */
typedef struct ends {
    syi_vector mean[SYI_SCAN_MOST + 1], square[SYI_SCAN_MOST + 1];
} ends;

/* Parts of results whose whole lines are not put yet: of columns [done, end) they are. */
typedef struct scan_kept {
    double *out[OUTPUTS];
    const double *part[PARTS];
    int64_t done, end;
} scan_kept;

/* A batch: lane l goes through x[l * stride .. (l + 1) * stride), which begins a block. */
typedef struct scan_task {
    const syi_window *window;
    const double *x;
    double *out[OUTPUTS];
    double *part[PARTS]; /* past the cache: where they are kept */
    int64_t blocks, stride;
    int is_first; /* before lane 0 there is nothing */
    double factor;
    scan_weights by;
    ends ends[2]; /* of the blocks with even, odd numbers, as the next two */
    syi_vector tile[2][SYI_SCAN_MOST + SYI_WIDTH];
    syi_vector result[PARTS][SYI_WIDTH]; /* of the newest columns */
    syi_vector strange;
    scan_kept kept; /* of the batch before */
} scan_task;

/* Rows become columns. */
SYI_INLINE void transpose(syi_vector *r)
{
#if SYI_HAVE_VECTORS
    syi_vec_transpose(r);
#else
    for (int k = 0; k < SYI_WIDTH; k++)
        for (int l = 0; l < k; l++) {
            const double kept = r[k][l];
            r[k][l] = r[l][k];
            r[l][k] = kept;
        }
#endif
}

/* The columns of a block from its column k on, as many as a vector has. */
SYI_INLINE void scan_load(scan_task *t, int64_t number, int64_t k)
{
    const double *const x = t->x + number * t->window->period + k;
    const int64_t stride = t->stride;
    syi_vector *const to = t->tile[number & 1] + k;
    syi_vector row[SYI_WIDTH];
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++)
        row[l] = SYI_LOAD(x + l * stride);
    transpose(row);
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++)
        to[l] = row[l];
}

/* The block before the lanes and their first one. */
static void scan_load_first(scan_task *t)
{
    const int64_t period = t->window->period;
    const double *const x = t->x;
    t->x += t->is_first ? t->stride : 0; /* lane l has what lane l + 1 wants, the last one any */
    for (int64_t k = 0; k < period; k += SYI_WIDTH)
        scan_load(t, -1, k);
    t->x = x;
    for (int64_t k = 0; t->is_first && k < period; k++) {
        const syi_vector from = t->tile[1][k];
        for (int l = 0; l < SYI_WIDTH; l++)
            t->tile[1][k][l] = from[(l + SYI_WIDTH - 1) % SYI_WIDTH];
    }
    for (int64_t k = 0; k < period; k += SYI_WIDTH)
        scan_load(t, 0, k);
}

/* Makes results of their parts. */
SYI_INLINE void scan_results(const syi_vector *part, syi_vector *out)
{
    if (SYI_SPREAD_KIND == SYI_WINDOW_BANDS)
        syi_scan_bands(part[0], part[1], out);
    else
        out[0] = part[0];
}

/* The newest vector of columns, which ends before column `end` of the lanes. */
SYI_INLINE void scan_store(const scan_task *t, int64_t end, int past)
{
    const int64_t stride = t->stride, first = end - SYI_WIDTH;
    double *out[OUTPUTS], *kept[PARTS];
    syi_vector row[PARTS][SYI_WIDTH];
    memcpy(out, t->out, sizeof out);
    memcpy(kept, t->part, sizeof kept);
    SYI_UNROLL(2)
    for (int j = 0; j < PARTS; j++) {
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_WIDTH; k++)
            row[j][k] = t->result[j][k];
        transpose(row[j]);
    }
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++) {
        const syi_vector part[] = {row[0][l], row[PARTS - 1][l]};
        syi_vector result[OUTPUTS];
        scan_results(part, result);
        for (int j = 0; past && j < PARTS; j++)
            SYI_STORE(kept[j] + first + l * stride, part[j]);
        for (int j = 0; !past && j < OUTPUTS; j++)
            SYI_STORE(out[j] + first + l * stride, result[j]);
    }
}

/* What is left at the lanes' ends of less than a vector of columns. */
static void scan_store_rest(const scan_task *t, int past)
{
    const int64_t count = t->stride % SYI_WIDTH;
    for (int64_t i = 0; i < count; i++) {
        const syi_vector part[] = {t->result[0][i], t->result[PARTS - 1][i]};
        syi_vector out[OUTPUTS];
        scan_results(part, out);
        for (int l = 0; l < SYI_WIDTH; l++) {
            const int64_t at = (l + 1) * t->stride - count + i;
            for (int j = 0; past && j < PARTS; j++)
                t->part[j][at] = part[j][l];
            for (int j = 0; !past && j < OUTPUTS; j++)
                t->out[j][at] = out[j][l];
        }
    }
}

/* Puts a line that is kept. */
SYI_INLINE void scan_put_line(scan_kept *kept)
{
    for (int i = 0; i < SYI_LINE; i += SYI_WIDTH) {
        const int64_t at = kept->done + i;
        const syi_vector part[] = {SYI_LOAD(kept->part[0] + at),
                                   SYI_LOAD(kept->part[PARTS - 1] + at)};
        syi_vector out[OUTPUTS];
        scan_results(part, out);
        for (int j = 0; j < OUTPUTS; j++)
            syi_store_past(kept->out[j] + at, out[j]);
    }
    kept->done += SYI_LINE;
}

static void scan_put_kept(scan_kept *kept)
{
    while (kept->done < kept->end)
        scan_put_line(kept);
}

/* Columns that are no whole line. */
static void scan_put_columns(const scan_kept *kept, int64_t from, int64_t to)
{
    for (int64_t at = from; at < to; at++) {
        const syi_vector zero = {0};
        const syi_vector part[] = {zero + kept->part[0][at], zero + kept->part[PARTS - 1][at]};
        syi_vector out[OUTPUTS];
        scan_results(part, out);
        for (int j = 0; j < OUTPUTS; j++)
            kept->out[j][at] = out[j][0];
    }
}

/* Keeps the whole lines of a batch, and puts its ends. The outputs are in line. */
static void scan_keep(scan_task *t)
{
    const int64_t count = SYI_WIDTH * t->stride;
    scan_kept *const kept = &t->kept;
    memcpy(kept->out, t->out, sizeof kept->out);
    memcpy(kept->part, t->part, sizeof kept->part);
    kept->done = syi_line_after(t->out[0], 0, count);
    kept->end = kept->done + (count - kept->done) / SYI_LINE * SYI_LINE;
    scan_put_columns(kept, 0, kept->done);
    scan_put_columns(kept, kept->end, count);
}

#endif
