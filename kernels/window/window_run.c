/*
 * The rolling kernels' loop: blocks of columns, each with its own scale. Means go by a grid,
 * deviations, scores and bands by stretches or else by squares, and what is not for them by
 * integers. This file is compiled for several instruction sets.
 */
#include "window/blocks.h"
#include "window/grid.h"
#include "window/rows.h"
#include "traffic.h"

/* Columns that share a scale; not fewer than a window, so that the work of starting a block anew
 * from its halo stays in proportion. */
#define BLOCK ((int64_t)2048)

static void run_columns(const syi_window *window, const syi_piece *piece, int64_t first, chunk *c);

#if SYI_HAVE_VECTORS

/* Of windows that are not longer so many columns are computed from a copy. */
enum { FILLED_PERIOD = 512, FILLED_COLUMNS = 2048 };

/* Copies values, but instead of those that are not finite, of which the first is at `lost` and not
 * at 0, the one before. */
static void copy_filled(const double *x, int64_t count, int64_t lost, double *to)
{
    memcpy(to, x, (size_t)count * sizeof *to);
    for (; lost < count; lost = find_lost(x, lost + 1, count))
        to[lost] = to[lost - 1];
}

/* Some windows from `first` on, which is not lost, of values of which some are not finite: the
 * other windows' bits do not depend on what those are. Gives the column behind them, at the end of
 * a line; *lacks: whether there are such. */
static int64_t run_filled(const syi_window *window, const syi_piece *piece, int64_t first,
                          int *lacks, chunk *c)
{
    double *const *out = piece->segment.out;
    const int64_t before = window->period - 1;
    const double *x = piece->segment.in[0], *start = x + first - before;
    const int64_t end = block_end(out[0], first, piece->segment.count, FILLED_COLUMNS);
    const int64_t count = before + end - first, lost = find_lost(start, 0, count);
    double filled[FILLED_PERIOD + FILLED_COLUMNS], *to[3];
    const double *in[] = {(lost < count ? filled : start) + before};
    const syi_piece own = {.segment = {.in = in, .out = to, .count = end - first}};
    *lacks = lost < count;
    if (*lacks)
        copy_filled(start, count, lost, filled);
    for (int k = 0; k < syi_window_outputs(window->kind); k++)
        to[k] = out[k] + first;
    run_columns(window, &own, 0, c);
    if (*lacks)
        put_lost_windows(window, x, out, first, end);
    return end;
}

/* Windows before the next value that is not finite that are worth a block to themselves. */
#define MEANS_LEAST 64

/* Something in a block of means, or in its first window, is not finite. Gives the column up to
 * which windows are lost or computed, of long ones by integers where another is lost soon; or
 * `first`, and *end is before the next one. */
static int64_t means_lost(const syi_window *window, const syi_piece *piece, int64_t first,
                          int64_t least, int64_t *end, chunk *c)
{
    const double *x = piece->segment.in[0];
    double *const *out = piece->segment.out;
    const int64_t lost = pass_lost(window, x, out, first, piece->segment.count);
    int lacks;
    if (lost > first)
        return lost;
    if (window->period <= FILLED_PERIOD)
        return run_filled(window, piece, first, &lacks, c);
    const int64_t clear = find_lost(x, first, *end);
    if (clear - first >= MEANS_LEAST) {
        *end = clear;
        return first;
    }
    const int64_t next = *end - first > least ? first + least : *end;
    run_block(window, x, out, first, next, c);
    return next;
}

/* Columns of a block of means that go this way, at most `most`. So few that they and the next ones
 * stay in the nearest cache, and that what goes past it does not wait for what is read more than a
 * page ahead; but each block reads the window before it again, and where each value is cut it is
 * seldom that two blocks cut alike. */
static int64_t means_columns(int64_t period, int64_t most, grid_way way, int past)
{
    const int64_t few = past ? 512 : 1024;
    return !grid_is_far(way) && 4 * period <= few ? few : most;
}

/* What x[start .. end) is made of, of which `next` says it from `first` on where `measured` is the
 * end. */
static window_range means_range(const double *x, int64_t start, int64_t first, int64_t end,
                                int64_t measured, const window_range *next)
{
    if (measured != end || start == first)
        return window_measure(x + start, end - start);
    const window_range before = window_measure(x + start, first - start);
    return window_join(&before, next);
}

/* Means of the piece's columns from `first` on, a block of up to `most` columns at a time. What the
 * grid does not hold the sums of, say for a value that is not finite, is tried in smaller blocks
 * before the long way. */
