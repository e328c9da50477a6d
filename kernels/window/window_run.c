/*
 * The rolling kernels' loop: blocks of columns, each with its own scale. Means go by a grid,
 * deviations, scores and bands by stretches or else by squares, and what is not for them by
 * integers. This file is compiled for several instruction sets.
 */
#include "window/grid.h"
#include "window/integers.h"
#include "window/stretches.h"
#include "window/ties.h"
#include "traffic.h"

/* Columns that share a scale; not fewer than a window, so that the work of starting a block anew
 * from its halo stays in proportion. */
#define BLOCK ((int64_t)2048)

#if SYI_HAVE_VECTORS

/* Where a block of about `stride` columns from `first` on ends: before a line of y. */
static int64_t block_end(const double *y, int64_t first, int64_t last, int64_t stride)
{
    int64_t end = first + stride;
    return last <= end ? last : end - (int64_t)((uintptr_t)(y + end) / sizeof *y % SYI_LINE);
}

/* Means of [first, last), a block of up to `most` columns at a time. What the grid does not hold
 * the sums of, say for a value that is not finite, is tried in smaller blocks before the long way.
 */
static void run_means(const syi_window *window, const double *x, double *const *out, int64_t first,
                      int64_t last, int64_t most, int past, chunk *c)
{
    const int64_t period = window->period, begin = first;
    const int64_t least = 4 * period > most ? most : 4 * period > 256 ? 4 * period : 256;
    grid grid = {.period = period};
    int64_t stride = most;
    while (first < last) {
        /* With the value that goes first, which before the first block may not be there. */
        int64_t start = first - period + (first == begin);
        int64_t end = block_end(out[0], first, last, stride);
        window_range range = window_measure(x + start, end - start);
        grid_cut cut = grid_cut_of(x + start, end - start, range, period, most, grid.cut);
        if (cut.shift == 0.0 && stride > least) {
            stride = stride / 4 > least ? stride / 4 : least;
            continue;
        }
        if (cut.shift != 0.0) {
            grid_means(&grid, cut, x + first, end - first, out[0] + first, past);
            stride = 2 * stride < most ? 2 * stride : most;
        } else {
            grid.cut.shift = 0.0;
            run_block(window, x, out, first, end, c);
        }
        first = end;
    }
}

#define SQUARES_BLOCK (8 * BATCH)
/* More unsure windows in a batch than this: it is better tried as part of less. */
#define SQUARES_UNSURE (BATCH / 2)
/* So many unsure windows are not tried again. */
#define SQUARES_FEW 4
/* What a block may spend on windows that begin anew, in columns read for each column of its own;
 * with a long period a few unsure windows would cost more than the whole block the long way. */
#define SQUARES_SPARE 8
/* Reading a column the long way costs as much as so many in a batch. */
#define SQUARES_LONG_WAY 8

/* n <= BATCH windows that end at x[0 .. n), with copies; `fresh`: the first one lacks a value, so
 * none goes. Their results stay in the batch. */
static void squares_some(squares *s, squares_batch *b, const double *x, int64_t n, int fresh)
{
    double in[BATCH], old[BATCH];
    lanes_copy(in, old, x, s->period, n, fresh, s->pivot[0]);
    SYI_ISA_NAME(syi_squares_run)(s, b, in, old, NULL, 0);
}

/* The results of n of them to out[..][at ..]. */
static void squares_put(const squares *s, const squares_batch *b, int64_t n, double *const *out,
                        int64_t at)
{
    double results[BATCH];
    for (int j = 0; j < syi_window_outputs(s->kind); j++)
        if (n == BATCH) {
            lanes_put(out[j] + at, LANE, b->out[j], s->past);
        } else {
            lanes_put(results, LANE, b->out[j], 0);
            if (s->past)
                syi_put_past(out[j] + at, results, n);
            else
                memcpy(out[j] + at, results, (size_t)n * sizeof *results);
        }
}

