/* Sums of whole rows: merging, rounding, and the exact sum. */
#include "exact/total.h"

#include "exact/decide.h"
#include "exact/limbs.h"

void syi_total_combine(void *into, const void *right)
{
    syi_total *total = into;
    *total = syi_total_add(*total, *(const syi_total *)right);
}

double syi_total_finish(const void *partial, int64_t divisor, double loss, int *doubt)
{
    const syi_total *total = partial;
    syi_approx sum = {total->high, total->low, total->size * SYI_TOTAL_LOSS + loss};
    double unsure, value;
    if (divisor != 1)
        sum = syi_divide(sum, (double)divisor, 1.0 / (double)divisor);
    value = syi_settle(sum, 1.0, &unsure) + 0.0; /* what underflows is +0 */
    *doubt = unsure != 0.0;
    return value;
}

double syi_total_exact(const double *x, const double *y, int64_t count, int64_t divisor)
{
    uint64_t sum[SYI_SQUARES_LIMBS] = {0};
    int limbs = y ? SYI_SQUARES_LIMBS : SYI_SUM_LIMBS, bottom = y ? 2 * SYI_BOTTOM : SYI_BOTTOM;
    syi_big number;
    int up = 0, down = 0;
    for (int64_t i = 0; i < count; i++) {
        if (syi_is_finite(x[i]) && (!y || syi_is_finite(y[i]))) {
            syi_parts a = syi_split(x[i]), b = y ? syi_split(y[i]) : (syi_parts){1, 0, 0};
            syi_limbs_add(sum, limbs, (syi_u128)a.mantissa * b.mantissa,
                          a.exponent + b.exponent - bottom, a.negative ^ b.negative);
        } else {
            double odd = y ? x[i] * y[i] : x[i];
            up |= !(odd < 0.0);
            down |= !(odd > 0.0); /* a NaN counts as both */
        }
    }
    if (up || down)
        return up && down ? syi_nan() : up ? INFINITY : -INFINITY;
    int negative = syi_limbs_magnitude(sum, limbs);
    syi_big_set(&number, sum, limbs);
    return syi_decide_quotient(negative, &number, bottom, (uint64_t)divisor, 1) + 0.0;
}
