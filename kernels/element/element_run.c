/* Floats to doubles and back. Compiled for several instruction sets. */
#include "element/element.h"

void SYI_ISA_NAME(syi_widen)(double *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i];
}

void SYI_ISA_NAME(syi_narrow)(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (float)from[i] + 0.0f;
}
