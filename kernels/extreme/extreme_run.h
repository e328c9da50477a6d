/* The least or greatest value of a tile on the CPU: first in which block it is, then where. */
#ifndef SYI_KERNELS_EXTREME_EXTREME_RUN_H
#define SYI_KERNELS_EXTREME_EXTREME_RUN_H

#include "extreme/extreme.h"
#include "fast/vector.h"
#include "tiles.h"

#include <math.h>

enum { EXTREME_STEP = 64, EXTREME_BLOCK = 512, EXTREME_LANES = EXTREME_STEP / 2 / SYI_WIDTH };

/* 0 when one of them is a NaN. */
SYI_INLINE int extreme_before(double a, double b, int greatest)
{
    return greatest ? a > b : a < b;
}

/* Halves the lanes until one is left. */
SYI_INLINE double extreme_of_lanes(syi_vector *lanes, int greatest)
{
    double lane[SYI_WIDTH];
    for (int width = EXTREME_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lanes[k] = syi_more_extreme(lanes[k + width], lanes[k], greatest);
    memcpy(lane, lanes, sizeof lane);
    for (int width = SYI_WIDTH / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] =
                extreme_before(lane[k + width], lane[k], greatest) ? lane[k + width] : lane[k];
    return lane[0];
}

/* The value that comes first in a block's columns, a vector or more; `nans` becomes not 0 when one
 * is a NaN. What does not fill a vector is looked at twice. */
SYI_INLINE double extreme_first(const double *x, int64_t count, int greatest, syi_asking asking,
                                int64_t *nans)
{
    syi_vector lanes[EXTREME_LANES];
    int64_t i = 0;
    for (int k = 0; k < EXTREME_LANES; k++)
        lanes[k] = (greatest ? -INFINITY : INFINITY) - (syi_vector){0};
    for (; i + EXTREME_STEP <= count; i += EXTREME_STEP)
        for (int k = 0; k < EXTREME_LANES; k++) {
            const syi_vector one = syi_read(x + i, 2 * k * SYI_WIDTH, asking);
            const syi_vector other = syi_read(x + i, (2 * k + 1) * SYI_WIDTH, asking);
            lanes[k] = syi_more_extreme(one, lanes[k], greatest);
            lanes[k] = syi_more_extreme(other, lanes[k], greatest);
            *nans |= syi_unordered(one, other);
        }
    SYI_UNROLL(16)
    for (int k = 0; k < 2 * EXTREME_LANES; k++, i += SYI_WIDTH) {
        if (i >= count)
            break;
        const syi_vector some = SYI_LOAD(x + (i + SYI_WIDTH <= count ? i : count - SYI_WIDTH));
        lanes[k % EXTREME_LANES] = syi_more_extreme(some, lanes[k % EXTREME_LANES], greatest);
        *nans |= syi_unordered(some, some);
    }
    return extreme_of_lanes(lanes, greatest);
}

/* The same of fewer columns than a vector has. */
SYI_INLINE double extreme_of_few(const double *x, int64_t count, int greatest, int64_t *nans)
{
    double value = greatest ? -INFINITY : INFINITY;
    for (int64_t i = 0; i < count; i++) {
        value = extreme_before(x[i], value, greatest) ? x[i] : value;
        *nans |= x[i] != x[i];
    }
    return value;
}

/* The first column that holds the value; `count`: none does. */
SYI_INLINE int64_t extreme_find(const double *x, int64_t count, double value)
{
    const syi_vector wanted = value - (syi_vector){0};
    int64_t i = 0;
    for (; i + EXTREME_STEP <= count; i += EXTREME_STEP) {
        unsigned found = 0;
        SYI_UNROLL(32)
        for (int k = 0; k < EXTREME_STEP; k += SYI_WIDTH)
            found |= syi_equal(SYI_LOAD(x + i + k), wanted);
        if (found)
            break;
    }
    for (; i + SYI_WIDTH <= count; i += SYI_WIDTH) {
        const unsigned here = syi_equal(SYI_LOAD(x + i), wanted);
        if (here)
            return i + __builtin_ctz(here);
    }
    while (i < count && x[i] != value)
        i++;
    return i;
}

/* Of x[0 .. count), x[0] being column `first`; the greatest for greatest = 1. */
SYI_INLINE syi_extreme syi_extreme_of_tile(const double *x, int64_t count, int64_t first,
                                           int greatest, syi_asking asking)
{
    double value = greatest ? -INFINITY : INFINITY;
    int64_t i = 0, nans = 0;
    for (int64_t at = 0; at < count; at += EXTREME_BLOCK) {
        int64_t rest = count - at, columns = rest < EXTREME_BLOCK ? rest : EXTREME_BLOCK;
        double here = columns < SYI_WIDTH ? extreme_of_few(x + at, columns, greatest, &nans)
                                          : extreme_first(x + at, columns, greatest, asking, &nans);
        if (extreme_before(here, value, greatest)) {
            value = here;
            i = at;
        }
    }
    i += extreme_find(x + i, count - i, value);
    syi_extreme extreme = {syi_nan(), 0, 0};
    if (i < count)
        extreme = syi_extreme_at(x[i], first + i, greatest);
    extreme.nans = nans != 0;
    return extreme;
}

#endif
