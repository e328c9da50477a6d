/*
 * The quick way through a stretch of rolling means. A value is cut on a grid, x = a + b, a being a
 * multiple of g; g is chosen so that the sums of the a and those of the b are exact in a double
 * each. So the window slides exactly, in all lanes at once (window/lanes.h).
 *
 * With |x| < 2^top, all of them multiples of u = 2^bottom, a window of at most 2^length values and
 * g = 2^(top + length - 51): what the sums of the a go through stays below 2^53 g, and that of the
 * b below 2^(top + 2 length - 51), which is to be 2^53 u at most.
 *
 * Of values of which none is more than twice another the differences are exact: it is the change of
 * the window that is cut, by adding it to a sum that is large enough to have the grid itself. What
 * is cut off then no longer goes when its value goes: after n columns its sum is up to n g / 2.
 * With g = 2^(top + length - 49) the sums stay within 2^51 g of their beginning, 1.5 * 2^52 g.
 *
 * The quotient's correction has an error of 2^-49 ulp. Exact quotients come out exactly, ties among
 * them; any other lies at least min(ulp / 2, 2^bottom) / period away from a tie. So where that is
 * larger than the error nothing is ever in doubt.
 *
 * Of near values it is the sum of the a that is divided: the mean is 2^(top - 2) at least, and what
 * the quotient lacks is exact, and with the b below 2^(top + columns - 49) for 2^columns >= 2 n. So
 * the correction's error is below 2^(top + columns - 101), while a tie is 2^(top - 56 - length) or
 * 2^(bottom - length) away.
 *
 * Where all values are multiples of a larger u, as whole numbers are, and the sums of a window's
 * are doubles, nothing is cut either.
 *
 * Where near values are so close that the sums of their distances from a pivot are doubles, nothing
 * is cut. A mean that is off by one place leaves a rest of few units, a double; what is added for
 * it is off by 2^-53 of a place, and exact where that is half a place: then the quotient of the
 * rest is a double, too, of which a division by 53 more bits of the reciprocal loses nothing.
 */
#ifndef SYI_KERNELS_WINDOW_GRID_H
#define SYI_KERNELS_WINDOW_GRID_H

#include "window/certify.h"
#include "window/lanes.h"

#if SYI_HAVE_VECTORS

typedef enum grid_way {
    GRID_FAR,
    GRID_NEAR,  /* no value is more than twice another */
    GRID_CLOSE, /* and nothing is cut: the sum is of distances from a pivot */
    GRID_WHOLE  /* nothing is cut */
} grid_way;

/* How values are cut; one that is equal to another cuts alike. */
typedef struct grid_cut {
    double shift; /* adding and taking it away rounds to a multiple of g, or the pivot, or anything;
                     0: this way does not go */
    grid_way way;
} grid_cut;

/* Whether sums have a lower part. */
SYI_INLINE int grid_cuts(grid_way way)
{
    return way == GRID_FAR || way == GRID_NEAR;
}

typedef struct grid {
    int64_t period;
    grid_cut cut;      /* shift 0: nothing is held */
    syi_vec high, low; /* of the window before the next column, in each element */
} grid;

/* The pivot of close values: that of the block before, if they are with it; 0: they are not. */
SYI_INLINE double grid_pivot(const window_range *range, int64_t period, double before)
{
    window_range both = *range;
    both.least = before < both.least ? before : both.least;
    both.most = before > both.most ? before : both.most;
    if (window_is_close(&both, period))
        return before;
    return window_is_close(range, period) ? 0.5 * range->least + 0.5 * range->most : 0.0;
}

/* Whether all of x[0 .. count), below 2^top, are multiples of 2^(top + length - 52): so the sums of
 * 2^length of them are doubles. What is not whole is so soon, as a rule. */
SYI_INLINE int grid_is_whole(const double *x, int64_t count, int top, int length)
{
    enum { STEP = 8 * SYI_VECTOR };
    const syi_vec shift = syi_vec_of(1.5 * syi_pow2(top + length));
    for (int64_t i = 0; i < count; i += STEP) {
        syi_bits_vec rest = {0};
        for (int64_t k = i; k < i + STEP && k < count; k += SYI_VECTOR) {
            const syi_vec next = window_next(x, k, count);
            rest |= (syi_bits_vec)((next + shift) - shift != next);
        }
        if (syi_vec_any(rest))
            return 0;
    }
    return 1;
}

/* Whether the sums of both parts of such values are exact. */
SYI_INLINE int grid_holds(const syi_span *span, int length)
{
    const int bits = span->top - span->bottom;
    return bits <= 103 - 2 * length && bits <= 99 - length && span->bottom >= -850;
}

/* Whether near values are cut as such, in blocks of at most `stride` columns. */
SYI_INLINE int grid_is_near(const window_range *range, int64_t period, int64_t stride)
{
    const int length = window_length(period), columns = window_length(2 * (period + stride));
    return window_is_near(range) && grid_holds(&range->span, length) &&
           range->span.top - range->span.bottom + length + columns <= 100 && length + columns <= 44;
}

