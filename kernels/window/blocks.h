/*
 * Rolling deviations, scores and bands by blocks of squares (squares.h), and what is not for them
 * by integers. What begins anew reads a period of columns again: as much of it may happen as
 * columns that are done pay for, else some more are left to integers, of which a column costs the
 * same whatever the values.
 */
#ifndef SYI_KERNELS_WINDOW_BLOCKS_H
#define SYI_KERNELS_WINDOW_BLOCKS_H

#include "window/integers.h"
#include "window/squares.h"
#include "window/ties.h"
#include "traffic.h"

#if SYI_HAVE_VECTORS

/* Where a block of about `stride` columns from `first` on ends: before a line of y. */
static int64_t block_end(const double *y, int64_t first, int64_t last, int64_t stride)
{
    int64_t end = first + stride;
    return last <= end ? last : end - (int64_t)((uintptr_t)(y + end) / sizeof *y % SYI_LINE);
}

#define SQUARES_BLOCK (8 * BATCH)
/* More unsure windows in a batch than this: it is better tried as part of less. */
#define SQUARES_UNSURE (BATCH / 2)
/* So many unsure windows are not tried again. */
#define SQUARES_FEW 4
/* What may be spent on what begins anew, in columns read for each column that is done, and a whole
 * block's at most; with a long period a few unsure windows would cost more than the long way for
 * all. */
#define SQUARES_SPARE 8
/* Reading a column the long way costs as much as so many in a batch. */
#define SQUARES_LONG_WAY 8

/* Columns of a block of squares: of more than it takes anyway the sums would lose more, and each
 * window that is not sure costs a period. */
static int64_t squares_most(int64_t period)
{
    const int64_t enough = (int64_t)1 << 17, four = 4 * period;
    const int64_t most = four < enough ? four : period > enough ? period : enough;
    return most > SQUARES_BLOCK ? (most + BATCH - 1) / BATCH * BATCH : SQUARES_BLOCK;
}

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

/* Where the windows from `first` on that hold something that is not finite end; `first`: it holds
 * nothing such. */
static int64_t lost_end(const double *x, int64_t period, int64_t first, int64_t last)
{
    int64_t end = first;
    for (int64_t i = first; end == first && i > first - period; i--)
        end = syi_is_finite(x[i]) ? first : i + period;
    for (int64_t i = first + 1; i < end && i < last; i++)
        end = syi_is_finite(x[i]) ? end : i + period;
    return end < last ? end : last;
}

/* The windows from `first` on that hold something that is not finite are lost; gives the first that
 * does not. */
static int64_t pass_lost(const syi_window *window, const double *x, double *const *out,
                         int64_t first, int64_t last)
{
    const int64_t end = lost_end(x, window->period, first, last);
    put_lost(window, out, first, end);
    return end;
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
 * computed the long way. Each begins anew with a period of columns, which s->spare pays for; gives
 * 0 where it does not, with windows left undone. */
static int squares_again(const syi_window *window, squares *s, const double *x, double *const *out,
                         int64_t at, uint64_t unsure, chunk *c)
{
    while (unsure) {
        if (s->spare <= 0)
            return 0;
        int64_t from = __builtin_ctzll(unsure), end = from;
        while (end < BATCH && (unsure >> end & 1))
            end++;
        unsure &= windows_from(end);
        int64_t first = at + from, last = at + end;
        if (end - from > SQUARES_FEW) {
            squares part = *s;
            first = squares_block(window, &part, x, out, first, last, 1, 0, c);
            s->spare = part.spare;
        }
        if (first < last) {
            s->spare -= SQUARES_LONG_WAY * window->period;
            run_block(window, x, out, first, last, c);
        }
    }
    return 1;
}

/* Decides what can be of a batch's n windows, which end at x[0 .. n); gives the others. */
static uint64_t decide_block(const syi_window *window, squares *s, squares_batch *b,
                             const double *x, int64_t n, tied_moments *tied)
{
    unsure_windows unsure = unsure_of(s, b, ~windows_from(n));
    const uint64_t left = decide_flat(s, b, x, n, unsure.upper | unsure.lower);
    unsure.upper &= left;
    unsure.lower &= left;
    return decide_ties(window, s, b, x, unsure, tied, &s->spare);
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
    tied_moments tied = {.newest = NULL};
    s->ahead =
        syi_ahead(s->known, last, last - first); /* the next block, which is measured first */
    squares_fill(s, x + first - window->period + fresh, window->period - fresh);
    for (int64_t at = first, n; at < last; at += n) {
        n = lanes_columns(out[0] + at, last - at);
        if (flat_end(x, s->period, at, at + n) == at + n)
            return at;
        double *to[3] = {out[0] + at, NULL, NULL};
        if (window->kind == SYI_WINDOW_BANDS)
            to[1] = out[1] + at, to[2] = out[2] + at;
        const int asks =
            !s->past && at + 2 * BATCH <= s->known; /* for what the next batch writes */
        for (int k = 0; asks && k < syi_window_outputs(s->kind); k++)
            syi_ask_to_write((uintptr_t)(out[k] + at + BATCH), BATCH);
        const int lacks = fresh && at == first;
        if (lacks || n < BATCH)
            squares_some(s, &batch, x + at, n, lacks);
        else if (SYI_ISA_NAME(syi_squares_run)(s, &batch, x + at, x + at - s->period, to, s->past))
            continue;
        const uint64_t unsure = decide_block(window, s, &batch, x + at, n, &tied);
        if (__builtin_popcountll(unsure) > most)
            return at;
        squares_put(s, &batch, n, out, at);
        if (unsure && !squares_again(window, s, x, out, at, unsure, c))
            return at;
    }
    return last;
}

/* More that may be spent. */
static void squares_earn(squares *s, int64_t columns)
{
    const int64_t most = SQUARES_SPARE * squares_most(s->period), spare = s->spare + columns;
    s->spare = spare < most ? spare : most;
}

/* A block of deviations, scores or bands, the same; its first window is not flat. */
static int64_t squares_block(const syi_window *window, squares *s, const double *x,
                             double *const *out, int64_t first, int64_t last, int fresh, int most,
                             chunk *c)
{
    int64_t start = first - window->period + fresh, count = last - start, done;
    window_range range = window_measure(x + start, count);
    window_bottom(&range, x + start, count);
    s->spare -= window->period;
    if (!squares_begin(s, &range, x[start + count / 2], count))
        return first;
    s->decidable = decidable_of(window, s);
    done = squares_windows(window, s, x, out, first, last, fresh, most, c);
    squares_earn(s, SQUARES_SPARE * (done - first));
    return done;
}

/* Of a segment with these outputs, of which `known` columns are there. */
static squares squares_of(const syi_window *window, double *const *out, int64_t known, int past)
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
                     .known = known,
                     .spare = SQUARES_SPARE * squares_most(window->period),
                     .past = past && syi_in_line(out, outputs)};
}

