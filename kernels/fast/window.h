/*
 * Windows in fast accuracy. The mean of a window is put together from stretches of 1, 2, 4, 8 ...
 * columns, each from two of half its length; those that make up the period are joined, the longest
 * oldest, from the newest on (of how far values are spread: fast/spread.h, and of longer windows
 * fast/scan.h). So a mean is a tree over its own columns alone, with no sum from which something is
 * taken away again: nothing of a value stays behind when it leaves, and where a row is cut cannot
 * matter. The tree is what the bits depend on; how many columns a pass goes through, and how many
 * passes there are, is not.
 *
 * Longest oldest, because then all stretches of a vector or more begin at whole vectors. Where all
 * values are equal, means are joined by differences that are exactly 0.
 */
#ifndef SYI_KERNELS_FAST_WINDOW_H
#define SYI_KERNELS_FAST_WINDOW_H

#include "fast/either.h"
#include "isa.h"
#include "traffic.h"
#include "window/window.h"

/* Means of longer windows are exact: that takes the same time for any period, and by now less. */
#define SYI_MEAN_MOST 128
/* Spreads of windows from here on are scanned (fast/scan.h); of longer ones than SYI_SCAN_MOST they
 * are exact. */
#define SYI_SCAN_LEAST 24
#define SYI_SCAN_MOST  256
/* Columns that may be read behind a chunk's own. */
#define SYI_FAST_BEHIND 24

/* How many of the `left` windows whose results begin at y are the next chunk, `most` as a rule.
 * *apart: it is computed on copies, since it must not touch what lies behind it, so the last ones
 * are few; or, with `past`, since its results do not begin a line; those of the next one do. */
SYI_INLINE int64_t syi_fast_chunk(const double *y, int64_t left, int64_t most, int past, int *apart)
{
    const int64_t to_line = past ? syi_line_after(y, 0, left) : 0;
    *apart = to_line > 0 || left < 4 * SYI_FAST_BEHIND;
    if (*apart)
        return to_line > 0 ? to_line : left;
    return left < most + SYI_FAST_BEHIND ? (left - SYI_FAST_BEHIND) / SYI_LINE * SYI_LINE : most;
}

/* With `by_products` made so (fast/divide.h). */
SYI_EITHER syi_vector syi_root_by(syi_vector square, int by_products)
{
    return by_products ? syi_product_root(square) : syi_root(square);
}

/* The deviation or, of a value that is `distance` above the mean, the score. */
SYI_EITHER syi_vector syi_root_or_score(syi_window_kind kind, syi_vector distance,
                                        syi_vector variance, int by_products)
{
    if (kind == SYI_WINDOW_SCORE)
        return by_products ? syi_product_score(distance, variance) : syi_score(distance, variance);
    return syi_root_by(variance, by_products);
}

/* The mean of the `have` newest columns, of which there is the mean, and the stretch of `length`
 * before them. */
SYI_EITHER syi_vector syi_join_mean(syi_vector newer, syi_vector sum, int64_t length, int64_t have)
{
    syi_vector mean = sum * (1.0 / (double)length);
    return have ? syi_fused(mean - newer, (double)length / (double)(length + have), newer) : mean;
}

SYI_ISA_DECLARE_AS(sy_status, syi_fast_mean_run, (const syi_piece *piece, int64_t period));

#endif
