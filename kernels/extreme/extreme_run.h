/* The least or greatest value of a tile on the CPU: first in which block it is, then where. */
#ifndef SYI_KERNELS_EXTREME_EXTREME_RUN_H
#define SYI_KERNELS_EXTREME_EXTREME_RUN_H

#include "extreme/extreme.h"
#include "fast/vector.h"
#include "tiles.h"

#include <math.h>

enum {
    EXTREME_STEP = 64,
    EXTREME_BLOCK = SYI_TILE_BLOCK,
    EXTREME_LANES = EXTREME_STEP / 2 / SYI_WIDTH
};

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
SYI_INLINE double extreme_first(syi_reader x, int64_t count, int greatest, int64_t *nans)
{
    syi_vector lanes[EXTREME_LANES];
    int64_t i = 0;
    for (int k = 0; k < EXTREME_LANES; k++)
        lanes[k] = (greatest ? -INFINITY : INFINITY) - (syi_vector){0};
    for (; i + EXTREME_STEP <= count; i += EXTREME_STEP)
        for (int k = 0; k < EXTREME_LANES; k++) {
            const int place = 2 * k * SYI_WIDTH, next = place + SYI_WIDTH;
            const syi_vector one = syi_reader_at(x, i + place, place);
            const syi_vector other = syi_reader_at(x, i + next, next);
            lanes[k] = syi_more_extreme(one, lanes[k], greatest);
            lanes[k] = syi_more_extreme(other, lanes[k], greatest);
            *nans |= syi_unordered(one, other);
        }
    SYI_UNROLL(16)
    for (int k = 0; k < 2 * EXTREME_LANES; k++, i += SYI_WIDTH) {
        if (i >= count)
            break;
        const int64_t at = i + SYI_WIDTH <= count ? i : count - SYI_WIDTH;
        const syi_vector some = syi_reader_at(x, at, k * SYI_WIDTH);
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

/* The value that comes first in a block, from column `at` of the tile on. */
SYI_INLINE double extreme_of_block(const syi_tile *tile, int64_t at, int64_t count, int greatest,
                                   int is_floats, int64_t *nans)
{
    double room[SYI_WIDTH];
    if (count >= SYI_WIDTH)
        return extreme_first(syi_reader_of(tile, 0, at, is_floats), count, greatest, nans);
    return extreme_of_few(syi_tile_block(tile, 0, at, count, is_floats, room), count, greatest,
                          nans);
}

/* Columns of the block that begins with column `at`. */
SYI_INLINE int64_t extreme_columns(const syi_tile *tile, int64_t at)
{
    return tile->count - at < EXTREME_BLOCK ? tile->count - at : EXTREME_BLOCK;
}

/* The least of a tile, the greatest for greatest = 1. */
SYI_INLINE syi_extreme syi_extreme_of_tile(syi_tile tile, int greatest, int is_floats)
{
    double value = greatest ? -INFINITY : INFINITY, room[SYI_TILE_BLOCK];
    int64_t block = 0, nans = 0;
    syi_extreme extreme = {syi_nan(), 0, 0};
    for (int64_t at = 0; at < tile.count; at += EXTREME_BLOCK) {
        const int64_t count = extreme_columns(&tile, at);
        const double here = extreme_of_block(&tile, at, count, greatest, is_floats, &nans);
        if (extreme_before(here, value, greatest)) {
            value = here;
            block = at;
        }
    }
    /* In that block, or, of infinities behind NaNs, in a later one. */
    for (int is_found = 0; block < tile.count && !is_found; block += EXTREME_BLOCK) {
        const int64_t count = extreme_columns(&tile, block);
        const double *x = syi_tile_block(&tile, 0, block, count, is_floats, room);
        const int64_t i = extreme_find(x, count, value);
        is_found = i < count;
        if (is_found)
            extreme = syi_extreme_at(x[i], tile.first + block + i, greatest);
    }
    extreme.nans = nans != 0;
    return extreme;
}

#endif
