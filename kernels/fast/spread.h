/*
 * How far the values of a short window are spread, for fast accuracy. A window is groups of four
 * columns, from its newest one back, and up to three columns before them, which count alone. Of a
 * group there are
 *
 *     rise      its sum less that of the four columns before it
 *     square    four times the sum of its values' squared distances from their mean
 *
 * One group is the window's pivot: the third newest, or, where there are fewer, the oldest; without
 * any the newest column, four times, takes its place. By how much the others' sums, or four times a
 * column, differ from the pivot's is a sum of rises, and of these differences and their squares
 * come the mean and the squares of the whole window (as in the shifted data algorithm of Chan,
 * Golub and LeVeque, The American Statistician 37, 1983). Only differences of neighbours enter, so
 * a large common value costs nothing; and the pivot is in the window itself, so that what is taken
 * away from the squares is never more than 23 parts of 27.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_H
#define SYI_KERNELS_FAST_SPREAD_H

#include "fast/either.h"
#include "fast/window.h"

enum {
    SYI_GROUP_COLUMNS = 4,
    SYI_GROUPS_MOST = (SYI_SCAN_LEAST - 1) / SYI_GROUP_COLUMNS,
};

/* Of a window's values: four times the sum of their squared distances from their mean, and four
 * times what the newest one is above it. */
typedef struct syi_spread {
    syi_vector square, distance;
} syi_spread;

/* What has been joined: the squares about the pivot, the sum of what the pivot is above each part,
 * what it is above the oldest one, and what the newest group is above it. */
typedef struct syi_spread_sums {
    syi_vector square, total, below, above;
} syi_spread_sums;

/* What column x[0] is above the one before. */
SYI_EITHER syi_vector syi_step(const double *x)
{
    return SYI_LOAD(x) - SYI_LOAD(x - 1);
}

/* What it and the one before are above the two before them. */
SYI_EITHER syi_vector syi_rise_of_two(const double *x)
{
    return (SYI_LOAD(x) - SYI_LOAD(x - 2)) + (SYI_LOAD(x - 1) - SYI_LOAD(x - 3));
}

/* Two groups, the newer one and the older: what the newer one is above the one before them, and the
 * squares of both about that one, but for the older one's own rise. */
typedef struct syi_pair {
    syi_vector rise, square;
} syi_pair;

SYI_EITHER syi_pair syi_pair_of(const syi_vector *rise, const syi_vector *square, int stride)
{
    syi_pair pair;
    pair.rise = rise[0] + rise[stride];
    pair.square = syi_product_sum(pair.rise, pair.rise, square[0] + square[stride]);
    return pair;
}

/* Group k of a window, from the newest one on, has rise[k * stride] and square[k * stride]. Of more
 * than two groups `newer` is the newest pair; of five `older` is the third newest group, which is
 * the pivot, and the one before it. */
SYI_EITHER syi_spread_sums syi_spread_groups(int groups, const syi_vector *rise,
                                             const syi_vector *square, int stride, syi_pair newer,
                                             syi_pair older)
{
    const syi_vector none = {0};
    syi_vector second, third;
    syi_spread_sums sums = {square[0], none, none, none};
    if (groups == 2) {
        sums.above = rise[0];
        sums.total = -rise[0];
        sums.square = syi_product_sum(rise[0], rise[0], square[0] + square[stride]);
    }
    if (groups < 3)
        return sums;
    second = rise[stride];
    third = groups > 3 ? rise[2 * stride] : none;
    if (groups == 3) {
        sums.total = -second - newer.rise;
        sums.square = square[2 * stride];
    } else if (groups == 4) {
        sums.below = third;
        sums.total = (third - second) - newer.rise;
        sums.square = syi_product_sum(third, third, square[2 * stride] + square[3 * stride]);
    } else {
        sums.below = older.rise;
        sums.total = (third - second) + (older.rise - newer.rise);
        sums.square = syi_product_sum(third, third, older.square) + square[4 * stride];
    }
    sums.above = newer.rise;
    sums.square = syi_product_sum(second, second, newer.square + sums.square);
    return sums;
}

/* What four times the column x[0] is below the sum of the four behind it. */
SYI_EITHER syi_vector syi_below_group(const double *x)
{
    const syi_vector column = SYI_LOAD(x);
    return ((SYI_LOAD(x + 1) - column) + (SYI_LOAD(x + 2) - column)) +
           ((SYI_LOAD(x + 3) - column) + (SYI_LOAD(x + 4) - column));
}

/* Joins the column that is `below` the pivot by now. */
SYI_EITHER void syi_spread_column(syi_spread_sums *sums)
{
    const syi_vector half = sums->below * 0.5;
    sums->total = syi_fused(half, 0.5, sums->total);
    sums->square = syi_product_sum(half, half, sums->square);
}

/* Of the window whose newest column is x[0]; `inverse` = 4 / period. */
SYI_EITHER syi_spread syi_spread_of(const double *x, int groups, int columns, double inverse,
                                    syi_spread_sums sums)
{
    const double *oldest = x - (groups > 0 ? SYI_GROUP_COLUMNS * groups : 1);
    syi_vector share;
    syi_spread all;
    for (int k = 0; k < columns; k++, oldest--) {
        if (k > 0 || groups == 0)
            sums.below = syi_scaled_sum(syi_step(oldest + 1), 4.0, sums.below);
        else
            sums.below += syi_below_group(oldest);
        syi_spread_column(&sums);
    }
    if (groups > 0)
        sums.above += syi_scaled_sum(syi_step(x), 2.0, syi_rise_of_two(x));
    share = sums.total * inverse;
    all.distance = sums.above + share;
    all.square = syi_product_sum(-sums.total, share, sums.square);
    return all;
}

/* Makes the variance, what a score is of the distance, or bands' reach, of a window's squares. */
SYI_EITHER double syi_spread_factor(const syi_window *window)
{
    const double count = (double)(window->period - window->ddof);
    if (window->kind == SYI_WINDOW_BANDS)
        return window->width * sqrt(0.25 / count);
    return window->kind == SYI_WINDOW_SCORE ? 4.0 / count : 0.25 / count;
}

/* What comes of a window, of all of whose columns there is the spread. */
SYI_EITHER void syi_spread_result(syi_window_kind kind, double factor, syi_vector newest,
                                  const syi_spread *all, syi_vector *out)
{
    if (kind == SYI_WINDOW_BANDS) {
        syi_vector reach = syi_root(all->square) * factor;
        out[1] = syi_fused(all->distance, -0.25, newest);
        out[0] = out[1] + reach;
        out[2] = out[1] - reach;
        return;
    }
    const syi_vector square = all->square * factor;
    out[0] = kind == SYI_WINDOW_SCORE ? syi_score(all->distance, square) : syi_root(square);
}

#endif
