/*
 * What fast/pairs.h calls a vector, on a GPU: eight neighbouring threads hold a pair of columns
 * each, so that four groups share a warp. All of a warp's threads take part in every exchange.
 */
#ifndef SYI_KERNELS_FAST_LANES_H
#define SYI_KERNELS_FAST_LANES_H

#include "cuda/device.h"
#include "traffic.h"

#define SYI_WIDTH 8
typedef double syi_vector;

#define SYI_LANE   (SYI_THREAD % SYI_WIDTH)
#define SYI_GROUP  (SYI_THREAD % SYI_WARP / SYI_WIDTH) /* which one of its warp's */
#define SYI_GROUPS (SYI_WARP / SYI_WIDTH)

/* A value of thread `lane` of the group. */
SYI_DEVICE double syi_lane_value(double value, int lane)
{
    return syi_from_bits(syi_shuffle(syi_bits(value), SYI_GROUP * SYI_WIDTH + lane));
}

/* The value `by` pairs before; what the last of them held before, `before`, goes to the first. */
SYI_DEVICE double syi_lane_before(double before, double value, int by)
{
    return syi_lane_value(SYI_LANE < SYI_WIDTH - by ? value : before, (SYI_LANE - by) & 7);
}

#define SYI_BEFORE_1(before, v) syi_lane_before((before)[0], v, 1)
#define SYI_BEFORE_2(before, v) syi_lane_before((before)[0], v, 2)
#define SYI_BEFORE_4(before, v) syi_lane_before((before)[0], v, 4)

/* The least of a group's. */
SYI_DEVICE int64_t syi_lanes_least(int64_t x)
{
    for (int by = SYI_WIDTH / 2; by > 0; by /= 2) {
        int64_t other = (int64_t)syi_shuffle_xor((uint64_t)x, by);
        x = other < x ? other : x;
    }
    return x;
}

/* As in fast/vector.h; a thread's own is where it points. */
#define SYI_LOAD(from) (*(from))
#define SYI_ROLLED

SYI_DEVICE double syi_read(const double *x, int at, syi_asking asking)
{
    (void)asking;
    return x[at];
}
#define SYI_IN_TURN(v)

SYI_DEVICE double syi_product_sum(double a, double b, double c)
{
    return fma(a, b, c);
}

SYI_DEVICE double syi_fused(double a, double factor, double b)
{
    return syi_product_sum(a, factor, b);
}

SYI_DEVICE double syi_scaled_sum(double a, double scale, double b)
{
    return syi_product_sum(a, scale, b);
}

/* By its bits (exact/bits.h, syi_is_finite). */
SYI_DEVICE double syi_plus_zero(double v)
{
    return syi_bits(v) == UINT64_C(1) << 63 ? 0.0 : v; /* else compilers compare in f64 */
}

SYI_DEVICE double syi_root(double square)
{
    return sqrt(square);
}

SYI_DEVICE double syi_score(double distance, double variance)
{
    return ((variance - variance) + distance) / syi_root(variance);
}

/* As in fast/divide.h; there is nothing to choose. */
#define syi_product_root  syi_root
#define syi_product_score syi_score

#endif
