/* Floats to doubles and back. Compiled for several instruction sets. */
#include "element/convert.h"
#include "element/element.h"

void SYI_ISA_NAME(syi_widen)(double *to, const float *from, int64_t count, int64_t ahead)
{
    syi_floats_widen(to, from, count, ahead);
}

void SYI_ISA_NAME(syi_narrow)(float *to, const double *from, int64_t count)
{
    syi_floats_narrow(to, from, count);
}

void SYI_ISA_NAME(syi_narrow_past)(float *to, const double *from, int64_t count)
{
    syi_floats_narrow_past(to, from, count);
}
