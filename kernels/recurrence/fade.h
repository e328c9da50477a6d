/*
 * Deviations while the inputs stand still: each column only shrinks them, so those of a block of
 * columns follow from the one before it, all at once. They are lifted (recurrence/lift.h).
 */
#ifndef SYI_KERNELS_RECURRENCE_FADE_H
#define SYI_KERNELS_RECURRENCE_FADE_H

#include "kernel.h"
#include "recurrence/lift.h"

/* Columns of a block. */
#define SYI_FADE 32
/* In units of SYI_FINE what a factor may be off by: each column adds less than three operations and
 * the error of a constant. */
#define SYI_FADE_LOOSE (4.0 * SYI_FADE * SYI_DD_ERROR)

/* What becomes of a deviation in 1, 2, ... columns. */
typedef struct syi_fade {
    double high[SYI_FADE], low[SYI_FADE];
} syi_fade;

/* The deviations of a block. */
typedef struct syi_faded {
    double high[SYI_FADE], low[SYI_FADE], error[SYI_FADE];
} syi_faded;

SYI_INLINE void syi_fade_set(syi_fade *fade, int k, syi_dd factor)
{
    fade->high[k] = factor.high;
    fade->low[k] = factor.low;
}

SYI_INLINE syi_dd syi_fade_at(const syi_fade *fade, int k)
{
    return (syi_dd){fade->high[k], fade->low[k]};
}

/* The factor's powers. */
static inline void syi_fade_powers(syi_fade *fade, const syi_factor_dd *factor)
{
    syi_dd power = factor->b;
    for (int k = 0; k < SYI_FADE; k++) {
        syi_fade_set(fade, k, power);
        power = syi_dd_multiply(power, factor->b);
    }
}

SYI_INLINE syi_deviation syi_faded_at(const syi_faded *faded, int k)
{
    return (syi_deviation){{faded->high[k], faded->low[k]}, faded->error[k]};
}

SYI_INLINE void syi_faded_set(syi_faded *faded, int k, syi_deviation a)
{
    faded->high[k] = a.value.high;
    faded->low[k] = a.value.low;
    faded->error[k] = a.error;
}

SYI_INLINE void syi_fade_block(syi_faded *faded, const syi_fade *fade, syi_deviation a)
{
    /* What may be lost to underflow; an exact zero stays one. */
    const double least = a.value.high == 0.0 && a.error == 0.0 ? 0.0 : 0x1p-960;
    const double error = a.error * (1.0 + 0x1p-40);
    for (int k = 0; k < SYI_FADE; k++) {
        syi_dd value = syi_dd_multiply(syi_fade_at(fade, k), a.value);
        double lost = fma(SYI_FADE_LOOSE + SYI_DD_ERROR, fabs(value.high), least);
        syi_faded_set(faded, k, (syi_deviation){value, fma(fade->high[k], error, lost)});
    }
}

/* a + by * b, for `by` = 1.0 or -1.0. What is lost is relative to the terms, not to the sum. */
SYI_INLINE void syi_faded_add(syi_faded *sum, const syi_faded *a, double by, const syi_faded *b)
{
    for (int k = 0; k < SYI_FADE; k++) {
        syi_dd high = syi_dd_of_sum(a->high[k], by * b->high[k]);
        double low = high.low + (a->low[k] + by * b->low[k]);
        double sizes = fabs(a->high[k]) + fabs(b->high[k]);
        double error = fma(SYI_DD_ERROR, sizes, a->error[k] + b->error[k]);
        syi_faded_set(sum, k, (syi_deviation){syi_dd_of_ordered(high.high, low), error});
    }
}

/* The same of each column and `by`. */
SYI_INLINE void syi_faded_raise(syi_faded *faded, syi_deviation by)
{
    syi_faded all;
    for (int k = 0; k < SYI_FADE; k++)
        syi_faded_set(&all, k, by);
    syi_faded_add(faded, faded, 1.0, &all);
}

/* Columns of the next block, of `left`. */
SYI_INLINE int syi_fade_count(int64_t left)
{
    return left < SYI_FADE ? (int)left : SYI_FADE;
}

/* Which columns of a block are in doubt: not 0.0. */
typedef struct syi_fade_doubts {
    double of[SYI_FADE];
} syi_fade_doubts;

/* Writes the numbers nearest to the first `count` values, with their `sign`: 1.0 or -1.0. */
SYI_INLINE void syi_faded_settle(const syi_faded *faded, double sign, double *y, int count,
                                 syi_fade_doubts *doubts)
{
    double out[SYI_FADE];
    uint64_t small = 0;
    for (int k = 0; k < SYI_FADE; k++)
        small |= fabs(faded->high[k]) < SYI_LIFTED_NORMAL ? ~UINT64_C(0) : 0;
    if (small == 0)
        for (int k = 0; k < SYI_FADE; k++) {
            doubts->of[k] += syi_dd_settle((syi_dd){sign * faded->high[k], sign * faded->low[k]},
                                           faded->error[k], &out[k]);
            out[k] *= SYI_UNLIFT;
        }
    else
        for (int k = 0; k < SYI_FADE; k++)
            doubts->of[k] += syi_settle_lifted(
                (syi_dd){sign * faded->high[k], sign * faded->low[k]}, faded->error[k], &out[k]);
    if (count == SYI_FADE)
        memcpy(y, out, sizeof out);
    else
        memcpy(y, out, (size_t)count * sizeof *y);
}

/* Of the first `count` columns, which are the row's from `first` on. */
SYI_INLINE sy_status syi_fade_report(const syi_fade_doubts *own, int count, syi_doubts *doubts,
                                     int64_t row, int64_t first)
{
    uint64_t any = 0;
    for (int k = 0; k < SYI_FADE; k++)
        any |= syi_bits(own->of[k]);
    for (int k = 0; k < count && any != 0; k++)
        if (own->of[k] != 0.0)
            SYI_TRY(syi_doubts_add(doubts, row, first + k));
    return SY_OK;
}

/* Moves a lifted deviation past columns that shrink it by `factor`, and where y is not NULL writes
 * their values, which are nothing else: y[0] is column `first` of the row. */
static inline sy_status syi_fade_out(syi_deviation *lifted, const syi_factor_dd *factor, double *y,
                                     int64_t columns, syi_doubts *doubts, int64_t row,
                                     int64_t first)
{
    int64_t i = 0;
    syi_fade fade;
    syi_fade_powers(&fade, factor);
    while (i < columns && !syi_is_gone(lifted, 1)) {
        const int count = syi_fade_count(columns - i);
        syi_fade_doubts own = {{0.0}};
        syi_faded faded;
        syi_fade_block(&faded, &fade, *lifted);
        if (y)
            syi_faded_settle(&faded, 1.0, y + i, count, &own);
        SYI_TRY(syi_fade_report(&own, count, doubts, row, first + i));
        *lifted = syi_faded_at(&faded, count - 1);
        i += count;
    }
    if (y && i < columns)
        memset(y + i, 0, (size_t)(columns - i) * sizeof *y);
    return SY_OK;
}

#endif
