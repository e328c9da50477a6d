/* Rounding an exact binary value to the nearest double, ties to even, once. */
#ifndef SYI_KERNELS_EXACT_ROUND_H
#define SYI_KERNELS_EXACT_ROUND_H

#include <stdint.h>

/*
 * (-1)^negative * (mantissa + something in (0,1) if sticky) * 2^exponent, rounded. `mantissa` needs
 * no normalisation, but must have at least 55 significant bits when sticky. Subnormals are rounded
 * on their own grid, too large values become infinite, zero becomes +0.
 */
static inline double syi_round_to_double(int negative, uint64_t mantissa, int64_t exponent,
                                         int sticky)
{
    union {
        uint64_t bits;
        double value;
    } out = {0};
    int shift, drop;
    uint64_t kept, rest, half;
    if (mantissa == 0)
        return 0.0;
    shift = __builtin_clzll(mantissa);
    mantissa <<= shift;
    exponent -= shift; /* value in [2^63, 2^64) * 2^exponent */
    drop = 11;
    if (exponent < -1074 - 11)
        drop = -1074 - exponent > 65 ? 65 : (int)(-1074 - exponent);
    if (drop >= 65)
        kept = 0, rest = 1, half = 2; /* below half of the least subnormal */
    else if (drop == 64)
        kept = 0, rest = mantissa >> 1, half = UINT64_C(1) << 62, sticky |= (int)(mantissa & 1);
    else
        kept = mantissa >> drop, rest = mantissa & ((UINT64_C(1) << drop) - 1),
        half = UINT64_C(1) << (drop - 1);
    if (rest > half || (rest == half && (sticky || (kept & 1))))
        kept++;
    if (kept >> 53)
        kept >>= 1, drop++;
    if (kept >> 52) {
        int64_t biased = exponent + drop + 52 + 1023;
        if (biased >= 2047)
            kept = 0, biased = 2047;
        out.bits = (kept & ((UINT64_C(1) << 52) - 1)) | (uint64_t)biased << 52;
    } else {
        out.bits = kept;
    }
    if (out.bits && negative)
        out.bits |= UINT64_C(1) << 63;
    return out.value;
}

#endif
