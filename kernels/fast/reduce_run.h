/*
 * A tile's part of a reduction in fast accuracy on the CPU: the lanes are vectors. A step with
 * fewer columns than lanes is filled up with what adds zeros, which change no lane: none is ever
 * -0.
 */
#ifndef SYI_KERNELS_FAST_REDUCE_RUN_H
#define SYI_KERNELS_FAST_REDUCE_RUN_H

#include "fast/moments.h"
#include "tiles.h"

_Static_assert(SYI_FAST_BLOCK == SYI_TILE_BLOCK, "a block is read at once");

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

/* The terms are x[k], or x[k] * y[k] with `products`, which is a constant. */
SYI_INLINE void syi_fast_sum_step(syi_fast_lanes *lanes, syi_reader x, syi_reader y, int64_t i,
                                  int products)
{
    for (int k = 0; k < SYI_FAST_VECTORS; k++) {
        const int place = k * SYI_WIDTH;
        const syi_vector term = syi_reader_at(x, i + place, place);
        lanes->part[k] += products ? term * syi_reader_at(y, i + place, place) : term;
    }
}

/* A block, a constant number of columns where it is whole. */
SYI_INLINE void syi_fast_sum_block(syi_fast_lanes *total, syi_reader x, syi_reader y, int64_t count,
                                   int products)
{
    syi_fast_lanes lanes = {{{0}}};
    int64_t i = 0;
    for (; i + SYI_FAST_LANES <= count; i += SYI_FAST_LANES)
        syi_fast_sum_step(&lanes, x, y, i, products);
    SYI_UNROLL(16)
    for (int k = 0; k < SYI_FAST_VECTORS; k++, i += SYI_WIDTH) {
        if (i >= count)
            break;
        const syi_vector term = syi_reader_some(x, i, count - i);
        lanes.part[k] += products ? term * syi_reader_some(y, i, count - i) : term;
    }
    syi_fast_lanes_add(total, &lanes);
}

/* The sum of a tile's terms. */
SYI_INLINE double syi_fast_sum_tile(syi_tile tile, int products, int is_floats)
{
    syi_fast_lanes total = {{{0}}};
    for (int64_t i = 0; i < tile.count; i += SYI_FAST_BLOCK) {
        const syi_reader x = syi_reader_of(&tile, 0, i, is_floats);
        const syi_reader y = products ? syi_reader_of(&tile, 1, i, is_floats) : x;
        if (i + SYI_FAST_BLOCK <= tile.count)
            syi_fast_sum_block(&total, x, y, SYI_FAST_BLOCK, products);
        else
            syi_fast_sum_block(&total, x, y, tile.count - i, products);
    }
    return syi_fast_fold(&total);
}

/* The sum of x[i]. */
SYI_INLINE double syi_fast_sum(const double *x, int64_t count)
{
    const double *const in[] = {x};
    return syi_fast_sum_tile((syi_tile){.in = in, .count = count, .asking = SYI_ASKS_NOT}, 0, 0);
}

/* ---- how far a tile is spread ---- */

/* Sums of distances from the pivot and of their squares. */
typedef struct syi_fast_moment_sums {
    syi_fast_lanes distance, square;
} syi_fast_moment_sums;

SYI_INLINE void syi_fast_moments_step(syi_fast_moment_sums *lanes, const double *x, double pivot)
{
    for (int k = 0; k < SYI_FAST_VECTORS; k++) {
        syi_vector distance = SYI_LOAD(x + k * SYI_WIDTH) - pivot;
        lanes->distance.part[k] += distance;
        lanes->square.part[k] += distance * distance;
    }
}

