/*
 * The quick way through a stretch of rolling means. A value is cut on a grid, x = a + b, a being a
 * multiple of g; g is chosen so that the sums of the a and those of the b are exact in a double
 * each. So the window slides exactly: what SYI_VECTOR columns change is a sum of sums of 1, 2, 4
 * columns, in any order, and vectors of windows follow each other by one addition.
 *
 * With |x| < 2^top, all of them multiples of u = 2^bottom, a window of at most 2^length values and
 * g = 2^(top + length - 51): what the sums of the a go through, and their differences, stay below
 * 2^53 g, and those of the b below 2^(top + 2 length - 51), which is to be 2^53 u at most.
 *
 * Of values of which none is more than twice another the differences are exact: it is the change of
 * the window that is cut, and where the changes of SYI_VECTOR columns add up exactly, that sum of
 * them, by adding it to a sum that is large enough to have the grid itself. What is cut off then no
 * longer goes when its value goes: after n columns its sum is up to n g / 2. With g = 2^(top +
 * length - 49) the sums stay within 2^51 g of their beginning, 1.5 * 2^52 g.
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
    GRID_WIDE,  /* no value is more than twice another */
    GRID_NEAR,  /* and sums of SYI_VECTOR changes are doubles */
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
    return way <= GRID_NEAR;
}

/* Of the windows that end in the last SYI_VECTOR columns the sums, of near values `high` above them
 * by the shift, and by what each is above the window before. */
typedef struct grid {
    int64_t period;
    grid_cut cut;  /* shift 0: nothing is held */
    int64_t fresh; /* so many of the next columns come before such windows are known */
    syi_vec high, low, change, change_low;
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
    if (!near)
        return (grid_cut){1.5 * syi_pow2(top + length + 1), GRID_FAR};
    return (grid_cut){1.5 * syi_pow2(top + length + 3),
                      window_is_close(&range, SYI_VECTOR) ? GRID_NEAR : GRID_WIDE};
}

/* The window of the next column, which is x[0 .. s->period). */
SYI_INLINE void grid_fill(grid *s, const double *x)
{
    const int64_t count = s->period;
    const double shift = s->cut.shift;
    double high = s->cut.way == GRID_NEAR ? shift : 0.0, low = 0.0;
    for (int64_t i = 0; !grid_cuts(s->cut.way) && i < count; i++)
        high += s->cut.way == GRID_CLOSE ? x[i] - shift : x[i];
    for (int64_t i = 0; grid_cuts(s->cut.way) && i < count; i++) {
        double a = (x[i] + shift) - shift;
        high += a;
        low += x[i] - a;
    }
    s->fresh = SYI_VECTOR;
    s->high = syi_vec_of(high);
    s->low = syi_vec_of(low);
    s->change = s->change_low = syi_vec_of(0.0);
}

/* What lacks a multiple of g in its lower part gets it back. */
SYI_INLINE void grid_settle(grid *s)
{
    const syi_vec shift = syi_vec_of(s->cut.shift), rest = (s->low + shift) - shift;
    s->high += rest;
    s->low -= rest;
}

/* The columns that begin n before `next`, which follows `last`. */
SYI_INLINE syi_vec grid_before(syi_vec last, syi_vec next, int n)
{
#if SYI_VECTOR == 8
    return n == 1   ? (syi_vec)_mm512_alignr_epi64((__m512i)next, (__m512i)last, 7)
           : n == 2 ? (syi_vec)_mm512_alignr_epi64((__m512i)next, (__m512i)last, 6)
                    : (syi_vec)_mm512_alignr_epi64((__m512i)next, (__m512i)last, 4);
#else
    return n == 1 ? __builtin_shufflevector(last, next, 3, 4, 5, 6)
                  : __builtin_shufflevector(last, next, 2, 3, 4, 5);
#endif
}

/* Sums of 1, 2 .. SYI_VECTOR / 2 changes, of the last SYI_VECTOR columns. */
enum { GRID_SUMS = SYI_VECTOR == 8 ? 3 : 2 };
typedef struct grid_sums {
    syi_vec of[GRID_SUMS];
} grid_sums;

/* The sums of SYI_VECTOR changes, with the next ones: how windows differ from those of the last
 * vector. */
