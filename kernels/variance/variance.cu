/* The tiles' sums and squares on a GPU, a warp a tile: integers, so any order will do. Data that do
 * not fit one limb are left to the host. */
#include "cuda/forms.h"

#include "cuda/device.h"
#include "fast/reduce_unit.h"
#include "kernel.h"
#include "variance/moments.h"

typedef struct tile_sums {
    syi_i128 sum;
    syi_u128 squares;
    uint64_t carries; /* out of `squares` */
} tile_sums;

SYI_DEVICE tile_sums tile_sums_plus(tile_sums a, tile_sums b)
{
    syi_u128 squares = a.squares + b.squares;
    return (tile_sums){a.sum + b.sum, squares, a.carries + b.carries + (squares < a.squares)};
}

SYI_DEVICE syi_u128 shuffle_xor_128(syi_u128 x, int by)
{
    return (syi_u128)syi_shuffle_xor((uint64_t)(x >> 64), by) << 64 |
           syi_shuffle_xor((uint64_t)x, by);
}

SYI_DEVICE syi_span tile_measure(const double *x, int64_t count, int lane)
{
    int64_t largest = 0, least = INT64_MAX, raw = 0;
    for (int64_t i = lane; i < count; i += SYI_WARP) {
        int64_t bits = (int64_t)(syi_bits(x[i]) & (UINT64_MAX >> 1));
        int64_t kept = bits < SYI_INFINITY_BITS ? bits : 0;
        raw = bits > raw ? bits : raw;
        largest = kept > largest ? kept : largest;
        least = kept != 0 && kept < least ? kept : least;
    }
    return syi_span_of(syi_warp_most(largest), syi_warp_least(least),
                       syi_warp_most(raw) >= SYI_INFINITY_BITS);
}

/* Whether the values are integers below 2^62, so that one limb does; no NaN or infinity among them.
 */
SYI_DEVICE int is_narrow(const syi_span *span)
{
    return !span->has_non_finite && span->top - span->bottom <= 62 && span->bottom > -1000 &&
           span->bottom < 900;
}

SYI_DEVICE tile_sums tile_add(const double *x, int64_t count, int bottom, int lane)
{
    double scale = syi_pow2(-bottom);
    tile_sums sums = {0, 0, 0};
    for (int64_t i = lane; i < count; i += SYI_WARP) {
        int64_t value = (int64_t)(x[i] * scale);
        sums = tile_sums_plus(sums, (tile_sums){value, (syi_u128)((syi_i128)value * value), 0});
    }
    for (int by = SYI_WARP / 2; by > 0; by /= 2)
        sums = tile_sums_plus(sums, (tile_sums){(syi_i128)shuffle_xor_128((syi_u128)sums.sum, by),
                                                shuffle_xor_128(sums.squares, by),
                                                syi_shuffle_xor(sums.carries, by)});
    return sums;
}

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_variance(const syi_launch launch)
{
    int lane = SYI_THREAD % SYI_WARP;
    int64_t index = SYI_BLOCK * SYI_TILE_UNITS_PER_BLOCK + SYI_THREAD / SYI_WARP;
    if (index >= launch.rows * launch.units_per_row)
        return;
    syi_unit unit = syi_unit_of(&launch, index);
    const double *x = syi_unit_in(&launch, &unit, launch.in[0]);
    syi_span span = tile_measure(x, unit.count, lane);
    tile_sums sums = {0, 0, 0};
    int fits = is_narrow(&span);
    if (fits)
        sums = tile_add(x, unit.count, span.bottom, lane);
    if (lane != 0)
        return;
    uint64_t sign = sums.sum < 0 ? UINT64_MAX : 0;
    ((moments *)launch.partials)[index] =
        (moments){span.has_non_finite ? MOMENTS_NOT_FINITE : MOMENTS_HELD,
                  span.bottom,
                  {(uint64_t)sums.sum, (uint64_t)(sums.sum >> 64), sign},
                  {(uint64_t)sums.squares, (uint64_t)(sums.squares >> 64), sums.carries, 0, 0, 0}};
    syi_unit_doubt(&launch, &unit, 0, fits || span.has_non_finite ? 0 : unit.count);
}

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_variance_fast(const syi_launch launch)
{
    syi_fast_spread_unit(&launch);
}
