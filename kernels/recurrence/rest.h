/* Bounds of what a wide number has dropped. Long double's range outlasts that of double, and its
 * precision does not matter: every bound is moved outward. A bound that is so small that it could
 * become zero stays above it, for its sign counts, and below all that it could be compared with. */
#ifndef SYI_KERNELS_RECURRENCE_REST_H
#define SYI_KERNELS_RECURRENCE_REST_H

#include "recurrence/number.h"

#include <float.h>
#include <math.h>

/* The least exponent at which sizes are told apart. */
enum { SYI_REST_BOTTOM = -16000 };

/* Not below 2^exponent, and not above it. */
static inline long double syi_power_above(int64_t exponent)
{
    return ldexpl(1.0L, exponent < SYI_REST_BOTTOM ? SYI_REST_BOTTOM : (int)exponent);
}

static inline long double syi_power_below(int64_t exponent)
{
    return exponent < SYI_REST_BOTTOM ? LDBL_TRUE_MIN : ldexpl(1.0L, (int)exponent);
}

static inline long double syi_outward(long double bound, int up)
{
    const long double slack = fabsl(bound) * 0x1p-50L;
    return up ? bound + slack : bound - slack;
}

/* Of the sign given, its size between `least` and `most`. */
static inline syi_rest syi_rest_of(int sign, long double least, long double most)
{
    least = least > 0.0L ? syi_outward(least, 0) : least;
    most = syi_outward(most, 1);
    return sign < 0 ? (syi_rest){-most, -least} : (syi_rest){least, most};
}

static inline int syi_rest_is_none(syi_rest a)
{
    return a.least == 0.0L && a.most == 0.0L;
}

static inline syi_rest syi_rest_sum(syi_rest a, syi_rest b)
{
    if (syi_rest_is_none(a) || syi_rest_is_none(b))
        return syi_rest_is_none(a) ? b : a;
    return (syi_rest){syi_outward(a.least + b.least, 0), syi_outward(a.most + b.most, 1)};
}

static inline syi_rest syi_rest_negative(syi_rest a)
{
    return (syi_rest){-a.most, -a.least};
}

/* One bound times ratio >= 0; `inner`: it is the one near zero, and its sign the rest's. */
static inline long double syi_bound_scaled(long double bound, long double ratio, int inner)
{
    const long double least = inner ? LDBL_TRUE_MIN : syi_power_above(SYI_REST_BOTTOM);
    const long double product = bound * ratio;
    if (bound == 0.0L || ratio == 0.0L || fabsl(product) >= syi_power_above(SYI_REST_BOTTOM))
        return product;
    return bound < 0.0L ? -least : least;
}

static inline syi_rest syi_rest_scaled(syi_rest a, long double ratio)
{
    if (syi_rest_is_none(a))
        return a;
    return (syi_rest){syi_outward(syi_bound_scaled(a.least, ratio, a.least > 0.0L), 0),
                      syi_outward(syi_bound_scaled(a.most, ratio, a.most < 0.0L), 1)};
}

/* The most that its size can be. */
static inline long double syi_rest_size(syi_rest a)
{
    return fmaxl(fabsl(a.least), fabsl(a.most));
}

/* -1, 1; 0: there is none, or its sign is not known. */
static inline int syi_rest_sign(syi_rest a)
{
    return (a.least > 0.0L) - (a.most < 0.0L);
}

/* How far the true value may be from the leading bits. */
static inline long double syi_number_unsure(const syi_number *a)
{
    return a->error + syi_rest_size(a->rest);
}

/* The size of the leading bits, or a little more; at most 2^16384. */
static inline long double syi_size_above(const syi_number *a)
{
    const int64_t exponent = a->exponent + 64 * (int64_t)(a->limbs - 1);
    if (a->sign == 0)
        return 0.0L;
    return syi_outward((long double)a->limb[a->limbs - 1], 1) *
           syi_power_above(exponent < 16300 ? exponent : 16300);
}

/* The same, or a little less. */
static inline long double syi_size_below(const syi_number *a)
{
    const int64_t exponent = a->exponent + 64 * (int64_t)(a->limbs - 1);
    if (a->sign == 0)
        return 0.0L;
    if (exponent < SYI_REST_BOTTOM)
        return LDBL_TRUE_MIN;
    return syi_outward((long double)a->limb[a->limbs - 1], 0) *
           syi_power_below(exponent < 16300 ? exponent : 16300);
}

#endif
