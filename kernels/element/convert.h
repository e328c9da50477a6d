/* Floats to doubles and back, in a kernel. */
#ifndef SYI_KERNELS_ELEMENT_CONVERT_H
#define SYI_KERNELS_ELEMENT_CONVERT_H

#include "fast/vector.h"

/* Floats of a line of the cache. */
enum { SYI_FLOATS_LINE = 2 * SYI_LINE };

/* SYI_WIDTH of them. */
SYI_INLINE syi_vector syi_widened(const float *from)
{
#if SYI_WIDTH == 8
    return (syi_vector)_mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif SYI_WIDTH == 4
    return (syi_vector)_mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    return (syi_vector){from[0], from[1]};
#endif
}

/* Asks for what is `ahead` of each as far as the second cache, unless that is 0. */
SYI_INLINE void syi_floats_widen(double *to, const float *from, int64_t count, int64_t ahead)
{
    int64_t i = 0;
    for (; ahead > 0 && i + SYI_FLOATS_LINE <= count; i += SYI_FLOATS_LINE) {
        syi_ask_far((uintptr_t)(from + i) + (uintptr_t)ahead * sizeof *from);
        for (int k = 0; k < SYI_FLOATS_LINE; k += SYI_WIDTH)
            SYI_STORE(to + i + k, syi_widened(from + i + k));
    }
    for (; i < count; i++)
        to[i] = from[i];
}

/* To the nearest; what is rounded to zero is +0. */
SYI_INLINE void syi_floats_narrow(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (float)from[i] + 0.0f;
}

/* The same, whole lines past the cache (traffic.h). */
SYI_INLINE void syi_floats_narrow_past(float *to, const double *from, int64_t count)
{
    const int64_t past = (int64_t)((uintptr_t)to / sizeof *to % SYI_FLOATS_LINE);
    int64_t i = past == 0 ? 0 : SYI_FLOATS_LINE - past;
    if (i > count)
        i = count;
    syi_floats_narrow(to, from, i);
    for (; i + SYI_FLOATS_LINE <= count; i += SYI_FLOATS_LINE) {
        float line[SYI_FLOATS_LINE];
        double as_doubles[SYI_LINE];
        syi_floats_narrow(line, from + i, SYI_FLOATS_LINE);
        memcpy(as_doubles, line, sizeof line);
        syi_put_line_past((double *)(void *)(to + i), as_doubles);
    }
    syi_floats_narrow(to + i, from + i, count - i);
}

#endif
