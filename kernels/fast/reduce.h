/*
 * Reductions in fast accuracy: a tile is summed in blocks of 512 columns and 32 lanes of plain
 * doubles, column k in lane k mod 32; the blocks of a lane are added up in turn, the lanes folded
 * pairwise. The order is a function of the column, so are the bits.
 */
#ifndef SYI_KERNELS_FAST_REDUCE_H
#define SYI_KERNELS_FAST_REDUCE_H

#include "kernel.h"

#define SYI_FAST_LANES 32
#define SYI_FAST_BLOCK 512

/* The library's NaN for any, +0 for a zero. */
SYI_INLINE double syi_fast_clean(double value)
{
    return value == value ? value + 0.0 : syi_nan();
}

/* Halves the lanes until one is left. */
SYI_INLINE double syi_fast_fold(double *lane)
{
    for (int width = SYI_FAST_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return lane[0];
}

SYI_INLINE double syi_fast_term(const double *x, const double *y, int products, int64_t i)
{
    return products ? x[i] * y[i] : x[i];
}

/* The sum of x[i], or of x[i] * y[i] with `products`. */
SYI_INLINE double syi_fast_sum(const double *restrict x, const double *restrict y, int products,
                               int64_t count)
{
    double total[SYI_FAST_LANES] = {0};
    for (int64_t from = 0; from < count; from += SYI_FAST_BLOCK) {
        int64_t to = count - from < SYI_FAST_BLOCK ? count : from + SYI_FAST_BLOCK, i = from;
        double lane[SYI_FAST_LANES] = {0};
        for (; i + SYI_FAST_LANES <= to; i += SYI_FAST_LANES)
            for (int k = 0; k < SYI_FAST_LANES; k++)
                lane[k] += syi_fast_term(x, y, products, i + k);
        for (int k = 0; i < to; i++, k++)
            lane[k] += syi_fast_term(x, y, products, i);
        for (int k = 0; k < SYI_FAST_LANES; k++)
            total[k] += lane[k];
    }
    return syi_fast_fold(total);
}

/* The sum of x[i] - pivot to `sum`, that of the squares to `squares`. */
SYI_INLINE void syi_fast_moments(const double *restrict x, double pivot, int64_t count, double *sum,
                                 double *squares)
{
    double total[SYI_FAST_LANES] = {0}, total_square[SYI_FAST_LANES] = {0};
    for (int64_t from = 0; from < count; from += SYI_FAST_BLOCK) {
        int64_t to = count - from < SYI_FAST_BLOCK ? count : from + SYI_FAST_BLOCK, i = from;
        double lane[SYI_FAST_LANES] = {0}, square[SYI_FAST_LANES] = {0};
        for (; i + SYI_FAST_LANES <= to; i += SYI_FAST_LANES)
            for (int k = 0; k < SYI_FAST_LANES; k++) {
                double distance = x[i + k] - pivot;
                lane[k] += distance;
                square[k] += distance * distance;
            }
        for (int k = 0; i < to; i++, k++) {
            lane[k] += x[i] - pivot;
            square[k] += (x[i] - pivot) * (x[i] - pivot);
        }
        for (int k = 0; k < SYI_FAST_LANES; k++) {
            total[k] += lane[k];
            total_square[k] += square[k];
        }
    }
    *sum = syi_fast_fold(total);
    *squares = syi_fast_fold(total_square);
}

/* A part of a row's variance. The mean is pivot + offset: kept apart, the means of parts can be
 * subtracted without loss. */
typedef struct syi_fast_spread {
    double count, pivot, offset;
    double squares; /* sum of squared deviations from the mean */
} syi_fast_spread;

/* The mean by way of x[0]: where all values are equal it is that value, and the squares are 0.
 * `sum`: of the distances from x[0]. */
SYI_INLINE double syi_fast_pivot(double first, double sum, int64_t count)
{
    return first + sum / (double)count;
}

/* From the moments about the pivot. */
SYI_INLINE syi_fast_spread syi_fast_spread_from(double pivot, double sum, double squares,
                                                int64_t count)
{
    syi_fast_spread spread = {(double)count, pivot, sum / (double)count, 0.0};
    spread.squares = squares - sum * spread.offset;
    if (spread.squares < 0.0) /* rounding; a NaN stays */
        spread.squares = 0.0;
    return spread;
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

/* What the partials hold, and how they merge (reduce.c). */
void syi_fast_add(void *into, const void *right);
void syi_fast_spread_merge(void *into, const void *right);

#endif