/* Windows that hold nothing but this value. */
static void put_flat(syi_window_kind kind, double value, double *const *out, int64_t first,
                     int64_t last)
{
    for (int k = 0; k < syi_window_outputs(kind); k++)
        for (int64_t i = first; i < last; i++)
            out[k][i] = flat_result(kind, value);
}

static int64_t squares_block(const syi_window *window, squares *s, const double *x,
                             double *const *out, int64_t first, int64_t last, int fresh, int most,
                             chunk *c);

/* Windows of a batch that are not sure: they may be with bounds of their own, else they are
 * computed the long way. Each begins anew with a period of columns, which `spare` pays for; gives 0
 * where it does not, with windows left undone. */
static int squares_again(const syi_window *window, const squares *s, const double *x,
                         double *const *out, int64_t at, uint64_t unsure, int64_t *spare, chunk *c)
{
    while (unsure) {
        if (*spare <= 0)
            return 0;
        int64_t from = __builtin_ctzll(unsure), end = from;
        while (end < BATCH && (unsure >> end & 1))
            end++;
        unsure &= windows_from(end);
        int64_t first = at + from, last = at + end;
        if (end - from > SQUARES_FEW) {
            squares part = *s;
            *spare -= window->period;
            first = squares_block(window, &part, x, out, first, last, 1, 0, c);
        }
        if (first < last) {
            *spare -= SQUARES_LONG_WAY * window->period;
            run_block(window, x, out, first, last, c);
        }
    }
    return 1;
}

/* The windows of [first, last) from the moments, which begin with the window before the first one;
 * `fresh`: with all but a value of it, since it may not be there. Gives the column before which all
 * is done: before a batch without a move, where more than `most` of a batch are not sure, or those
 * that are not have used up what the block may spend on them, it ends. */
SYI_INLINE int64_t squares_windows(const syi_window *window, squares *s, const double *x,
                                   double *const *out, int64_t first, int64_t last, int fresh,
                                   int most, chunk *c)
{
    squares_batch batch;
    int64_t spare = SQUARES_SPARE * (last - first);
    s->ahead = last - first; /* the next block, which is measured first */
    squares_fill(s, x + first - window->period + fresh, window->period - fresh);
    for (int64_t at = first, n; at < last; at += n) {
        n = lanes_columns(out[0] + at, last - at);
        if (flat_end(x, s->period, at, at + n) == at + n)
            return at;
        double *to[3] = {out[0] + at, NULL, NULL};
        if (window->kind == SYI_WINDOW_BANDS)
            to[1] = out[1] + at, to[2] = out[2] + at;
        for (int k = 0; !s->past && k < syi_window_outputs(s->kind);
             k++) /* what the next batch writes */
            syi_ask_to_write((uintptr_t)(out[k] + at + BATCH), BATCH);
        const int lacks = fresh && at == first;
        if (lacks || n < BATCH)
            squares_some(s, &batch, x + at, n, lacks);
        else if (SYI_ISA_NAME(syi_squares_run)(s, &batch, x + at, x + at - s->period, to, s->past))
            continue;
        uint64_t unsure = decide_batch(window, s, &batch, x + at, LANE, ~windows_from(n), &spare);
        if (__builtin_popcountll(unsure) > most)
            return at;
        squares_put(s, &batch, n, out, at);
        if (unsure && !squares_again(window, s, x, out, at, unsure, &spare, c))
            return at;
    }
    return last;
}

/* A block of deviations, scores or bands, the same; its first window is not flat. */
static int64_t squares_block(const syi_window *window, squares *s, const double *x,
                             double *const *out, int64_t first, int64_t last, int fresh, int most,
                             chunk *c)
{
    int64_t start = first - window->period + fresh, count = last - start;
    window_range range = window_measure(x + start, count);
    window_bottom(&range, x + start, count);
    if (!squares_begin(s, &range, x[start + count / 2], count))
        return first;
    s->decidable = decidable_of(window, s);
    return squares_windows(window, s, x, out, first, last, fresh, most, c);
}

