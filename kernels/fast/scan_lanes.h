/*
 * Where the lanes of a batch of scanned windows are (fast/scan_task.h), and what becomes of their
 * results. A batch covers whole blocks of a row; of these a piece may not have the first one's
 * beginning, what is before it, or the last one's end: such lanes go through copies. Where blocks
 * are fewer than all lanes could go through, lanes overlap, and do the same twice.
 */
#ifndef SYI_KERNELS_FAST_SCAN_LANES_H
#define SYI_KERNELS_FAST_SCAN_LANES_H

#include "fast/scan_task.h"

/* The columns [from, to) of a segment, zeros for those that it has not. */
static void scan_copy_columns(const sy_segment *segment, int64_t from, int64_t to, double *x)
{
    const int64_t first = from < -segment->left ? -segment->left : from;
    const int64_t end = to < segment->count ? to : segment->count;
    memset(x, 0, (size_t)(to - from) * sizeof *x);
    memcpy(x + (first - from), segment->in[0] + first, (size_t)(end - first) * sizeof *x);
}

/* Lane l begins at a column of the segment. */
static void scan_place(scan_task *t, int l, int64_t column)
{
    const sy_segment *segment = t->segment;
    const int64_t period = t->window->period, end = column + t->blocks * period;
    scan_lane *const lane = &t->lane[l];
    const int is_whole = column >= 0 && end <= segment->count;
    const int is_begun = column - period >= -segment->left;
    scan_copy *const copy = is_begun && column >= 0 ? &t->last : &t->first;
    if (!is_whole || !is_begun)
        scan_copy_columns(segment, column - period, is_whole ? column : end, copy->x);
    lane->x = is_whole ? segment->in[0] + column : copy->x + period;
    lane->before = is_whole && is_begun ? lane->x - period : copy->x;
    if (!is_whole) {
        copy->column = column;
        copy->columns = end - column;
    }
    for (int j = 0; j < OUTPUTS; j++)
        lane->to[j] = is_whole ? segment->out[j] + column : copy->y[j];
}

/* Blocks of a lane where there are `all`. */
static int64_t scan_blocks(int64_t period, int64_t all, int past)
{
    const int64_t most = (past ? SCAN_LANE_PAST : SCAN_LANE) / period;
    const int64_t batches = (all + SYI_WIDTH * most - 1) / (SYI_WIDTH * most);
    const int64_t even = (all + SYI_WIDTH * batches - 1) / (SYI_WIDTH * batches);
    int64_t blocks = even;
    while (batches > 1 && blocks > 1 && !syi_is_spread(blocks * period, SYI_WIDTH, 2 * SYI_LINE))
        blocks--;
    return blocks > 1 ? blocks : even;
}

/* Places the lanes of a batch from column `from` on, where a block begins; the batch's columns. */
static int64_t scan_place_all(scan_task *t, int64_t from, int past)
{
    const int64_t period = t->window->period;
    const int64_t all = (t->segment->count - from + period - 1) / period;
    int64_t total, before = -1;
    t->blocks = scan_blocks(period, all, past);
    t->columns = t->blocks * period;
    t->are_rows = 0;
    total = all < SYI_WIDTH * t->blocks ? all : SYI_WIDTH * t->blocks;
    t->first.columns = t->last.columns = 0;
    for (int l = 0; l < SYI_WIDTH; l++) {
        const int64_t block = l * (total - t->blocks) / (SYI_WIDTH - 1);
        if (block == before)
            t->lane[l] = t->lane[l - 1];
        else
            scan_place(t, l, from + block * period);
        before = block;
    }
    t->next = (uintptr_t)t->segment->in[0] + (uintptr_t)(from + total * period) * sizeof(double);
    return total * period;
}

/* The same with a row of `all` in each lane, from row `row` on. Behind its end a lane reads and
 * writes less than a vector of the next row, of which no window ends so soon. */
static void scan_place_rows(scan_task *t, const sy_segment *all, int64_t row)
{
    const int64_t period = t->window->period;
    t->columns = all->columns;
    t->blocks = (t->columns + period - 1) / period;
    t->are_rows = 1;
    t->first.columns = t->last.columns = 0;
    for (int l = 0; l < SYI_WIDTH; l++) {
        t->lane[l].x = all->in[0] + (row + l) * t->columns;
        for (int j = 0; j < OUTPUTS; j++)
            t->lane[l].to[j] = all->out[j] + (row + l) * t->columns;
    }
}

/* Gives a copied lane's results to whom they are due. */
static void scan_give(const scan_task *t, const scan_copy *copy)
{
    const int64_t end = copy->column + copy->columns, count = t->segment->count;
    const int64_t first = copy->column < t->at ? t->at : copy->column;
    for (int j = 0; copy->columns > 0 && j < OUTPUTS; j++)
        memcpy(t->segment->out[j] + first, copy->y[j] + (first - copy->column),
               (size_t)((end < count ? end : count) - first) * sizeof(double));
}

#endif
