/*
 * How far a window's values are spread, for fast accuracy, in the same time for any period. A row
 * is divided into blocks of a period, counted from its beginning, so that no cut matters. Every
 * window that ends in a block holds the block's first value: what comes before it is the end of the
 * block before, what follows the beginning of this one. Both are gone through from this border
 * outwards, value by value (Welford, Technometrics 4, 1962), and joined (Chan, Golub and LeVeque,
 * The American Statistician 37, 1983). Nothing of a value stays behind when it leaves. Means count
 * from a value near them, which follows them: so neither what values have in common nor a spike on
 * the border makes their roundings large.
 */
#ifndef SYI_KERNELS_FAST_SCAN_H
#define SYI_KERNELS_FAST_SCAN_H

#include "fast/either.h"
#include "fast/window.h"

/* Of a window's values, or some of them: their mean, which is base + mean, and the sum of their
 * squared distances from it. */
typedef struct syi_part {
    syi_vector base, mean, square;
} syi_part;

/* Values gone through: the newest ones' squares are still apart, so that few roundings are of all
 * squares' size. */
typedef struct syi_scan {
    syi_vector base, mean, square, newest;
} syi_scan;

/* Before a scan takes its first value, and as often as it has taken so many more: */
enum { SYI_SCAN_STEPS = 8 };

/* its base follows the mean, and no squares are apart any more. */
SYI_EITHER void syi_scan_follow(syi_scan *scan)
{
    const syi_vector base = scan->base + scan->mean;
    scan->mean -= base - scan->base;
    scan->base = base;
    scan->square += scan->newest;
    scan->newest -= scan->newest;
}

/* One value more, so that there are `count`; `inverse` = 1 / count. Nothing is ever taken from the
 * squares. */
SYI_EITHER void syi_scan_add(syi_scan *scan, syi_vector x, double inverse)
{
    const syi_vector from = (x - scan->base) - scan->mean;
    scan->mean = syi_fused(from, inverse, scan->mean);
    scan->newest = syi_product_sum(from, syi_fused(-from, inverse, from), scan->newest);
}

SYI_EITHER syi_part syi_scan_part(const syi_scan *scan)
{
    const syi_part part = {scan->base, scan->mean, scan->square + scan->newest};
    return part;
}

/* How much of a window is not in a part of `count` values; `inverse` = 1 / period. */
SYI_EITHER double syi_scan_share(double count, double period, double inverse)
{
    return (period - count) * inverse;
}

/* Whether the newer part of a window, with `count` values, is the larger one, about: the same for
 * all values that a scan takes before its base follows again. */
SYI_EITHER int syi_scan_is_most(int64_t period, int64_t count)
{
    return 2 * ((count - 1) / SYI_SCAN_STEPS * SYI_SCAN_STEPS) + SYI_SCAN_STEPS >= period;
}

/* Two parts of a window, the larger one last: its base counts, for a few values' own may be a spike
 * yet. `share`: how much of the window is in the smaller one; `joint`: one's count times the
 * other's share. */
SYI_EITHER syi_part syi_scan_join(const syi_part *less, const syi_part *more, double joint,
                                  double share)
{
    const syi_vector apart = (less->base - more->base) + (less->mean - more->mean);
    syi_part all;
    all.base = more->base;
    all.mean = syi_fused(apart, share, more->mean);
    all.square = syi_product_sum(apart * joint, apart, less->square + more->square);
    return all;
}

/* Makes the variance, or bands' reach, of a window's squares. */
SYI_EITHER double syi_scan_factor(const syi_window *window)
{
    const double factor = 1.0 / (double)(window->period - window->ddof);
    return window->kind == SYI_WINDOW_BANDS ? window->width * sqrt(factor) : factor;
}

/* What a window's results are made of; x is its newest value: the deviation, the score, or the
 * bands' middle and their reach from it. `by_products`: is made so. */
SYI_EITHER void syi_scan_result(syi_window_kind kind, double factor, syi_vector x,
                                const syi_part *all, int by_products, syi_vector *out)
{
    if (kind == SYI_WINDOW_BANDS) {
        out[0] = syi_root_by(all->square, by_products) * factor;
        out[1] = all->base + all->mean;
        return;
    }
    out[0] =
        syi_root_or_score(kind, (x - all->base) - all->mean, all->square * factor, by_products);
}

/* The upper band, the middle and the lower one. */
SYI_EITHER void syi_scan_bands(syi_vector reach, syi_vector middle, syi_vector *bands)
{
    bands[0] = middle + reach;
    bands[1] = middle;
    bands[2] = middle - reach;
}

#endif
