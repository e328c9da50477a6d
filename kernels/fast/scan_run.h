/*
 * Rolling deviations, scores and bands in fast accuracy (fast/scan.h). Whoever includes this says
 * which by SYI_SPREAD_KIND, a syi_window_kind. A lane goes through some blocks of a period, and
 * each loop through a block's beginnings and, for the windows of the next one, its ends: what waits
 * for one of them is hidden behind the other.
 */
#ifndef SYI_KERNELS_FAST_SCAN_RUN_H
#define SYI_KERNELS_FAST_SCAN_RUN_H

#include "fast/scan_lanes.h"

/* The ends of the block before the lanes, of which the first block is there. */
static void scan_before(scan_task *t)
{
    const int64_t period = t->window->period;
    const syi_vector *const block = t->tile[1], border = t->tile[0][0];
    syi_scan end = {{{0}, {0}}, {{0}, {0}}};
    scan_load_block(t, -1);
    for (int64_t k = 0; k < period - 1; k++) {
        if (k % SYI_SCAN_STEPS == 0)
            syi_scan_join(&end);
        syi_scan_add(&end, block[period - 1 - k] - border);
        ends_put(&t->ends, 1, period, k + 1, &end);
    }
}

/* While column `at` of the lanes is computed, past the cache, others' results go there, and the
 * next batch is asked for, as far as it is nearer than another page: evenly, so that nothing is
 * waited for. */
SYI_INLINE void scan_meanwhile(scan_task *t, int64_t at)
{
    scan_past_meanwhile(&t->past, t->lane, at, t->columns);
    syi_ask_for(t->next + (uintptr_t)at * SYI_WIDTH * sizeof(double), SYI_WIDTH);
}

/* A block of each lane: its number, columns, what goes through its beginning and its end, and what
 * is not 0 if a result is not finite. And of the task what is used for each column: whatever is
 * stored, a compiler has to read that again. */
typedef struct scan_block {
    syi_scan_weights by;
    int products;
    int odd;                        /* its number is */
    int64_t period, number, loaded; /* columns of the block behind it that are still to be loaded */
    const syi_vector *x;
    ends *ends;
    syi_vector border, next; /* before it, and behind it */
    syi_scan newer, end;
    syi_vector strange;
} scan_block;

/* The end of the block that begins with column period - 1 - k. */
SYI_INLINE void scan_end(scan_block *block, int64_t k)
{
    syi_scan_add(&block->end, block->x[block->period - 1 - k] - block->next);
    ends_put(block->ends, block->odd, block->period, k + 1, &block->end);
}

/* The windows that end in column k of the block become number i of what is made, with `products` by
 * products. */
SYI_INLINE void scan_column(scan_block *block, int64_t k, scan_made *made, int i, int products)
{
    const int64_t period = block->period;
    const syi_part older = ends_of(block->ends, !block->odd, period, period - 1 - k);
    const syi_vector distance = block->x[k] - block->border;
    syi_vector part[2];
    syi_scan_add(&block->newer, distance);
    const syi_part newer = syi_scan_part(&block->newer);
    syi_scan_result(SYI_SPREAD_KIND, &block->by, block->border, distance, &older, &newer, products,
                    part);
    for (int j = 0; j < PARTS; j++)
        made->part[j][i] = part[j];
    if (!MARKED)
        block->strange = syi_scaled_sum(part[0], 0.0, block->strange);
    scan_end(block, k);
}

/* Before column k of the block. */
SYI_INLINE void scan_join(scan_block *block, int64_t k)
{
    if (k % SYI_SCAN_STEPS == 0) {
        syi_scan_join(&block->newer);
        syi_scan_join(&block->end);
    }
}

/* As the block's column k is gone through, the next block's columns a vector further are loaded. */
SYI_INLINE void scan_load_next(scan_task *t, const scan_block *block, int64_t k)
{
    if (k + SYI_WIDTH < block->loaded)
        scan_load(t, block->number + 1, k + SYI_WIDTH);
}

/* A vector of columns from column k on; the next block's are loaded. */
SYI_INLINE void scan_vector(scan_task *t, scan_block *block, int64_t k, int past)
{
    const int64_t first = block->number * block->period + k;
    scan_made made;
    scan_load_next(t, block, k);
    scan_join(block, k);
    SYI_UNROLL(8)
    for (int i = 0; i < SYI_WIDTH; i++) {
        scan_column(block, k + i, &made, i, (SCORES || !past) && by_products(block->products, i));
        if (past)
            scan_meanwhile(t, first + i);
    }
    scan_store(t, &made, first, SYI_WIDTH, past, &block->strange);
}

/* Columns [from, to) of a block of whole vectors. */
SYI_INLINE void scan_vectors(scan_task *t, scan_block *block, int64_t from, int64_t to, int past)
{
    for (int64_t k = from; k < to; k += SYI_WIDTH)
        scan_vector(t, block, k, past);
}

/* The same of any block: what is made goes on from block to block, so that whole
 * vectors of it, counted from the lanes' beginnings, are put. */
SYI_INLINE void scan_columns(scan_task *t, scan_block *block, int64_t from, int64_t to, int past)
{
    int64_t at = block->number * block->period + from;
    for (int64_t k = from; k < to; k++, at++) {
        const int i = (int)(at & (SYI_WIDTH - 1));
        scan_join(block, k);
        scan_column(block, k, &t->made, i, SCORES && by_products(block->products, i));
        if ((k & (SYI_WIDTH - 1)) == 0)
            scan_load_next(t, block, k);
        if (i == SYI_WIDTH - 1)
            scan_store(t, &t->made, at - i, SYI_WIDTH, past, &block->strange);
        if (past)
            scan_meanwhile(t, at);
    }
}

