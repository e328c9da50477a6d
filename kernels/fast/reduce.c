/* How the partials of reductions in fast accuracy merge. */
#include "fast/reduce.h"

void syi_fast_add(void *into, const void *right)
{
    *(double *)into += *(const double *)right;
}

void syi_fast_finish(const void *partial, int64_t columns, const double *params, double *outputs,
                     int *doubt)
{
    (void)params, (void)doubt, (void)columns;
    outputs[0] = syi_fast_clean(*(const double *)partial);
}

void syi_fast_spread_merge(void *into, const void *right)
{
    syi_fast_spread_join(into, right);
}