static squares squares_of(const syi_window *window, double *const *out, int past)
{
    syi_window_constants k =
        syi_window_constants_of(window->period, window->ddof, window->width, 0);
    double high = k.inverse_high, low = k.inverse_low, width = 1.0;
    const int outputs = syi_window_outputs(window->kind);
    if (window->kind == SYI_WINDOW_SCORE) {
        high = (k.period - (double)window->ddof) / k.period;
        low = fma(-high, k.period, k.period - (double)window->ddof) / k.period;
    }
    if (window->kind == SYI_WINDOW_BANDS)
        width = k.width;
    double root = sqrt(high), rest = (fma(-root, root, high) + low) / (root + root);
    double factor = width * root;
    return (squares){.kind = window->kind,
                     .period = window->period,
                     .by = window_divisor_of(window->period),
                     .factor = syi_vec_of(factor),
                     .factor_low = syi_vec_of(fma(width, root, -factor) + width * rest),
                     .width = fabs(factor),
                     .past = past && syi_in_line(out, outputs)};
}

/* Columns of a block of squares. */
static int64_t squares_most(int64_t period)
{
    return period > SQUARES_BLOCK / 4 ? (4 * period + BATCH - 1) / BATCH * BATCH : SQUARES_BLOCK;
}

/* A value of so many bits more than others makes their windows unsure. */
#define SQUARES_APART 12

/* The first column from `start` on with a value far above others; `last`: none is. */
static int64_t find_far(const double *x, int64_t start, int64_t last)
{
    const int top = window_least(x + start, last - start) + 53 + SQUARES_APART;
    const double far = top < 1024 ? syi_pow2(top) : INFINITY;
    const syi_vec most = syi_vec_of(far);
    while (start + SYI_VECTOR <= last &&
           !syi_vec_any((syi_bits_vec)(syi_vec_abs(syi_vec_load(x + start)) > most)))
        start += SYI_VECTOR;
    while (start < last && !(fabs(x[start]) > far))
        start++;
    return start;
}

/* Where a block of windows that begins with `first` is cut: before those with the value of column
 * `far`, or behind them. */
static int64_t cut_of(int64_t first, int64_t far, int64_t period, int64_t last)
{
    const int64_t cut = far > first ? far : far + period;
    return cut < last ? cut : last;
}

/* Deviations, scores or bands of [first, last) by blocks; `fresh`: before the first one's window
 * nothing may be there. What is too much for a block at once is as a rule not for most of its
 * parts. A value that is known to be `far` above others, else `last`, has a block to itself. */
static void run_blocks(const syi_window *window, squares *s, const double *x, double *const *out,
                       int64_t first, int64_t last, int fresh, int64_t far, chunk *c)
{
    const int64_t begin = first, period = window->period, most = squares_most(period);
    const int64_t least = most / 8 / BATCH * BATCH;
    int64_t stride = most;
    while (first < last) {
        const int64_t flat = flat_end(x, period, first, last);
        if (flat > first) {
            put_flat(window->kind, x[first], out, first, flat);
            first = flat;
            continue;
        }
        const int is_cut = far < last && far + period > first;
        const int64_t cut = is_cut ? cut_of(first, far, period, last) : last;
        const int64_t end = block_end(out[0], first, cut, stride);
        int unsure = stride > least ? SQUARES_UNSURE : BATCH;
        const int anew = (fresh && first == begin) || first == far + period;
        int64_t done = squares_block(window, s, x, out, first, end, anew, unsure, c);
        const int is_fault = done < end && flat_end(x, period, done, done + 1) == done;
        const int64_t next = is_fault && !is_cut ? find_far(x, done - period + 1, end) : end;
        if (done == end) {
            stride = 2 * stride < most ? 2 * stride : most;
        } else if (!is_fault) {
            /* windows without a move come next */
        } else if (next < end) {
            far = next;
        } else if (stride > least) {
            stride = stride / 4 > least ? stride / 4 : least;
        } else {
            run_block(window, x, out, done, end, c);
            done = end;
        }
        first = done;
    }
}

