/*
 * As many doubles at a time as a register of the instruction set holds, in the compilers' own
 * vector type. Only operations that IEEE 754 rounds, so the bits are those of the same expression
 * on doubles, and do not depend on how many there are.
 */
#ifndef SYI_KERNELS_FAST_VECTOR_H
#define SYI_KERNELS_FAST_VECTOR_H

#include "pch/intrinsics.h"
#include "kernel.h"
#include "traffic.h"

#include <math.h>

#if defined(__AVX512F__)
#define SYI_WIDTH 8
#elif defined(__AVX__)
#define SYI_WIDTH 4
#else
#define SYI_WIDTH 2
#endif

typedef double syi_vector __attribute__((vector_size(8 * SYI_WIDTH)));
typedef double syi_vector_anywhere
    __attribute__((vector_size(8 * SYI_WIDTH), aligned(8), may_alias));

/* What a comparison gives: all bits or none. */
typedef int64_t syi_vector_mask __attribute__((vector_size(8 * SYI_WIDTH)));

/* Before a loop of few steps: they are to stay in turn. Unrolled, gcc puts what they have in common
 * first, which waits longer and needs more registers. */
#ifdef __clang__
#define SYI_ROLLED
#else
#define SYI_ROLLED _Pragma("GCC unroll 1")
#endif

/* A vector is made before those of later lines that say so, too. Left to itself gcc reads a longer
 * sum's terms from the last to the first, along which a processor does not look ahead in memory. */
#ifdef __SSE2__
#define SYI_IN_TURN(v) __asm__ volatile("" : "+v"(v))
#else
#define SYI_IN_TURN(v)
#endif

#define SYI_LOAD(from)      (*(const syi_vector_anywhere *)(from))
#define SYI_STORE(to, what) (*(syi_vector_anywhere *)(to) = (what))

/* The first `count` > 0 doubles from x[0] on, SYI_WIDTH at most; the others are +0. Put together in
 * memory they would be waited for. */
SYI_INLINE syi_vector syi_load_some(const double *x, int64_t count)
{
#if SYI_WIDTH == 8
    return (syi_vector)_mm512_maskz_loadu_pd((__mmask8)(count < 8 ? (1 << count) - 1 : 0xff), x);
#elif SYI_WIDTH == 4 && defined(__AVX2__)
    const __m256i index = _mm256_setr_epi64x(0, 1, 2, 3);
    return (syi_vector)_mm256_maskload_pd(x, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), index));
#else
    syi_vector some = {0};
    for (int k = 0; k < SYI_WIDTH && k < count; k++)
        some[k] = x[k];
    return some;
#endif
}

/* The first `count` of a vector. */
SYI_INLINE void syi_store_some(double *to, syi_vector what, int count)
{
#if SYI_WIDTH == 8
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)what);
#else
    double lane[SYI_WIDTH];
    memcpy(lane, &what, sizeof lane);
    for (int i = 0; i < count; i++)
        to[i] = lane[i];
#endif
}

/* For a reduction: the vector at x + at. Each line is asked for beside the load of another:
 * requests that come together are waited for. */
SYI_INLINE syi_vector syi_read(const double *x, int at, syi_asking asking)
{
    if (at % SYI_LINE == 0)
        syi_ask_behind(x + at, asking);
    return SYI_LOAD(x + at);
}

/* Past the cache, to where a vector may begin (traffic.h). */
SYI_INLINE void syi_store_past(double *to, syi_vector what)
{
#if SYI_WIDTH == 8
    _mm512_stream_pd(to, (__m512d)what);
#elif SYI_WIDTH == 4
    _mm256_stream_pd(to, (__m256d)what);
#elif defined(__SSE2__)
    _mm_stream_pd(to, (__m128d)what);
#else
    SYI_STORE(to, what);
#endif
}

/* Whether results are put past the cache by the KiB: where a vector is a line. Lines that come as
 * two vectors are taken evenly as fast. */
SYI_INLINE int syi_in_bursts(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    return SYI_WIDTH == 8 && piece->past_cache && piece->waits &&
           syi_meet(segment->out[0], segment->in[0]);
}

/* Elements of a and b, by constant numbers; those of b come behind a's. */
#define SYI_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* The vector that begins 1 (2, 4) columns after `older`, which `newer` follows, or 1 (2) before
 * `newer`. For a pick like that gcc takes an instruction that keeps twice as many units
 * busy. */
#if SYI_WIDTH == 8
#define SYI_AFTER(older, newer, n)                                                                 \
    ((syi_vector)_mm512_alignr_epi64((__m512i)(newer), (__m512i)(older), n))
#define SYI_AFTER_1(older, newer)    SYI_AFTER(older, newer, 1)
#define SYI_AFTER_2(older, newer)    SYI_AFTER(older, newer, 2)
#define SYI_AFTER_4(older, newer)    SYI_AFTER(older, newer, 4)
#define SYI_ONE_BEFORE(older, newer) SYI_AFTER(older, newer, 7)
#define SYI_TWO_BEFORE(older, newer) SYI_AFTER(older, newer, 6)
#elif SYI_WIDTH == 4
#define SYI_AFTER_1(older, newer)    SYI_PICK(older, newer, 1, 2, 3, 4)
#define SYI_AFTER_2(older, newer)    SYI_PICK(older, newer, 2, 3, 4, 5)
#define SYI_AFTER_4(older, newer)    (newer)
#define SYI_ONE_BEFORE(older, newer) SYI_PICK(older, newer, 3, 4, 5, 6)
#define SYI_TWO_BEFORE(older, newer) SYI_AFTER_2(older, newer)
#else
#define SYI_AFTER_1(older, newer)    SYI_PICK(older, newer, 1, 2)
#define SYI_AFTER_2(older, newer)    (newer)
#define SYI_AFTER_4(older, newer)    (newer) /* nobody's: it is two vectors behind */
#define SYI_ONE_BEFORE(older, newer) SYI_AFTER_1(older, newer)
#define SYI_TWO_BEFORE(older, newer) (older)
#endif

