/* Doubles as integers times a power of two, and the wide integer types the kernels share. */
#ifndef SYI_KERNELS_EXACT_BITS_H
#define SYI_KERNELS_EXACT_BITS_H

#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 syi_i128;
__extension__ typedef unsigned __int128 syi_u128;

#if defined(__CUDACC__) || defined(__CUDA__)
#define SYI_INLINE static __host__ __device__ __forceinline__
#else
#define SYI_INLINE static inline __attribute__((always_inline))
#endif

/* Before a loop over registers, which else may be kept in memory. */
#define SYI_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__) || defined(__CUDA__)
#define SYI_UNROLL(count) SYI_PRAGMA(unroll)
#elif defined(__clang__)
#define SYI_UNROLL(count) SYI_PRAGMA(unroll count)
#else
#define SYI_UNROLL(count) SYI_PRAGMA(GCC unroll count)
#endif

/* All doubles are multiples of 2^SYI_BOTTOM. */
#define SYI_BOTTOM (-1074)

SYI_INLINE uint64_t syi_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SYI_INLINE double syi_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^e for SYI_BOTTOM <= e < 1024. */
SYI_INLINE double syi_pow2(int e)
{
    return syi_from_bits(e >= -1022 ? (uint64_t)(e + 1023) << 52 : UINT64_C(1) << (e + 1074));
}

/* By its bits: many GPUs have few units for f64, in which they compare, too. */
SYI_INLINE int syi_is_finite(double x)
{
    return (syi_bits(x) >> 52 & 0x7ff) != 0x7ff;
}

/* A finite |x| = mantissa * 2^exponent, SYI_BOTTOM <= exponent. */
typedef struct syi_parts {
    uint64_t mantissa;
    int exponent, negative;
} syi_parts;

SYI_INLINE syi_parts syi_split(double x)
{
    uint64_t bits = syi_bits(x), fraction = bits & ((UINT64_C(1) << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff), normal = biased != 0;
    return (syi_parts){fraction | (uint64_t)normal << 52, biased - normal + SYI_BOTTOM,
                       (int)(bits >> 63)};
}

/* What a stretch of data is made of: its finite values are multiples of 2^bottom below 2^top. */
typedef struct syi_span {
    int bottom, top;
    int has_non_finite;
} syi_span;

/* Of finite magnitudes' bits: the largest, and the least that is not zero. */
SYI_INLINE syi_span syi_span_of(int64_t largest, int64_t least, int has_non_finite)
{
    if (largest == 0)
        return (syi_span){0, 0, has_non_finite};
    return (syi_span){syi_split(syi_from_bits((uint64_t)least)).exponent,
                      syi_split(syi_from_bits((uint64_t)largest)).exponent + 53, has_non_finite};
}

#define SYI_INFINITY_BITS (INT64_C(0x7ff) << 52)

/* The bits of the largest and the least magnitude of the numbers or, with `finite`, of those that
 * are; *least is less one, so that zero is last. */
SYI_INLINE void syi_extremes_of(const double *x, int64_t count, int finite, uint64_t *largest,
                                uint64_t *least)
{
    uint64_t most = 0, low = UINT64_MAX;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = syi_bits(x[i]) & (UINT64_MAX >> 1);
        if (finite)
            bits &= -(uint64_t)(bits < (uint64_t)SYI_INFINITY_BITS);
        most = bits > most ? bits : most;
        low = bits - 1 < low ? bits - 1 : low;
    }
    *largest = most;
    *least = low;
}

SYI_INLINE syi_span syi_measure(const double *x, int64_t count)
{
    uint64_t largest, least;
    syi_extremes_of(x, count, 0, &largest, &least);
    const int has_non_finite = largest >= (uint64_t)SYI_INFINITY_BITS;
    if (has_non_finite)
        syi_extremes_of(x, count, 1, &largest, &least);
    return syi_span_of((int64_t)largest, (int64_t)(least + 1), has_non_finite);
}

/* How many of x[0] to x[count - 1] are `value`, before the first that is not. */
static inline int64_t syi_count_still(const double *x, double value, int64_t count)
{
    int64_t i = 0;
    for (uint64_t moved = 0; i + 64 <= count; i += 64) {
        for (int k = 0; k < 64; k++)
            moved |= syi_bits(x[i + k]) ^ syi_bits(value);
        if (moved)
            break;
    }
    while (i < count && x[i] == value)
        i++;
    return i;
}

#endif
