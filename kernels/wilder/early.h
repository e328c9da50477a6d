/*
 * The first average ranges of a row. A sum of ranges has some 50 bits, of floats 25, and a column
 * behind it those of the period more, so in one of the first columns the average is often in the
 * middle between two doubles, or near it. There it is a fraction of integers that are small enough
 * to be divided: with n bars a period the sum s of the ranges up to bar n + j, each time multiplied
 * by (n - 1) / n, is a multiple of n^-j of their unit, and s / n the average.
 */
#ifndef SYI_KERNELS_WILDER_EARLY_H
#define SYI_KERNELS_WILDER_EARLY_H

#include "exact/bits.h"
#include "exact/round.h"
#include "wilder/state.h"

/* Columns behind the first value, and the longest period. */
enum { SYI_EARLY_COLUMNS = 48, SYI_EARLY_PERIOD = 1024 };

/* The unit's exponent of the ranges of columns [1, last]; 0 if they have more than 62 bits of it,
 * or there are none. */
static inline int syi_early_unit(const syi_wilder_prices *x, int64_t last, int *unit)
{
    int bottom = INT32_MAX, top = INT32_MIN;
    for (int64_t i = 1; i <= last; i++) {
        const syi_dd range = syi_wilder_range(x->high[i], x->low[i], x->close[i - 1]);
        const syi_parts parts = syi_split(range.high);
        if (!(range.low == 0.0))
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

static inline uint64_t syi_early_units(const syi_wilder_prices *x, int64_t i, int unit)
{
    const syi_dd range = syi_wilder_range(x->high[i], x->low[i], x->close[i - 1]);
    const syi_parts parts = syi_split(range.high);
    const int shift = parts.exponent - unit;
    return parts.mantissa == 0 ? 0 : shift < 0 ? parts.mantissa >> -shift : parts.mantissa << shift;
}

static inline int syi_early_bits(syi_u128 a)
{
    const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* The average at a column of the row, whose first one is x[0], rounded, to *y; 0 if it is not among
 * the first ones, or takes larger integers. */
static inline int syi_atr_settle_early(const syi_wilder_prices *x, int64_t column, double period,
                                       double *y)
{
    const int64_t n = (int64_t)period;
    syi_u128 sum = 0, power = 1;
    int unit, shift;
    if (n < 2 || n > SYI_EARLY_PERIOD || column < n || column > n + SYI_EARLY_COLUMNS ||
        !syi_early_unit(x, column, &unit))
        return 0;
    for (int64_t i = 1; i <= column; i++) {
        if (i > n) {
            power *= (uint64_t)n;
            sum *= (uint64_t)n - 1;
        }
        sum += power * syi_early_units(x, i, unit);
        if (syi_early_bits(power) > 56 || syi_early_bits(sum) > 112)
            return 0;
    }
    power *= (uint64_t)n;
    shift = 60 - (syi_early_bits(sum) - syi_early_bits(power)); /* for 60 bits of the quotient */
    shift = shift > 0 ? shift : 0;
    *y = syi_round_to_double(0, (uint64_t)((sum << shift) / power), (int64_t)unit - shift,
                             (sum << shift) % power != 0);
    return 1;
}

#endif