/* For blocks of at most `stride` columns, of which x[0 .. count) is one with the windows before it,
 * and `range` what it is made of; `before`: how the one before is cut. */
SYI_INLINE grid_cut grid_cut_of(const double *x, int64_t count, window_range range, int64_t period,
                                int64_t stride, grid_cut before)
{
    const int length = window_length(period), top = range.span.top;
    const double held = before.way == GRID_CLOSE ? before.shift : 0.0; /* close to 0 is nothing */
    if (range.span.has_non_finite || top > 850)
        return (grid_cut){0.0, GRID_FAR};
    const int near = grid_is_near(&range, period, stride);
    const double pivot = near ? grid_pivot(&range, period, held) : 0.0;
    if (pivot != 0.0)
        return (grid_cut){pivot, GRID_CLOSE};
    if (top > -700 && grid_is_whole(x, count, top, length > 0 ? length : 1))
        return (grid_cut){1.0, GRID_WHOLE};
    window_bottom(&range, x, count);
    if (!grid_holds(&range.span, length))
        return (grid_cut){0.0, GRID_FAR};
    return (grid_cut){1.5 * syi_pow2(top + length + (near ? 3 : 1)), near ? GRID_NEAR : GRID_FAR};
}

/* The sums of x[0 .. count). */
SYI_INLINE void grid_fill(grid *s, const double *x, int64_t count)
{
    const double shift = s->cut.shift;
    double high = 0.0, low = 0.0;
    for (int64_t i = 0; !grid_cuts(s->cut.way) && i < count; i++)
        high += s->cut.way == GRID_CLOSE ? x[i] - shift : x[i];
    for (int64_t i = 0; grid_cuts(s->cut.way) && i < count; i++) {
        double a = (x[i] + shift) - shift;
        high += a;
        low += x[i] - a;
    }
    s->high = syi_vec_of(high);
    s->low = syi_vec_of(low);
}

/* What lacks a multiple of g in its lower part gets it back. */
SYI_INLINE void grid_settle(grid *s)
{
    const syi_vec shift = syi_vec_of(s->cut.shift), rest = (s->low + shift) - shift;
    s->high += rest;
    s->low -= rest;
}

/* A batch on its way: what the columns of each lane have added up to since its beginning, and what
 * comes before the lane. */
typedef struct grid_batch {
    syi_vec high[LANE], low[LANE], before, before_low;
} grid_batch;

/* What changes the windows of SYI_VECTOR columns of each lane, which get those of x and lose those
 * of `old`; of what is far it is cut here. */
SYI_INLINE void grid_changes(const double *x, const double *old, syi_vec shift, grid_way way,
                             syi_vec *change, syi_vec *low)
{
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_VECTOR; l++) {
        syi_vec in = syi_vec_load(x + l * LANE), out = syi_vec_load(old + l * LANE);
        syi_vec a = (in + shift) - shift, b = (out + shift) - shift;
        change[l] = way != GRID_FAR ? in - out : a - b;
        low[l] = (in - a) - (out - b);
    }
    syi_vec_transpose(change);
    if (way == GRID_FAR)
        syi_vec_transpose(low);
}

SYI_INLINE void grid_add(syi_vec *high, syi_vec *low, syi_vec change, syi_vec change_low,
                         grid_way way)
{
    const syi_vec sum = *high + change;
    if (grid_cuts(way))
        *low += way == GRID_NEAR ? change - (sum - *high) : change_low;
    *high = sum;
}

/* The mean of a window from its sum, both of whose parts are exact. */
SYI_INLINE syi_vec grid_mean(syi_vec high, syi_vec low, const window_divisor *by, grid_way way)
{
    syi_vec total = high, rest = low, mean;
    if (way == GRID_FAR)
        syi_vec_quick_sum(high, low, &total, &rest);
    mean = total * by->inverse;
    return mean + window_divide(rest + syi_vec_fnma(mean, by->count, total), by);
}

/* The same from the sum of distances from the pivot. */
SYI_INLINE syi_vec grid_close_mean(syi_vec sum, syi_vec pivot, const window_divisor *by)
{
    syi_vec rest, mean = window_mean(sum, pivot, by, &rest);
    return mean + window_divide(rest, by);
}

enum { GRID_SLIDES = 1, GRID_ENDS = 2 };

/* A step of the way through batches: *b, the one before, ends, its means going to `out`, while the
 * next one slides, each of its windows getting a value of x and losing one of `old`. So one has
 * enough to do while the other waits. `steps` says which of the two there are. */
