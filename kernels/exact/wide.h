/* 256-bit integers, for sums of squares of 128-bit integers. */
#ifndef SYI_KERNELS_EXACT_WIDE_H
#define SYI_KERNELS_EXACT_WIDE_H

#include "exact/bits.h"

typedef struct syi_u256 {
    syi_u128 low, high;
} syi_u256;

SYI_INLINE syi_u256 syi_wide_product(syi_u128 a, syi_u128 b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    syi_u128 low = (syi_u128)a0 * b0, cross = (syi_u128)a0 * b1, other = (syi_u128)a1 * b0;
    syi_u128 middle = (low >> 64) + (uint64_t)cross + (uint64_t)other;
    return (syi_u256){middle << 64 | (uint64_t)low,
                      (syi_u128)a1 * b1 + (cross >> 64) + (other >> 64) + (middle >> 64)};
}

SYI_INLINE syi_u256 syi_wide_add(syi_u256 a, syi_u256 b)
{
    syi_u128 low = a.low + b.low;
    return (syi_u256){low, a.high + b.high + (low < b.low)};
}

SYI_INLINE syi_u256 syi_wide_subtract(syi_u256 a, syi_u256 b)
{
    return (syi_u256){a.low - b.low, a.high - b.high - (a.low < b.low)};
}

SYI_INLINE syi_u128 syi_magnitude(syi_i128 a)
{
    return a < 0 ? -(syi_u128)a : (syi_u128)a;
}

/* a * b, modulo 2^256. */
SYI_INLINE syi_u256 syi_wide_signed_product(syi_i128 a, syi_i128 b)
{
    syi_u256 product = syi_wide_product(syi_magnitude(a), syi_magnitude(b));
    return (a < 0) == (b < 0) ? product : syi_wide_subtract((syi_u256){0, 0}, product);
}

/* A multiple of 2^bottom as an integer; what is not finite counts as zero. */
SYI_INLINE syi_i128 syi_wide_value(double x, int bottom)
{
    syi_parts parts = syi_split(syi_is_finite(x) ? x : 0.0);
    if (parts.mantissa == 0)
        return 0;
    syi_i128 value = (syi_i128)parts.mantissa << (parts.exponent - bottom);
    return parts.negative ? -value : value;
}

#endif