static void run_means(const syi_window *window, const syi_piece *piece, int64_t first, int64_t most,
                      chunk *c)
{
    const double *x = piece->segment.in[0];
    double *const *out = piece->segment.out;
    const int64_t last = piece->segment.count, known = syi_known(piece);
    const int past = piece->past_cache;
    const int64_t period = window->period;
    int64_t begin = first;
    const int64_t least = 4 * period > most ? most : 4 * period > 256 ? 4 * period : 256;
    grid grid = grid_of(period);
    int64_t stride = means_columns(period, most, GRID_NEAR, past), measured = 0;
    window_range next;
    while (first < last) {
        /* With the values of the windows that those of the first vector are compared with; before
         * the first block there may be none. */
        const int64_t done = first - begin < SYI_VECTOR ? first - begin : SYI_VECTOR;
        int64_t start = first - period + 1 - done;
        int64_t end = block_end(out[0], first, last, stride);
        window_range range = means_range(x, start, first, end, measured, &next);
        if (range.span.has_non_finite) {
            const int64_t passed = means_lost(window, piece, first, least, &end, c);
            if (passed > first) {
                first = begin = passed;
                grid.cut.shift = 0.0;
                continue;
            }
            stride = least;
            range = window_measure(x + start, end - start);
        }
        grid_cut cut = grid_cut_of(x + start, end - start, range, period, most, grid.cut);
        if (cut.shift == 0.0 && stride > least) {
            stride = stride / 4 > least ? stride / 4 : least;
            continue;
        }
        if (cut.shift != 0.0) {
            const int met = grid_means(&grid, cut, x + first, end - first, out[0] + first,
                                       known - end, past, &next);
            measured = met ? end + (end - first) : 0;
            const int64_t now = means_columns(period, most, cut.way, past);
            stride = 2 * stride < now ? 2 * stride : now;
        } else {
            grid.cut.shift = 0.0;
            run_block(window, x, out, first, end, c);
            measured = 0;
        }
        first = end;
    }
}

/* Whether enough of so many windows are flat: blocks pass these by, but each time begin anew behind
 * them, after a window or more that is not, which takes as long as some 125 columns. */
static int blocks_do_better(int64_t period, int64_t windows, int64_t flat)
{
    return 8 * (windows - flat) * (period + 125) < 7 * windows * period;
}

/* Windows of close values from column `first` on, before which there are SYI_VECTOR more, and with
 * which a line of outputs begins that go past the cache. Gives the column before which all is done;
 * *left is how many columns were left to blocks, or better were, since little moves. */
static int64_t run_stretches(const syi_window *window, squares *s, const double *x,
                             double *const *out, int64_t first, int64_t last, int64_t *left,
                             chunk *c)
{
    stretches t;
    double *to[3];
    int64_t count, still;
    *left = 0;
    t.columns = t.whole = t.stride = t.apart = stretches_columns(window->period, last - first);
    t.scale = NULL;
    if (t.columns == 0 || !stretches_begin(s, &t, x + first))
        return first;
    count = t.columns * SYI_VECTOR;
    t.next = (uintptr_t)(x + first + syi_ahead(s->known, first + count, count));
    for (int k = 0; k < syi_window_outputs(window->kind); k++)
        to[k] = out[k] + first;
    still = put_stretches(window, s, &t, t.columns, to, c);
    *left = blocks_do_better(window->period, count, still) ? still : 0;
    for (int l = 0; l < SYI_VECTOR; l++, first += t.columns) {
        const int64_t from = end_lane(window, &t, l, x, out, first, t.columns);
        const int64_t end = first + t.columns;
        if (from < end)
            run_blocks(window, s, x, out, from, end, 0, find_far(x, from - s->period + 1, end), c);
        *left += end - from;
    }
    return first;
}

/* Where blocks of about `columns` from `first` on end, for stretches to be tried. */
static int64_t blocks_end(const syi_window *window, double *const *out, int64_t first, int64_t last,
                          int64_t columns)
{
    return stretches_columns(window->period, last - first - columns) > 0
               ? block_end(out[0], first, last, columns)
               : last;
}

/* Deviations, scores or bands of the piece's columns from `first` on: by stretches, and after those
 * that did not do for half of their columns as many or more by blocks, the more of them the more
 * often it happens. Where it was for values that are not finite, these are filled as long as there
 * are such. */
