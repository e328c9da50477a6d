/*
 * A window's outputs from its exact moments, with the proof of their rounding: what every device
 * rounds with. A value that is not certified is left to integers (window/decide.h).
 */
#ifndef SYI_KERNELS_WINDOW_CERTIFY_H
#define SYI_KERNELS_WINDOW_CERTIFY_H

#include "exact/approx.h"

typedef struct syi_window_constants {
    double period, reciprocal;        /* of the period */
    double inverse_high, inverse_low; /* of period * (period - ddof) */
    double width, unit;
} syi_window_constants;

/* The data are integers in units of 2^unit. */
SYI_INLINE syi_window_constants syi_window_constants_of(int64_t period, int64_t ddof, double width,
                                                        int unit)
{
    double count = (double)period, divisor = count * (double)(period - ddof);
    double inverse = 1.0 / divisor;
    double rest = fma(-inverse, divisor, 1.0) / divisor;
    return (syi_window_constants){count, 1.0 / count, inverse, rest, width, syi_pow2(unit)};
}

SYI_INLINE syi_approx syi_window_mean(syi_approx sum, const syi_window_constants *k)
{
    return syi_divide(sum, k->period, k->reciprocal);
}

/* sqrt(spread / (period * (period - ddof))); exactly zero for a zero spread. */
SYI_INLINE syi_approx syi_window_deviation(double high, double low, const syi_window_constants *k)
{
    double square = high * k->inverse_high;
    double below =
        fma(high, k->inverse_high, -square) + (high * k->inverse_low + low * k->inverse_high);
    double root = sqrt(square);
    double rest = (fma(-root, root, square) + below) / (root + root);
    return (syi_approx){root, high == 0.0 ? 0.0 : rest, root * SYI_SLACK};
}

/* mean + width * deviation. The absolute term covers what underflows in the product. */
SYI_INLINE syi_approx syi_window_band(syi_approx mean, syi_approx deviation, double width)
{
    double high, rest, step = width * deviation.high;
    double below = fma(width, deviation.high, -step) + width * deviation.low;
    double error = (fabs(mean.high) + fabs(step)) * SYI_SLACK + mean.error + 0x1p-900;
    syi_two_sum(mean.high, step, &high, &rest);
    error = deviation.high == 0.0 ? mean.error : error;
    error = width == 0.0 ? mean.error : error;
    return (syi_approx){high, rest + (mean.low + below), error};
}

/* (value - mean) / deviation, for a value in the sums' units. The value's distance from the mean
 * cancels, so what it loses is kept; nothing is lost from narrow sums. Neither value nor moments
 * lie near the ends of the exponents. */
SYI_INLINE syi_approx syi_window_score(double value, syi_approx sum, syi_approx deviation,
                                       const syi_window_constants *k)
{
    double high, low, rest, below, lost, least, first = value * k->period;
    syi_two_sum(first, -sum.high, &high, &low);
    syi_two_sum(fma(value, k->period, -first), -sum.low, &below, &lost);
    syi_two_sum(low, below, &low, &least);
    syi_two_sum(high, low, &high, &rest);
    double error = sum.error + 2.0 * (fabs(lost) + fabs(least));
    syi_approx distance = syi_divide((syi_approx){high, rest, error}, k->period, k->reciprocal);
    double score = distance.high / deviation.high;
    rest = fma(-score, deviation.high, distance.high) + (distance.low - score * deviation.low);
    error = fabs(score) * (4.0 * SYI_SLACK) + 2.0 * distance.error / deviation.high;
    return (syi_approx){score, rest / deviation.high, error};
}

/* ---- moments of one limb: sums below 2^62 and spreads below 2^126 ---- */

/* Bits of a sum of `period` values of the span, in units of its bottom. */
SYI_INLINE int syi_window_bits(const syi_span *span, int64_t period)
{
    return span->top - span->bottom + (period > 1 ? 64 - __builtin_clzll((uint64_t)period - 1) : 1);
}

SYI_INLINE int syi_window_is_narrow(const syi_span *span, int64_t period)
{
    return syi_window_bits(span, period) <= 62 && span->bottom > -850 && span->top < 850;
}

/* A value in units of 1 / scale; what is not finite counts as zero. */
SYI_INLINE int64_t syi_narrow_value(double x, double scale)
{
    return (int64_t)((syi_is_finite(x) ? x : 0.0) * scale);
}

SYI_INLINE syi_approx syi_narrow_sum(int64_t sum)
{
    double high = (double)sum;
    return (syi_approx){high, (double)(sum - (int64_t)high), 0.0};
}

SYI_INLINE void syi_narrow_spread(uint64_t top, uint64_t low, double *high, double *rest)
{
    const uint64_t low42 = (UINT64_C(1) << 42) - 1;
    double a = (double)(int64_t)(top >> 20) * 0x1p84;
    double b = (double)(int64_t)((top << 22 | low >> 42) & low42) * 0x1p42;
    double sum = a + b, tail = b - (sum - a) + (double)(int64_t)(low & low42);
    *high = sum + tail;
    *rest = tail - (*high - sum);
}

#endif
