/* The least or greatest value of a tile on a GPU: a warp a tile. */
#ifndef SYI_KERNELS_EXTREME_TILE_H
#define SYI_KERNELS_EXTREME_TILE_H

#include "cuda/forms.h"

#include "cuda/device.h"
#include "extreme/extreme.h"

SYI_DEVICE void syi_extreme_tile(const syi_launch *launch, int greatest)
{
    int lane = SYI_THREAD % SYI_WARP;
    int64_t index = SYI_BLOCK * SYI_TILE_UNITS_PER_BLOCK + SYI_THREAD / SYI_WARP;
    if (index >= launch->rows * launch->units_per_row)
        return;
    syi_unit unit = syi_unit_of(launch, index);
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    int64_t first = launch->first + unit.at;
    syi_extreme least = {syi_nan(), 0, 0};
    for (int64_t i = lane; i < unit.count; i += SYI_WARP)
        least = syi_extreme_merge(least, syi_extreme_at(x[i], first + i, greatest));
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
