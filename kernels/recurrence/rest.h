/* Bounds of what the bits of a wide number do not hold. They are doubles with a power of two of
 * their own, for what is left of a start sinks below any exponent; every bound is moved outward by
 * more than it was rounded. */
#ifndef SYI_KERNELS_RECURRENCE_REST_H
#define SYI_KERNELS_RECURRENCE_REST_H

#include "exact/bits.h"
#include "recurrence/number.h"

#include <math.h>

/* The larger bound is kept between 1 / SYI_REST_LARGE and SYI_REST_LARGE, the other one is 0 or at
 * least SYI_REST_SMALL of it: products and quotients of bounds are never subnormal. */
#define SYI_REST_LARGE 0x1p100
#define SYI_REST_SMALL 0x1p-300

static const syi_rest syi_rest_none = {0.0, 0.0, 0};

static inline int syi_rest_is_none(syi_rest a)
{
    return a.least == 0.0 && a.most == 0.0;
}

/* The most that its size can be, per 2^exponent. */
static inline double syi_rest_size(syi_rest a)
{
    return -a.least > a.most ? -a.least : a.most;
}

static inline double syi_outward(double bound, int up)
{
    const double slack = fabs(bound) * 0x1p-50;
    return up ? bound + slack : bound - slack;
}

/* `bound`, unless it is smaller than `floor` and not 0. */
static inline double syi_outward_of_small(double bound, double floor, int up)
{
    if (fabs(bound) >= floor || bound == 0.0)
        return bound;
    if (up)
        return bound > 0.0 ? floor : 0.0;
    return bound < 0.0 ? -floor : 0.0;
}

static inline syi_rest syi_rest_settled(syi_rest a)
{
    double size = syi_rest_size(a), floor = size * SYI_REST_SMALL;
    if (size > SYI_REST_LARGE || size < 1.0 / SYI_REST_LARGE) {
        int power;
        if (size == 0.0)
            return syi_rest_none;
        frexp(size, &power);
        a.least = ldexp(syi_outward_of_small(a.least, floor, 0), -power);
        a.most = ldexp(syi_outward_of_small(a.most, floor, 1), -power);
        a.exponent += power;
        return a;
    }
    a.least = syi_outward_of_small(a.least, floor, 0);
    a.most = syi_outward_of_small(a.most, floor, 1);
    return a;
}

/* About size * 2^exponent, of the sign given. */
static inline syi_rest syi_rest_of(int sign, double size, int64_t exponent)
{
    const double least = syi_outward(size, 0), most = syi_outward(size, 1);
    return syi_rest_settled(sign < 0 ? (syi_rest){-most, -least, exponent}
                                     : (syi_rest){least, most, exponent});
}

/* The lowest `bits` of an integer, times 2^exponent. */
static inline syi_rest syi_rest_of_bits(int sign, const uint64_t *limb, int64_t bits,
                                        int64_t exponent)
{
    int64_t i = bits / 64;
    uint64_t top = bits % 64 ? limb[i] & ((UINT64_C(1) << bits % 64) - 1) : 0;
    while (top == 0 && i > 0)
        top = limb[--i];
    if (top == 0)
        return syi_rest_none;
    return syi_rest_of(sign, (double)top + (i ? (double)limb[i - 1] * 0x1p-64 : 0.0),
                       exponent + 64 * i);
}

static inline syi_rest syi_rest_negative(syi_rest a)
{
    return (syi_rest){-a.most, -a.least, a.exponent};
}

/* bound * 2^by, for by <= 0. */
static inline double syi_bound_lowered(double bound, int64_t by, int up)
{
    if (by < -500)
        return syi_outward_of_small(bound * 0x1p-501, SYI_REST_LARGE * 0x1p-500, up);
    return bound * syi_pow2((int)by);
}

static inline syi_rest syi_rest_sum(syi_rest a, syi_rest b)
{
    int64_t by;
    if (syi_rest_is_none(a) || syi_rest_is_none(b))
        return syi_rest_is_none(a) ? b : a;
    if (a.exponent < b.exponent)
        return syi_rest_sum(b, a);
    by = b.exponent - a.exponent;
    return syi_rest_settled((syi_rest){syi_outward(a.least + syi_bound_lowered(b.least, by, 0), 0),
                                       syi_outward(a.most + syi_bound_lowered(b.most, by, 1), 1),
                                       a.exponent});
}

/* a * ratio, for a ratio >= 0 that was rounded once. */
static inline syi_rest syi_rest_scaled(syi_rest a, double ratio)
{
    return syi_rest_settled(
        (syi_rest){syi_outward(a.least * ratio, 0), syi_outward(a.most * ratio, 1), a.exponent});
}

/* The least interval about four values, each rounded once. */
static inline syi_rest syi_rest_around(const double *value, int64_t exponent)
{
    return syi_rest_settled((syi_rest){
        syi_outward(fmin(fmin(value[0], value[1]), fmin(value[2], value[3])), 0),
        syi_outward(fmax(fmax(value[0], value[1]), fmax(value[2], value[3])), 1), exponent});
}

static inline syi_rest syi_rest_product(syi_rest a, syi_rest b)
{
    const double value[4] = {a.least * b.least, a.least * b.most, a.most * b.least,
                             a.most * b.most};
    return syi_rest_around(value, a.exponent + b.exponent);
}

/* -1, 1; 0: it is none, or its sign is not known. */
static inline int syi_rest_sign(syi_rest a)
{
    return (a.least > 0.0) - (a.most < 0.0);
}

/* Without bounds worth the name when b may be zero. */
static inline syi_rest syi_rest_quotient(syi_rest a, syi_rest b)
{
    if (syi_rest_sign(b) == 0)
        return (syi_rest){-1.0, 1.0, INT64_C(1) << 20};
    const double value[4] = {a.least / b.least, a.least / b.most, a.most / b.least,
                             a.most / b.most};
    return syi_rest_around(value, a.exponent - b.exponent);
}

#endif