SYI_INLINE void syi_fast_moments_about(const double *x, double pivot, int64_t count, double *sum,
                                       double *squares)
{
    double room[SYI_FAST_LANES];
    syi_fast_moment_sums lanes = {{{{0}}}, {{{0}}}};
    int64_t i = 0;
    for (; i + SYI_FAST_LANES <= count; i += SYI_FAST_LANES)
        syi_fast_moments_step(&lanes, x + i, pivot);
    if (i < count) {
        for (int k = 0; k < SYI_FAST_LANES; k++)
            room[k] = i + k < count ? x[i + k] : pivot;
        syi_fast_moments_step(&lanes, room, pivot);
    }
    *sum = syi_fast_fold(&lanes.distance);
    *squares = syi_fast_fold(&lanes.square);
}

/* syi_fast_spread_join, of which the right one has a part `part` of the values; `weight`: that
 * part of the left one's count. */
SYI_INLINE void syi_fast_moments_join(syi_fast_moments *into, const syi_fast_moments *right,
                                      double part, double weight)
{
    syi_vector distance = (right->pivot - into->pivot) + (right->offset - into->offset);
    into->squares = (into->squares + right->squares) + distance * distance * weight;
    into->offset += distance * part;
}

/* A block behind `before` of them. */
SYI_INLINE void syi_fast_spread_block(syi_fast_moments *lanes, const double *x, int64_t before,
                                      syi_asking asking)
{
    const double part = 1.0 / (double)(before + 1);
    const double weight = (double)(before * SYI_MOMENTS_VALUES) * part;
    for (int k = 0; k < SYI_FAST_VECTORS; k++) {
        const int lane = k * SYI_WIDTH;
        syi_fast_moments here = syi_fast_moments_of(
            x + lane / SYI_MOMENTS_LANES * SYI_MOMENTS_STRETCH + lane % SYI_MOMENTS_LANES, asking);
        if (before)
            syi_fast_moments_join(&lanes[k], &here, part, weight);
        else
            lanes[k] = here;
    }
}

/* Halves the lanes, of `count` values each, until one is left. */
SYI_INLINE syi_fast_spread syi_fast_spread_fold(syi_fast_moments *lanes, int64_t count)
{
    double each = (double)count, pivot[SYI_WIDTH], offset[SYI_WIDTH], squares[SYI_WIDTH];
    syi_fast_spread lane[SYI_WIDTH];
    for (int width = SYI_FAST_VECTORS / 2; width > 0; width /= 2, each += each)
        for (int k = 0; k < width; k++)
            syi_fast_moments_join(&lanes[k], &lanes[k + width], 0.5, each * 0.5);
    memcpy(pivot, &lanes[0].pivot, sizeof pivot);
    memcpy(offset, &lanes[0].offset, sizeof offset);
    memcpy(squares, &lanes[0].squares, sizeof squares);
    for (int k = 0; k < SYI_WIDTH; k++)
        lane[k] = (syi_fast_spread){each, pivot[k], offset[k], squares[k]};
    for (int width = SYI_WIDTH / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            syi_fast_spread_join(&lane[k], &lane[k + width]);
    return lane[0];
}

SYI_INLINE syi_fast_spread syi_fast_spread_of(syi_tile tile, int is_floats)
{
    const int64_t blocks = tile.count / SYI_FAST_BLOCK, columns = blocks * SYI_FAST_BLOCK;
    const int64_t left = tile.count - columns;
    double room[SYI_TILE_BLOCK];
    syi_fast_spread rest, whole = {0};
    syi_fast_moments lanes[SYI_FAST_VECTORS];
    for (int64_t block = 0; block < blocks; block++)
        syi_fast_spread_block(
            lanes,
            syi_tile_block(&tile, 0, block * SYI_FAST_BLOCK, SYI_FAST_BLOCK, is_floats, room),
            block, syi_tile_asking(&tile, is_floats));
    rest = syi_fast_spread_rest(syi_tile_block(&tile, 0, columns, left, is_floats, room), left);
    if (blocks)
        whole = syi_fast_spread_fold(lanes, blocks * SYI_MOMENTS_VALUES);
    return syi_fast_spread_tile(whole, &rest);
}

#endif
