#include "device/element.h"

#include "base/arithmetic.h"
#include "element/element.h"

#include <string.h>

void syi_elements_load(double *to, const void *from, sy_dtype dtype, int64_t count)
{
    syi_arithmetic saved;
    if (dtype == SY_F64) {
        memcpy(to, from, (size_t)count * sizeof *to);
        return;
    }
    saved = syi_arithmetic_enter();
    syi_widen[SYI_ISA_BASE](to, from, count, 0);
    syi_arithmetic_leave(saved);
}

void syi_elements_store(void *to, const double *from, sy_dtype dtype, int64_t count)
{
    syi_arithmetic saved;
    if (dtype == SY_F64) {
        memcpy(to, from, (size_t)count * sizeof *from);
        return;
    }
    saved = syi_arithmetic_enter();
    syi_narrow[SYI_ISA_BASE](to, from, count);
    syi_arithmetic_leave(saved);
}
