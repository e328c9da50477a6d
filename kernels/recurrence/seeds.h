/* The means that recurrences begin with, of as many rows as a vector has lanes. */
#ifndef SYI_KERNELS_RECURRENCE_SEEDS_H
#define SYI_KERNELS_RECURRENCE_SEEDS_H

#include "recurrence/stage.h"

#if SYI_HAVE_VECTORS

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

/* syi_tally_end() of each lane. */
SYI_INLINE void syi_lanes_tally_end(const syi_lanes_tally *t, syi_deviation *sum)
{
    for (int l = 0; l < SYI_VECTOR; l++) {
        const syi_tally own = {t->high[l], t->low[l], t->size[l]};
        sum[l] = syi_tally_end(&own, sum[l]);
    }
}

/* Of rows `stride` apart the means of `count` values that end at x[0], less x[0]; gives whether
 * none is out of range. */
SYI_INLINE int syi_lanes_seed(const double *x, int64_t stride, int64_t count, syi_deviation *mean)
{
    syi_vec from, column[SYI_VECTOR];
    syi_bits_vec outside = {0};
    syi_deviation sum[SYI_VECTOR] = {{{0.0, 0.0}, 0.0}};
    for (int l = 0; l < SYI_VECTOR; l++)
        from[l] = x[l * stride];
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
        syi_lanes_tally_end(&tally, sum);
    }
    for (int l = 0; l < SYI_VECTOR; l++)
        mean[l] = syi_deviation_mean(sum[l], count);
    return !syi_vec_any(outside);
}

#endif
#endif
