/*
 * The results of a batch of stretches (stretches.h) of which some windows hold outliers
 * (outliers.h): as results.h has them, but the bounds go with each window, and as pairs of doubles
 * all along, for such a window's mean is no longer near its pivot.
 */
#ifndef SYI_KERNELS_WINDOW_OUTLYING_H
#define SYI_KERNELS_WINDOW_OUTLYING_H

#include "window/results.h"
#include "window/stretches.h"

#if SYI_HAVE_VECTORS

/* What results are off by in proportion to themselves, and a mean. */
#define OUTLYING_SLACK (4.0 * SQUARES_SLACK)
#define OUTLYING_MEAN  0x1p-97

/* Whether one comes or leaves in the batch from column `at` on. */
SYI_INLINE int outlying_changes(const stretches *t, int64_t at)
{
    uint64_t changes = 0;
    for (int k = 0; k < LANE; k += 8) {
        uint64_t some;
        memcpy(&some, t->changes + at + k, sizeof some);
        changes |= some;
    }
    return changes != 0;
}

/* Whether windows of that batch hold outliers. */
SYI_INLINE int outlying_is_met(const stretches *t, int64_t at)
{
    return t->now.any || (t->have_outliers && outlying_changes(t, at));
}

/* The first batch from there on in which one comes, or the stretches' end; before, there are none.
 */
SYI_INLINE int64_t outlying_next(const stretches *t, int64_t at)
{
    if (!t->have_outliers)
        return t->columns;
    while (at < t->columns && !outlying_changes(t, at))
        at += LANE;
    return at;
}

/* On to column `at` of the lanes in which one comes or leaves. */
static __attribute__((noinline)) void outlying_go_to(const squares *s, stretches *t, int64_t at)
{
    outlying *const now = &t->now;
    now->newest = now->newest_low = (syi_vec){0};
    for (unsigned lanes = t->changes[at]; lanes; lanes &= lanes - 1) {
        const int l = __builtin_ctz(lanes);
        outliers *const o = &t->outliers[l];
        now->any -= o->end - o->first;
        outliers_step(o, at, s->period);
        now->any += o->end - o->first;
        outliers_tell(o, at, s->reach, (double)s->period, now, l);
    }
}

/* The spread of column k's windows with their outliers. */
SYI_INLINE void outlying_join_spread(squares_batch *b, int k, const outlying *now, syi_vec low)
{
    const syi_vec sum = b->sum[k], twice = now->change + now->change, product = twice * sum;
    syi_vec more, more_low, spread, rest;
    rest = syi_vec_fma(twice, low, (now->change_low + now->change_low) * sum);
    rest += syi_vec_fma(twice, sum, -product);
    syi_vec_two_sum(now->spread, -product, &more, &more_low);
    more_low += now->spread_low - rest;
    syi_vec_two_sum(b->square[k], more, &spread, &rest);
    rest += b->square_low[k] + more_low;
    syi_vec_quick_sum(spread, rest, &b->square[k], &b->square_low[k]);
    b->outlying[k] = (outlying_window){now->lanes, now->sum_error, now->spread_error};
}

/* And their sum. */
SYI_INLINE void outlying_join_sum(squares_batch *b, int k, const outlying *now, syi_vec low)
{
    syi_vec rest;
    syi_vec_two_sum(b->sum[k], now->change, &b->sum[k], &rest);
    syi_vec_quick_sum(b->sum[k], rest + (now->change_low + low), &b->sum[k], &b->sum_low[k]);
}

/* What a score's windows lack before they are divided: count * newest value - sum of the outliers.
 */
SYI_INLINE void outlying_shift(squares_batch *b, int k, const outlying *now, int is_newest,
                               syi_vec low)
{
    syi_vec rest;
    b->shift[k] = -now->change;
    b->shift_low[k] = -now->change_low;
    b->sum_low[k] = low;
    if (is_newest) {
        syi_vec_two_sum(now->newest, -now->change, &b->shift[k], &rest);
        b->shift_low[k] += rest + now->newest_low;
    }
}

/* Tells the windows of a batch of their outliers. */
SYI_INLINE void outlying_join(const squares *s, stretches *t, squares_batch *b, int64_t at,
                              syi_window_kind kind, squares_way way)
{
    for (int k = 0; k < LANE; k++) {
        const int changes = t->changes[at + k] != 0;
        if (changes)
            outlying_go_to(s, t, at + k);
        const syi_vec low = squares_have_low(way) ? b->sum_low[k] : (syi_vec){0};
        outlying_join_spread(b, k, &t->now, low);
        if (kind == SYI_WINDOW_BANDS)
            outlying_join_sum(b, k, &t->now, low);
        if (kind == SYI_WINDOW_SCORE)
            outlying_shift(b, k, &t->now, changes, low);
    }
}

/* How far what is made of a root is off: by what the spread is, and in proportion to `size`. */
SYI_INLINE syi_vec outlying_bound(const squares *s, const squares_batch *b, int k, double factor,
                                  syi_vec size)
{
    const syi_vec spread = syi_vec_fma(b->outlying[k].spread_error, syi_vec_of(factor), s->error);
    return syi_vec_fma(spread, b->half[k], syi_vec_abs(size) * syi_vec_of(OUTLYING_SLACK));
}

