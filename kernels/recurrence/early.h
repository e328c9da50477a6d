/*
 * The first averages of a row. A mean of few inputs and the averages behind it, each of which takes
 * up one more, have few bits: an input has some 53 of a common unit, of a float 24, and a column
 * those of the period more. So one of them is often in the middle between two doubles, or near it.
 * There it is a fraction of integers that are small enough to be divided.
 */
#ifndef SYI_KERNELS_RECURRENCE_EARLY_H
#define SYI_KERNELS_RECURRENCE_EARLY_H

#include "exact/wide.h"

/* Columns behind the first value, and the longest period. */
enum { SYI_EARLY_COLUMNS = 48, SYI_EARLY_PERIOD = 1024 };

/* The mean of `seeded` inputs, and then y' = (keep y + take x) / (keep + take). */
typedef struct syi_early {
    int64_t seeded, keep, take;
} syi_early;

/* The exponent of the inputs' common unit; 0 if they have more than 62 bits of it, or are all 0. */
static inline int syi_early_unit(const double *x, int64_t count, int *unit)
{
    int bottom = INT32_MAX, top = INT32_MIN;
    for (int64_t i = 0; i < count; i++) {
        const syi_parts parts = syi_split(x[i]);
        if (!syi_is_finite(x[i]))
            return 0;
        if (parts.mantissa == 0)
            continue;
        const int zeros = __builtin_ctzll(parts.mantissa);
        bottom = parts.exponent + zeros < bottom ? parts.exponent + zeros : bottom;
        top = parts.exponent + 53 > top ? parts.exponent + 53 : top;
    }
    *unit = bottom;
    return bottom < top && top - bottom <= 62;
}

SYI_INLINE syi_i128 syi_early_units(double x, int unit)
{
    const syi_parts parts = syi_split(x);
    const int shift = parts.exponent - unit;
    const int64_t size = parts.mantissa == 0 ? 0
                         : shift < 0         ? (int64_t)(parts.mantissa >> -shift)
                                             : (int64_t)(parts.mantissa << shift);
    return parts.negative ? -size : size;
}

/* The average of the row's first inputs x[0] to x[count - 1], rounded, to *y; 0 if there are too
 * many, or it takes larger integers. */
static inline int syi_early_settle(const double *x, int64_t count, const syi_early *early,
                                   double *y)
{
    syi_i128 sum = 0;
    uint64_t power = (uint64_t)early->seeded;
    int unit;
    if (early->keep + early->take > SYI_EARLY_PERIOD || count < early->seeded ||
        count > early->seeded + SYI_EARLY_COLUMNS || !syi_early_unit(x, count, &unit))
        return 0;
    for (int64_t i = 0; i < count; i++) {
        if (i < early->seeded) {
            sum += syi_early_units(x[i], unit);
            continue;
        }
        sum = sum * early->keep + (syi_i128)power * early->take * syi_early_units(x[i], unit);
        power *= (uint64_t)(early->keep + early->take);
        if (power >> 54 != 0 || syi_wide_bits(syi_magnitude(sum)) > 112)
            return 0; /* the next one might not fit */
    }
    return syi_round_fraction(sum, power, unit, y);
}

#endif