/* A value of so many bits more than others makes their windows unsure. */
#define SQUARES_APART 12

/* The first column from `start` on with a value far above others, or none that is finite; `last`:
 * there is no such. */
static int64_t find_far(const double *x, int64_t start, int64_t last)
{
    const int top = window_least(x + start, last - start) + 53 + SQUARES_APART;
    const double far = top < 1024 ? syi_pow2(top) : 0x1.fffffffffffffp1023;
    const syi_vec most = syi_vec_of(far);
    while (start + SYI_VECTOR <= last &&
           !syi_vec_any(~(syi_bits_vec)(syi_vec_abs(syi_vec_load(x + start)) <= most)))
        start += SYI_VECTOR;
    while (start < last && fabs(x[start]) <= far)
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

/* The windows from `first` on by integers, as many as are worth to begin with a period of columns.
 * After them squares may be tried again. */
static int64_t squares_long_way(const syi_window *window, squares *s, const double *x,
                                double *const *out, int64_t first, int64_t last, int64_t least,
                                chunk *c)
{
    const int64_t count = window->period > least ? window->period : least;
    const int64_t end = last - first > count ? first + count : last;
    run_block(window, x, out, first, end, c);
    if (s->spare < SQUARES_LONG_WAY * window->period)
        s->spare = SQUARES_LONG_WAY * window->period;
    return end;
}

/* Windows without a move, or, where nothing may be spent, some by integers; gives the column after
 * them. */
static int64_t without_block(const syi_window *window, squares *s, const double *x,
                             double *const *out, int64_t first, int64_t last, int64_t least,
                             chunk *c)
{
    const int64_t flat = flat_end(x, window->period, first, last);
    if (flat > first)
        put_flat(window->kind, x[first], out, first, flat);
    if (flat > first || s->spare > 0)
        return flat;
    return squares_long_way(window, s, x, out, first, last, least, c);
}

/* Deviations, scores or bands of [first, last) by blocks; `fresh`: before the first one's window
 * nothing may be there. What is too much for a block at once is as a rule not for most of its
 * parts. A value that is known to be `far` above others, else `last`, has a block to itself; of
 * what is not finite all windows are lost. */
static void run_blocks(const syi_window *window, squares *s, const double *x, double *const *out,
                       int64_t first, int64_t last, int fresh, int64_t far, chunk *c)
{
    const int64_t period = window->period, most = squares_most(period);
    int64_t begin = first;
    const int64_t least = most / 8 / BATCH * BATCH;
    int64_t stride = most;
    while (first < last) {
        const int64_t passed = without_block(window, s, x, out, first, last, least, c);
        if (passed > first) {
            first = passed;
            continue;
        }
        const int is_cut = far < last && far + period > first;
        const int64_t cut = is_cut ? cut_of(first, far, period, last) : last;
        const int64_t end = block_end(out[0], first, cut, stride);
        int unsure = stride > least ? SQUARES_UNSURE : BATCH;
        const int anew = (fresh && first == begin) || first == far + period;
        int64_t done = squares_block(window, s, x, out, first, end, anew, unsure, c);
        const int is_fault = done < end && flat_end(x, period, done, done + 1) == done;
        const int64_t lost = is_fault ? lost_end(x, period, done, last) : done;
        const int64_t next = is_fault && !is_cut ? find_far(x, done - period + 1, end) : end;
        if (lost > done) {
            put_lost(window, out, done, lost);
            begin = done = lost;
            fresh = 1;
        } else if (done == end) {
            stride = 2 * stride < most ? 2 * stride : most;
        } else if (!is_fault) {
            /* windows without a move come next */
        } else if (next < end && (next - done >= BATCH || syi_is_finite(x[next]))) {
            far = next;
        } else if (next == end && stride > least) {
            stride = stride / 4 > least ? stride / 4 : least;
        } else {
            done = squares_long_way(window, s, x, out, done, last, least, c);
        }
        first = done;
    }
}

#endif
#endif
