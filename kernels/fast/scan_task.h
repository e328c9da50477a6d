/*
 * A batch of scanned windows (fast/scan_run.h, which says by SYI_SPREAD_KIND what is wanted of
 * them), how its columns come to the lanes, and its results from them. Results that go past the
 * cache do so while the next batch is computed; of bands they are kept as what they are made of.
 */
#ifndef SYI_KERNELS_FAST_SCAN_TASK_H
#define SYI_KERNELS_FAST_SCAN_TASK_H

#include "exact/transpose.h"
#include "fast/scan.h"
#include "fast/spread_task.h"

/* Columns of a lane at most, and where what goes past the cache is kept meanwhile. */
enum { SCAN_LANE = 2048, SCAN_KEPT = 1024 };
enum { PARTS = SYI_SPREAD_KIND == SYI_WINDOW_BANDS ? 2 : 1 };

/* By the count of a window's part; `share` is the other one's. */
typedef struct scan_weights {
    double inverse[SYI_SCAN_MOST + 1], joint[SYI_SCAN_MOST + 1], share[SYI_SCAN_MOST + 1];
} scan_weights;

/* A block's ends, by how many columns they have. */
typedef struct ends {
    syi_vector mean[SYI_SCAN_MOST + 1], square[SYI_SCAN_MOST + 1];
    syi_vector base[SYI_SCAN_MOST / SYI_SCAN_STEPS + 1]; /* of so many steps, begun or done */
} ends;

SYI_INLINE int64_t ends_steps(int64_t count)
{
    return (int64_t)((uint64_t)(count + SYI_SCAN_STEPS - 1) / SYI_SCAN_STEPS);
}

SYI_INLINE void ends_follow(ends *ends, int64_t count, syi_scan *scan)
{
    syi_scan_follow(scan);
    ends->base[ends_steps(count + 1)] = scan->base;
}

SYI_INLINE void ends_put(ends *ends, int64_t count, const syi_scan *scan)
{
    const syi_part end = syi_scan_part(scan);
    ends->mean[count] = end.mean;
    ends->square[count] = end.square;
}

SYI_INLINE syi_part ends_of(const ends *ends, int64_t count)
{
    return (syi_part){ends->base[ends_steps(count)], ends->mean[count], ends->square[count]};
}

/* A lane's columns, a block before them, and where its results go, or past the cache their parts.
 */
typedef struct scan_lane {
    const double *x, *before;
    double *to[OUTPUTS];
} scan_lane;

/* Columns, of which some are nobody's, and the results: of a lane that begins before a piece or
 * ends behind it. */
typedef struct scan_copy {
    int64_t column, columns; /* of the segment; none where it is not in use */
    double x[SYI_SCAN_MOST + SCAN_LANE], y[OUTPUTS][SCAN_LANE];
} scan_copy;

/* Parts of results whose whole lines are put, those of columns [first, end). Each output goes once
 * around, from where it is as far behind the others as it has to be (syi_lags). */
typedef struct scan_kept {
    double *out[OUTPUTS];
    const double *part[PARTS];
    int64_t first, end, at[OUTPUTS];
    int64_t left; /* columns */
} scan_kept;

/* What a vector of columns' results is made of. */
typedef struct scan_made {
    syi_vector part[PARTS][SYI_WIDTH];
} scan_made;

/* A batch: each lane goes through some blocks. */
typedef struct scan_task {
    const syi_window *window;
    const sy_segment *segment;
    int waits;  /* as in syi_piece */
    int64_t at; /* the first column that has a result */
    double factor;
    scan_weights by;
    int64_t blocks, columns; /* of a lane; the last block may have less than a period */
    int are_rows;            /* the lanes: each begins with a row's first window */
    scan_lane lane[SYI_WIDTH];
    scan_copy first, last;
    uintptr_t next; /* the next batch's columns */
    ends ends[2];   /* of the blocks with even, odd numbers, as the next two */
    syi_vector tile[2][SYI_SCAN_MOST];
    scan_made made; /* of the newest columns */
    syi_vector strange;
    double part[2][PARTS][SCAN_KEPT * SYI_WIDTH];
    int which;      /* of them are this batch's; the other ones, */
    scan_kept kept; /* the batch's before, are put meanwhile */
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

/* As many columns of a block as a vector has, the block's column k and the next ones, or the
 * block's last ones. */
SYI_INLINE void scan_load(scan_task *t, int64_t number, int64_t k)
{
    const int64_t period = t->window->period,
                  from = k < period - SYI_WIDTH ? k : period - SYI_WIDTH;
    const int64_t column = number * period + from;
    syi_vector *const to = t->tile[number & 1] + from;
    syi_vector row[SYI_WIDTH];
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++)
        row[l] = SYI_LOAD(number < 0 ? t->lane[l].before + from : t->lane[l].x + column);
    transpose(row);
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++)
        to[l] = row[l];
}

/* The lanes' first block, or -1, the one before it. */
static void scan_load_block(scan_task *t, int64_t number)
{
    for (int64_t k = 0; k < t->window->period; k += SYI_WIDTH)
        scan_load(t, number, k);
}

/* Makes results of their parts. */
SYI_INLINE void scan_results(const syi_vector *part, syi_vector *out)
{
    if (SYI_SPREAD_KIND == SYI_WINDOW_BANDS)
        syi_scan_bands(part[0], part[1], out);
    else
        out[0] = part[0];
}

/* Puts what has been made of the lanes' columns from `first` on. */
SYI_INLINE void scan_store(const scan_task *t, const scan_made *made, int64_t first, int past)
{
    scan_made row = *made;
    SYI_UNROLL(2)
    for (int j = 0; j < PARTS; j++)
        transpose(row.part[j]);
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++) {
        const syi_vector part[] = {row.part[0][l], row.part[PARTS - 1][l]};
        double *const *const to = t->lane[l].to;
        syi_vector out[OUTPUTS];
        scan_results(part, out);
        for (int j = 0; j < (past ? PARTS : OUTPUTS); j++)
            SYI_STORE(to[j] + first, past ? part[j] : out[j]);
    }
}

/* What is left at the lanes' ends of less than a vector of columns; in whole steps nothing is. */
static void scan_store_rest(const scan_task *t, int past)
{
    const int in_steps = t->window->period % SYI_SCAN_STEPS == 0;
    const int64_t columns = t->columns, count = in_steps ? 0 : columns % SYI_WIDTH;
    for (int64_t i = 0; i < count; i++) {
        const syi_vector part[] = {t->made.part[0][i], t->made.part[PARTS - 1][i]};
        syi_vector out[OUTPUTS];
        scan_results(part, out);
        for (int l = 0; l < SYI_WIDTH; l++)
            for (int j = 0; j < (past ? PARTS : OUTPUTS); j++)
                t->lane[l].to[j][columns - count + i] = past ? part[j][l] : out[j][l];
    }
}

#endif
