/* As many rows as a vector has elements, and so many of their columns: one become the other. */
#ifndef SYI_KERNELS_EXACT_TRANSPOSE_H
#define SYI_KERNELS_EXACT_TRANSPOSE_H

#include "exact/vector.h"

#if SYI_HAVE_VECTORS

#if SYI_VECTOR == 8

/* Two of the three steps by which rows become columns, by shuffles that need no registers for what
 * goes where: every second number of two rows, then every second pair of such. */
SYI_INLINE void syi_vec_interleave(const syi_vec *r, syi_vec *to)
{
    syi_vec a[8];
    for (int k = 0; k < 8; k += 2) {
        a[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 8; k += 4)
        for (int j = 0; j < 2; j++) {
            const syi_vec even = a[k + j], odd = a[k + j + 2];
            to[k + j] = __builtin_shufflevector(even, odd, 0, 1, 4, 5, 8, 9, 12, 13);
            to[k + j + 2] = __builtin_shufflevector(even, odd, 2, 3, 6, 7, 10, 11, 14, 15);
        }
}

/* Rows become columns. */
SYI_INLINE void syi_vec_transpose(syi_vec *r)
{
    syi_vec b[8];
    syi_vec_interleave(r, b);
    for (int k = 0; k < 4; k++) {
        r[k] = __builtin_shufflevector(b[k], b[k + 4], 0, 1, 4, 5, 8, 9, 12, 13);
        r[k + 4] = __builtin_shufflevector(b[k], b[k + 4], 2, 3, 6, 7, 10, 11, 14, 15);
    }
}

/* r[k][l] = x[l * stride + k]. Halves of rows are put together as they are loaded, rows 0, 1, 4 and
 * 5 each with the second next one: that keeps no unit busy which moves values between lanes, of
 * which some processors (Intel's) have one. */
SYI_INLINE void syi_vec_columns(const double *x, int64_t stride, syi_vec *r)
{
    syi_vec a[8];
    SYI_UNROLL(8) /* else gcc 12 takes wrong addresses in some places at -O2 */
    for (int k = 0; k < 8; k++) {
        const int row = (k & 1) + 2 * (k & 2), column = k & 4;
        const double *from = x + row * stride + column;
        a[k] = (syi_vec)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(from)),
                                           _mm256_loadu_pd(from + 2 * stride), 1);
    }
    syi_vec_interleave(a, r);
}

#else

SYI_INLINE void syi_vec_transpose(syi_vec *r)
{
    syi_vec a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
    syi_vec b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    syi_vec c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
    syi_vec d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/* Halves of rows are put together as they are loaded. */
SYI_INLINE void syi_vec_columns(const double *x, int64_t stride, syi_vec *r)
{
    for (int k = 0; k < 4; k += 2) {
        __m256d even = _mm256_castpd128_pd256(_mm_loadu_pd(x + k));
        __m256d odd = _mm256_castpd128_pd256(_mm_loadu_pd(x + stride + k));
        even = _mm256_insertf128_pd(even, _mm_loadu_pd(x + 2 * stride + k), 1);
        odd = _mm256_insertf128_pd(odd, _mm_loadu_pd(x + 3 * stride + k), 1);
        r[k] = (syi_vec)_mm256_unpacklo_pd(even, odd);
        r[k + 1] = (syi_vec)_mm256_unpackhi_pd(even, odd);
    }
}

#endif

/* y[l * stride + k] = r[k][l], `past` the cache or not; the columns r are lost. */
SYI_INLINE void syi_vec_rows(double *y, int64_t stride, syi_vec *r, int past)
{
    syi_vec_transpose(r);
    SYI_UNROLL(8)
    for (int l = 0; l < SYI_VECTOR; l++)
        syi_vec_put(y + l * stride, r[l], past);
}

#endif

#endif
