/*
 * Deviations and scores of variances, by two of a processor's units: its divider, beside which the
 * others are free, or by products, with the same bits. By products a guess of the reciprocal root
 * of the variance, off by 2^-14, is improved: then root and reciprocal are off by 2^-51.9 of
 * themselves.
 *
 * One step more is rounded to the root (as P. Markstein rounds roots and quotients, IBM Journal of
 * Research and Development 34, 1990), off by 2^-102.8 before. The root of a double comes as near as
 * 2^-102 to the middle between two for some dozens of significands only. One step more makes the
 * reciprocal that of the rounded root, off by half a place and 2^-48 of one. What a quotient lacks,
 * times that, is rounded at last: off by less than a quotient of two doubles is from the middle
 * between two, unless the divisor is 2 - e and e less than 2^-47. tests/unit/test_divide.c tries
 * all these.
 *
 * For the last two significands before a power of two it would depend on the guess, which is not
 * every processor's. Small numbers would lose digits, and small quotients may be in the middle.
 * There, and of what is beside them, the divider is asked. Scores are no larger than the root of
 * the period.
 */
#ifndef SYI_KERNELS_FAST_DIVIDE_H
#define SYI_KERNELS_FAST_DIVIDE_H

#include "fast/vector.h"

SYI_INLINE syi_vector syi_root(syi_vector square)
{
#if SYI_WIDTH == 8
    return (syi_vector)_mm512_sqrt_pd((__m512d)square);
#elif SYI_WIDTH == 4
    return (syi_vector)_mm256_sqrt_pd((__m256d)square);
#elif defined(__SSE2__)
    return (syi_vector)_mm_sqrt_pd((__m128d)square);
#else
    for (int k = 0; k < SYI_WIDTH; k++)
        square[k] = sqrt(square[k]);
    return square;
#endif
}

/* Whether scores are the library's NaN where there are none, or something not finite. */
enum { SYI_SCORES_MARKED = SYI_WIDTH == 8 };

#if SYI_WIDTH == 8

/* Where there is no score: the variance is NaN, zero, infinite or negative. */
SYI_INLINE __mmask8 syi_has_no_score(syi_vector variance)
{
    return _mm512_fpclass_pd_mask((__m512d)variance, 0xdf);
}

SYI_INLINE syi_vector syi_marked_score(syi_vector score, __mmask8 none)
{
    return (syi_vector)_mm512_mask_mov_pd((__m512d)score, none, _mm512_set1_pd(syi_nan()));
}

#endif

/* The score of a value that is `distance` above the mean: none where the variance is zero or not
 * finite. A zero is +0. */
SYI_INLINE syi_vector syi_score(syi_vector distance, syi_vector variance)
{
#if SYI_WIDTH == 8
    return syi_marked_score((0.0 + distance) / syi_root(variance), syi_has_no_score(variance));
#else
    return ((variance - variance) + distance) / syi_root(variance);
#endif
}

#if SYI_WIDTH == 8

/* By products: root and reciprocal root before the last step. */
typedef struct syi_roots {
    syi_vector root, inverse;
} syi_roots;

SYI_INLINE syi_roots syi_roots_near(syi_vector square, syi_vector guess)
{
    const syi_vector about = square * guess, none = {0};
    const syi_vector off = syi_product_sum(-about, guess, 1.0 + none);
    syi_vector more = syi_product_sum(off, 0.3125 + none, 0.375 + none);
    more = off * syi_product_sum(more, off, 0.5 + none);
    return (syi_roots){syi_product_sum(about, more, about), syi_product_sum(guess, more, guess)};
}

SYI_INLINE syi_vector syi_root_of(syi_vector square, syi_roots near)
{
    const syi_vector lack = syi_product_sum(-near.root, near.root, square);
    return syi_product_sum(lack, 0.5 * near.inverse, near.root);
}

/* Which of those `of` are not the last or last but one before a power of two. */
SYI_INLINE __mmask8 syi_is_not_last(__mmask8 of, syi_vector square)
{
    const __m512i places = _mm512_set1_epi64((INT64_C(1) << 52) - 2);
    const __m512i next = _mm512_add_epi64((__m512i)square, _mm512_set1_epi64(2));
    return _mm512_mask_test_epi64_mask(of, next, places);
}

/* Infinity becomes NaN. */
SYI_INLINE syi_vector syi_product_root(syi_vector square)
{
    const __m512d a = (__m512d)square;
    const __mmask8 large = _mm512_cmp_pd_mask(a, _mm512_set1_pd(0x1p-900), _CMP_GE_OQ);
    const __mmask8 good = syi_is_not_last(large, square);
    if (good != 0xff && _mm512_mask_cmp_pd_mask(~good, a, _mm512_setzero_pd(), _CMP_NEQ_OQ))
        return syi_root(square);
    const syi_vector guess = (syi_vector)_mm512_maskz_rsqrt14_pd(good, a);
    return syi_root_of(square, syi_roots_near(square, guess));
}

/* Where the variance is from 2^-900 to 2^1000, the distance 0 or at least 2^-511. By their bits as
 * whole numbers, which wrap around: less than the least they become the largest, and of a distance,
 * whose sign is shifted out, zero does. */
SYI_INLINE __mmask8 syi_is_for_products(syi_vector distance, syi_vector variance)
{
    const __m512i least = _mm512_set1_epi64(INT64_C(0x07b) << 52);
    const __m512i room = _mm512_set1_epi64((INT64_C(0x7e7) - INT64_C(0x07b)) << 52);
    const __m512i small = _mm512_set1_epi64(INT64_C(0x200) << 53), one = _mm512_set1_epi64(1);
    const __m512i bits = (__m512i)distance, above = _mm512_sub_epi64((__m512i)variance, least);
    const __m512i twice = _mm512_add_epi64(bits, _mm512_sub_epi64(bits, one));
    const __mmask8 fits = _mm512_cmplt_epu64_mask(above, room);
    return _mm512_mask_cmplt_epu64_mask(syi_is_not_last(fits, variance), small, twice);
}

SYI_INLINE syi_vector syi_product_score(syi_vector distance, syi_vector variance)
{
    const __mmask8 good = syi_is_for_products(distance, variance);
    const syi_vector guess = (syi_vector)_mm512_rsqrt14_pd((__m512d)variance);
    __mmask8 none = 0;
    if (good != 0xff) {
        none = syi_has_no_score(variance);
        if ((good | none) != 0xff)
            return syi_score(distance, variance);
    }
    const syi_roots near = syi_roots_near(variance, guess);
    const syi_vector root = syi_root_of(variance, near);
    const syi_vector off = syi_product_sum(-near.inverse, root, 1.0 + (syi_vector){0});
    const syi_vector inverse = syi_product_sum(off, near.inverse, near.inverse);
    const syi_vector about = distance * inverse;
    const syi_vector lack = syi_product_sum(-about, root, distance); /* of a zero +0 */
    return syi_marked_score(syi_product_sum(lack, inverse, about), none);
}

#else
#define syi_product_root  syi_root
#define syi_product_score syi_score
#endif

#endif
