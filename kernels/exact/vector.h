/*
 * Vectors of doubles for the loops that a compiler does not find by itself: prefix sums and
 * recurrences in lanes. They are as wide as the instruction set's registers; where it has no fused
 * multiply-add there are none, and the kernels take their other ways. + - * and comparisons are
 * the language's own operators.
 */
#ifndef SYI_KERNELS_EXACT_VECTOR_H
#define SYI_KERNELS_EXACT_VECTOR_H

#include "exact/bits.h"
#include "pch/intrinsics.h"
#include "traffic.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define SYI_VECTOR 8
#elif defined(__AVX2__) && defined(__FMA__)
#define SYI_VECTOR 4
#endif

#ifdef SYI_VECTOR

#define SYI_HAVE_VECTORS 1

typedef double syi_vec __attribute__((vector_size(8 * SYI_VECTOR)));
typedef uint64_t syi_bits_vec __attribute__((vector_size(8 * SYI_VECTOR)));

SYI_INLINE syi_vec syi_vec_load(const double *from)
{
    syi_vec a;
    memcpy(&a, from, sizeof a);
    return a;
}

SYI_INLINE void syi_vec_store(double *to, syi_vec a)
{
    memcpy(to, &a, sizeof a);
}

/* To the place of a vector that no two lines share, with `past` past the cache (traffic.h). */
SYI_INLINE void syi_vec_put(double *to, syi_vec a, int past)
{
    if (!past)
        syi_vec_store(to, a);
    else
#if SYI_VECTOR == 8
        _mm512_stream_pd(to, (__m512d)a);
#else
        _mm256_stream_pd(to, (__m256d)a);
#endif
}

#if SYI_VECTOR == 8

SYI_INLINE syi_vec syi_vec_of(double x)
{
    return (syi_vec)_mm512_set1_pd(x);
}

/* The first `count` numbers from x[0] on; the other elements are those of `rest`. Put together in
 * memory they would be waited for until all that was stored before has reached the cache. */
SYI_INLINE syi_vec syi_vec_load_some(const double *x, int64_t count, syi_vec rest)
{
    return (syi_vec)_mm512_mask_loadu_pd((__m512d)rest, (__mmask8)((1u << count) - 1), x);
}

/* a * b + c, rounded once. */
SYI_INLINE syi_vec syi_vec_fma(syi_vec a, syi_vec b, syi_vec c)
{
    return (syi_vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

/* c - a * b, rounded once. */
SYI_INLINE syi_vec syi_vec_fnma(syi_vec a, syi_vec b, syi_vec c)
{
    return (syi_vec)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

/* Each element plus all before it; any order of the additions, so only for exact sums. */
SYI_INLINE syi_vec syi_vec_scan(syi_vec a)
{
    const syi_vec zero = {0};
    a += __builtin_shufflevector(zero, a, 7, 8, 9, 10, 11, 12, 13, 14);
    a += __builtin_shufflevector(zero, a, 6, 7, 8, 9, 10, 11, 12, 13);
    return a + __builtin_shufflevector(zero, a, 4, 5, 6, 7, 8, 9, 10, 11);
}

SYI_INLINE syi_vec syi_vec_last(syi_vec a)
{
    return __builtin_shufflevector(a, a, 7, 7, 7, 7, 7, 7, 7, 7);
}

/* The vector that begins 1, 2 or 4 elements before b, which follows a. */
SYI_INLINE syi_vec syi_vec_before(syi_vec a, syi_vec b, int n)
{
    return n == 1   ? (syi_vec)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 7)
           : n == 2 ? (syi_vec)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 6)
                    : (syi_vec)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 4);
}

SYI_INLINE syi_vec syi_vec_max(syi_vec a, syi_vec b)
{
    return (syi_vec)_mm512_max_pd((__m512d)a, (__m512d)b);
}

SYI_INLINE syi_vec syi_vec_min(syi_vec a, syi_vec b)
{
    return (syi_vec)_mm512_min_pd((__m512d)a, (__m512d)b);
}

/* The largest and the least element. */
SYI_INLINE double syi_vec_most(syi_vec a)
{
    return _mm512_reduce_max_pd((__m512d)a);
}

SYI_INLINE double syi_vec_least(syi_vec a)
{
    return _mm512_reduce_min_pd((__m512d)a);
}

