/* Some lanes of a row into another, and whether a row holds what is not a number. */
#include "internal.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define BLEND(type)                                                                                \
    do {                                                                                           \
        type __attribute__((may_alias)) *to = d;                                                   \
        const type __attribute__((may_alias)) *from = s;                                           \
        for (uint32_t i = 0; i < LANES; i++)                                                       \
            to[i] = mask >> i & 1 ? from[i] : to[i];                                               \
    } while (0)

#define HAS_NAN(type)                                                                              \
    do {                                                                                           \
        const type __attribute__((may_alias)) *x = row;                                            \
        int any = 0;                                                                               \
        for (uint32_t i = 0; i < LANES; i++)                                                       \
            any |= x[i] != x[i];                                                                   \
        return any != 0;                                                                           \
    } while (0)

static bool has_nan_f32(const void *row)
{
    HAS_NAN(float);
}

/* Of loops over masks the compiler makes much longer ones. */
#ifdef __AVX512F__

static void blend_4(void *d, const void *s, uint32_t mask)
{
    for (int i = 0; i < 2; i++, mask >>= 16)
        _mm512_mask_storeu_epi32((char *)d + 64 * i, (__mmask16)mask,
                                 _mm512_loadu_si512((const char *)s + 64 * i));
}

static void blend_8(void *d, const void *s, uint32_t mask)
{
    for (int i = 0; i < 4; i++, mask >>= 8)
        _mm512_mask_storeu_epi64((char *)d + 64 * i, (__mmask8)mask,
                                 _mm512_loadu_si512((const char *)s + 64 * i));
}

static bool has_nan_f64(const void *row)
{
    __mmask8 any = 0;
    for (int i = 0; i < 4; i++) {
        const __m512d x = _mm512_loadu_pd((const char *)row + 64 * i);
        any |= _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q);
    }
    return any != 0;
}

#elif defined(__AVX2__)

/* From s what `chosen` says, all bits or none of each element. */
static void blend_32(void *d, const void *s, __m256i chosen)
{
    const __m256i from = _mm256_loadu_si256(s), to = _mm256_loadu_si256(d);
    _mm256_storeu_si256(d, _mm256_blendv_epi8(to, from, chosen));
}

static void blend_4(void *d, const void *s, uint32_t mask)
{
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (int i = 0; i < 4; i++, mask >>= 8) {
        const __m256i own = _mm256_and_si256(_mm256_set1_epi32((int)mask), bits);
        blend_32((char *)d + 32 * i, (const char *)s + 32 * i, _mm256_cmpeq_epi32(own, bits));
    }
}

static void blend_8(void *d, const void *s, uint32_t mask)
{
    const __m256i bits = _mm256_setr_epi64x(1, 2, 4, 8);
    for (int i = 0; i < 8; i++, mask >>= 4) {
        const __m256i own = _mm256_and_si256(_mm256_set1_epi64x(mask), bits);
        blend_32((char *)d + 32 * i, (const char *)s + 32 * i, _mm256_cmpeq_epi64(own, bits));
    }
}

static bool has_nan_f64(const void *row)
{
    __m256d any = _mm256_setzero_pd();
    for (int i = 0; i < 8; i++) {
        const __m256d x = _mm256_loadu_pd((const double *)row + 4 * i);
        any = _mm256_or_pd(any, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
    }
    return _mm256_movemask_pd(any) != 0;
}

#else

static void blend_4(void *d, const void *s, uint32_t mask)
{
    BLEND(uint32_t);
}

static void blend_8(void *d, const void *s, uint32_t mask)
{
    BLEND(uint64_t);
}

static bool has_nan_f64(const void *row)
{
    HAS_NAN(double);
}

#endif

#define COPY_LANES(type)                                                                           \
    FOR_LANES(lane, mask)                                                                          \
    ((type __attribute__((may_alias)) *)d)[lane] =                                                 \
        ((const type __attribute__((may_alias)) *)s)[lane]

static void blend_few(void *d, const void *s, uint32_t mask, uint32_t width)
{
    if (width == 8)
        COPY_LANES(uint64_t);
    else if (width == 4)
        COPY_LANES(uint32_t);
    else
        COPY_LANES(uint16_t);
}

void vptx_blend(void *d, const void *s, uint32_t mask, uint32_t width)
{
    if (vptx_are_few(mask))
        blend_few(d, s, mask, width);
    else if (mask == ALL)
        memmove(d, s, LANES * width);
    else if (width == 8)
        blend_8(d, s, mask);
    else if (width == 4)
        blend_4(d, s, mask);
    else
        BLEND(uint16_t);
}

bool vptx_has_nan(const void *row, uint32_t width)
{
    return width == 8 ? has_nan_f64(row) : has_nan_f32(row);
}
