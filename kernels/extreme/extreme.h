/*
 * The least or greatest value of a row and where it is, for `min` and `max`. A greatest value is
 * the least of the negated ones, so that there is one order: smaller key, then lower column.
 */
#ifndef SYI_KERNELS_EXTREME_EXTREME_H
#define SYI_KERNELS_EXTREME_EXTREME_H

#include "isa.h"

#include <math.h>

typedef struct syi_extreme {
    double key; /* the value, negated for a greatest one; NaN: none yet */
    int64_t column;
    int64_t nans; /* not 0: there is a NaN */
} syi_extreme;

#define SYI_EXTREME_LANES 32
#define SYI_EXTREME_BLOCK 512

SYI_INLINE syi_extreme syi_extreme_merge(syi_extreme a, syi_extreme b)
{
    int takes_b = b.key == a.key ? b.column < a.column : !(b.key >= a.key) && b.key == b.key;
    syi_extreme least = takes_b ? b : a;
    least.nans = a.nans | b.nans;
    return least;
}

SYI_INLINE double syi_extreme_key(double x, int greatest)
{
    return greatest ? -x : x;
}

SYI_INLINE syi_extreme syi_extreme_at(double x, int64_t column, int greatest)
{
    return (syi_extreme){syi_extreme_key(x, greatest), column, x != x};
}

/* The least key of a block's columns; `nans` becomes not 0 when one has none. */
SYI_INLINE double syi_extreme_least(const double *x, int64_t count, int greatest, int64_t *nans)
{
    double key[SYI_EXTREME_LANES], least = INFINITY;
    int64_t nan[SYI_EXTREME_LANES] = {0}, i = 0;
    for (int k = 0; k < SYI_EXTREME_LANES; k++)
        key[k] = least;
    for (; i + SYI_EXTREME_LANES <= count; i += SYI_EXTREME_LANES)
        for (int k = 0; k < SYI_EXTREME_LANES; k++) {
            double here = syi_extreme_key(x[i + k], greatest);
            key[k] = here < key[k] ? here : key[k];
            nan[k] |= here != here;
        }
    for (int k = 0; i < count; i++, k++) {
        double here = syi_extreme_key(x[i], greatest);
        key[k] = here < key[k] ? here : key[k];
        nan[k] |= here != here;
    }
    for (int k = 0; k < SYI_EXTREME_LANES; k++) {
        least = key[k] < least ? key[k] : least;
        *nans |= nan[k];
    }
    return least;
}

/* Of x[0 .. count), x[0] being column `first`; the greatest for greatest = 1. First in which block
 * it is, then where. */
SYI_INLINE syi_extreme syi_extreme_of(const double *x, int64_t count, int64_t first, int greatest)
{
    syi_extreme least = {INFINITY, 0, 0};
    int64_t i = 0;
    for (int64_t at = 0; at < count; at += SYI_EXTREME_BLOCK) {
        int64_t rest = count - at, columns = rest < SYI_EXTREME_BLOCK ? rest : SYI_EXTREME_BLOCK;
        double key = syi_extreme_least(x + at, columns, greatest, &least.nans);
        if (key < least.key) {
            least.key = key;
            i = at;
        }
    }
    while (i < count && syi_extreme_key(x[i], greatest) != least.key)
        i++;
    return i < count ? (syi_extreme){syi_extreme_key(x[i], greatest), first + i, least.nans}
                     : (syi_extreme){syi_nan(), 0, least.nans};
}

SYI_ISA_DECLARE(syi_min_run);
SYI_ISA_DECLARE(syi_max_run);

void syi_extreme_combine(void *into, const void *right);
/* Value and column; NaN twice for a row that is empty or holds a NaN. */
void syi_extreme_finish(const void *partial, int64_t columns, int greatest, double *outputs);

#endif
