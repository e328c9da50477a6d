/* A tile's sum on a GPU: a warp adds it up with the CPU's lanes in the CPU's order. */
#ifndef SYI_KERNELS_EXACT_TOTAL_UNIT_H
#define SYI_KERNELS_EXACT_TOTAL_UNIT_H

#include "cuda/forms.h"

#include "cuda/device.h"
#include "exact/total.h"

SYI_DEVICE syi_total total_of_other(syi_total t, int by)
{
    return (syi_total){syi_from_bits(syi_shuffle_xor(syi_bits(t.high), by)),
                       syi_from_bits(syi_shuffle_xor(syi_bits(t.low), by)),
                       syi_from_bits(syi_shuffle_xor(syi_bits(t.size), by))};
}

SYI_DEVICE void syi_total_unit(const syi_launch *launch, int products)
{
    int lane = SYI_THREAD % SYI_WARP;
    int64_t index = SYI_BLOCK * SYI_TILE_UNITS_PER_BLOCK + SYI_THREAD / SYI_WARP;
    if (index >= launch->rows * launch->units_per_row)
        return;
    syi_unit unit = syi_unit_of(launch, index);
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    const double *y = products ? syi_unit_in(launch, &unit, launch->in[1]) : x;
    int64_t whole = unit.count - unit.count % SYI_WARP;
    syi_total total = {0.0, 0.0, 0.0};
    for (int64_t i = lane; i < whole; i += SYI_WARP) {
        syi_total term = syi_total_term(x, y, products, i);
        double lost;
        syi_two_sum(total.high, term.high, &total.high, &lost);
        total.low += products ? lost + term.low : lost;
        total.size += term.size;
    }
    if (whole + lane < unit.count)
        total = syi_total_add(total, syi_total_term(x, y, products, whole + lane));
    for (int by = SYI_WARP / 2; by > 0; by /= 2)
        total = syi_total_add(total, total_of_other(total, by));
    if (lane != 0)
        return;
    ((syi_total *)launch->partials)[index] = total;
    syi_unit_doubt(launch, &unit, 0, 0);
}

#endif
