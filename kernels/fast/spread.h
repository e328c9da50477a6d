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
 * come the mean and the squares of all groups (as in the shifted data algorithm of Chan,
 * Golub and LeVeque, The American Statistician 37, 1983), which the columns left join one by one.
 * Only differences of neighbours enter, so a large common value costs nothing; and the pivot is one
 * of the groups itself, so that what is taken away from the squares is never more than five sixths
 * of them.
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

enum { SYI_COLUMNS_MOST = SYI_GROUP_COLUMNS - 1 };

/* By the period alone: of what the pivot is above all groups, its part in what it is above their
 * mean; and of what the mean so far is above the next column, that in the next mean and, times
 * itself, in the squares (Welford, Technometrics 4, 1962). */
typedef struct syi_spread_weights {
    double groups, mean[SYI_COLUMNS_MOST], square[SYI_COLUMNS_MOST];
} syi_spread_weights;

SYI_EITHER syi_spread_weights syi_spread_weights_of(int64_t period)
{
    const int64_t groups = period / SYI_GROUP_COLUMNS;
    double have = groups > 0 ? (double)(SYI_GROUP_COLUMNS * groups) : 1.0;
    syi_spread_weights by;
    by.groups = groups > 0 ? 1.0 / (double)groups : 0.0;
    for (int k = 0; k < SYI_COLUMNS_MOST; k++, have += 1.0) {
        by.mean[k] = 1.0 / (have + 1.0);
        by.square[k] = have / (4.0 * (have + 1.0));
    }
    return by;
}

/* Of the window whose newest column is x[0], with so many columns beyond its groups. */
SYI_EITHER syi_spread syi_spread_of(const double *x, int groups, int columns,
                                    const syi_spread_weights *by, syi_spread_sums sums)
{
    const double *oldest = x - (groups > 0 ? SYI_GROUP_COLUMNS * groups : 1);
    syi_vector share = sums.total * by->groups; /* what the pivot is above the mean */
    syi_spread all;
    all.square = syi_product_sum(-sums.total, share, sums.square);
    for (int k = 0; k < columns; k++, oldest--) {
        syi_vector below;
        if (k > 0 || groups == 0)
            sums.below = syi_scaled_sum(syi_step(oldest + 1), 4.0, sums.below);
        else
            sums.below += syi_below_group(oldest);
        below = sums.below - share;
        all.square = syi_product_sum(below * by->square[k], below, all.square);
        share = syi_fused(below, by->mean[k], share);
    }
    if (groups > 0)
        sums.above += syi_scaled_sum(syi_step(x), 2.0, syi_rise_of_two(x));
    all.distance = sums.above + share;
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

/* What comes of a window, of all of whose columns there is the spread. `by_products`: is made so,
 * bands never. */
SYI_EITHER void syi_spread_result(syi_window_kind kind, double factor, syi_vector newest,
                                  const syi_spread *all, int by_products, syi_vector *out)
{
    if (kind == SYI_WINDOW_BANDS) {
        syi_vector reach = syi_root(all->square) * factor;
        out[1] = syi_fused(all->distance, -0.25, newest);
        out[0] = out[1] + reach;
        out[2] = out[1] - reach;
        return;
    }
    out[0] = syi_root_or_score(kind, all->distance, all->square * factor, by_products);
}

#endif