/* Columns [0, to), whole vectors, of a row's first block, in which no windows end. */
SYI_INLINE void scan_no_windows(scan_task *t, scan_block *block, int64_t to)
{
    for (int64_t k = 0; k < to; k++) {
        if ((k & (SYI_WIDTH - 1)) == 0)
            scan_load_next(t, block, k);
        scan_join(block, k);
        syi_scan_add(&block->newer, block->x[k] - block->border);
        scan_end(block, k);
    }
}

/* The windows that end in the block `number` of each lane. */
SYI_INLINE void scan_windows(scan_task *t, int64_t number, int past)
{
    const int64_t period = t->window->period, left = t->columns - number * period;
    const int64_t to = left < period ? left : period, next = left - to;
    const syi_vector *const x = t->tile[number & 1];
    int64_t from = 0;
    if (next > 0)
        scan_load(t, number + 1, 0);
    scan_block block = {.by = t->by,
                        .products = t->products,
                        .odd = number & 1,
                        .period = period,
                        .number = number,
                        .loaded = next < period ? next : period,
                        .x = x,
                        .ends = &t->ends,
                        .border = x[0],
                        .next = t->tile[!(number & 1)][0],
                        .strange = t->strange};
    if (!past && t->are_rows && number == 0) {
        from = (period - 1) / SYI_WIDTH * SYI_WIDTH;
        scan_no_windows(t, &block, from);
    }
    if (period % SYI_WIDTH == 0)
        scan_vectors(t, &block, from, to, past);
    else
        scan_columns(t, &block, from, to, past);
    ends_clear(&t->ends, number & 1, period, period);
    t->strange = block.strange;
}

SYI_INLINE void scan_compute_as(scan_task *t, int past)
{
    t->strange = (syi_vector){0};
    scan_load_block(t, 0);
    if (past || !t->are_rows)
        scan_before(t);
    for (int64_t number = 0; number < t->blocks; number++)
        scan_windows(t, number, past);
    scan_store_rest(t, past);
    for (int l = 0; l < SYI_WIDTH && syi_any(&t->strange); l++)
        mark(t->lane[l].to, past ? PARTS : OUTPUTS, t->columns);
}

/* The batch whose lanes have been placed. */
static void scan_compute(scan_task *t)
{
    scan_compute_as(t, 0);
    scan_give(t, &t->first);
    scan_give(t, &t->last);
}

/* The same for one of `columns` whose results go past the cache, all of them by themselves. */
static void scan_compute_past(scan_task *t, int64_t columns)
{
    scan_past_begin(&t->past, t->lane);
    scan_compute_as(t, 1);
    scan_past_end(&t->past, t->lane, t->columns, columns);
}

static void scan_plan(scan_task *t, const syi_window *window)
{
    const int64_t period = window->period;
    t->window = window;
    t->by = syi_scan_weights_of(window);
    for (int odd = 0; odd < 2; odd++)
        ends_clear(&t->ends, odd, period, 0);
}

/* All windows from column t->at on. */
static void scan_all(scan_task *t, int past)
{
    int64_t from = t->at - (t->segment->first + t->at) % t->window->period, columns;
    for (; from < t->segment->count; from += columns) {
        columns = scan_place_all(t, from, past);
        if (past && t->first.columns == 0 && t->last.columns == 0)
            scan_compute_past(t, columns);
        else
            scan_compute(t);
    }
    scan_past_close(&t->past);
}

/* The windows of whole rows, side by side; but the last one's, and where there are few rows all,
 * row by row. */
static void scan_rows(scan_task *t, const sy_segment *all, int past)
{
    const int64_t rows = all->count / all->columns, beside = rows > SYI_WIDTH ? rows - 1 : 0;
    memset(&t->ends, 0,
           sizeof t->ends); /* so that what is not wanted is computed of numbers, too */
    memset(t->tile, 0, sizeof t->tile);
    for (int64_t row = 0; row < beside; row += SYI_WIDTH) {
        scan_place_rows(t, all, row < beside - SYI_WIDTH ? row : beside - SYI_WIDTH);
        scan_compute(t);
    }
    for (int64_t row = beside; row < rows; row++) {
        const double *in[] = {all->in[0] + row * all->columns};
        double *out[OUTPUTS];
        sy_segment segment = *all;
        for (int k = 0; k < OUTPUTS; k++)
            out[k] = all->out[k] + row * all->columns;
        segment.in = in;
        segment.out = out;
        segment.count = all->columns;
        t->segment = &segment;
        scan_all(t, past);
    }
}

static sy_status syi_scan_run(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    const int64_t at = window->period - 1 - segment->first;
    const int past = piece->past_cache && syi_in_line(segment->out, OUTPUTS);
    scan_task t;
    scan_plan(&t, window);
    t.segment = segment;
    t.products = piece->products;
    scan_past_open(&t.past, piece->waits);
    t.at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    if (segment->count > segment->columns)
        scan_rows(&t, segment, past);
    else if (t.at < segment->count)
        scan_all(&t, past);
    for (int k = 0; k < OUTPUTS; k++)
        syi_fast_blank(segment->out[k], t.at);
    return SY_OK;
}

#endif
