/* Floats to doubles and back. Compiled for several instruction sets. */
#include "element/element.h"
#include "traffic.h"

/* Floats of a line of the cache. */
enum { LINE = 2 * SYI_LINE };

void SYI_ISA_NAME(syi_widen)(double *to, const float *from, int64_t count, int64_t ahead)
{
    int64_t i = 0;
    for (; ahead > 0 && i + LINE <= count; i += LINE) {
        syi_ask_far((uintptr_t)(from + i) + (uintptr_t)ahead * sizeof *from);
        for (int k = 0; k < LINE; k++)
            to[i + k] = from[i + k];
    }
    for (; i < count; i++)
        to[i] = from[i];
}

void SYI_ISA_NAME(syi_narrow)(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (float)from[i] + 0.0f;
}

void SYI_ISA_NAME(syi_narrow_past)(float *to, const double *from, int64_t count)
{
    const int64_t past = (int64_t)((uintptr_t)to / sizeof *to % LINE);
    int64_t i = past == 0 ? 0 : LINE - past;
    if (i > count)
        i = count;
    SYI_ISA_NAME(syi_narrow)(to, from, i);
    for (; i + LINE <= count; i += LINE) {
        float line[LINE];
        double as_doubles[SYI_LINE];
        for (int k = 0; k < LINE; k++)
            line[k] = (float)from[i + k] + 0.0f;
        memcpy(as_doubles, line, sizeof line);
        syi_put_line_past((double *)(void *)(to + i), as_doubles);
    }
    SYI_ISA_NAME(syi_narrow)(to + i, from + i, count - i);
    syi_past_done();
}