/* Whether a <= b, for each element. */
typedef __mmask8 syi_vec_mask;

SYI_INLINE syi_vec_mask syi_vec_mask_full(void)
{
    return 0xff;
}

SYI_INLINE syi_vec_mask syi_vec_mask_ordered(syi_vec_mask so_far, syi_vec a, syi_vec b)
{
    return _mm512_mask_cmp_pd_mask(so_far, (__m512d)a, (__m512d)b, _CMP_LE_OQ);
}

SYI_INLINE int syi_vec_mask_is_full(syi_vec_mask mask)
{
    return mask == 0xff;
}

/* Bit l for element l. */
SYI_INLINE uint64_t syi_vec_mask_bits(syi_vec_mask mask)
{
    return mask;
}

#else

SYI_INLINE syi_vec syi_vec_of(double x)
{
    return (syi_vec)_mm256_set1_pd(x);
}

SYI_INLINE syi_vec syi_vec_load_some(const double *x, int64_t count, syi_vec rest)
{
    const __m256i mask = (__m256i)((syi_bits_vec){0, 1, 2, 3} < (uint64_t)count);
    return (syi_vec)_mm256_blendv_pd((__m256d)rest, _mm256_maskload_pd(x, mask), (__m256d)mask);
}

SYI_INLINE syi_vec syi_vec_fma(syi_vec a, syi_vec b, syi_vec c)
{
    return (syi_vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

SYI_INLINE syi_vec syi_vec_fnma(syi_vec a, syi_vec b, syi_vec c)
{
    return (syi_vec)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

SYI_INLINE syi_vec syi_vec_scan(syi_vec a)
{
    const syi_vec zero = {0};
    a += __builtin_shufflevector(zero, a, 3, 4, 5, 6);
    return a + __builtin_shufflevector(zero, a, 2, 3, 4, 5);
}

SYI_INLINE syi_vec syi_vec_last(syi_vec a)
{
    return __builtin_shufflevector(a, a, 3, 3, 3, 3);
}

SYI_INLINE syi_vec syi_vec_before(syi_vec a, syi_vec b, int n)
{
    return n == 1 ? __builtin_shufflevector(a, b, 3, 4, 5, 6)
                  : __builtin_shufflevector(a, b, 2, 3, 4, 5);
}

SYI_INLINE syi_vec syi_vec_max(syi_vec a, syi_vec b)
{
    return (syi_vec)_mm256_max_pd((__m256d)a, (__m256d)b);
}

SYI_INLINE syi_vec syi_vec_min(syi_vec a, syi_vec b)
{
    return (syi_vec)_mm256_min_pd((__m256d)a, (__m256d)b);
}

SYI_INLINE double syi_vec_most(syi_vec a)
{
    a = syi_vec_max(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
    return syi_vec_max(a, __builtin_shufflevector(a, a, 1, 0, 3, 2))[0];
}

SYI_INLINE double syi_vec_least(syi_vec a)
{
    a = syi_vec_min(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
    return syi_vec_min(a, __builtin_shufflevector(a, a, 1, 0, 3, 2))[0];
}

typedef syi_bits_vec syi_vec_mask;

SYI_INLINE syi_vec_mask syi_vec_mask_full(void)
{
    return ~(syi_vec_mask){0};
}

SYI_INLINE syi_vec_mask syi_vec_mask_ordered(syi_vec_mask so_far, syi_vec a, syi_vec b)
{
    return so_far & (syi_vec_mask)(a <= b);
}

SYI_INLINE int syi_vec_mask_is_full(syi_vec_mask mask)
{
    return _mm256_movemask_pd((__m256d)mask) == 0xf;
}

SYI_INLINE uint64_t syi_vec_mask_bits(syi_vec_mask mask)
{
    return (uint64_t)_mm256_movemask_pd((__m256d)mask);
}

#endif

/*
 * a + b and a - b as products with 1. Some processors (Zen) have units for additions beside those
 * for products, and of these loops two thirds are additions: where some of them are made so, the
 * others get through sooner.
 */
SYI_INLINE syi_vec syi_vec_plus(syi_vec a, syi_vec b)
{
    return syi_vec_fma(a, syi_vec_of(1.0), b);
}

SYI_INLINE syi_vec syi_vec_less(syi_vec a, syi_vec b)
{
    return syi_vec_fnma(b, syi_vec_of(1.0), a);
}

SYI_INLINE syi_vec syi_vec_abs(syi_vec a)
{
    return (syi_vec)((syi_bits_vec)a & ((syi_bits_vec){0} + (UINT64_MAX >> 1)));
}

/* a where `which`, b elsewhere. */
SYI_INLINE syi_vec syi_vec_pick(syi_bits_vec which, syi_vec a, syi_vec b)
{
    return (syi_vec)(((syi_bits_vec)a & which) | ((syi_bits_vec)b & ~which));
}

/* The powers of two that positive numbers have in them, the largest ones. */
SYI_INLINE syi_vec syi_vec_binade(syi_vec a)
{
    return (syi_vec)((syi_bits_vec)a & ((syi_bits_vec){0} + (UINT64_C(0x7ff) << 52)));
}

/* high + low = a + b exactly. */
SYI_INLINE void syi_vec_two_sum(syi_vec a, syi_vec b, syi_vec *high, syi_vec *low)
{
    syi_vec sum = a + b, part = syi_vec_less(sum, a);
    *low = syi_vec_plus(a - (sum - part), syi_vec_less(b, part));
    *high = sum;
}

/* The same where |a| >= |b| or a is 0. */
SYI_INLINE void syi_vec_quick_sum(syi_vec a, syi_vec b, syi_vec *high, syi_vec *low)
{
    syi_vec sum = a + b;
    *low = b - (sum - a);
    *high = sum;
}

/* Takes up in *so_far the bits in which a and b differ. A compiler that sees the operators puts all
 * of a loop's off until its end, and keeps what they need in memory. */
SYI_INLINE void syi_vec_differ(syi_bits_vec *so_far, syi_vec a, syi_vec b)
{
#if SYI_VECTOR == 8
    *so_far = (syi_bits_vec)_mm512_ternarylogic_epi64((__m512i)*so_far, (__m512i)a, (__m512i)b,
                                                      0xf0 | (0xcc ^ 0xaa));
#else
    *so_far = (syi_bits_vec)_mm256_or_pd((__m256d)*so_far, _mm256_xor_pd((__m256d)a, (__m256d)b));
#endif
}

/* The number nearest to high + low, which is off by `error` at most; *unsure becomes not 0 where it
 * may be another. What adding low and error loses has to be part of the error. */
SYI_INLINE syi_vec syi_vec_round(syi_vec high, syi_vec low, syi_vec error, syi_bits_vec *unsure)
{
    syi_vec value = high + (low + error);
    syi_vec_differ(unsure, value, syi_vec_plus(high, low - error));
    return value;
}

/* Element by element the least and the largest of `count` > 0 vectors. Each comparison waits for
 * one before it, so there are two rows of them. */
SYI_INLINE void syi_vec_extremes(const syi_vec *from, int count, syi_vec *least, syi_vec *most)
{
    syi_vec low[2] = {from[0], from[0]}, high[2] = {from[0], from[0]};
    SYI_UNROLL(4)
    for (int i = count % 2; i < count; i += 2)
        for (int k = 0; k < 2; k++) {
            low[k] = syi_vec_min(low[k], from[i + k]);
            high[k] = syi_vec_max(high[k], from[i + k]);
        }
    *least = syi_vec_min(low[0], low[1]);
    *most = syi_vec_max(high[0], high[1]);
}

/* Which elements are not 0, as bits. */
SYI_INLINE uint64_t syi_vec_which(syi_bits_vec a)
{
#if SYI_VECTOR == 8
    return _mm512_test_epi64_mask((__m512i)a, (__m512i)a);
#else
    return (uint64_t)_mm256_movemask_pd((__m256d)(a != 0));
#endif
}

/* Whether an element is not 0. */
SYI_INLINE int syi_vec_any(syi_bits_vec a)
{
#if SYI_VECTOR == 8
    return _mm512_test_epi64_mask((__m512i)a, (__m512i)a) != 0;
#else
    return !_mm256_testz_si256((__m256i)a, (__m256i)a);
#endif
}

#else
#define SYI_HAVE_VECTORS 0
#endif

#endif
