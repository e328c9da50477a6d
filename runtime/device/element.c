#include "device/element.h"

#include "base/arithmetic.h"

#include <string.h>

void syi_elements_load(double *to, const void *from, sy_dtype dtype, int64_t count)
{
    const float *narrow = from;
    syi_arithmetic saved;
    if (dtype == SY_F64) {
        memcpy(to, from, (size_t)count * sizeof *to);
        return;
    }
    saved = syi_arithmetic_enter();
    for (int64_t i = 0; i < count; i++)
        to[i] = narrow[i];
    syi_arithmetic_leave(saved);
}

void syi_elements_store(void *to, const double *from, sy_dtype dtype, int64_t count)
{
    float *narrow = to;
    syi_arithmetic saved;
    if (dtype == SY_F64) {
        memcpy(to, from, (size_t)count * sizeof *from);
        return;
    }
    saved = syi_arithmetic_enter();
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)from[i] + 0.0f; /* what is rounded to zero is +0 */
    syi_arithmetic_leave(saved);
}