SYI_INLINE syi_vec grid_sum(grid_sums *last, syi_vec change)
{
    SYI_UNROLL(8)
    for (int k = 0; k < GRID_SUMS; k++) {
        const syi_vec before = grid_before(last->of[k], change, 1 << k);
        last->of[k] = change;
        change += before;
    }
    return change;
}

/* After the changes of the last columns alone; what is not right in it is not used. */
SYI_INLINE grid_sums grid_sums_of(syi_vec change)
{
    grid_sums sums = {{{0}}};
    grid_sum(&sums, change);
    return sums;
}

/* What changes a window that gets `in` and loses `out`. Of near values it is cut if need be, of far
 * ones each of both; *low is what that cuts off. */
SYI_INLINE syi_vec grid_change(syi_vec in, syi_vec out, syi_vec shift, grid_way way, syi_vec *low)
{
    const syi_vec a = (in + shift) - shift, b = (out + shift) - shift;
    const syi_vec change = in - out, cut = (change + shift) - shift;
    *low = way == GRID_FAR ? (in - a) - (out - b) : change - cut;
    return way == GRID_FAR ? a - b : way == GRID_WIDE ? cut : change;
}

/* A sum, and by what cutting left behind of it. */
SYI_INLINE void grid_add(syi_vec *high, syi_vec *low, syi_vec change, syi_vec change_low,
                         grid_way way)
{
    const syi_vec sum = *high + change;
    if (grid_cuts(way))
        *low += way == GRID_NEAR ? change - (sum - *high) : change_low;
    *high = sum;
}

/* The mean of a window from its sum, both of whose parts are exact. */
SYI_INLINE syi_vec grid_cut_mean(syi_vec high, syi_vec low, const window_divisor *by, grid_way way)
{
    syi_vec total = high, rest = low, mean;
    if (way == GRID_FAR)
        syi_vec_quick_sum(high, low, &total, &rest);
    mean = total * by->inverse;
    return mean + window_divide(rest + syi_vec_fnma(mean, by->count, total), by);
}

/* The means of the windows whose sums these are. */
SYI_INLINE syi_vec grid_mean(syi_vec high, syi_vec low, syi_vec shift, const window_divisor *by,
                             grid_way way)
{
    syi_vec rest, mean;
    if (way != GRID_CLOSE)
        return grid_cut_mean(way == GRID_NEAR ? high - shift : high, low, by, way);
    mean = window_mean(high, shift, by, &rest);
    return mean + window_divide(rest, by);
}

/* What is computed is hidden behind reading what comes next: `asked` columns behind each one lie
 * those that are asked for, `met` behind it those that are measured. */
typedef struct grid_ahead {
    int64_t asked, met;
    window_extremes extremes;
} grid_ahead;

/* n columns, whole lines. */
SYI_INLINE void grid_lines(grid *state, const double *x, int64_t n, double *out, grid_ahead *ahead,
                           grid_way way, int past)
{
    const window_divisor by = window_divisor_of(state->period);
    const syi_vec shift = syi_vec_of(state->cut.shift);
    const double *old = x - state->period;
    const int64_t asked = ahead->asked, met = ahead->met;
    window_extremes extremes = window_extremes_of(syi_vec_load(x + met));
    grid s = *state;
    grid_sums sums = grid_sums_of(s.change), sums_low = grid_sums_of(s.change_low);
    for (int64_t i = 0; i < n; i += SYI_LINE) {
        syi_ask_ahead(x + i, asked, SYI_LINE);
        if (!past)
            syi_ask_to_write((uintptr_t)(out + i + asked), SYI_LINE);
        SYI_UNROLL(2)
        for (int64_t k = i; k < i + SYI_LINE; k += SYI_VECTOR) {
            window_meet(&extremes, syi_vec_load(x + k + met));
            s.change =
                grid_change(syi_vec_load(x + k), syi_vec_load(old + k), shift, way, &s.change_low);
            const syi_vec low = way < GRID_NEAR ? grid_sum(&sums_low, s.change_low) : s.change_low;
            grid_add(&s.high, &s.low, grid_sum(&sums, s.change), low, way);
            syi_vec_put(out + k, grid_mean(s.high, s.low, shift, &by, way), past);
        }
    }
    ahead->extremes = extremes;
    *state = s;
}

