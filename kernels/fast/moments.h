/*
 * How far values are spread, in one pass over memory, for fast accuracy: sixteen values of a lane
 * are at hand, in registers or the first cache, while their mean is taken and then their distances
 * from it. What is joined afterwards are means; squares are only added, so nothing cancels.
 */
#ifndef SYI_KERNELS_FAST_MOMENTS_H
#define SYI_KERNELS_FAST_MOMENTS_H

#include "fast/either.h"
#include "fast/reduce.h"

/* A block of SYI_FAST_BLOCK columns is four stretches one after another, each of them eight lanes
 * of sixteen values: column c is in lane c mod 8. */
enum {
    SYI_MOMENTS_VALUES = 16,
    SYI_MOMENTS_LANES = 8,
    SYI_MOMENTS_STRETCH = SYI_MOMENTS_VALUES * SYI_MOMENTS_LANES
};

/* As in syi_fast_spread, of some lanes. */
typedef struct syi_fast_moments {
    syi_vector pivot, offset, squares;
} syi_fast_moments;

/* Of a stretch's lanes from x[0] on. Where values are equal the pivot is that value: the sums of 2,
 * 4, 8 and 16 of them are exact. */
SYI_EITHER syi_fast_moments syi_fast_moments_of(const double *x, syi_asking asking)
{
    enum { HALF = SYI_MOMENTS_VALUES / 2 };
    const double each = 1.0 / SYI_MOMENTS_VALUES;
    const syi_vector zero = {0};
    syi_vector part[HALF], sum[2] = {zero, zero}, squares[2] = {zero, zero}, pivot, total, offset;
    for (int i = 0; i < HALF; i++) {
        const int even = 2 * i * SYI_MOMENTS_LANES;
        part[i] = syi_read(x, even, asking) + syi_read(x, even + SYI_MOMENTS_LANES, asking);
        SYI_IN_TURN(part[i]);
    }
    for (int width = HALF / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            part[i] = part[2 * i] + part[2 * i + 1];
    pivot = part[0] * each;
    /* The sums as products, since processors have units of their own for additions, of which there
     * are more. */
    SYI_ROLLED
    for (int i = 0; i < SYI_MOMENTS_VALUES; i += 2) {
        syi_vector even = SYI_LOAD(x + i * SYI_MOMENTS_LANES) - pivot;
        syi_vector odd = SYI_LOAD(x + (i + 1) * SYI_MOMENTS_LANES) - pivot;
        sum[0] = syi_scaled_sum(even, 1.0, sum[0]);
        sum[1] = syi_scaled_sum(odd, 1.0, sum[1]);
        squares[0] += even * even;
        squares[1] += odd * odd;
    }
    total = sum[0] + sum[1];
    offset = total * each;
    return (syi_fast_moments){pivot, offset, (squares[0] + squares[1]) - total * offset};
}

/* The sum of x[i] - pivot to `sum`, that of the squares to `squares`, in SYI_FAST_LANES lanes of
 * neighbours: here by vectors (fast/reduce_run.h), on a GPU by a warp (fast/reduce_unit.h). */
SYI_EITHER void syi_fast_moments_about(const double *x, double pivot, int64_t count, double *sum,
                                       double *squares);

/* Of less than a block, in two passes. By way of x[0]: where all values are equal the mean is that
 * value, and the squares are 0. */
SYI_EITHER syi_fast_spread syi_fast_spread_rest(const double *x, int64_t count)
{
    double pivot, sum, squares, offset;
    if (count == 0)
        return (syi_fast_spread){0.0, 0.0, 0.0, 0.0};
    syi_fast_moments_about(x, x[0], count, &sum, &squares);
    pivot = x[0] + sum / (double)count;
    syi_fast_moments_about(x, pivot, count, &sum, &squares);
    offset = sum / (double)count;
    return (syi_fast_spread){(double)count, pivot, offset, squares - sum * offset};
}

#endif
