/* Arithmetic modulo the prime 2^61 - 1. */
#ifndef SYI_KERNELS_RECURRENCE_RESIDUE_H
#define SYI_KERNELS_RECURRENCE_RESIDUE_H

#include "exact/bits.h"

#define SYI_PRIME ((UINT64_C(1) << 61) - 1)

static inline uint64_t syi_residue_product(uint64_t a, uint64_t b)
{
    syi_u128 product = (syi_u128)a * b;
    uint64_t sum = (uint64_t)(product & SYI_PRIME) + (uint64_t)(product >> 61);
    return sum >= SYI_PRIME ? sum - SYI_PRIME : sum;
}

static inline uint64_t syi_residue_sum(uint64_t a, uint64_t b)
{
    return a + b >= SYI_PRIME ? a + b - SYI_PRIME : a + b;
}

static inline uint64_t syi_residue_negative(uint64_t a)
{
    return a ? SYI_PRIME - a : 0;
}

/* By Fermat: a^(prime - 2). */
static inline uint64_t syi_residue_inverse(uint64_t a)
{
    uint64_t result = 1;
    for (uint64_t power = SYI_PRIME - 2; power; power >>= 1) {
        if (power & 1)
            result = syi_residue_product(result, a);
        a = syi_residue_product(a, a);
    }
    return result;
}

/* Of mantissa * 2^exponent, or its negative. Powers of two come back after 61 steps. */
static inline uint64_t syi_residue_of(int negative, uint64_t mantissa, int64_t exponent)
{
    uint64_t power = UINT64_C(1) << ((exponent % 61 + 61) % 61);
    uint64_t residue = syi_residue_product(mantissa % SYI_PRIME, power);
    return negative ? syi_residue_negative(residue) : residue;
}

#endif
