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

/* The lane's value that comes first, and `value`. */
SYI_INLINE double extreme_of_lane(const syi_vector *lanes, double value, int greatest)
{
    double lane[SYI_WIDTH];
    memcpy(lane, lanes, sizeof lane);
    for (int k = 0; k < SYI_WIDTH; k++)
        value = extreme_before(lane[k], value, greatest) ? lane[k] : value;
    return value;
}

/* The value that comes first in a block's columns; `nans` becomes not 0 when one is a NaN. */
SYI_INLINE double extreme_first(const double *x, int64_t count, int greatest, syi_asking asking,
                                int64_t *nans)
{
    double value = greatest ? -INFINITY : INFINITY;
    syi_vector lanes[EXTREME_LANES];
    int64_t i = 0;
    for (int k = 0; k < EXTREME_LANES; k++)
        lanes[k] = value - (syi_vector){0};
    for (; i + EXTREME_STEP <= count; i += EXTREME_STEP)
        for (int k = 0; k < EXTREME_LANES; k++) {
            const syi_vector one = syi_read(x + i, 2 * k * SYI_WIDTH, asking);
            const syi_vector other = syi_read(x + i, (2 * k + 1) * SYI_WIDTH, asking);
            lanes[k] = syi_more_extreme(one, lanes[k], greatest);
            lanes[k] = syi_more_extreme(other, lanes[k], greatest);
            *nans |= syi_unordered(one, other);
        }
    for (; i < count; i++) {
        value = extreme_before(x[i], value, greatest) ? x[i] : value;
        *nans |= x[i] != x[i];
    }
    for (int width = EXTREME_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lanes[k] = syi_more_extreme(lanes[k + width], lanes[k], greatest);
    return extreme_of_lane(&lanes[0], value, greatest);
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
                                           int greatest, syi_asking asking)
{
    double value = greatest ? -INFINITY : INFINITY;
    int64_t i = 0, nans = 0;
    for (int64_t at = 0; at < count; at += EXTREME_BLOCK) {
        int64_t rest = count - at, columns = rest < EXTREME_BLOCK ? rest : EXTREME_BLOCK;
        double here = extreme_first(x + at, columns, greatest, asking, &nans);
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
    extreme.nans = nans != 0;
    return extreme;
}

#endif
