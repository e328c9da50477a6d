/* What recurrences begin with, of as many rows as a vector has lanes. */
#ifndef SYI_KERNELS_RECURRENCE_SEEDS_H
#define SYI_KERNELS_RECURRENCE_SEEDS_H

#include "recurrence/stage.h"

#if SYI_HAVE_VECTORS

/* A number of each lane: high + low, off by `error`. */
typedef struct syi_lanes_number {
    syi_vec high, low, error;
} syi_lanes_number;

/* What low parts lose by rounding, of whose sizes there is the sum. */
SYI_INLINE syi_vec syi_lanes_lost(syi_vec sizes)
{
    return sizes * syi_vec_of(SYI_STAGE_LOSS * (1.0 + 0x1p-40));
}

SYI_INLINE syi_lanes_number syi_lanes_negative(syi_lanes_number n)
{
    return (syi_lanes_number){-n.high, -n.low, n.error};
}

SYI_INLINE syi_lanes_number syi_lanes_plus(syi_lanes_number a, syi_lanes_number b)
{
    const syi_vec lows = a.low + b.low;
    syi_lanes_number sum;
    syi_vec high, lost;
    syi_vec_two_sum(a.high, b.high, &high, &lost);
    const syi_vec low = lost + lows;
    syi_vec_two_sum(high, low, &sum.high, &sum.low);
    sum.error = a.error + b.error + syi_lanes_lost(syi_vec_abs(lows) + syi_vec_abs(low));
    return sum;
}

/* A count-th. What the first quotient leaves is exact, but in the range where products lose bits,
 * and the bound may be lost itself. */
SYI_INLINE syi_lanes_number syi_lanes_part(syi_lanes_number sum, int64_t count)
{
    const syi_vec inverse = syi_vec_of(1.0 / (double)count);
    const syi_vec least = syi_vec_of(SYI_FAINT * SYI_PER_FINE);
    const syi_vec first = sum.high * inverse;
    const syi_vec left = syi_vec_fma(-first, syi_vec_of((double)count), sum.high);
    const syi_vec rest = (left + sum.low) * inverse;
    syi_lanes_number part;
    syi_vec_two_sum(first, rest, &part.high, &part.low);
    part.error = sum.error * (inverse * syi_vec_of(1.0 + 0x1p-40)) +
                 syi_lanes_lost(syi_vec_abs(rest) * syi_vec_of(4.0));
    part.error =
        syi_vec_max(part.error, (syi_vec)((syi_bits_vec)least & (syi_bits_vec)(sum.error > 0.0)));
    return part;
}

/* What it is rounded to; *unsure takes up whether it is. */
SYI_INLINE syi_vec syi_lanes_rounded(syi_lanes_number n, syi_bits_vec *unsure)
{
    const syi_vec error = n.error + syi_lanes_lost(syi_vec_abs(n.low) * syi_vec_of(2.0));
    return syi_vec_round(n.high, n.low, error * syi_vec_of(SYI_FINE * (1.0 + 0x1p-40)), unsure);
}

SYI_INLINE syi_deviation syi_lanes_deviation(const syi_lanes_number *n, int lane)
{
    return (syi_deviation){{n->high[lane], n->low[lane]}, n->error[lane]};
}

/* x[0] of rows `stride` apart. */
SYI_INLINE syi_vec syi_lanes_column(const double *x, int64_t stride)
{
    syi_vec column;
    for (int l = 0; l < SYI_VECTOR; l++)
        column[l] = x[l * stride];
    return column;
}

/* A tally of each lane (recurrence/deviation.h). */
typedef struct syi_lanes_tally {
    syi_vec high, low, size;
} syi_lanes_tally;

/* The term is term + rest. */
SYI_INLINE void syi_lanes_tally_add(syi_lanes_tally *t, syi_vec term, syi_vec rest)
{
    syi_vec sum, lost;
    syi_vec_two_sum(t->high, term, &sum, &lost);
    t->low += lost + rest;
    t->size += syi_vec_abs(sum) + syi_vec_abs(term);
    t->high = sum;
}

/* To the sum what at most SYI_TALLY_MOST terms have come to. */
SYI_INLINE void syi_lanes_tally_end(const syi_lanes_tally *t, syi_lanes_number *sum)
{
    const syi_vec error = t->size * syi_vec_of(SYI_TALLY_ERROR);
    *sum = syi_lanes_plus(*sum, (syi_lanes_number){t->high, t->low, error});
}

/* Of rows `stride` apart the means of `count` values that end at x[0], less x[0]; gives whether
 * none is out of range. */
SYI_INLINE int syi_lanes_seed(const double *x, int64_t stride, int64_t count,
                              syi_lanes_number *mean)
{
    const syi_vec from = syi_lanes_column(x, stride);
    syi_vec column[SYI_VECTOR];
    syi_bits_vec outside = {0};
    syi_lanes_number sum = {{0}, {0}, {0}};
    for (int64_t i = 1 - count; i <= 0;) {
        const int64_t end = i + SYI_TALLY_MOST <= 1 ? i + SYI_TALLY_MOST : 1;
        syi_lanes_tally tally = {{0}, {0}, {0}};
        for (int some; i < end; i += some) {
            some = end - i < SYI_VECTOR ? (int)(end - i) : SYI_VECTOR;
            syi_lanes_load_some(column, x + i, stride, some);
            for (int k = 0; k < some; k++) {
                syi_vec term, rest;
                outside |= ~(syi_bits_vec)(syi_vec_abs(column[k]) <= SYI_HUGE);
                syi_vec_two_sum(column[k], -from, &term, &rest);
                syi_lanes_tally_add(&tally, term, rest);
            }
        }
        syi_lanes_tally_end(&tally, &sum);
    }
    *mean = syi_lanes_part(sum, count);
    return !syi_vec_any(outside);
}

#endif
#endif
