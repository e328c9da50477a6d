/* The elements of a work's arrays. All arithmetic is in doubles: floats are widened on their way to
 * a kernel, and what it computes is rounded to the nearest float on its way back. */
#ifndef SYI_DEVICE_ELEMENT_H
#define SYI_DEVICE_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <steelyard/distribute.h>

static inline size_t syi_element_size(sy_dtype dtype)
{
    return dtype == SY_F32 ? sizeof(float) : sizeof(double);
}

/* Element `at` of an array, which may lie before the one that `array` points to. */
static inline const void *syi_element_in(const void *array, sy_dtype dtype, int64_t at)
{
    return (const char *)array + at * (int64_t)syi_element_size(dtype);
}

static inline void *syi_element_out(void *array, sy_dtype dtype, int64_t at)
{
    return (char *)array + at * (int64_t)syi_element_size(dtype);
}

/* For few of them; a kernel's arrays: element/element.h. */
void syi_elements_load(double *to, const void *from, sy_dtype dtype, int64_t count);
void syi_elements_store(void *to, const double *from, sy_dtype dtype, int64_t count);

#endif
