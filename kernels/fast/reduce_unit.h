/* A tile's part of a reduction in fast accuracy on a GPU: a warp adds it up with the CPU's lanes in
 * the CPU's order. */
#ifndef SYI_KERNELS_FAST_REDUCE_UNIT_H
#define SYI_KERNELS_FAST_REDUCE_UNIT_H

#include "cuda/forms.h"

#include "cuda/device.h"
#include "fast/reduce.h"

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

/* syi_fast_moments, by a warp. */
SYI_DEVICE void syi_fast_moments_warp(const double *x, double pivot, int64_t count, double *sum,
                                      double *squares)
{
    double total = 0.0, total_square = 0.0;
#pragma unroll 1
    for (int64_t from = 0; from < count; from += SYI_FAST_BLOCK) {
        int64_t to = count - from < SYI_FAST_BLOCK ? count : from + SYI_FAST_BLOCK;
        double lane = 0.0, square = 0.0;
        for (int64_t i = from + SYI_THREAD % SYI_WARP; i < to; i += SYI_FAST_LANES) {
            double distance = x[i] - pivot;
            lane += distance;
            square += distance * distance;
        }
        total += lane;
        total_square += square;
    }
    *sum = syi_fast_fold_warp(total);
    *squares = syi_fast_fold_warp(total_square);
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
    double pivot, sum, squares;
    if (!syi_fast_tile_of(launch, &unit))
        return;
    const double *x = syi_unit_in(launch, &unit, launch->in[0]);
    syi_fast_moments_warp(x, x[0], unit.count, &sum, &squares);
    pivot = syi_fast_pivot(x[0], sum, unit.count);
    syi_fast_moments_warp(x, pivot, unit.count, &sum, &squares);
    if (SYI_THREAD % SYI_WARP != 0)
        return;
    ((syi_fast_spread *)launch->partials)[unit.index] =
        syi_fast_spread_from(pivot, sum, squares, unit.count);
    syi_unit_doubt(launch, &unit, 0, 0);
}

#endif
