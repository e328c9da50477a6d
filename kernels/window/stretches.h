/*
 * Rolling deviations, scores and bands of values of which none is more than twice another, or which
 * are whole numbers of a unit (squares.h). Each lane of the vectors has a stretch of columns to
 * itself: it begins with a window that holds nothing but its pivot and slides through the columns
 * before its stretch, so nothing is carried from lane to lane, and what goes is what came a period
 * ago. What slides is the sum S of the distances from the pivot, and V = c Q - S^2 itself, c being
 * the period and Q the sum of the distances' squares: where i comes and o goes, and S becomes T, V
 * grows by
 *
 *     (i - o) (c (i + o) - (S + T)),
 *
 * so nothing cancels. Where twice a sum is a double (SQUARES_CLOSE) both factors are; else the sums
 * and the second factor are high + low, high being a multiple of the grid G of s->shift and low, of
 * sums, at most G / 2. V = high + low has a grid g as Q has it in squares.h, but 2^length times as
 * large. After n additions low is below n g / 2, or, with what the factors' low parts add, 5 n g /
 * 4 for periods of 5 and more, and it lost half an ulp of that each time, or twice: in all less
 * than 2^-53 of 2.25 n^2 cuts of g / 2, or, n counted twice, of 9 n^2. Of few units (SQUARES_WHOLE)
 * the low part is an integer that is a double, so V is exact.
 */
#ifndef SYI_KERNELS_WINDOW_STRETCHES_H
#define SYI_KERNELS_WINDOW_STRETCHES_H

#include "window/squares.h"

#if SYI_HAVE_VECTORS

/* Columns of a stretch at least, but of long windows twice as many as they have, and at most. */
enum { STRETCH_LEAST = 64, STRETCH_MOST = 1528 };

/* Stretches, one a lane. */
typedef struct stretches {
    const double *x;       /* the first one's first column */
    int64_t columns;       /* of each, in whole batches, of which the last may be one of fewer: */
    int64_t whole;         /* so many are put by batches */
    int64_t stride, apart; /* from one to the next, of what is read, and of the results */
    int64_t before;        /* columns before them that are read */
    uintptr_t next;        /* where as many columns begin that are read later */
    const double *scale;   /* of each one's results; NULL: none */
    syi_vec_mask lost;     /* lanes that are left to somebody else: */
    int64_t done[SYI_VECTOR]; /* from this column of each on */
    squares_moments moments;  /* so far, with V in the squares' place */
    outliers outliers[SYI_VECTOR];
    int have_outliers;                    /* any of them; then: */
    outlying now;                         /* of the last column */
    uint8_t changes[STRETCH_MOST + LANE]; /* the lanes of each column with which that changes */
    syi_vec tile[SYI_STRETCH_PERIOD + STRETCH_MOST];
} stretches;

/* The most columns of a stretch: to slide through the windows before it takes as long as through
 * it, and a near cache is to hold both. */
SYI_INLINE int64_t stretches_most(int64_t period)
{
    return period <= 64 ? 248 : period <= 128 ? 504 : period <= 256 ? 760 : STRETCH_MOST;
}

/* Columns before a stretch that are read: its windows' and the first that goes. */
SYI_INLINE int64_t stretches_before(int64_t period)
{
    return (period + SYI_VECTOR - 1) & -SYI_VECTOR;
}

/* How many columns stretches have that share `left` columns; 0: these are too few. Lanes are an odd
 * number of batches apart, for else they would lie alike in the caches. */
SYI_INLINE int64_t stretches_columns(int64_t period, int64_t left)
{
    const int64_t least = period > STRETCH_LEAST ? 2 * period : STRETCH_LEAST;
    const int64_t most = stretches_most(period);
    int64_t batches = left / BATCH;
    batches = batches * LANE < most ? batches : most / LANE;
    batches -= batches % 2 == 0;
    return period > 1 && period <= SYI_STRETCH_PERIOD && batches * LANE >= least ? batches * LANE
                                                                                 : 0;
}

/* Reads the stretches from x[0] on and the windows before them, and of each lane how far its values
 * go, but for those that are no numbers. */
SYI_INLINE void stretches_read(stretches *t, const double *x, int64_t period, syi_vec *least,
                               syi_vec *most)
{
    enum { AT_ONCE = 4 };
    syi_vec low[AT_ONCE], high[AT_ONCE];
    t->x = x;
    t->before = stretches_before(period);
    for (int k = 0; k < AT_ONCE; k++) {
        low[k] = syi_vec_of(INFINITY);
        high[k] = syi_vec_of(-INFINITY);
    }
    for (int64_t i = 0; i < t->before + t->columns; i += SYI_VECTOR) {
        syi_vec *const column = t->tile + i;
        syi_vec_columns(x + i - t->before, t->stride, column);
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_VECTOR; k++) {
            low[k % AT_ONCE] = syi_vec_min(column[k], low[k % AT_ONCE]);
            high[k % AT_ONCE] = syi_vec_max(column[k], high[k % AT_ONCE]);
        }
    }
    *least = syi_vec_min(syi_vec_min(low[0], low[1]), syi_vec_min(low[2], low[3]));
    *most = syi_vec_max(syi_vec_max(high[0], high[1]), syi_vec_max(high[2], high[3]));
}

