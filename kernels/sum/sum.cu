/* The tiles' parts of sums on a GPU, for `sum` and `mean`: a warp adds up a tile with the CPU's
 * lanes in the CPU's order. */
#include "cuda/forms.h"

#include "cuda/device.h"
#include "exact/total.h"

SYI_DEVICE syi_total total_of_other(syi_total t, int by)
{
    return (syi_total){syi_from_bits(syi_shuffle_xor(syi_bits(t.high), by)),
                       syi_from_bits(syi_shuffle_xor(syi_bits(t.low), by)),
                       syi_from_bits(syi_shuffle_xor(syi_bits(t.size), by))};
}

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_total(const syi_launch launch)
{
    int lane = SYI_THREAD % SYI_WARP;
    int64_t index = SYI_BLOCK * SYI_TILE_UNITS_PER_BLOCK + SYI_THREAD / SYI_WARP;
    if (index >= launch.rows * launch.units_per_row)
        return;
    syi_unit unit = syi_unit_of(&launch, index);
    const double *x = syi_unit_in(&launch, &unit, launch.in[0]);
    int64_t whole = unit.count - unit.count % SYI_WARP;
    syi_total total = {0.0, 0.0, 0.0};
    for (int64_t i = lane; i < whole; i += SYI_WARP) {
        double lost;
        syi_two_sum(total.high, x[i], &total.high, &lost);
        total.low += lost;
        total.size += fabs(x[i]);
    }
    if (whole + lane < unit.count) {
        double last = x[whole + lane];
        total = syi_total_add(total, (syi_total){last, 0.0, fabs(last)});
    }
    for (int by = SYI_WARP / 2; by > 0; by /= 2)
        total = syi_total_add(total, total_of_other(total, by));
    if (lane != 0)
        return;
    ((syi_total *)launch.partials)[index] = total;
    syi_unit_doubt(&launch, &unit, 0, 0);
}
