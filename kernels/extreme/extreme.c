/* What `min` and `max` share outside the hot loop. */
#include "extreme/extreme.h"

void syi_extreme_combine(void *into, const void *right)
{
    syi_extreme *extreme = into;
    *extreme = syi_extreme_merge(*extreme, *(const syi_extreme *)right);
}

void syi_extreme_finish(const void *partial, int64_t columns, int greatest, double *outputs)
{
    const syi_extreme *extreme = partial;
    int is_none = columns == 0 || extreme->nans;
    double value = greatest ? -extreme->key : extreme->key;
    outputs[0] = is_none ? syi_nan() : value + 0.0; /* a zero is +0 */
    outputs[1] = is_none ? syi_nan() : (double)extreme->column;
}