static void grid_any_lines(grid *s, const double *x, int64_t n, double *out, grid_ahead *ahead,
                           int past)
{
    if (s->cut.way == GRID_WHOLE)
        past ? grid_lines(s, x, n, out, ahead, GRID_WHOLE, 1)
             : grid_lines(s, x, n, out, ahead, GRID_WHOLE, 0);
    else if (s->cut.way == GRID_CLOSE)
        past ? grid_lines(s, x, n, out, ahead, GRID_CLOSE, 1)
             : grid_lines(s, x, n, out, ahead, GRID_CLOSE, 0);
    else if (s->cut.way == GRID_NEAR)
        past ? grid_lines(s, x, n, out, ahead, GRID_NEAR, 1)
             : grid_lines(s, x, n, out, ahead, GRID_NEAR, 0);
    else if (s->cut.way == GRID_WIDE)
        past ? grid_lines(s, x, n, out, ahead, GRID_WIDE, 1)
             : grid_lines(s, x, n, out, ahead, GRID_WIDE, 0);
    else
        past ? grid_lines(s, x, n, out, ahead, GRID_FAR, 1)
             : grid_lines(s, x, n, out, ahead, GRID_FAR, 0);
}

/* Of the last columns and n next ones the last SYI_VECTOR. */
SYI_INLINE void grid_append(syi_vec *last, syi_vec next, int64_t n)
{
    double both[2 * SYI_VECTOR];
    syi_vec_store(both, *last);
    syi_vec_store(both + SYI_VECTOR, next);
    *last = syi_vec_load(both + n);
}

/* n <= SYI_VECTOR columns; `fresh`: of the first one's window the sum is there already. */
static void grid_some(grid *s, const double *x, int64_t n, int fresh, double *out)
{
    const window_divisor by = window_divisor_of(s->period);
    const grid_way way = s->cut.way;
    const syi_vec shift = syi_vec_of(s->cut.shift);
    syi_vec high = syi_vec_last(s->high), low = syi_vec_last(s->low), change, change_low;
    double in[SYI_VECTOR], old[SYI_VECTOR], mean[SYI_VECTOR];
    for (int k = 0; k < SYI_VECTOR; k++)
        in[k] = old[k] = x[0];
    memcpy(in, x, (size_t)n * sizeof *x);
    memcpy(old + fresh, x + fresh - s->period, (size_t)(n - fresh) * sizeof *x);
    change = grid_change(syi_vec_load(in), syi_vec_load(old), shift, way, &change_low);
    grid_add(&high, &low, syi_vec_scan(change), syi_vec_scan(change_low), way);
    syi_vec_store(mean, grid_mean(high, low, shift, &by, way));
    memcpy(out, mean, (size_t)n * sizeof *mean);
    grid_append(&s->high, high, n);
    grid_append(&s->low, low, n);
    grid_append(&s->change, change, n);
    grid_append(&s->change_low, change_low, n);
    s->fresh -= s->fresh < n ? s->fresh : n;
}

/* The means of the windows that end at x[0 .. count). In whole lines they are stored past the cache
 * with `past`. Of the `known` columns behind the next `count` are measured meanwhile, if all of
 * these here are whole lines; gives whether they are. */
SYI_INLINE int grid_means(grid *s, grid_cut cut, const double *x, int64_t count, double *out,
                          int64_t known, int past, window_range *next)
{
    int fresh = s->cut.shift != cut.shift || s->cut.way != cut.way;
    grid_ahead ahead;
    int64_t first = count;
    ahead.met = known < count ? 0 : count;
    ahead.asked = syi_ahead(known, 0, ahead.met + SYI_AHEAD);
    if (fresh) {
        s->cut = cut;
        grid_fill(s, x - s->period + 1);
    }
    if (cut.way == GRID_WIDE || cut.way == GRID_NEAR)
        grid_settle(s);
    for (int64_t i = 0, n; i < count; i += n) {
        n = syi_line_after(out, i, count) - i;
        n = n > 0 ? n : count - i;
        if (s->fresh == 0 && n >= SYI_LINE) {
            first = i;
            n = n / SYI_LINE * SYI_LINE;
            grid_any_lines(s, x + i, n, out + i, &ahead, past);
        } else {
            n = n < SYI_VECTOR ? n : SYI_VECTOR;
            grid_some(s, x + i, n, fresh, out + i);
            fresh = 0;
        }
    }
    if (first > 0 || count % SYI_LINE > 0 || ahead.met == 0)
        return 0;
    *next = window_met(&ahead.extremes);
    return 1;
}

#endif
#endif
