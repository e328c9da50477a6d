/*
 * The least or greatest value of a row and where it is, for `min` and `max`. A greatest value is
 * the least of the negated ones, so that there is one order: smaller key, then lower column.
 */
#ifndef SYI_KERNELS_EXTREME_EXTREME_H
#define SYI_KERNELS_EXTREME_EXTREME_H

#include "isa.h"

typedef struct syi_extreme {
    double key; /* the value, negated for a greatest one; NaN: none yet */
    int64_t column;
    int64_t nans; /* 1: there is a NaN, else 0 */
} syi_extreme;

SYI_INLINE syi_extreme syi_extreme_merge(syi_extreme a, syi_extreme b)
{
    int takes_b = b.key == a.key ? b.column < a.column : !(b.key >= a.key) && b.key == b.key;
    syi_extreme least = takes_b ? b : a;
    least.nans = a.nans | b.nans;
    return least;
}

SYI_INLINE syi_extreme syi_extreme_at(double x, int64_t column, int greatest)
{
    return (syi_extreme){greatest ? -x : x, column, x != x};
}

SYI_ISA_DECLARE(syi_min_run);
SYI_ISA_DECLARE(syi_max_run);

void syi_extreme_combine(void *into, const void *right);
/* Value and column; NaN twice for a row that is empty or holds a NaN. */
void syi_extreme_finish(const void *partial, int64_t columns, int greatest, double *outputs);

#endif