static void run_squares(const syi_window *window, const syi_piece *piece, int64_t first, chunk *c)
{
    const double *x = piece->segment.in[0];
    double *const *out = piece->segment.out;
    const int64_t last = piece->segment.count;
    squares s = squares_of(window, out, syi_known(piece), piece->past_cache);
    const int64_t beside = SYI_VECTOR * stretches_most(window->period);
    const int64_t block = squares_most(window->period), most = block > beside ? block : beside;
    int64_t end = blocks_end(window, out, first, last, SYI_VECTOR + SYI_LINE), left, blocks = 1;
    int lacks = 0;
    run_blocks(window, &s, x, out, first, end, 1, end, c);
    while (end < last) {
        first = end;
        if (lacks) {
            end = pass_lost(window, x, out, first, last);
            if (end == first)
                end = run_filled(window, piece, first, &lacks, c);
            continue;
        }
        end = run_stretches(window, &s, x, out, first, last, &left, c);
        lacks = 5 * left > end - first && window->period <= FILLED_PERIOD &&
                find_lost(x, first - window->period + 1, end) < end;
        if (2 * left < end - first || lacks) {
            blocks = 1;
            continue;
        }
        first = end;
        end = blocks_end(window, out, first, last, blocks * most);
        run_blocks(window, &s, x, out, first, end, 0, end, c);
        blocks = blocks < 16 ? 2 * blocks : blocks;
    }
}

#endif

/* A piece that begins and ends with columns of one row. */
static void run_columns(const syi_window *window, const syi_piece *piece, int64_t first, chunk *c)
{
    const sy_segment *segment = &piece->segment;
    const int64_t stride = window->period > BLOCK ? window->period : BLOCK;
#if SYI_HAVE_VECTORS
    if (window->kind == SYI_WINDOW_MEAN) {
        run_means(window, piece, first, stride, c);
        return;
    }
    if (window->period <= SQUARES_LONGEST) {
        run_squares(window, piece, first, c);
        return;
    }
#endif
    while (first < segment->count) {
        int64_t last = segment->count - first < stride ? segment->count : first + stride;
        run_block(window, segment->in[0], segment->out, first, last, c);
        first = last;
    }
}

/* Whole rows [row, end) of several, as if they were one; what lies before a row's first window is
 * the caller's. */
static void run_joined(const syi_window *window, const syi_piece *piece, int64_t row, int64_t end,
                       chunk *c)
{
    const int64_t columns = piece->segment.columns;
    syi_piece own = *piece;
    const double *in[] = {piece->segment.in[0] + row * columns};
    double *out[3];
    for (int k = 0; k < syi_window_outputs(window->kind); k++)
        out[k] = piece->segment.out[k] + row * columns;
    own.segment.in = in;
    own.segment.out = out;
    own.segment.count = (end - row) * columns;
    own.behind += piece->segment.count - end * columns;
    run_columns(window, &own, window->period - 1, c);
}

/* Whole rows: beside each other, and after those that were not for that one by one or joined, the
 * more of them the more often it happens. */
static void run_rows(const syi_window *window, const syi_piece *piece, chunk *c)
{
    const int64_t rows = piece->segment.count / piece->segment.columns;
    int64_t row = 0;
#if SYI_HAVE_VECTORS
    const int64_t longest = window->kind == SYI_WINDOW_BANDS ? ROWS_LONGEST_BANDS : ROWS_LONGEST;
    const int can_beside = piece->segment.columns <= longest;
    int64_t single = SYI_VECTOR;
    while (row < rows) {
        int64_t next = rows;
        if (can_beside && row + SYI_VECTOR <= rows) {
            const int did = run_beside(window, piece, row, c);
            row += SYI_VECTOR;
            next = did ? row : row + single < rows ? row + single : rows;
            single = did ? SYI_VECTOR : single < 16 * SYI_VECTOR ? 2 * single : single;
        }
        while (row < next) {
            const int64_t end = end_of_joined(window, &piece->segment, row, next);
            run_joined(window, piece, row, end, c);
            row = end;
        }
    }
#else
    for (; row < rows; row++)
        run_joined(window, piece, row, row + 1, c);
#endif
}

sy_status SYI_ISA_NAME(syi_window_run)(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    int64_t first = window->period - 1 - segment->first;
    chunk c;
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    put_lost(window, segment->out, 0, first);
    if (window->kind != SYI_WINDOW_MEAN && segment->count > segment->columns) {
        run_rows(window, piece, &c);
    } else {
        run_columns(window, piece, first, &c);
    }
    return SY_OK;
}
