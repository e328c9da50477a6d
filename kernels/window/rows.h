/*
 * Rolling deviations, scores and bands of short rows: as many rows as lanes beside each other, as
 * stretches (stretches.h) of which each has a row to itself. The rows are copied, each times a
 * power of two, so that prices and volumes go by one grid, and their results divided by it. Rows
 * that are not for that are joined, if they are like each other.
 */
#ifndef SYI_KERNELS_WINDOW_ROWS_H
#define SYI_KERNELS_WINDOW_ROWS_H

#include "window/stretches_put.h"

#include <stdlib.h>

#if SYI_HAVE_VECTORS

/* Columns that are run at once, at most: whole batches; and of rows for which this way is not
 * longer than the one through each by itself. Bands are written to three times as many places. */
enum { ROWS_MOST = 256, ROWS_LONGEST = 1024, ROWS_LONGEST_BANDS = 512 };

/* Rows of at most so many columns, and windows of at most so many, are better run as if several
 * rows were one, if the largest magnitudes of them are less than so many bits apart; but where
 * prices are more than so many times others, only if there are so many columns together. */
enum { JOINED_COLUMNS = 320, JOINED_PERIOD = 32, JOINED_APART = 4 };
enum { JOINED_WIDE = 4096, JOINED_WIDE_LEAST = 640 };

/* Columns [from, from + count) of some rows, with what their windows hold. */
typedef struct beside {
    const syi_window *window;
    const sy_segment *rows; /* whole ones */
    int64_t from, count;
    int past_cache;
    int64_t ahead; /* columns to the rows behind these, or none */
    stretches lanes;
    double back[SYI_VECTOR]; /* what a row is to be taken times for its own size */
    double x[SYI_VECTOR * (SYI_BESIDE_PERIOD + ROWS_MOST)];
} beside;

/* Puts a lane's row in its place, its least magnitude at 1 or above and below 2, or where there
 * are values of both signs, or zeros, its largest one. Behind its end come windows that hold what
 * the last one holds; a value before it is none of a window's. A row that is not for this way is
 * all zeros. */
static void beside_copy(beside *b, int lane, const double *row)
{
    const int64_t period = b->window->period, before = b->lanes.before;
    const int64_t start = b->from + 1 - period, end = b->from + b->count;
    const window_range range = window_measure(row + start, end - start);
    const double most = squares_larger(range.most, -range.least);
    const double least = squares_larger(range.least, -range.most), one = least > 0.0 ? least : most;
    double *const to = b->x + lane * b->lanes.stride + before;
    int64_t i = 1 - period;
    b->back[lane] = 1.0;
    if (range.span.has_non_finite || !stretches_can_hold(one, most)) {
        memset(to - before, 0, (size_t)b->lanes.stride * sizeof *to);
        return;
    }
    const int size = syi_split(one).exponent + 52;
    const double scale = syi_pow2(-size);
    if (b->window->kind != SYI_WINDOW_SCORE)
        b->back[lane] = syi_pow2(size);
    for (int64_t k = -before; k < i; k++)
        to[k] = scale * row[start];
    for (; i < b->count; i++)
        to[i] = scale * row[b->from + i];
    for (; i < b->lanes.columns; i++)
        to[i] = to[i - period];
}

/* The columns [from, end) of a row, which are not sure among others. */
static void beside_rest(const beside *b, const double *x, double *const *out, int64_t from,
                        int64_t end, chunk *c)
{
    const int64_t period = b->window->period;
    const int fresh = from < period;
    squares s = squares_of(b->window, out, b->rows->columns, b->past_cache);
    run_blocks(b->window, &s, x, out, from, end, fresh,
               fresh ? end : find_far(x, from - period + 1, end), c);
}

/* Some columns of SYI_VECTOR rows from `row` on. Gives how many were left to blocks. */
static int64_t beside_run(beside *b, int64_t row, chunk *c)
{
    stretches *const t = &b->lanes;
    const int64_t columns = b->rows->columns;
    const double *x = b->rows->in[0] + row * columns;
    int64_t left = 0;
    double *out[3], *to[3];
    squares s = squares_of(b->window, b->rows->out, 0, 0);
    t->columns = (b->count + LANE - 1) / LANE * LANE;
    t->whole = b->count / LANE * LANE;
    t->before = stretches_before(b->window->period);
    t->stride = t->before + t->columns;
    t->apart = columns;
    t->next = (uintptr_t)(x + b->from + b->ahead);
    t->scale = b->back;
    for (int k = 0; k < syi_window_outputs(b->window->kind); k++) {
        out[k] = b->rows->out[k] + row * columns;
        to[k] = out[k] + b->from;
    }
    for (int l = 0; l < SYI_VECTOR; l++)
        beside_copy(b, l, x + l * columns);
    if (stretches_begin(&s, t, b->x + t->before)) {
        put_stretches(b->window, &s, t, b->count, to, c);
    } else {
        memset(t->done, 0, sizeof t->done);
    }
    for (int l = 0; l < SYI_VECTOR; l++, x += columns) {
        const int64_t from = end_lane(b->window, t, l, x, out, b->from, b->count);
        const int64_t end = b->from + b->count;
        if (from < end)
            beside_rest(b, x, out, from, end, c);
        left += end - from;
        for (int k = 0; k < syi_window_outputs(b->window->kind); k++)
            out[k] += columns;
    }
    return left;
}

/* SYI_VECTOR whole rows from `row` on: about as many columns at a time as make batches. Gives
 * whether this did for most of them. */
static int run_beside(const syi_window *window, const syi_piece *piece, int64_t row, chunk *c)
{
    const int64_t first = window->period - 1, last = piece->segment.columns;
    const int64_t parts = (last - first + ROWS_MOST - 1) / ROWS_MOST;
    const int64_t most = ((last - first + parts - 1) / parts + LANE - 1) / LANE * LANE;
    int64_t left = 0;
    beside b;
    b.window = window;
    b.rows = &piece->segment;
    b.past_cache = piece->past_cache;
    b.ahead = syi_ahead(syi_known(piece), (row + SYI_VECTOR) * last, SYI_VECTOR * last);
    for (b.from = first; b.from < last; b.from += b.count) {
        b.count = last - b.from < most ? last - b.from : most;
        left += beside_run(&b, row, c);
    }
    return 2 * left < SYI_VECTOR * (last - first);
}

/* Whether a row may be joined to one that has this range. */
SYI_INLINE int can_join(const window_range *range, const double *x, int64_t columns)
{
    const window_range own = window_measure(x, columns);
    return !own.span.has_non_finite && abs(own.span.top - range->span.top) < JOINED_APART;
}

/* Rows from `row` on, up to `end`, that are run as one: windows of two rows are run for nothing,
 * but of short rows it takes longer to begin each anew. */
static int64_t end_of_joined(const syi_window *window, const sy_segment *rows, int64_t row,
                             int64_t end)
{
    const int64_t columns = rows->columns;
    const double *x = rows->in[0];
    int64_t next = row + 1;
    if (window->period > JOINED_PERIOD || columns > JOINED_COLUMNS || columns < 2 * window->period)
        return next;
    const window_range range = window_measure(x + row * columns, columns);
    const int is_wide = range.least > 0.0 && range.most > JOINED_WIDE * range.least;
    while (next < end && !range.span.has_non_finite &&
           can_join(&range, x + next * columns, columns))
        next++;
    return is_wide && (next - row) * columns < JOINED_WIDE_LEAST ? row + 1 : next;
}

#endif
#endif
