/*
 * A batch of scanned windows (fast/scan_run.h, which says by SYI_SPREAD_KIND what is wanted of
 * them), how its columns come to the lanes, and its results from them.
 */
#ifndef SYI_KERNELS_FAST_SCAN_TASK_H
#define SYI_KERNELS_FAST_SCAN_TASK_H

#include "exact/transpose.h"
#include "fast/scan_past.h"

/* Columns of a lane at most, where its results stay in the cache. */
enum { SCAN_LANE = 2048 };

/* Large vectors, of which the nearest cache holds few, take the place of the end with which windows
 * were made a moment before, of the block before: this one is gone through from its longest end on,
 * the other one from its shortest. Squares are some more places behind sums, for of what has just
 * been stored, and is read nearby, a processor sees only that it is at the same place of a page. */
enum {
    ENDS = SYI_SCAN_MOST + 1,
    ENDS_IN_TURN = SYI_WIDTH == 8,
    ENDS_PLACES = ENDS_IN_TURN ? ENDS + 15 : 2 * ENDS
};

/* Blocks' ends, whose places follow from how many columns they have. */
typedef struct ends {
    syi_vector sum[ENDS_PLACES], square[ENDS_PLACES];
} ends;

SYI_INLINE int64_t ends_place(int odd, int64_t period, int64_t count)
{
    if (ENDS_IN_TURN)
        return odd ? period - count : count;
    return odd * ENDS + count;
}

SYI_INLINE void ends_put(ends *ends, int odd, int64_t period, int64_t count, const syi_scan *scan)
{
    const int64_t place = ends_place(odd, period, count);
    const syi_part end = syi_scan_part(scan);
    ends->sum[place] = end.sum;
    ends->square[place] = end.square;
}

SYI_INLINE syi_part ends_of(const ends *ends, int odd, int64_t period, int64_t count)
{
    const int64_t place = ends_place(odd, period, count);
    return (syi_part){ends->sum[place], ends->square[place]};
}

/* What has no columns, or all, of which no window wants the latter: for the next block that is the
 * place of the former. */
SYI_INLINE void ends_clear(ends *ends, int odd, int64_t period, int64_t count)
{
    const int64_t place = ends_place(odd, period, count);
    ends->sum[place] = ends->square[place] = (syi_vector){0};
}

/* Columns, of which some are nobody's, and the results: of a lane that begins before a piece or
 * ends behind it. */
typedef struct scan_copy {
    int64_t column, columns; /* of the segment; none where it is not in use */
    double x[SYI_SCAN_MOST + SCAN_LANE], y[OUTPUTS][SCAN_LANE];
} scan_copy;

/* What a vector of columns' results is made of. */
typedef struct scan_made {
    syi_vector part[PARTS][SYI_WIDTH];
} scan_made;

/* A batch: each lane goes through some blocks. */
typedef struct scan_task {
    const syi_window *window;
    const sy_segment *segment;
    int64_t at; /* the first column that has a result */
    syi_scan_weights by;
    int products;            /* syi_divides_slowly */
    int64_t blocks, columns; /* of a lane; the last block may have less than a period */
    int are_rows;            /* the lanes: each begins with a row's first window */
    scan_lane lane[SYI_WIDTH];
    scan_copy first, last;
    uintptr_t next; /* the next batch's columns */
    ends ends;
    syi_vector tile[2][SYI_SCAN_MOST]; /* of the blocks with even, odd numbers */
    scan_made made;                    /* of the newest columns */
    syi_vector strange;                /* not 0: something not finite has been made */
    scan_past past;
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

/* Puts what has been made of `count` columns of the lanes from `first` on. */
SYI_INLINE void scan_store(scan_task *t, const scan_made *made, int64_t first, int count, int past,
                           syi_vector *strange)
{
    const int any =
        past && SCAN_MARKS_AT_ONCE && syi_equal(*strange, (syi_vector){0}) != (1u << SYI_WIDTH) - 1;
    scan_made row = *made;
    SYI_UNROLL(2)
    for (int j = 0; j < PARTS; j++)
        transpose(row.part[j]);
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_WIDTH; l++) {
        const syi_vector part[] = {row.part[0][l], row.part[PARTS - 1][l]};
        if (past)
            scan_past_keep(&t->past, &t->lane[l], l, first, count, part, any);
        else
            scan_put_results(&t->lane[l], first, count, part);
    }
    if (any)
        *strange = (syi_vector){0};
}

/* What is left at the lanes' ends of less than a vector of columns; in whole steps nothing is. */
static void scan_store_rest(scan_task *t, int past)
{
    const int in_vectors = t->window->period % SYI_WIDTH == 0;
    const int count = in_vectors ? 0 : (int)(t->columns % SYI_WIDTH);
    if (count > 0)
        scan_store(t, &t->made, t->columns - count, count, past, &t->strange);
}

#endif
