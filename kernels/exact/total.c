/* Sums of whole rows: merging, rounding, and the exact sum. */
#include "exact/total.h"

#include "exact/decide.h"
#include "exact/limbs.h"

void syi_total_combine(void *into, const void *right)
{
    syi_total *total = into;
    *total = syi_total_add(*total, *(const syi_total *)right);
}

double syi_total_finish(const void *partial, int64_t divisor, int *doubt)
{
    const syi_total *total = partial;
    syi_approx sum = {total->high, total->low, total->size * SYI_TOTAL_LOSS};
    double unsure, value;
    if (divisor != 1)
        sum = syi_divide(sum, (double)divisor, 1.0 / (double)divisor);
    value = syi_settle(sum, 1.0, &unsure);
    *doubt = unsure != 0.0;
    return value;
}

double syi_total_exact(const double *x, int64_t count, int64_t divisor)
{
    uint64_t sum[SYI_SUM_LIMBS] = {0};
    syi_big number;
    int up = 0, down = 0;
    for (int64_t i = 0; i < count; i++) {
        if (syi_is_finite(x[i])) {
            syi_parts parts = syi_split(x[i]);
            syi_limbs_add(sum, SYI_SUM_LIMBS, parts.mantissa, parts.exponent - SYI_BOTTOM,
                          parts.negative);
        } else {
            up |= !(x[i] < 0.0);
            down |= !(x[i] > 0.0); /* a NaN counts as both */
        }
    }
    if (up || down)
        return up && down ? syi_nan() : up ? INFINITY : -INFINITY;
    int negative = syi_limbs_magnitude(sum, SYI_SUM_LIMBS);
    syi_big_set(&number, sum, SYI_SUM_LIMBS);
    return syi_decide_quotient(negative, &number, SYI_BOTTOM, (uint64_t)divisor, 1);
}
