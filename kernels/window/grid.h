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
 */
#ifndef SYI_KERNELS_WINDOW_GRID_H
#define SYI_KERNELS_WINDOW_GRID_H

#include "window/certify.h"
#include "window/lanes.h"

#if SYI_HAVE_VECTORS

/* How values are cut; one that is equal to another cuts alike. */
typedef struct grid_cut {
    double shift; /* adding and taking it away rounds to a multiple of g; 0: this way does not go */
    int near;     /* no value is more than twice another */
} grid_cut;

typedef struct grid {
    int64_t period;
    grid_cut cut;      /* shift 0: nothing is held */
    syi_vec high, low; /* of the window before the next column, in each element */
} grid;

/* For blocks of at most `stride` columns. */
SYI_INLINE grid_cut grid_cut_of(const window_range *range, int64_t period, int64_t stride)
{
    const syi_span *span = &range->span;
    int length = window_length(period), columns = window_length(2 * (period + stride));
    int bits = span->top - span->bottom;
    if (span->has_non_finite || bits > 103 - 2 * length || bits > 99 - length ||
        span->bottom < -850 || span->top > 850)
        return (grid_cut){0.0, 0};
    int near = window_is_near(range) && bits + length + columns <= 100;
    return (grid_cut){1.5 * syi_pow2(span->top + length + (near ? 3 : 1)), near};
}

/* The sums of x[0 .. count). */
SYI_INLINE void grid_fill(grid *s, const double *x, int64_t count)
{
    const double shift = s->cut.shift;
    double high = 0.0, low = 0.0;
    for (int64_t i = 0; i < count; i++) {
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

SYI_INLINE void grid_change(syi_vec *high, syi_vec *low, syi_vec in, syi_vec out, syi_vec shift,
                            int near)
{
    if (near) {
        syi_vec change = in - out, sum = *high + change;
        *low += change - (sum - *high);
        *high = sum;
    } else {
        syi_vec a = (in + shift) - shift, b = (out + shift) - shift;
        *high += a - b;
        *low += (in - a) - (out - b);
    }
}

/* The windows of a batch: each gets a value of x and loses one of `old`. */
SYI_INLINE void grid_batch(grid *s, const double *x, const double *old, double *out, int near,
                           int past)
{
    const syi_vec shift = syi_vec_of(s->cut.shift), zero = {0}, start = near ? shift : zero;
    const syi_vec count = syi_vec_of((double)s->period);
    const syi_vec inverse = syi_vec_of(1.0 / (double)s->period);
    syi_vec sum[LANE], sum_low[LANE], high = start, low = zero;
    for (int k = 0; k < LANE; k += SYI_VECTOR) {
        syi_vec in[SYI_VECTOR], gone[SYI_VECTOR];
        syi_vec_columns(x + k, LANE, in);
        syi_vec_columns(old + k, LANE, gone);
        SYI_UNROLL(8)
        for (int j = 0; j < SYI_VECTOR; j++) {
            grid_change(&high, &low, in[j], gone[j], shift, near);
            sum[k + j] = high;
            sum_low[k + j] = low;
        }
    }
    syi_vec before = lanes_before(&s->high, high - start) - start;
    syi_vec before_low = lanes_before(&s->low, low);
    for (int k = 0; k < LANE; k++) {
        syi_vec total, rest, quotient, part;
        syi_vec_quick_sum(sum[k] + before, sum_low[k] + before_low, &total, &rest);
        quotient = total * inverse;
        rest += syi_vec_fnma(quotient, count, total);
        part = rest * inverse;
        sum[k] = quotient + syi_vec_fma(syi_vec_fnma(part, count, rest), inverse, part);
    }
    lanes_put(out, sum, past);
}

SYI_INLINE void grid_any_batch(grid *s, const double *x, const double *old, double *out, int past)
{
    if (s->cut.near)
        grid_batch(s, x, old, out, 1, past);
    else
        grid_batch(s, x, old, out, 0, past);
}

/* Fewer columns than a batch has; `fresh`: the window lacks a value, so none goes. */
SYI_INLINE void grid_some(grid *s, const double *x, int64_t n, int fresh, double *out)
{
    double in[BATCH] = {0}, old[BATCH] = {0}, result[BATCH];
    memcpy(in, x, (size_t)n * sizeof *x);
    if (n > fresh)
        memcpy(old + fresh, x + fresh - s->period, (size_t)(n - fresh) * sizeof *x);
    grid_any_batch(s, in, old, result, 0);
    memcpy(out, result, (size_t)n * sizeof *out);
}

/* The means of the windows that end at x[0 .. count). After the first ones they are stored in whole
 * lines, with `past` past the cache; then the next block, which is measured first, has to be read
 * from memory too, so that this computing is what hides it. */
SYI_INLINE void grid_means(grid *state, grid_cut cut, const double *x, int64_t count, double *out,
                           int past)
{
    grid s = *state;
    int fresh = s.cut.shift != cut.shift || s.cut.near != cut.near;
    if (fresh) {
        s.cut = cut;
        grid_fill(&s, x - s.period + 1, s.period - 1);
    }
    if (cut.near)
        grid_settle(&s);
    for (int64_t i = 0, n; i < count; i += n) {
        n = lanes_columns(out + i, count - i);
        if (past)
            syi_ask_for((uintptr_t)(x + i + count), BATCH);
        if (n < BATCH || fresh)
            grid_some(&s, x + i, n, fresh, out + i);
        else
            grid_any_batch(&s, x + i, x + i - s.period, out + i, past);
        fresh = 0;
    }
    *state = s;
}

#endif
#endif
