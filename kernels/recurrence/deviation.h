/*
 * One stage of exponential smoothing, y' = y + 2 / (p + 1) * (x' - y), as its deviation y - x:
 *
 *     (y' - x') = b * ((y - x) - (x' - x)),   b = (p - 1) / (p + 1)
 *
 * Constant data keep the deviation at exactly 0, and in a flat stretch it decays without losing a
 * bit, where y itself would leave nothing of it. The bound of the error goes along, through every
 * step and from piece to piece: after a spike the error is far larger than the values near it say.
 */
#ifndef SYI_KERNELS_RECURRENCE_DEVIATION_H
#define SYI_KERNELS_RECURRENCE_DEVIATION_H

#include "exact/dd.h"

/* Columns until a wrong start has lost `bits` bits: log2(1 / b) >= 2 / (p ln 2). */
SYI_INLINE int64_t syi_decay_columns(double period, double bits)
{
    return (int64_t)(bits * 0.3466 * period) + 2;
}

typedef struct syi_factor_dd {
    syi_dd b;
    double above; /* b rounded up, for error bounds */
} syi_factor_dd;

SYI_INLINE syi_factor_dd syi_smoothing_factor(double period)
{
    syi_dd b = syi_dd_divide((syi_dd){period - 1.0, 0.0}, period + 1.0);
    return (syi_factor_dd){b, b.high * (1.0 + 0x1p-48)};
}

/* b^n for n > 0: what is left of a deviation after n columns. */
SYI_INLINE syi_factor_dd syi_factor_power(const syi_factor_dd *factor, int64_t n)
{
    syi_dd power = factor->b;
    for (int64_t bit = INT64_C(1) << (62 - __builtin_clzll((uint64_t)n)); n > 1 && bit; bit >>= 1) {
        power = syi_dd_multiply(power, power);
        if (n & bit)
            power = syi_dd_multiply(power, factor->b);
        if (power.high < SYI_FAINT)
            return (syi_factor_dd){{0.0, 0.0}, 2.0 * SYI_FAINT};
    }
    return (syi_factor_dd){power, power.high * (1.0 + 0x1p-40)};
}

typedef struct syi_deviation {
    syi_dd value;
    double error; /* in units of SYI_FINE */
} syi_deviation;

/* b * (a + change); `change_error` is the change's own error, less than what any operation on
 * numbers of its size loses. */
SYI_INLINE syi_deviation syi_deviation_step(syi_deviation a, syi_dd change, double change_error,
                                            const syi_factor_dd *factor)
{
    syi_dd sum = syi_dd_add(a.value, change);
    double size = fabs(sum.high), error = a.error + change_error;
    if (size < SYI_FAINT) {
        /* It is given up: nothing of it will be left in the result of any normal data. A subnormal
         * bound would cost more than everything else here; that of an exact zero is 0. */
        error = fma(SYI_PER_FINE * 1.0001, size, error);
        error = fma(factor->above, error, error > 0.0 ? 0x1p-1000 : 0.0);
        return (syi_deviation){{0.0, 0.0}, error};
    }
    error = factor->above * fma(2.0 * SYI_DD_ERROR, size, error);
    return (syi_deviation){syi_dd_multiply(factor->b, sum), error};
}

/* What is smaller may soon be carried with loss. */
#define SYI_LOSSY 0x1p-700

/* What a start that was off by `start` makes of `end`, for factor = b^n. */
SYI_INLINE syi_deviation syi_deviation_carried(syi_deviation end, syi_deviation start,
                                               const syi_factor_dd *factor)
{
    syi_dd part = syi_dd_multiply(factor->b, start.value);
    syi_dd sum = syi_dd_add(end.value, part);
    double size = fabs(start.value.high);
    /* Where the product is faint it counts for nothing; else up to 512 products lose 2^-103 each.
     */
    int is_faint = factor->b.high == 0.0 || size < SYI_FAINT * 0x1p100;
    double lost = (is_faint ? 1.0 : 0x1p-92) * SYI_PER_FINE * factor->above * size;
    lost += SYI_DD_ERROR * fabs(sum.high) + (size == 0.0 ? 0.0 : 0x1p-960);
    return (syi_deviation){sum, end.error + factor->above * start.error + lost};
}

/* Whether the state that a piece assumed holds the true one, known to its left neighbour. */
SYI_INLINE int syi_deviation_agrees(const syi_deviation *assumed, const syi_deviation *known)
{
    double apart =
        (assumed->value.high - known->value.high) + (assumed->value.low - known->value.low);
    return fma(fabs(apart), SYI_PER_FINE * (1.0 + 0x1p-40), known->error) <= assumed->error;
}

/*
 * A sum of pairs, of which no addition waits for what the one before it has lost: that is summed
 * beside. Of t terms and sums whose magnitudes are `size` together the lost parts are at most 2^-53
 * size; to add each of them up, and to its own, takes at most 2^-106 (t + 1) size.
 */
typedef struct syi_tally {
    double high, low, size;
} syi_tally;

#define SYI_TALLY_MOST  INT64_C(64)
#define SYI_TALLY_ERROR 1.02 /* 65 * 2^-106, with some room */

SYI_INLINE void syi_tally_add(syi_tally *t, syi_dd term)
{
    const syi_dd sum = syi_dd_of_sum(t->high, term.high);
    t->high = sum.high;
    t->low += sum.low + term.low;
    t->size += fabs(sum.high) + fabs(term.high);
}

/* The sum with what at most SYI_TALLY_MOST terms have come to. */
SYI_INLINE syi_deviation syi_tally_end(const syi_tally *t, syi_deviation sum)
{
    sum.value = syi_dd_add(sum.value, syi_dd_of_sum(t->high, t->low));
    sum.error += SYI_TALLY_ERROR * t->size + SYI_DD_ERROR * fabs(sum.value.high);
    return sum;
}

/* The mean of `count` values in range from the sum of their distances, a tally's. */
SYI_INLINE syi_deviation syi_deviation_mean(syi_deviation sum, int64_t count)
{
    syi_deviation mean;
    mean.value = syi_dd_divide(sum.value, (double)count);
    mean.error = 1.0001 * (sum.error / (double)count + SYI_DD_ERROR * fabs(mean.value.high));
    /* x in the range where products lose bits, and the bound may be lost itself */
    if (sum.error != 0.0 && mean.error < SYI_FAINT)
        mean.error = SYI_FAINT * SYI_PER_FINE;
    return mean;
}

/* The mean of count values ending at x[0], as its distance from the mean of so many of a line that
 * ends there, with a step `slope`: of values on it 0. */
SYI_INLINE syi_deviation syi_deviation_seed(const double *x, int64_t count, double slope)
{
    syi_deviation sum = {{0.0, 0.0}, 0.0};
    for (int64_t i = 1 - count; i < 0;) {
        const int64_t end = i + SYI_TALLY_MOST <= 0 ? i + SYI_TALLY_MOST : 0;
        syi_tally tally = {0.0, 0.0, 0.0};
        for (; i < end; i++) {
            syi_dd term = syi_dd_of_sum(x[i], -x[0]);
            if (slope != 0.0)
                term = syi_dd_add(term, syi_dd_scale((syi_dd){slope, 0.0}, (double)-i));
            syi_tally_add(&tally, term);
        }
        sum = syi_tally_end(&tally, sum);
        if (slope != 0.0)
            sum.error += SYI_DD_ERROR * tally.size;
    }
    return syi_deviation_mean(sum, count);
}

#endif