/* What of a batch of stretches is not sure is decided, or its lanes are lost. */
static void decide_stretches(const syi_window *window, const squares *s, stretches *t,
                             squares_batch *b, const double *x, int64_t at, int64_t *spare)
{
    uint64_t asked = 0, unsure;
    for (int l = 0; l < SYI_VECTOR; l++)
        asked |= t->done[l] > at ? windows_of(l) : 0;
    unsure = decide_batch(window, s, b, x + at, t->columns, asked, spare);
    for (int l = 0; l < SYI_VECTOR; l++)
        if (unsure & windows_of(l))
            stretches_lose(t, l, at);
}

/* Windows of close values from column `first` on, before which there are SYI_VECTOR more, and with
 * which a line of outputs begins that go past the cache. Gives the column before which all is done;
 * *left is how many columns were left to blocks. */
static int64_t run_stretches(const syi_window *window, squares *s, const double *x,
                             double *const *out, int64_t first, int64_t last, int64_t *left,
                             chunk *c)
{
    const int outputs = syi_window_outputs(window->kind);
    stretches t;
    squares_batch batch;
    double *to[3];
    int64_t spare, at = 0;
    *left = 0;
    t.columns = stretches_columns(window->period, last - first);
    if (t.columns == 0 || !stretches_begin(s, &t, x + first))
        return first;
    spare = SQUARES_SPARE * t.columns * SYI_VECTOR;
    s->decidable = decidable_of(window, s);
    for (int k = 0; k < outputs; k++)
        to[k] = out[k] + first;
    while ((at = SYI_ISA_NAME(syi_stretches_run)(s, &t, &batch, x + first, to, at)) < t.columns) {
        decide_stretches(window, s, &t, &batch, x + first, at, &spare);
        for (int k = 0; k < outputs; k++)
            lanes_put(to[k] + at, t.columns, batch.out[k], s->past);
        at += LANE;
    }
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

/* Deviations, scores or bands of [first, last): by stretches, and after those that did not do for
 * half of their columns by blocks, the more of them the more often it happens. */
static void run_squares(const syi_window *window, const double *x, double *const *out,
                        int64_t first, int64_t last, int past, chunk *c)
{
    squares s = squares_of(window, out, past);
    const int64_t most = squares_most(window->period);
    int64_t end = blocks_end(window, out, first, last, SYI_VECTOR + SYI_LINE), left, blocks = 1;
    run_blocks(window, &s, x, out, first, end, 1, end, c);
    while (end < last) {
        first = end;
        end = run_stretches(window, &s, x, out, first, last, &left, c);
        if (2 * left < end - first) {
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

sy_status SYI_ISA_NAME(syi_window_run)(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    const int outputs = syi_window_outputs(window->kind);
    int64_t stride = window->period > BLOCK ? window->period : BLOCK;
    int64_t first = window->period - 1 - segment->first;
    chunk c;
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    for (int k = 0; k < outputs; k++)
        for (int64_t i = 0; i < first; i++)
            segment->out[k][i] = syi_nan();
#if SYI_HAVE_VECTORS
    if (window->kind == SYI_WINDOW_MEAN) {
        run_means(window, segment->in[0], segment->out, first, segment->count, stride,
                  piece->past_cache, &c);
        syi_past_done();
        return SY_OK;
    }
    if (window->period <= SQUARES_LONGEST) {
        run_squares(window, segment->in[0], segment->out, first, segment->count, piece->past_cache,
                    &c);
        syi_past_done();
        return SY_OK;
    }
#endif
    while (first < segment->count) {
        int64_t last = segment->count - first < stride ? segment->count : first + stride;
        run_block(window, segment->in[0], segment->out, first, last, &c);
        first = last;
    }
    return SY_OK;
}
