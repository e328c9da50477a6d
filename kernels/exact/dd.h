/*
 * Numbers of about 106 bits: the sum of two doubles, the low one below half an ulp of the high one.
 * Each operation's result is off by less than SYI_DD_ERROR * |result| in units of SYI_FINE, as long
 * as nothing overflows and the results stay above SYI_FAINT. Error bounds are kept in that unit so
 * that they neither vanish before the values they bound nor need a type of their own.
 */
#ifndef SYI_KERNELS_EXACT_DD_H
#define SYI_KERNELS_EXACT_DD_H

#include "exact/bits.h"

#include <math.h>

typedef struct syi_dd {
    double high, low;
} syi_dd;

#define SYI_FINE     0x1p-100
#define SYI_PER_FINE 0x1p+100
/* The worst is the product with a rounded constant: 5 * 2^-106, taken with some room. */
#define SYI_DD_ERROR 0.0859375
/* Below this size the low parts of products may lose bits to underflow. */
#define SYI_FAINT 0x1p-900
/* Above this size a state or its scaled error bound may overflow. */
#define SYI_HUGE 0x1p+880

/* a + b, exactly. */
SYI_INLINE syi_dd syi_dd_of_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (syi_dd){sum, (a - (sum - part)) + (b - part)};
}

/* The same for |a| >= |b| or a = 0. */
SYI_INLINE syi_dd syi_dd_of_ordered(double a, double b)
{
    double sum = a + b;
    return (syi_dd){sum, b - (sum - a)};
}

SYI_INLINE syi_dd syi_dd_negative(syi_dd a)
{
    return (syi_dd){-a.high, -a.low};
}

/* Both parts are added exactly first, so that the error is relative to the result even where the
 * high parts cancel. */
SYI_INLINE syi_dd syi_dd_add(syi_dd a, syi_dd b)
{
    syi_dd high = syi_dd_of_sum(a.high, b.high), low = syi_dd_of_sum(a.low, b.low);
    syi_dd sum = syi_dd_of_ordered(high.high, high.low + low.high);
    return syi_dd_of_ordered(sum.high, sum.low + low.low);
}

SYI_INLINE syi_dd syi_dd_subtract(syi_dd a, syi_dd b)
{
    return syi_dd_add(a, syi_dd_negative(b));
}

SYI_INLINE syi_dd syi_dd_multiply(syi_dd a, syi_dd b)
{
    double high = a.high * b.high, rest = fma(a.high, b.high, -high);
    double cross = fma(a.high, b.low, a.low * b.high);
    return syi_dd_of_ordered(high, rest + cross);
}

SYI_INLINE syi_dd syi_dd_scale(syi_dd a, double factor)
{
    double high = a.high * factor, rest = fma(a.high, factor, -high);
    return syi_dd_of_ordered(high, fma(a.low, factor, rest));
}

/* a / n for an integer 0 < n < 2^25; also n / n', to make a constant. */
SYI_INLINE syi_dd syi_dd_divide(syi_dd a, double n)
{
    double high = a.high / n, rest = fma(-high, n, a.high);
    return syi_dd_of_ordered(high, (rest + a.low) / n);
}

/* What v, known to within error * SYI_FINE, may be off by, and a test of it may lose. The least of
 * that is taken as 2^-1020 and not 2^-1074, for a subnormal operand costs x86 processors more than
 * everything else here. */
SYI_INLINE double syi_dd_margin(syi_dd v, double error)
{
    return fma(error + 0.0625 * fabs(v.high), SYI_FINE, 0x1p-1020);
}

/* The number nearest to the largest that such a value may be. */
SYI_INLINE double syi_dd_most(syi_dd value, double error)
{
    const syi_dd v = syi_dd_of_sum(value.high, value.low);
    return v.high + (v.low + syi_dd_margin(v, error));
}

/* The number nearest to such a value: 0.0 when every number in that range rounds to *out, else 1.0.
 * Zero is +0. */
SYI_INLINE double syi_dd_settle(syi_dd value, double error, double *out)
{
    syi_dd v = syi_dd_of_sum(value.high, value.low);
    double margin = syi_dd_margin(v, error);
    double up = v.high + (v.low + margin), down = v.high + (v.low - margin);
    /* Zero is also what rounds to it: less than half of the least subnormal, 2^-1075. */
    double unlike_zero = fabs(v.high) + (error < 0x1p-976 ? 0.0 : 1.0);
    *out = v.high + 0.0;
    return (up == down ? 0.0 : 1.0) * (unlike_zero == 0.0 ? 0.0 : 1.0);
}

#endif
