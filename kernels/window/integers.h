/*
 * The long way through a block of windows: chunks of them, whose exact moments are made first, from
 * integers, and rounded in a second loop, which vectorises. Included by window_run.c.
 */
#ifndef SYI_KERNELS_WINDOW_INTEGERS_H
#define SYI_KERNELS_WINDOW_INTEGERS_H

#include "exact/vector.h"
#include "window/decide.h"
#include "window/slide.h"

#include <float.h>

SYI_INLINE syi_approx mean_of(const chunk *c, int j, const syi_window_constants *k)
{
    return syi_window_mean((syi_approx){c->sum_high[j], c->sum_low[j], c->sum_error[j]}, k);
}

SYI_INLINE syi_approx deviation_of(const chunk *c, int j, const syi_window_constants *k)
{
    return syi_window_deviation(c->spread_high[j], c->spread_low[j], k);
}

static void finish_means(const chunk *c, int n, const syi_window_constants *k, double *restrict out,
                         double *restrict doubt)
{
    for (int j = 0; j < n; j++)
        out[j] = syi_settle(mean_of(c, j, k), k->unit, &doubt[j]);
}

static void finish_deviations(const chunk *c, int n, const syi_window_constants *k,
                              double *restrict out, double *restrict doubt)
{
    for (int j = 0; j < n; j++)
        out[j] = syi_settle(deviation_of(c, j, k), k->unit, &doubt[j]);
}

/* `x` holds the windows' newest values. A flat window has no score. */
static void finish_scores(const chunk *c, int n, const syi_window_constants *k, double scale,
                          const double *x, double *restrict out, double *restrict doubt)
{
    for (int j = 0; j < n; j++) {
        syi_approx sum = {c->sum_high[j], c->sum_low[j], c->sum_error[j]};
        double value = (syi_is_finite(x[j]) ? x[j] : 0.0) * scale, unsure;
        double score =
            syi_settle(syi_window_score(value, sum, deviation_of(c, j, k), k), 1.0, &unsure);
        int is_flat = c->spread_high[j] == 0.0;
        out[j] = is_flat ? syi_nan() : score;
        doubt[j] = is_flat ? 0.0 : unsure;
    }
}

/* The doubts of the three outputs are bits of a number. */
static void finish_bands(const chunk *c, int n, const syi_window_constants *k,
                         double *restrict upper, double *restrict middle, double *restrict lower,
                         double *restrict doubt)
{
    for (int j = 0; j < n; j++) {
        double up, mid, down;
        syi_approx mean = mean_of(c, j, k), deviation = deviation_of(c, j, k);
        middle[j] = syi_settle(mean, k->unit, &mid);
        upper[j] = syi_settle(syi_window_band(mean, deviation, k->width), k->unit, &up);
        lower[j] = syi_settle(syi_window_band(mean, deviation, -k->width), k->unit, &down);
        doubt[j] = up + 2.0 * mid + 4.0 * down;
    }
}

/* What makes values of doubles of a chunk's unit; NaN, which leaves all in doubt, where that may
 * overflow or underflow. */
static double scale_of(const slide *s)
{
    int unit = slide_unit(s);
    return s->limbs <= 12 && unit > -900 && unit < 900 ? syi_pow2(-unit) : syi_nan();
}

/* Rounds a chunk's windows, ending at x[at .. at + n), into out[..][at .. at + n). */
static void finish(const syi_window *window, const slide *s, const chunk *c, int n, const double *x,
                   double *const *out, int64_t at)
{
    syi_window_constants k =
        syi_window_constants_of(window->period, window->ddof, window->width, slide_unit(s));
    const int outputs = syi_window_outputs(window->kind);
    double doubt[CHUNK];
    uint64_t doubts = 0; /* of integers, since a sum of doubles would be a chain */
    if (window->kind == SYI_WINDOW_MEAN)
        finish_means(c, n, &k, out[0] + at, doubt);
    else if (window->kind == SYI_WINDOW_DEVIATION)
        finish_deviations(c, n, &k, out[0] + at, doubt);
    else if (window->kind == SYI_WINDOW_SCORE)
        finish_scores(c, n, &k, scale_of(s), x + at, out[0] + at, doubt);
    else
        finish_bands(c, n, &k, out[0] + at, out[1] + at, out[2] + at, doubt);
    for (int j = 0; j < n; j++)
        doubts |= syi_bits(doubt[j]);
    for (int j = 0; doubts != 0 && j < n; j++) {
        const int which = (int)doubt[j];
        double *place[3] = {NULL, NULL, NULL};
        if (which == 0)
            continue;
        for (int k = 0; k < outputs; k++)
            place[k] = which >> k & 1 ? out[k] + at + j : NULL;
        syi_window_decide(window, s->bottom, s->limbs, &c->sum[j * s->limbs],
                          &c->spread[j * 2 * s->limbs], x[at + j], place);
    }
}

/* Windows without results. */
static void put_lost(const syi_window *window, double *const *out, int64_t first, int64_t last)
{
    for (int k = 0; k < syi_window_outputs(window->kind); k++)
        for (int64_t i = first; i < last; i++)
            out[k][i] = syi_nan();
}

/* The first column from `first` on with something that is not finite; `last`: there is none. */
static int64_t find_lost(const double *x, int64_t first, int64_t last)
{
#if SYI_HAVE_VECTORS
    const syi_vec_mask full = syi_vec_mask_full();
    for (; first + SYI_VECTOR <= last; first += SYI_VECTOR) {
        const syi_vec size = syi_vec_abs(syi_vec_load(x + first));
        const syi_vec_mask finite = syi_vec_mask_ordered(full, size, syi_vec_of(DBL_MAX));
        if (syi_vec_mask_bits(finite) != syi_vec_mask_bits(full))
            break;
    }
#endif
    while (first < last && syi_is_finite(x[first]))
        first++;
    return first;
}

/* The windows of [first, last) that hold something that is not finite are lost. */
static void put_lost_windows(const syi_window *window, const double *x, double *const *out,
                             int64_t first, int64_t last)
{
    int64_t lost = first, at = first - window->period; /* windows before `lost` are done */
    while ((at = find_lost(x, at + 1, last)) < last) {
        const int64_t end = at + window->period < last ? at + window->period : last;
        put_lost(window, out, at > lost ? at : lost, end);
        lost = end;
    }
}

/* The windows that end at columns [first, last) of the segment. */
static void run_block(const syi_window *window, const double *x, double *const *out, int64_t first,
                      int64_t last, chunk *c)
{
    int64_t start = first - window->period + 1;
    syi_span span = syi_measure(x + start, last - start);
    slide s;
    slide_begin(&s, &span, window->period, window->kind != SYI_WINDOW_MEAN);
    slide_fill(&s, x + start, window->period - 1);
    for (int64_t at = first; at < last;) {
        int n = slide_capacity(&s);
        n = last - at < n ? (int)(last - at) : n;
        slide_step(&s, c, x + at, n);
        finish(window, &s, c, n, x, out, at);
        at += n;
    }
    if (span.has_non_finite)
        put_lost_windows(window, x, out, first, last);
}

#endif
