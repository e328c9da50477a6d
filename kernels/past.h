/*
 * Stores past the cache. A plain store first fetches the line that it overwrites, so results of
 * large arrays cost twice their bytes, and push out what the cache holds. Where a piece says that
 * its results will not be near anyway (`past_cache`), a kernel computes a chunk in the nearest
 * cache and hands it to syi_put_past.
 */
#ifndef SYI_KERNELS_PAST_H
#define SYI_KERNELS_PAST_H

#include "kernel.h"

#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Elements of a line of the cache. */
enum { SYI_LINE = 8 };

SYI_INLINE void syi_put_line_past(double *to, const double *from)
{
#if defined(__AVX512F__)
    _mm512_stream_pd(to, _mm512_loadu_pd(from));
#elif defined(__AVX__)
    _mm256_stream_pd(to, _mm256_loadu_pd(from));
    _mm256_stream_pd(to + 4, _mm256_loadu_pd(from + 4));
#elif defined(__SSE2__)
    for (int i = 0; i < SYI_LINE; i += 2)
        _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#else
    memcpy(to, from, SYI_LINE * sizeof *to);
#endif
}

/* Whole lines go past the cache, the ends through it. */
SYI_INLINE void syi_put_past(double *to, const double *from, int64_t count)
{
    int64_t head = (int64_t)((0 - (uintptr_t)to) % 64 / sizeof *to), i;
    head = head < count ? head : count;
    memcpy(to, from, (size_t)head * sizeof *to);
    for (i = head; i + SYI_LINE <= count; i += SYI_LINE)
        syi_put_line_past(to + i, from + i);
    memcpy(to + i, from + i, (size_t)(count - i) * sizeof *to);
}

/* Fetches what a kernel is about to read more than once, or not from left to right: the processor
 * looks ahead only of who reads it so. */
SYI_INLINE void syi_fetch(const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i += SYI_LINE)
        (void)*(const volatile double *)(from + i);
}

/* What has been put past the cache is there before what is written next. */
SYI_INLINE void syi_past_done(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
