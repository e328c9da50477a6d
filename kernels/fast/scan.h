/*
 * How far a window's values are spread, for fast accuracy, in the same time for any period. A row
 * is divided into blocks of a period, counted from its beginning, so that no cut matters. Every
 * window that ends in a block holds the block's first value: what comes before it is the end of the
 * block before, what follows the beginning of this one. Both are gone through from this border
 * outwards, value by value (Welford, Technometrics 4, 1962), and joined (Chan, Golub and LeVeque,
 * The American Statistician 37, 1983). Values count from the block's first one, so that a large
 * common value costs nothing, and nothing of a value stays behind when it leaves.
 */
#ifndef SYI_KERNELS_FAST_SCAN_H
#define SYI_KERNELS_FAST_SCAN_H

#include "fast/either.h"
#include "fast/window.h"

/* Of some values: their mean, and the sum of their squared distances from it. */
typedef struct syi_scan {
    syi_vector mean, square;
} syi_scan;

/* One value more, so that there are `count`; `inverse` = 1 / count. Both distances have the same
 * sign. */
SYI_EITHER void syi_scan_add(syi_scan *scan, syi_vector x, double inverse)
{
    const syi_vector from = x - scan->mean;
    scan->mean = syi_fused(from, inverse, scan->mean);
    scan->square = syi_product_sum(from, x - scan->mean, scan->square);
}

/* What part of a window's values is in the older one of its parts, the newer one having `count`;
 * `inverse` = 1 / period. */
SYI_EITHER double syi_scan_part(double count, double period, double inverse)
{
    return (period - count) * inverse;
}

/* Two parts of a window; `joint`: the newer one's count times the older one's part. */
SYI_EITHER syi_scan syi_scan_join(const syi_scan *older, const syi_scan *newer, double joint,
                                  double part)
{
    const syi_vector apart = older->mean - newer->mean;
    syi_scan all;
    all.mean = syi_fused(apart, part, newer->mean);
    all.square = syi_product_sum(apart * joint, apart, older->square + newer->square);
    return all;
}

/* Makes the variance, or bands' reach, of a window's squares. */
SYI_EITHER double syi_scan_factor(const syi_window *window)
{
    const double factor = 1.0 / (double)(window->period - window->ddof);
    return window->kind == SYI_WINDOW_BANDS ? window->width * sqrt(factor) : factor;
}

/* What a window's results are made of; x is its newest value, and all count from `border`: the
 * deviation, the score, or the bands' middle and their reach from it. */
SYI_EITHER void syi_scan_result(syi_window_kind kind, double factor, syi_vector border,
                                syi_vector x, const syi_scan *all, syi_vector *out)
{
    if (kind == SYI_WINDOW_BANDS) {
        out[0] = syi_root(all->square) * factor;
        out[1] = border + all->mean;
        return;
    }
    out[0] = syi_root(all->square * factor);
    if (kind == SYI_WINDOW_SCORE) /* not finite where the squares are not; a zero is +0 */
        out[0] = ((x - all->mean) + (all->square - all->square)) / out[0];
}

/* The upper band, the middle and the lower one. */
SYI_EITHER void syi_scan_bands(syi_vector reach, syi_vector middle, syi_vector *bands)
{
    bands[0] = middle + reach;
    bands[1] = middle;
    bands[2] = middle - reach;
}

#endif