/* A mean, high + low, which is off by `bound` at most: tested where the window holds an outlier, of
 * others it is certain as results.h has it. Not 0 in *unsure: it is not sure. */
SYI_INLINE syi_vec outlying_mean(const squares *s, const squares_batch *b, int k, syi_vec high,
                                 syi_vec low, syi_vec bound, syi_bits_vec *unsure)
{
    const syi_bits_vec here = b->outlying[k].lanes;
    const syi_vec most = high + (low + bound), least = high + syi_vec_less(low, bound);
    syi_vec rest, near = window_mean(b->sum[k], s->pivot, &s->by, &rest);
    near += window_divide(rest + b->sum_low[k], &s->by);
    *unsure = (syi_bits_vec)(most != least) & here;
    return syi_vec_pick(here, most, near);
}

/* Results that are not sure, whatever their bounds say: the least they can be is no number. */
SYI_INLINE void outlying_doubt(squares_batch *b, int k, syi_bits_vec unsure, syi_vec_mask *sure)
{
    b->least[0][k] = (syi_vec)((syi_bits_vec)b->least[0][k] | unsure);
    *sure = syi_vec_mask_ordered(*sure, b->out[0][k], b->least[0][k]);
}

SYI_INLINE syi_vec_mask outlying_bands(const squares *s, squares_batch *b)
{
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        const syi_vec quotient = b->sum[k] * s->by.inverse;
        const syi_vec lacks = syi_vec_fnma(quotient, s->by.count, b->sum[k]) + b->sum_low[k];
        syi_vec mean, low, step, step_low;
        syi_bits_vec unsure;
        syi_vec_two_sum(s->pivot, quotient, &mean, &low);
        syi_vec_quick_sum(mean, low + window_divide(lacks, &s->by), &mean, &low);
        const syi_vec off = (syi_vec_abs(s->pivot) + syi_vec_abs(quotient)) * OUTLYING_MEAN +
                            b->outlying[k].sum_error * s->by.inverse;
        squares_scale(s, b->root[k], b->root_low[k], &step, &step_low);
        const syi_vec bound = outlying_bound(s, b, k, 2.125 * s->width, step) + off;
        b->out[0][k] =
            squares_band(mean, step, 0, low + step_low, bound, SQUARES_FAR, &b->least[0][k], &sure);
        b->out[1][k] = outlying_mean(s, b, k, mean, low, off, &unsure);
        b->out[2][k] =
            squares_band(mean, step, 1, low - step_low, bound, SQUARES_FAR, &b->least[1][k], &sure);
        outlying_doubt(b, k, unsure, &sure);
    }
    return sure;
}

SYI_INLINE syi_vec_mask outlying_deviations(const squares *s, squares_batch *b)
{
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        syi_vec high, low;
        squares_scale(s, b->root[k], b->root_low[k], &high, &low);
        b->out[0][k] = squares_round(high, low, outlying_bound(s, b, k, 2.125 * s->width, high),
                                     &b->least[0][k], &sure);
    }
    return sure;
}

/* squares_distance() with the outliers: that of the copy's values is exact. */
SYI_INLINE void outlying_distance(const squares *s, squares_batch *b, int k, syi_vec newest)
{
    syi_vec high, rest;
    squares_distance(s, b, k, newest);
    syi_vec_two_sum(b->sum[k], b->shift[k], &high, &rest);
    syi_vec_quick_sum(high, rest + (b->sum_low[k] + b->shift_low[k]), &b->sum[k], &b->sum_low[k]);
}

SYI_INLINE syi_vec_mask outlying_scores(const squares *s, squares_batch *b, const syi_vec *newest)
{
    const syi_vec width = syi_vec_of(2.125 * s->width);
    syi_vec_mask sure = syi_vec_mask_full();
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++)
        outlying_distance(s, b, k, newest[k]);
    SYI_UNROLL(1)
    for (int k = 0; k < LANE; k++) {
        const syi_vec half = b->half[k], size = b->outlying[k].spread_error;
        syi_vec high, low;
        squares_quotient(s, b, k, 1, &high, &low);
        const syi_vec each = syi_vec_fma(size, syi_vec_of(4.25), s->error) * half * half;
        const syi_vec bound =
            (each + OUTLYING_SLACK) * syi_vec_abs(high) + b->outlying[k].sum_error * half * width;
        b->out[0][k] = squares_round(high, low, bound, &b->least[0][k], &sure);
        outlying_doubt(b, k, (syi_bits_vec)(b->square[k] <= s->least + 2.0 * size), &sure);
    }
    return sure;
}

SYI_INLINE syi_vec_mask outlying_results(const squares *s, squares_batch *b, const syi_vec *newest,
                                         syi_window_kind kind)
{
    return kind == SYI_WINDOW_BANDS   ? outlying_bands(s, b)
           : kind == SYI_WINDOW_SCORE ? outlying_scores(s, b, newest)
                                      : outlying_deviations(s, b);
}

#endif
#endif