/* a > b ? a : b, element by element. */
SYI_INLINE syi_vector syi_larger(syi_vector a, syi_vector b)
{
#if defined(__AVX512F__)
    return (syi_vector)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
    return (syi_vector)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (syi_vector)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    syi_vector_mask larger = a > b;
    return (syi_vector)(((syi_vector_mask)a & larger) | ((syi_vector_mask)b & ~larger));
#endif
}

/* a < b ? a : b, element by element. */
SYI_INLINE syi_vector syi_smaller(syi_vector a, syi_vector b)
{
#if defined(__AVX512F__)
    return (syi_vector)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
    return (syi_vector)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (syi_vector)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    syi_vector_mask smaller = a < b;
    return (syi_vector)(((syi_vector_mask)a & smaller) | ((syi_vector_mask)b & ~smaller));
#endif
}

/* Which one is `greatest` or, without that, least; b where one is a NaN. */
SYI_INLINE syi_vector syi_more_extreme(syi_vector a, syi_vector b, int greatest)
{
    return greatest ? syi_larger(a, b) : syi_smaller(a, b);
}

/* Not 0 when an element of a or b is a NaN. */
SYI_INLINE unsigned syi_unordered(syi_vector a, syi_vector b)
{
#if SYI_WIDTH == 8
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q);
#elif SYI_WIDTH == 4
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q));
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd(_mm_cmpunord_pd((__m128d)a, (__m128d)b));
#else
    return a[0] != a[0] || a[1] != a[1] || b[0] != b[0] || b[1] != b[1];
#endif
}

/* Bit k where element k of a is that of b; SYI_ALL where all are. */
#define SYI_ALL ((1u << SYI_WIDTH) - 1)
SYI_INLINE unsigned syi_equal(syi_vector a, syi_vector b)
{
#if SYI_WIDTH == 8
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
#elif SYI_WIDTH == 4
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_EQ_OQ));
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd(_mm_cmpeq_pd((__m128d)a, (__m128d)b));
#else
    return (unsigned)(a[0] == b[0]) | (unsigned)(a[1] == b[1]) << 1;
#endif
}

/* Not 0 when an element of a is not at most that of b. */
SYI_INLINE unsigned syi_not_ordered(syi_vector a, syi_vector b)
{
#if SYI_WIDTH == 8
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_NLE_UQ);
#elif SYI_WIDTH == 4
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_NLE_UQ));
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd(_mm_cmpnle_pd((__m128d)a, (__m128d)b));
#else
    return !(a[0] <= b[0]) || !(a[1] <= b[1]);
#endif
}

/* Where fma is a call, and takes its time, one place for all its uses: copies of it in each would
 * take the compiler longer than the rest of a kernel. */
#if defined(__SSE2__) && !defined(__FMA__)
#define SYI_BY_CALLS static __attribute__((noinline))
#else
#define SYI_BY_CALLS SYI_INLINE
#endif

/* a * b + c, rounded once. */
SYI_BY_CALLS syi_vector syi_product_sum(syi_vector a, syi_vector b, syi_vector c)
{
#if SYI_WIDTH == 8
    return (syi_vector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif SYI_WIDTH == 4 && defined(__FMA__)
    return (syi_vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    for (int k = 0; k < SYI_WIDTH; k++)
        c[k] = fma(a[k], b[k], c[k]);
    return c;
#endif
}

SYI_INLINE syi_vector syi_fused(syi_vector a, double factor, syi_vector b)
{
    return syi_product_sum(a, factor - (syi_vector){0}, b); /* the factor in every element */
}

/* a * b + c where the product is exact, so that one rounding is the same as two. */
SYI_INLINE syi_vector syi_exact_product_sum(syi_vector a, syi_vector b, syi_vector c)
{
#ifdef __FMA__
    return syi_product_sum(a, b, c);
#else
    return a * b + c;
#endif
}

/* a * scale + b. The scale is 0 or a power of two, 1 or more; only a product that overflows may
 * make a difference. */
SYI_INLINE syi_vector syi_scaled_sum(syi_vector a, double scale, syi_vector b)
{
    return syi_exact_product_sum(a, scale - (syi_vector){0}, b);
}

/* v where it is not zero, +0 where it is. */
SYI_INLINE syi_vector syi_plus_zero(syi_vector v)
{
    return v + 0.0;
}

/* Whether something in it is not zero (a NaN is not). */
SYI_INLINE int syi_any(const syi_vector *v)
{
    return syi_equal(*v, (syi_vector){0}) != SYI_ALL;
}

/* What is not finite becomes the library's NaN. */
SYI_INLINE syi_vector syi_marked(syi_vector v)
{
    const syi_vector none = {0}, difference = v - v;
    syi_vector_mask finite = difference == none;
    syi_vector_mask nan = (syi_vector_mask){0} + (int64_t)syi_bits(syi_nan());
    return (syi_vector)(((syi_vector_mask)v & finite) | (nan & ~finite));
}

SYI_INLINE void syi_fast_blank(double *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = syi_nan();
}

/* What is not finite becomes the library's NaN. */
SYI_INLINE void syi_fast_mark(double *y, int64_t count)
{
    int64_t i = 0;
    for (; i + SYI_WIDTH <= count; i += SYI_WIDTH)
        SYI_STORE(y + i, syi_marked(SYI_LOAD(y + i)));
    for (; i < count; i++)
        y[i] = syi_is_finite(y[i]) ? y[i] : syi_nan();
}

#endif
