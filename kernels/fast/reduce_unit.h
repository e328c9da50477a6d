/* A tile's part of a reduction in fast accuracy on a GPU: a warp adds it up with the CPU's lanes in
 * the CPU's order. */
#ifndef SYI_KERNELS_FAST_REDUCE_UNIT_H
#define SYI_KERNELS_FAST_REDUCE_UNIT_H

#include "cuda/forms.h"

#include "cuda/device.h"
#include "fast/moments.h"

_Static_assert(SYI_FAST_LANES == SYI_WARP, "a lane is a thread");

/* syi_fast_fold; every lane gets the sum. */
SYI_DEVICE double syi_fast_fold_warp(double lane)
{
    for (int by = SYI_FAST_LANES / 2; by > 0; by /= 2)
        lane += syi_from_bits(syi_shuffle_xor(syi_bits(lane), by));
    return lane;
}

/* A thread's lane of the sum of `term`, which is that of column i < count, to `total`. */
#define SYI_FAST_LANE_SUM(total, i, count, term)                                                   \
    for (int64_t from_ = 0; from_ < (count); from_ += SYI_FAST_BLOCK) {                            \
        int64_t to_ = (count)-from_ < SYI_FAST_BLOCK ? (count) : from_ + SYI_FAST_BLOCK;           \
        double lane_ = 0.0;                                                                        \
        for (int64_t i = from_ + SYI_THREAD % SYI_WARP; i < to_; i += SYI_FAST_LANES)              \
            lane_ += (term);                                                                       \
        (total) += lane_;                                                                          \
    }

SYI_DEVICE double syi_fast_term(const double *x, const double *y, int products, int64_t i)
{
    return products ? x[i] * y[i] : x[i];
}

/* syi_fast_sum, by a warp. */
SYI_DEVICE double syi_fast_sum_warp(const double *x, const double *y, int products, int64_t count)
{
    double total = 0.0;
#pragma unroll 1
    SYI_FAST_LANE_SUM(total, i, count, syi_fast_term(x, y, products, i))
    return syi_fast_fold_warp(total);
}

SYI_DEVICE void syi_fast_moments_about(const double *x, double pivot, int64_t count, double *sum,
                                       double *squares)
{
    double lane = 0.0, square = 0.0;
    for (int64_t i = SYI_THREAD % SYI_WARP; i < count; i += SYI_FAST_LANES) {
        double distance = x[i] - pivot;
        lane += distance;
        square += distance * distance;
    }
    *sum = syi_fast_fold_warp(lane);
    *squares = syi_fast_fold_warp(square);
}

/* The whole blocks of `columns`, by a warp; the first thread gets what is right. */
SYI_DEVICE syi_fast_spread syi_fast_spread_blocks_warp(const double *x, int64_t columns)
{
    syi_fast_spread lane = {0.0, 0.0, 0.0, 0.0};
#pragma unroll 1
    for (int64_t from = 0; from < columns; from += SYI_FAST_BLOCK) {
        syi_fast_moments here = syi_fast_moments_of(
            x + from + SYI_GROUP * SYI_MOMENTS_STRETCH + SYI_LANE, SYI_ASKS_NOT);
        syi_fast_spread right = {SYI_MOMENTS_VALUES, here.pivot, here.offset, here.squares};
        syi_fast_spread_join(&lane, &right);
    }
#pragma unroll 1
    for (int by = SYI_FAST_LANES / 2; by > 0; by /= 2) {
        syi_fast_spread right = {lane.count,
                                 syi_from_bits(syi_shuffle_xor(syi_bits(lane.pivot), by)),
                                 syi_from_bits(syi_shuffle_xor(syi_bits(lane.offset), by)),
                                 syi_from_bits(syi_shuffle_xor(syi_bits(lane.squares), by))};
        syi_fast_spread_join(&lane, &right);
    }
    return lane;
}

/* The warp's tile; 0 when it has none. */
SYI_DEVICE int syi_fast_tile_of(const syi_launch *launch, syi_unit *unit)
{
    int64_t index = SYI_BLOCK * SYI_TILE_UNITS_PER_BLOCK + SYI_THREAD / SYI_WARP;
    if (index >= launch->rows * launch->units_per_row)
        return 0;
    *unit = syi_unit_of(launch, index);
    return 1;
}

SYI_DEVICE void syi_fast_sum_unit(const syi_launch *launch, int products)
{
    syi_unit unit;
    if (!syi_fast_tile_of(launch, &unit))
        return;
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    const double *y = products ? syi_unit_in(launch, &unit, launch->in[1]) : x;
    double sum = syi_fast_sum_warp(x, y, products, unit.count);
    if (SYI_THREAD % SYI_WARP != 0)
        return;
    ((double *)launch->partials)[unit.index] = sum;
    syi_unit_doubt(launch, &unit, 0, 0);
}

SYI_DEVICE void syi_fast_spread_unit(const syi_launch *launch)
{
    syi_unit unit;
    if (!syi_fast_tile_of(launch, &unit))
        return;
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    const int64_t columns = unit.count / SYI_FAST_BLOCK * SYI_FAST_BLOCK;
    syi_fast_spread whole = syi_fast_spread_blocks_warp(x, columns);
    syi_fast_spread rest = syi_fast_spread_rest(x + columns, unit.count - columns);
    if (SYI_THREAD % SYI_WARP != 0)
        return;
    ((syi_fast_spread *)launch->partials)[unit.index] = syi_fast_spread_tile(whole, &rest);
    syi_unit_doubt(launch, &unit, 0, 0);
}

#endif