/* A lane goes on no further than its column `at`. */
SYI_INLINE void stretches_lose(stretches *t, int lane, int64_t at)
{
    syi_vec lost = {0};
    t->done[lane] = at;
    for (int l = 0; l < SYI_VECTOR; l++)
        lost[l] = t->done[l] < t->columns ? -1.0 : 1.0;
    t->lost = syi_vec_mask_ordered(syi_vec_mask_full(), lost, (syi_vec){0});
}

enum { STRETCH_NEAR = 5 }; /* of periods that are less all values are to be close */

/* Whether with magnitudes from the one to the other nothing overflows or becomes subnormal. */
SYI_INLINE int stretches_can_hold(double least, double most)
{
    return least > 0x1p-340 && most < 0x1p400;
}

/* Takes the outliers out of lanes whose values are not near each other; not of all, if too many
 * have too many. */
SYI_INLINE void stretches_take_outliers(stretches *t, const double *x, int64_t period,
                                        syi_vec *least, syi_vec *most)
{
    int failed = 0;
    x -= t->before;
    for (int l = 0; l < SYI_VECTOR; l++, x += t->stride) {
        window_range range = {{0, 0, 0}, (*least)[l], (*most)[l]};
        t->outliers[l].count = t->outliers[l].lost = 0;
        if (window_is_near(&range) || 2 * failed >= SYI_VECTOR)
            continue;
        if (outliers_take(&t->outliers[l], x, t->before, t->before + t->columns, period, t->tile, l,
                          &range.least, &range.most)) {
            (*least)[l] = range.least;
            (*most)[l] = range.most;
        } else {
            failed++;
        }
    }
}

/* What is known of the lanes that are not lost: by magnitude. */
typedef struct stretches_range {
    double least, most, distance; /* from a lane's pivot */
    int close;                    /* all of them */
    int good;                     /* such a lane; < 0: there are too few */
} stretches_range;

/* Lanes are lost whose values are not near each other, or too far apart for bands, or all the same.
 */
SYI_INLINE stretches_range stretches_compare(const squares *s, stretches *t, syi_vec pivot,
                                             syi_vec least, syi_vec most)
{
    stretches_range all = {INFINITY, 0.0, 0.0, 1, -1};
    int lanes = 0;
    for (int l = 0; l < SYI_VECTOR; l++) {
        const window_range range = {{0, 0, 0}, least[l], most[l]};
        const int close = window_is_close(&range, 2 * s->period);
        const int good = least[l] < most[l] && squares_bands_fit(s, least[l], most[l]) &&
                         (s->period < STRETCH_NEAR ? close : window_is_near(&range));
        t->done[l] = good ? t->columns : 0;
        if (!good)
            continue;
        const double far = squares_larger(most[l] - pivot[l], pivot[l] - least[l]);
        const double near = squares_larger(least[l], -most[l]);
        all.distance = squares_larger(far, all.distance);
        all.most = squares_larger(squares_larger(most[l], -least[l]), all.most);
        all.least = near < all.least ? near : all.least;
        all.close &= close;
        all.good = ++lanes > SYI_VECTOR / 2 ? l : -1;
    }
    return all;
}

/* Where a lane's outliers come and leave, and what is in the windows before its first one. */
SYI_INLINE void stretches_begin_outliers(const squares *s, stretches *t, int lane)
{
    outliers *const o = &t->outliers[lane];
    outliers_begin(o, s->period);
    for (int k = o->first; k < o->count; k++) {
        const int64_t comes = o->of[k].at, leaves = comes + s->period;
        if (comes >= 0)
            t->changes[comes] |= (uint8_t)(1 << lane);
        if (leaves < t->columns)
            t->changes[leaves] |= (uint8_t)(1 << lane);
    }
    t->now.any += o->end - o->first;
    outliers_tell(o, -1, s->reach, (double)s->period, &t->now, lane);
}

/* Lanes are lost in which an outlier is too far away. */
SYI_INLINE void stretches_set_outliers(const squares *s, stretches *t)
{
    t->now = (outlying){.any = 0};
    t->have_outliers = 0;
    for (int l = 0; l < SYI_VECTOR; l++) {
        outliers *const o = &t->outliers[l];
        if (o->count == 0 || t->done[l] == 0)
            continue;
        if (!t->have_outliers)
            memset(t->changes, 0, sizeof t->changes);
        t->have_outliers = 1;
        if (outliers_set(o, s->pivot[l], s->reach, (double)s->period))
            stretches_begin_outliers(s, t, l);
        else
            stretches_lose(t, l, 0);
    }
}

/* With distances from the pivots of at most `reach`, below 2^top, multiples of 2^unit. */
SYI_INLINE void stretches_set(squares *s, stretches *t, double reach, int top, int unit,
                              double lost, double largest)
{
    const int length = window_length(s->period);
    s->per_unit = syi_pow2(2 - unit);
    s->reach = reach;
    squares_bound(s, top, lost, largest);
    s->start.square = syi_vec_of(1.5 * syi_pow2(2 * (top + length) + 2)); /* 1.5 * 2^52 * g */
    t->moments = s->start;
    stretches_lose(t, 0, t->done[0]);
    stretches_set_outliers(s, t);
}

