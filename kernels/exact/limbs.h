/*
 * Sums of integers of any width, as two's complement numbers of 64-bit limbs, least limb first.
 * They are the exact accumulators of data whose magnitudes lie far apart.
 */
#ifndef SYI_KERNELS_EXACT_LIMBS_H
#define SYI_KERNELS_EXACT_LIMBS_H

#include "exact/bits.h"

/* Limbs of a sum of doubles and of a sum of their squares: 2098 and 4196 bits, and as many more as
 * 2^62 terms need; the square of the former fits the latter. */
#define SYI_SUM_LIMBS     34
#define SYI_SQUARES_LIMBS 68

/* a += (-1)^negative * value * 2^shift, modulo 2^(64 limbs). */
static inline void syi_limbs_add(uint64_t *a, int limbs, syi_u128 value, int shift, int negative)
{
    int k = shift >> 6, s = shift & 63;
    uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64);
    uint64_t part[3] = {low << s, high << s | low >> 1 >> (63 - s), high >> 1 >> (63 - s)};
    uint64_t carry = 0;
    for (int j = 0; k < limbs && (j < 3 || carry != 0); j++, k++) {
        uint64_t term = j < 3 ? part[j] : 0;
        syi_u128 next = negative ? (syi_u128)a[k] - term - carry : (syi_u128)a[k] + term + carry;
        a[k] = (uint64_t)next;
        carry = (uint64_t)(next >> 64) & 1;
    }
}

/* a = |a|; non-zero when it was negative. */
static inline int syi_limbs_magnitude(uint64_t *a, int limbs)
{
    uint64_t carry = 1;
    if (a[limbs - 1] >> 63 == 0)
        return 0;
    for (int k = 0; k < limbs; k++) {
        a[k] = ~a[k] + carry;
        carry = carry && a[k] == 0;
    }
    return 1;
}

/* out = count * squares - sum^2, of twice the limbs of the sum; not negative. */
static inline void syi_limbs_spread(uint64_t *out, const uint64_t *sum, const uint64_t *squares,
                                    int limbs, uint64_t count)
{
    uint64_t a[SYI_SUM_LIMBS], square[SYI_SQUARES_LIMBS] = {0}, carry = 0, borrow = 0;
    memcpy(a, sum, (size_t)limbs * sizeof *sum);
    syi_limbs_magnitude(a, limbs);
    for (int i = 0; i < limbs; i++) {
        uint64_t up = 0;
        for (int j = 0; j < limbs; j++) {
            syi_u128 term = (syi_u128)a[i] * a[j] + square[i + j] + up;
            square[i + j] = (uint64_t)term;
            up = (uint64_t)(term >> 64);
        }
        square[i + limbs] = up;
    }
    for (int k = 0; k < 2 * limbs; k++) {
        syi_u128 product = (syi_u128)squares[k] * count + carry;
        syi_u128 rest = (syi_u128)(uint64_t)product - square[k] - borrow;
        carry = (uint64_t)(product >> 64);
        borrow = (uint64_t)(rest >> 64) & 1;
        out[k] = (uint64_t)rest;
    }
}

#endif
