/* The least or greatest value of a tile on the CPU: first in which block it is, then where. */
#ifndef SYI_KERNELS_EXTREME_EXTREME_RUN_H
#define SYI_KERNELS_EXTREME_EXTREME_RUN_H

#include "extreme/extreme.h"
#include "tiles.h"

#include <math.h>

#define EXTREME_LANES 32
#define EXTREME_STEP  64
#define EXTREME_BLOCK 512

/* 0 when one of them is a NaN. */
SYI_INLINE int extreme_before(double a, double b, int greatest)
{
    return greatest ? a > b : a < b;
}

SYI_INLINE double extreme_of_two(double a, double b, int greatest)
{
    return extreme_before(a, b, greatest) ? a : b;
}

/* The value that comes first in a block's columns; `nans` becomes not 0 when one is a NaN. */
SYI_INLINE double extreme_first(const double *x, int64_t count, int greatest, int64_t *nans)
{
    double value[EXTREME_LANES];
    int64_t nan[EXTREME_LANES] = {0}, i = 0;
    for (int k = 0; k < EXTREME_LANES; k++)
        value[k] = greatest ? -INFINITY : INFINITY;
    for (; i + EXTREME_STEP <= count; i += EXTREME_STEP)
        for (int k = 0; k < EXTREME_LANES; k++) {
            const double one = x[i + k], other = x[i + k + EXTREME_LANES];
            value[k] = extreme_of_two(one, value[k], greatest);
            value[k] = extreme_of_two(other, value[k], greatest);
            nan[k] |= isunordered(one, other);
        }
    for (; i < count; i++) {
        value[0] = extreme_of_two(x[i], value[0], greatest);
        nan[0] |= x[i] != x[i];
    }
    for (int width = EXTREME_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++) {
            value[k] = extreme_of_two(value[k + width], value[k], greatest);
            nan[k] |= nan[k + width];
        }
    *nans |= nan[0];
    return value[0];
}

/* Columns of whole steps before the first one that holds the value. */
SYI_INLINE int64_t extreme_steps_before(const double *x, int64_t count, double value)
{
    int64_t i = 0;
    for (; i + EXTREME_STEP <= count; i += EXTREME_STEP) {
        int64_t found = 0;
        for (int k = 0; k < EXTREME_STEP; k++)
            found |= x[i + k] == value;
        if (found)
            break;
    }
    return i;
}

/* Of x[0 .. count), x[0] being column `first`; the greatest for greatest = 1. */
SYI_INLINE syi_extreme syi_extreme_of_tile(const double *x, int64_t count, int64_t first,
                                           int greatest)
{
    double value = greatest ? -INFINITY : INFINITY;
    int64_t i = 0, nans = 0;
    for (int64_t at = 0; at < count; at += EXTREME_BLOCK) {
        int64_t rest = count - at, columns = rest < EXTREME_BLOCK ? rest : EXTREME_BLOCK;
        double here = extreme_first(x + at, columns, greatest, &nans);
        if (extreme_before(here, value, greatest)) {
            value = here;
            i = at;
        }
    }
    i += extreme_steps_before(x + i, count - i, value);
    while (i < count && x[i] != value)
        i++;
    syi_extreme extreme = {syi_nan(), 0, 0};
    if (i < count)
        extreme = syi_extreme_at(x[i], first + i, greatest);
    extreme.nans = nans;
    return extreme;
}

#endif
