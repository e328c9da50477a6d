/*
 * Reductions in fast accuracy: a tile is summed in blocks of 512 columns and 32 lanes of plain
 * doubles, column k in lane k mod 32; the blocks of a lane are added up in turn, the lanes folded
 * pairwise. Where deviations are wanted the lanes are others (fast/moments.h). The order is a
 * function of the column, so are the bits. fast/reduce_run.h has it for the CPU, fast/reduce_unit.h
 * for a GPU.
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

/* A part of a row's variance. The mean is pivot + offset: kept apart, the means of parts can be
 * subtracted without loss. */
typedef struct syi_fast_spread {
    double count, pivot, offset;
    double squares; /* sum of squared deviations from the mean */
} syi_fast_spread;

/* Makes `a` what is known of both. */
SYI_INLINE void syi_fast_spread_join(syi_fast_spread *a, const syi_fast_spread *b)
{
    double count = a->count + b->count, part, distance;
    if (b->count == 0.0)
        return;
    if (a->count == 0.0) {
        *a = *b;
        return;
    }
    part = b->count / count;
    distance = (b->pivot - a->pivot) + (b->offset - a->offset);
    a->squares = (a->squares + b->squares) + distance * distance * (a->count * part);
    a->offset += distance * part;
    a->count = count;
}

/* A tile's, from those of its whole blocks and of the rest. */
SYI_INLINE syi_fast_spread syi_fast_spread_tile(syi_fast_spread whole, const syi_fast_spread *rest)
{
    syi_fast_spread_join(&whole, rest);
    if (whole.squares < 0.0) /* rounding; a NaN stays */
        whole.squares = 0.0;
    return whole;
}

/* How the partials merge, and what becomes of a sum (reduce.c). */
void syi_fast_add(void *into, const void *right);
void syi_fast_finish(const void *partial, int64_t columns, const double *params, double *outputs,
                     int *doubt);
void syi_fast_spread_merge(void *into, const void *right);

#endif
