/*
 * A value as an unevaluated sum of two doubles with a bound of its error, and the test that says
 * whether such a value can be rounded. Everything is branch-free, so loops over it vectorise.
 */
#ifndef SYI_KERNELS_EXACT_APPROX_H
#define SYI_KERNELS_EXACT_APPROX_H

#include "exact/bits.h"

#include <math.h>

/* |value - (high + low)| <= error, |low| small against |high|. */
typedef struct syi_approx {
    double high, low, error;
} syi_approx;

/* high + low = a + b exactly. */
SYI_INLINE void syi_two_sum(double a, double b, double *high, double *low)
{
    double sum = a + b, part = sum - a;
    *low = (a - (sum - part)) + (b - part);
    *high = sum;
}

/* The relative error that a few operations on doubles of 106 bits stay far below. A doubt costs
 * so little and is so rare at this size that the bound need not be sharp. */
#define SYI_SLACK 0x1p-95

/* The value rounded, times the unit, a power of two; *doubt = 1.0 unless every value within the
 * error bound rounds to this and the result lies well among the normal numbers. */
SYI_INLINE double syi_settle(syi_approx a, double unit, double *doubt)
{
    double value, rest, result, size, unsure;
    syi_two_sum(a.high, a.low, &value, &rest);
    double up = value + (rest + a.error), down = value + (rest - a.error);
    result = value * unit;
    size = fabs(result);
    unsure = up == down ? 0.0 : 1.0;
    unsure = size < 0x1p-1000 ? (value == 0.0 ? unsure : 1.0) : unsure;
    *doubt = size > 0x1p1000 ? 1.0 : unsure;
    return result;
}

/* s / n for a whole n, given its reciprocal's nearest double. An exact s makes an exact quotient
 * whenever it fits, so that ties are settled, too. */
SYI_INLINE syi_approx syi_divide(syi_approx s, double n, double reciprocal)
{
    double quotient = s.high * reciprocal, rest, lost, low, left;
    syi_two_sum(fma(-quotient, n, s.high), s.low, &rest, &lost);
    low = rest * reciprocal;
    low = fma(fma(-low, n, rest), reciprocal, low);
    left = fma(-low, n, rest);
    double error = fabs(quotient) * SYI_SLACK + 2.0 * s.error * reciprocal;
    error = left == 0.0 ? error : error + fabs(low) * 0x1p-51;
    return (syi_approx){quotient, low, left == 0.0 && lost == 0.0 && s.error == 0.0 ? 0.0 : error};
}

#endif
