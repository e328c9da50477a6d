/*
 * A tile's part of a reduction in fast accuracy on the CPU: the lanes are vectors. A step with
 * fewer columns than lanes is filled up with what adds zeros, which change no lane: none is ever
 * -0.
 */
#ifndef SYI_KERNELS_FAST_REDUCE_RUN_H
#define SYI_KERNELS_FAST_REDUCE_RUN_H

#include "fast/reduce.h"
#include "fast/vector.h"

enum { SYI_FAST_VECTORS = SYI_FAST_LANES / SYI_WIDTH };

typedef struct syi_fast_lanes {
    syi_vector part[SYI_FAST_VECTORS];
} syi_fast_lanes;

SYI_INLINE void syi_fast_lanes_add(syi_fast_lanes *total, const syi_fast_lanes *lanes)
{
    for (int k = 0; k < SYI_FAST_VECTORS; k++)
        total->part[k] += lanes->part[k];
}

/* Halves the lanes until one is left. */
SYI_INLINE double syi_fast_fold(syi_fast_lanes *lanes)
{
    double lane[SYI_WIDTH];
    for (int width = SYI_FAST_VECTORS / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lanes->part[k] += lanes->part[k + width];
    memcpy(lane, lanes->part, sizeof lane);
    for (int width = SYI_WIDTH / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return lane[0];
}

/* A step of terms x[k], or x[k] * y[k] with `products`. */
SYI_INLINE void syi_fast_sum_step(syi_fast_lanes *lanes, const double *x, const double *y,
                                  int products)
{
    for (int k = 0; k < SYI_FAST_VECTORS; k++) {
        syi_vector term = SYI_LOAD(x + k * SYI_WIDTH);
        lanes->part[k] += products ? term * SYI_LOAD(y + k * SYI_WIDTH) : term;
    }
}

/* A block, a constant number of columns where it is whole. */
SYI_INLINE void syi_fast_sum_block(syi_fast_lanes *total, const double *x, const double *y,
                                   int products, int64_t count)
{
    double room[2][SYI_FAST_LANES] = {{0}};
    syi_fast_lanes lanes = {{{0}}};
    int64_t i = 0;
    for (; i + SYI_FAST_LANES <= count; i += SYI_FAST_LANES)
        syi_fast_sum_step(&lanes, x + i, products ? y + i : NULL, products);
    if (i < count) {
        memcpy(room[0], x + i, (size_t)(count - i) * sizeof *x);
        if (products)
            memcpy(room[1], y + i, (size_t)(count - i) * sizeof *y);
        syi_fast_sum_step(&lanes, room[0], room[1], products);
    }
    syi_fast_lanes_add(total, &lanes);
}

/* The sum of x[i], or of x[i] * y[i] with `products`. */
SYI_INLINE double syi_fast_sum(const double *x, const double *y, int products, int64_t count)
{
    syi_fast_lanes total = {{{0}}};
    int64_t i = 0;
    for (; i + SYI_FAST_BLOCK <= count; i += SYI_FAST_BLOCK)
        syi_fast_sum_block(&total, x + i, products ? y + i : NULL, products, SYI_FAST_BLOCK);
    if (i < count)
        syi_fast_sum_block(&total, x + i, products ? y + i : NULL, products, count - i);
    return syi_fast_fold(&total);
}

/* Sums of distances from the pivot and of their squares. */
typedef struct syi_fast_moment_lanes {
    syi_fast_lanes distance, square;
} syi_fast_moment_lanes;

SYI_INLINE void syi_fast_moments_step(syi_fast_moment_lanes *lanes, const double *x, double pivot)
{
    for (int k = 0; k < SYI_FAST_VECTORS; k++) {
        syi_vector distance = SYI_LOAD(x + k * SYI_WIDTH) - pivot;
        lanes->distance.part[k] += distance;
        lanes->square.part[k] += distance * distance;
    }
}

/* As syi_fast_sum_block(). */
SYI_INLINE void syi_fast_moments_block(syi_fast_moment_lanes *total, const double *x, double pivot,
                                       int64_t count)
{
    double room[SYI_FAST_LANES];
    syi_fast_moment_lanes lanes = {{{{0}}}, {{{0}}}};
    int64_t i = 0;
    for (; i + SYI_FAST_LANES <= count; i += SYI_FAST_LANES)
        syi_fast_moments_step(&lanes, x + i, pivot);
    if (i < count) {
        for (int k = 0; k < SYI_FAST_LANES; k++)
            room[k] = i + k < count ? x[i + k] : pivot;
        syi_fast_moments_step(&lanes, room, pivot);
    }
    syi_fast_lanes_add(&total->distance, &lanes.distance);
    syi_fast_lanes_add(&total->square, &lanes.square);
}

/* The sum of x[i] - pivot to `sum`, that of the squares to `squares`. */
SYI_INLINE void syi_fast_moments(const double *x, double pivot, int64_t count, double *sum,
                                 double *squares)
{
    syi_fast_moment_lanes total = {{{{0}}}, {{{0}}}};
    int64_t i = 0;
    for (; i + SYI_FAST_BLOCK <= count; i += SYI_FAST_BLOCK)
        syi_fast_moments_block(&total, x + i, pivot, SYI_FAST_BLOCK);
    if (i < count)
        syi_fast_moments_block(&total, x + i, pivot, count - i);
    *sum = syi_fast_fold(&total.distance);
    *squares = syi_fast_fold(&total.square);
}

SYI_INLINE syi_fast_spread syi_fast_spread_of(const double *x, int64_t count)
{
    double pivot, sum, squares;
    if (count == 0)
        return (syi_fast_spread){0.0, 0.0, 0.0, 0.0};
    syi_fast_moments(x, x[0], count, &sum, &squares);
    pivot = syi_fast_pivot(x[0], sum, count);
    syi_fast_moments(x, pivot, count, &sum, &squares);
    return syi_fast_spread_from(pivot, sum, squares, count);
}

#endif
