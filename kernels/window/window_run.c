/*
 * The rolling kernels' loop: blocks of columns, each with its own scale. Means go by a grid,
 * deviations, scores and bands by stretches or else by squares, and what is not for them by
 * integers. This file is compiled for several instruction sets.
 */
#include "window/blocks.h"
#include "window/grid.h"
#include "window/rows.h"
#include "traffic.h"

#include <float.h>

/* Columns that share a scale; not fewer than a window, so that the work of starting a block anew
 * from its halo stays in proportion. */
#define BLOCK ((int64_t)2048)

static void run_columns(const syi_window *window, const syi_piece *piece, int64_t first, chunk *c);

#if SYI_HAVE_VECTORS

/* Of windows that are not longer so many columns are computed from a copy. */
enum { FILLED_PERIOD = 512, FILLED_COLUMNS = 2048 };

/* Whether so many values, a vector's at most, are finite. */
SYI_INLINE int are_finite(const double *x, int64_t count)
{
    const syi_vec v =
        count < SYI_VECTOR ? syi_vec_load_some(x, count, (syi_vec){0}) : syi_vec_load(x);
    return !syi_vec_any(~(syi_bits_vec)(syi_vec_abs(v) <= DBL_MAX));
}

/* Copies values, but instead of those that are not finite the one before; gives whether there are
 * such. */
static int copy_filled(const double *x, int64_t count, double *to)
{
    const int64_t finite = find_finite(x, 0, count);
    double last = finite < count ? x[finite] : 1.0;
    int lacks = 0;
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        const int64_t n = count - i < SYI_VECTOR ? count - i : SYI_VECTOR;
        memcpy(to + i, x + i, (size_t)n * sizeof *to);
        if (!are_finite(x + i, n)) {
            lacks = 1;
            for (int64_t k = i; k < i + n; k++)
                to[k] = last = syi_is_finite(x[k]) ? x[k] : last;
        }
        last = to[i + n - 1];
    }
    return lacks;
}

/* The windows of [first, last) that hold something that is not finite are lost. */
static void put_lost_windows(const syi_window *window, const double *x, double *const *out,
                             int64_t first, int64_t last)
{
    int64_t lost = first; /* those before this column are done */
    for (int64_t i = first - window->period + 1, n; i < last; i += n) {
        n = last - i < SYI_VECTOR ? last - i : SYI_VECTOR;
        for (int64_t k = are_finite(x + i, n) ? i + n : i; k < i + n; k++) {
            const int64_t end = k + window->period < last ? k + window->period : last;
            if (syi_is_finite(x[k]))
                continue;
            put_lost(window, out, k > lost ? k : lost, end);
            lost = end > lost ? end : lost;
        }
    }
}

/* Some windows from `first` on of values of which some are not finite: the other windows' bits do
 * not depend on what those are. Gives the column behind them, unless *lacks, which says whether
 * there are such, at the end of a line. */
static int64_t run_filled(const syi_window *window, const syi_piece *piece, int64_t first,
                          int *lacks, chunk *c)
{
    const double *x = piece->segment.in[0];
    double *const *out = piece->segment.out;
    const int64_t before = window->period - 1, last = piece->segment.count;
    const int64_t lost = lost_end(x, window->period, first, last);
    const int64_t count = block_end(out[0], first, last, FILLED_COLUMNS) - first;
    double filled[FILLED_PERIOD + FILLED_COLUMNS], *to[3];
    const double *in[] = {filled + before};
    const syi_piece own = {.segment = {.in = in, .out = to, .count = count}};
    *lacks = 1;
    if (lost > first) {
        put_lost(window, out, first, lost);
        return lost;
    }
    *lacks = copy_filled(x + first - before, before + count, filled);
    for (int k = 0; k < syi_window_outputs(window->kind); k++)
        to[k] = out[k] + first;
    run_columns(window, &own, 0, c);
    if (*lacks)
        put_lost_windows(window, x, out, first, first + count);
    return first + count;
}

/* Windows before the next value that is not finite that are worth a block to themselves. */
#define MEANS_LEAST 64

/* Something in a block of means, or in its first window, is not finite. Gives the column up to
 * which windows are lost, or by integers where another is lost soon; or `first`, and *end is before
 * the next one. */
static int64_t means_lost(const syi_window *window, const double *x, double *const *out,
                          int64_t first, int64_t last, int64_t least, int64_t *end, chunk *c)
{
    const int64_t lost = lost_end(x, window->period, first, last);
    if (lost > first) {
        put_lost(window, out, first, lost);
        return lost;
    }
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
    return way != GRID_FAR && 4 * period <= few ? few : most;
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
            int lacks;
            const int64_t passed = period <= FILLED_PERIOD
                                       ? run_filled(window, piece, first, &lacks, c)
                                       : means_lost(window, x, out, first, last, least, &end, c);
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
    still = put_stretches(window, s, &t, t.columns, to);
    *left = blocks_do_better(window->period, count, still) ? still : 0;
    for (int l = 0; l < SYI_VECTOR; l++, first += t.columns) {
        const int64_t from = first + t.done[l], end = first + t.columns;
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

/* A whole row of several; what lies before its first window is the caller's. */
static void run_row(const syi_window *window, const syi_piece *piece, int64_t row, chunk *c)
{
    const int64_t columns = piece->segment.columns;
    syi_piece own = *piece;
    const double *in[] = {piece->segment.in[0] + row * columns};
    double *out[3];
    for (int k = 0; k < syi_window_outputs(window->kind); k++)
        out[k] = piece->segment.out[k] + row * columns;
    own.segment.in = in;
    own.segment.out = out;
    own.segment.count = columns;
    own.behind += piece->segment.count - (row + 1) * columns;
    run_columns(window, &own, window->period - 1, c);
}

/* Whole rows: beside each other, and after those that were not for that one by one, the more of
 * them the more often it happens. */
static void run_rows(const syi_window *window, const syi_piece *piece, chunk *c)
{
    const int64_t rows = piece->segment.count / piece->segment.columns;
    int64_t row = 0;
#if SYI_HAVE_VECTORS
    const int64_t longest = window->kind == SYI_WINDOW_BANDS ? ROWS_LONGEST_BANDS : ROWS_LONGEST;
    int64_t single = SYI_VECTOR;
    while (row + SYI_VECTOR <= rows && piece->segment.columns <= longest) {
        const int did = run_beside(window, piece, row, c);
        const int64_t next = row + SYI_VECTOR + (did ? 0 : single);
        single = did ? SYI_VECTOR : single < 16 * SYI_VECTOR ? 2 * single : single;
        for (row += SYI_VECTOR; row < next && row < rows; row++)
            run_row(window, piece, row, c);
    }
#endif
    for (; row < rows; row++)
        run_row(window, piece, row, c);
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
    syi_past_done();
    return SY_OK;
}
