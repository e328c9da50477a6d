/* 256-bit integers, for sums of squares of 128-bit integers, and fractions of 128-bit ones. */
#ifndef SYI_KERNELS_EXACT_WIDE_H
#define SYI_KERNELS_EXACT_WIDE_H

#include "exact/bits.h"
#include "exact/round.h"

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

static inline int syi_wide_bits(syi_u128 a)
{
    const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* sum / parts * 2^exponent, rounded, to *out; 0 if the quotient has more than 62 bits. `parts` has
 * 64 at most. */
static inline int syi_round_fraction(syi_i128 sum, uint64_t parts, int64_t exponent, double *out)
{
    const syi_u128 size = syi_magnitude(sum);
    const int shift = 62 + syi_wide_bits(parts) - syi_wide_bits(size); /* for 62 bits of it */
    if (shift < 0)
        return 0;
    const syi_u128 most = size << shift, quotient = most / parts;
    *out = syi_round_to_double(sum < 0, (uint64_t)quotient, exponent - shift,
                               most != quotient * parts);
    return 1;
}

#endif
