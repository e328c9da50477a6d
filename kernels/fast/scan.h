/*
 * How far a window's values are spread, for fast accuracy, in the same time for any period. A row
 * is divided into blocks of a period, counted from its beginning, so that no cut matters. Every
 * window that ends in a block holds the block's first value: what comes before it is the end of the
 * block before, what follows the beginning of this one. Both are gone through from this border
 * outwards, value by value, and added: the values' distances from the border's and their squares.
 * Nothing of a value stays behind when it leaves. What cancels when the spread is made of the sums
 * is bounded, since the border's value is one of the window's: a square sum about one of n values
 * is at most n times that about their mean.
 */
#ifndef SYI_KERNELS_FAST_SCAN_H
#define SYI_KERNELS_FAST_SCAN_H

#include "fast/either.h"
#include "fast/window.h"

/* Of some of a window's values: the sums of their distances from the border's value and of these
 * distances' squares. */
typedef struct syi_part {
    syi_vector sum, square;
} syi_part;

/* Values gone through: the newest ones are still apart, so that few roundings are of all sums'
 * size. */
typedef struct syi_scan {
    syi_part all, newest;
} syi_scan;

/* Before a scan takes its first value, and as often as it has taken so many more: */
enum { SYI_SCAN_STEPS = 8 };

/* none are apart any more. */
SYI_EITHER void syi_scan_join(syi_scan *scan)
{
    scan->all.sum += scan->newest.sum;
    scan->all.square += scan->newest.square;
    scan->newest.sum -= scan->newest.sum;
    scan->newest.square -= scan->newest.square;
}

/* One value more. */
SYI_EITHER void syi_scan_add(syi_scan *scan, syi_vector distance)
{
    scan->newest.sum += distance;
    scan->newest.square = syi_product_sum(distance, distance, scan->newest.square);
}

SYI_EITHER syi_part syi_scan_part(const syi_scan *scan)
{
    const syi_part part = {scan->all.sum + scan->newest.sum,
                           scan->all.square + scan->newest.square};
    return part;
}

/* 1 / period, and what makes the variance, or bands' reach, of a window's squares. */
typedef struct syi_scan_weights {
    double inverse, factor;
} syi_scan_weights;

SYI_EITHER syi_scan_weights syi_scan_weights_of(const syi_window *window)
{
    const double factor = 1.0 / (double)(window->period - window->ddof);
    syi_scan_weights by;
    by.inverse = 1.0 / (double)window->period;
    by.factor = window->kind == SYI_WINDOW_BANDS ? window->width * sqrt(factor) : factor;
    return by;
}

/* What becomes of a window of two parts, the newest of whose values is `distance` from the
 * border's: the deviation, the score, or the bands' reach and their middle. `by_products`: is made
 * so. */
SYI_EITHER void syi_scan_result(syi_window_kind kind, const syi_scan_weights *by, syi_vector border,
                                syi_vector distance, const syi_part *older, const syi_part *newer,
                                int by_products, syi_vector *out)
{
    const syi_vector sum = older->sum + newer->sum, mean = sum * by->inverse;
    const syi_vector square = syi_product_sum(-sum, mean, older->square + newer->square);
    if (kind == SYI_WINDOW_BANDS) {
        out[0] = syi_root_by(square, by_products) * by->factor;
        out[1] = border + mean;
        return;
    }
    out[0] = syi_root_or_score(kind, distance - mean, square * by->factor, by_products);
}

/* The upper band, the middle and the lower one. */
SYI_EITHER void syi_scan_bands(syi_vector reach, syi_vector middle, syi_vector *bands)
{
    bands[0] = middle + reach;
    bands[1] = middle;
    bands[2] = middle - reach;
}

#endif