/* So many bits of the sums' bound, 2^(top + length), may be above the values' unit for spreads to
 * be exact: both factors are then, and V's low part, of less than n g / 2 < 2^52 squared units. */
enum { STRETCH_WHOLE = 45 };

/* Lanes are lost but those whose values are multiples of 2^unit; gives whether enough are not. */
SYI_INLINE int stretches_keep_whole(stretches *t, int unit)
{
    const syi_vec shift = syi_vec_of(1.5 * syi_pow2(unit + 52));
    syi_bits_vec broken = {0};
    for (int64_t i = 0; i < t->before + t->columns; i += SYI_VECTOR) {
        int lanes = 0;
        for (int k = 0; k < SYI_VECTOR; k++) {
            const syi_vec x = t->tile[i + k];
            broken |= ~(syi_bits_vec)((x + shift) - shift == x);
        }
        for (int l = 0; l < SYI_VECTOR; l++) {
            t->done[l] = broken[l] ? 0 : t->done[l];
            lanes += t->done[l] > 0;
        }
        if (2 * lanes <= SYI_VECTOR) /* as a rule soon */
            return 0;
    }
    return 1;
}

/* As stretches_begin(), of values from *least to *most that are not near each other, but whole,
 * such as volumes: V is exact, so a result's error is a part of itself. */
static inline int stretches_begin_whole(squares *s, stretches *t, syi_vec least, syi_vec most)
{
    double largest = 0.0;
    for (int l = 0; l < SYI_VECTOR; l++) {
        const double size = squares_larger(most[l], -least[l]);
        t->done[l] = least[l] < most[l] && stretches_can_hold(size, size) ? t->columns : 0;
        largest = t->done[l] > 0 ? squares_larger(size, largest) : largest;
    }
    const int top = syi_split(largest).exponent + 53;
    const int unit = top + window_length(s->period) - STRETCH_WHOLE;
    if (largest == 0.0 || !stretches_keep_whole(t, unit))
        return 0;
    s->way = SQUARES_WHOLE;
    s->pivot = syi_vec_of(0.0);
    stretches_set(s, t, largest, top, unit, 0.0, largest);
    s->error = syi_vec_of(2.125 * SQUARES_SLACK * (s->kind == SYI_WINDOW_SCORE ? 1.0 : s->width));
    s->mean_error = syi_vec_of(0x1p-97 * largest);
    return 1;
}

/* Stretches from x[0] on, with a grid, and with pivots in the middle of what the values reach,
 * which are multiples of their unit; gives whether the values are for them. */
static inline int stretches_begin(squares *s, stretches *t, const double *x)
{
    syi_vec first, last, pivot;
    stretches_read(t, x, s->period, &first, &last);
    syi_vec least = first, most = last;
    stretches_take_outliers(t, x, s->period, &least, &most);
    pivot = syi_vec_of(0.5) * (least + most);
    const stretches_range all = stretches_compare(s, t, pivot, least, most);
    if (all.good < 0) {
        for (int l = 0; l < SYI_VECTOR; l++)
            outliers_put_back(&t->outliers[l], t->before, t->tile, l);
        return stretches_begin_whole(s, t, first, last);
    }
    if (!stretches_can_hold(all.least, all.most))
        return 0;
    const int top = syi_split(all.distance).exponent + 53;
    const int bottom = syi_split(all.least).exponent;
    if (top - bottom > 52)
        return 0;
    for (int l = 0; l < SYI_VECTOR; l++)
        pivot[l] = pivot[t->done[l] > 0 ? l : all.good];
    s->way = all.close ? SQUARES_CLOSE : SQUARES_NEAR;
    s->pivot = pivot;
    const double n = (double)((all.close ? 1 : 2) * (t->columns + t->before) + 64);
    stretches_set(s, t, all.distance, top, bottom, 2.25 * n * n, all.most);
    return 1;
}

/* A batch's results. In as many rows a processor does not look ahead itself, so the places of later
 * ones are asked for. */
SYI_INLINE void stretches_put(const stretches *t, const syi_vec *column, double *y, int past)
{
    if (!t->scale) {
        lanes_put(y, t->apart, column, past);
        return;
    }
    lanes_put_scaled(y, t->apart, column, t->scale);
    for (int l = 0; l < SYI_VECTOR; l++)
        syi_ask_to_write((uintptr_t)(y + l * t->apart) + 2 * LANE * sizeof *y, LANE);
}

/* The stretches' results from their column `at` on, a batch of them at a time, to out[..]. Stops at
 * a batch that is not whole or has a window that is not sure, whose results stay in it, and gives
 * its first column, or the stretches' end. */
int64_t SYI_ISA_NAME(syi_stretches_run)(const squares *s, stretches *t, squares_batch *b,
                                        double *const *out, int64_t at);

#endif
#endif