SYI_INLINE void grid_step(grid *s, grid_batch *b, int steps, const double *x, const double *old,
                          double *out, grid_way way, int past)
{
    const syi_vec shift = syi_vec_of(s->cut.shift), zero = {0};
    const syi_vec start = way == GRID_NEAR ? shift : zero;
    const window_divisor by = window_divisor_of(s->period);
    syi_vec high = start, low = zero, mean[LANE];
    for (int k = 0; k < LANE; k += SYI_VECTOR) {
        syi_vec change[SYI_VECTOR], change_low[SYI_VECTOR];
        if (steps & GRID_SLIDES)
            grid_changes(x + k, old + k, shift, way, change, change_low);
        SYI_UNROLL(8)
        for (int j = 0; j < SYI_VECTOR; j++) {
            const syi_vec sum = syi_vec_plus(b->high[k + j], b->before);
            if (steps & GRID_ENDS)
                mean[k + j] = way == GRID_CLOSE ? grid_close_mean(sum, shift, &by)
                              : way == GRID_WHOLE
                                  ? grid_mean(sum, zero, &by, way)
                                  : grid_mean(sum, b->low[k + j] + b->before_low, &by, way);
            if (steps & GRID_SLIDES)
                grid_add(&high, &low, change[j], change_low[j], way);
            b->high[k + j] = high;
            if (grid_cuts(way))
                b->low[k + j] = low;
        }
    }
    if (steps & GRID_SLIDES) {
        b->before = lanes_before(&s->high, high - start) - start;
        if (grid_cuts(way))
            b->before_low = lanes_before(&s->low, low);
    }
    for (int k = 0; (steps & GRID_ENDS) && k < LANE; k += SYI_VECTOR)
        syi_vec_rows(out + k, LANE, mean + k, past);
}

/* n columns, whole batches; what lies `ahead` columns behind them is asked for. */
SYI_INLINE void grid_batches(grid *s, const double *x, const double *old, int64_t n, double *out,
                             int64_t ahead, grid_way way, int past)
{
    grid_batch b;
    grid_step(s, &b, GRID_SLIDES, x, old, NULL, way, past);
    for (int64_t i = BATCH; i < n; i += BATCH) {
        syi_ask_ahead(x + i, ahead, BATCH);
        if (!past)
            syi_ask_to_write((uintptr_t)(out + i + ahead), BATCH);
        grid_step(s, &b, GRID_SLIDES | GRID_ENDS, x + i, old + i, out + i - BATCH, way, past);
    }
    grid_step(s, &b, GRID_ENDS, NULL, NULL, out + n - BATCH, way, past);
}

static void grid_any_batches(grid *state, const double *x, const double *old, int64_t n,
                             double *out, int64_t ahead, int past)
{
    grid s = *state;
    if (s.cut.way == GRID_WHOLE)
        past ? grid_batches(&s, x, old, n, out, ahead, GRID_WHOLE, 1)
             : grid_batches(&s, x, old, n, out, ahead, GRID_WHOLE, 0);
    else if (s.cut.way == GRID_CLOSE)
        past ? grid_batches(&s, x, old, n, out, ahead, GRID_CLOSE, 1)
             : grid_batches(&s, x, old, n, out, ahead, GRID_CLOSE, 0);
    else if (s.cut.way == GRID_NEAR)
        past ? grid_batches(&s, x, old, n, out, ahead, GRID_NEAR, 1)
             : grid_batches(&s, x, old, n, out, ahead, GRID_NEAR, 0);
    else
        past ? grid_batches(&s, x, old, n, out, ahead, GRID_FAR, 1)
             : grid_batches(&s, x, old, n, out, ahead, GRID_FAR, 0);
    *state = s;
}

/* Fewer columns than a batch has; `fresh`: the window lacks a value, so none goes. */
SYI_INLINE void grid_some(grid *s, const double *x, int64_t n, int fresh, double *out)
{
    double in[BATCH], old[BATCH], result[BATCH];
    lanes_copy(in, old, x, s->period, n, fresh, s->cut.way == GRID_CLOSE ? s->cut.shift : 0.0);
    grid_any_batches(s, in, old, BATCH, result, 0, 0);
    memcpy(out, result, (size_t)n * sizeof *out);
}

/* The means of the windows that end at x[0 .. count). After the first ones they are stored in whole
 * lines, with `past` past the cache. The next block, which lies `ahead`, is measured first, which
 * takes no longer than reading it: this computing is what hides that. */
SYI_INLINE void grid_means(grid *s, grid_cut cut, const double *x, int64_t count, double *out,
                           int64_t ahead, int past)
{
    int fresh = s->cut.shift != cut.shift || s->cut.way != cut.way;
    if (fresh) {
        s->cut = cut;
        grid_fill(s, x - s->period + 1, s->period - 1);
    }
    if (cut.way == GRID_NEAR)
        grid_settle(s);
    for (int64_t i = 0, n; i < count; i += n) {
        n = lanes_columns(out + i, count - i);
        syi_ask_ahead(x + i, ahead, BATCH);
        if (n < BATCH || fresh) {
            grid_some(s, x + i, n, fresh, out + i);
        } else {
            n = (count - i) / BATCH * BATCH;
            grid_any_batches(s, x + i, x + i - s->period, n, out + i, ahead, past);
        }
        fresh = 0;
    }
}

#endif
#endif
