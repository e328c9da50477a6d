/* The least or greatest value of a tile on a GPU: a warp a tile. */
#ifndef SYI_KERNELS_EXTREME_TILE_H
#define SYI_KERNELS_EXTREME_TILE_H

#include "cuda/forms.h"

#include "extreme/extreme.h"
#include "extreme/order.h"

/* Of the lane's columns, the first of which is column `first` of the row. */
SYI_DEVICE syi_extreme extreme_of_lane(const double *x, int64_t count, int64_t first, int greatest)
{
    const uint64_t infinite = UINT64_C(0x7ff) << 52;
    int64_t least = SYI_ORDER_MOST, at = -1, nans = 0;
    for (int64_t i = SYI_THREAD % SYI_WARP; i < count; i += SYI_WARP) {
        const int is_nan = (syi_bits(x[i]) & INT64_MAX) > infinite;
        const int64_t order = syi_order_of(x[i], greatest);
        nans |= is_nan;
        if (!is_nan && order < least) {
            least = order;
            at = i;
        }
    }
    syi_extreme found = {syi_nan(), 0, 0};
    if (at >= 0)
        found = syi_extreme_at(x[at], first + at, greatest);
    found.nans = nans;
    return found;
}

SYI_DEVICE void syi_extreme_tile(const syi_launch *launch, int greatest)
{
    int lane = SYI_THREAD % SYI_WARP;
    int64_t index = SYI_BLOCK * SYI_TILE_UNITS_PER_BLOCK + SYI_THREAD / SYI_WARP;
    if (index >= launch->rows * launch->units_per_row)
        return;
    syi_unit unit = syi_unit_of(launch, index);
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    syi_extreme least = extreme_of_lane(x, unit.count, launch->first + unit.at, greatest);
    for (int by = SYI_WARP / 2; by > 0; by /= 2) {
        syi_extreme other = {syi_from_bits(syi_shuffle_xor(syi_bits(least.key), by)),
                             (int64_t)syi_shuffle_xor((uint64_t)least.column, by),
                             (int64_t)syi_shuffle_xor((uint64_t)least.nans, by)};
        least = syi_extreme_merge(least, other);
    }
    if (lane != 0)
        return;
    ((syi_extreme *)launch->partials)[index] = least;
    syi_unit_doubt(launch, &unit, 0, 0);
}

#endif
