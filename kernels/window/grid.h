/*
 * The quick way through a stretch of rolling means. A value is cut on a grid, x = a + b, a being a
 * multiple of g; g is chosen so that the sums of the a and those of the b are exact in a double
 * each. So the window slides exactly, and prefix sums do it for a whole vector at once.
 *
 * With |x| < 2^top, all of them multiples of 2^bottom, a window of at most 2^length values and
 * g = 2^(top + length - 51): what the sums of the a go through stays below 2^53 g, and that of the
 * b below 2^(top + 2 length - 51), which is to be 2^53 units of 2^bottom at most.
 *
 * The quotient's correction has an error of 2^-49 ulp. Exact quotients come out exactly, ties among
 * them; any other lies at least min(ulp / 2, 2^bottom) / period away from a tie. So where that is
 * larger than the error nothing is ever in doubt.
 */
#ifndef SYI_KERNELS_WINDOW_GRID_H
#define SYI_KERNELS_WINDOW_GRID_H

#include "exact/vector.h"
#include "window/certify.h"

#if SYI_HAVE_VECTORS

typedef struct grid {
    int64_t period;
    double shift;      /* adding and taking it away rounds to a multiple of g; 0: nothing held */
    syi_vec high, low; /* of the window before the next column, in each element */
} grid;

/* The shift for data of the span; 0 where this way does not go. */
SYI_INLINE double grid_shift(const syi_span *span, int64_t period)
{
    int length = period > 1 ? 64 - __builtin_clzll((uint64_t)period - 1) : 0;
    int bits = span->top - span->bottom;
    if (span->has_non_finite || bits > 103 - 2 * length || bits > 99 - length ||
        span->bottom < -850 || span->top > 850)
        return 0.0;
    return 1.5 * syi_pow2(span->top + length - 51 + 52);
}

/* The sums of x[0 .. count). */
SYI_INLINE void grid_fill(grid *s, const double *x, int64_t count)
{
    double high = 0.0, low = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double a = (x[i] + s->shift) - s->shift;
        high += a;
        low += x[i] - a;
    }
    s->high = syi_vec_of(high);
    s->low = syi_vec_of(low);
}

SYI_INLINE syi_vec grid_step(grid *s, syi_vec in, syi_vec out, double reciprocal)
{
    const syi_vec shift = syi_vec_of(s->shift), count = syi_vec_of((double)s->period);
    const syi_vec inverse = syi_vec_of(reciprocal);
    syi_vec in_high = (in + shift) - shift, out_high = (out + shift) - shift;
    syi_vec high = s->high + syi_vec_scan(in_high - out_high);
    syi_vec low = s->low + syi_vec_scan((in - in_high) - (out - out_high));
    s->high = syi_vec_last(high);
    s->low = syi_vec_last(low);
    syi_vec sum = high + low, rest = low - (sum - high), quotient = sum * inverse;
    rest += syi_vec_fnma(quotient, count, sum);
    syi_vec part = rest * inverse;
    return quotient + syi_vec_fma(syi_vec_fnma(part, count, rest), inverse, part);
}

/* Fewer columns than a vector has; `fresh`: the window lacks a value, so none goes. */
SYI_INLINE void grid_step_some(grid *s, const double *x, int n, int fresh, double reciprocal,
                               double *out)
{
    double in[SYI_VECTOR] = {0}, old[SYI_VECTOR] = {0}, result[SYI_VECTOR];
    for (int k = 0; k < n; k++)
        in[k] = x[k];
    for (int k = fresh; k < n; k++)
        old[k] = x[k - s->period];
    syi_vec_store(result, grid_step(s, syi_vec_load(in), syi_vec_load(old), reciprocal));
    for (int k = 0; k < n; k++)
        out[k] = result[k];
}

/* The means of the windows that end at x[0 .. count), for a grid of this shift. After the first
 * ones whole vectors are stored to their places in memory, with `past` past the cache. */
SYI_INLINE void grid_means(grid *state, double shift, const double *x, int64_t count, double *out,
                           int past)
{
    double reciprocal = 1.0 / (double)state->period;
    grid s = *state;
    int64_t i = 0;
    if (s.shift != shift) {
        s.shift = shift;
        grid_fill(&s, x - s.period + 1, s.period - 1);
        i = SYI_VECTOR - syi_vec_offset(out);
        i = count < i ? count : i;
        grid_step_some(&s, x, (int)i, 1, reciprocal, out);
    }
    for (; i + SYI_VECTOR <= count; i += SYI_VECTOR) {
        const double *in = x + i;
        syi_vec mean = grid_step(&s, syi_vec_load(in), syi_vec_load(in - s.period), reciprocal);
        syi_vec_put(out + i, mean, past);
    }
    if (i < count)
        grid_step_some(&s, x + i, (int)(count - i), 0, reciprocal, out + i);
    *state = s;
}

#endif
#endif
