/*
 * The rolling kernels' loop: blocks of columns, each with its own scale; in them chunks of windows
 * whose exact moments are made first and rounded in a second loop, which vectorises. This file is
 * compiled for several instruction sets.
 */
#include "exact/approx.h"
#include "window/decide.h"
#include "window/slide.h"

/* Columns that share a scale; not fewer than a window, so that the work of starting a block anew
 * from its halo stays in proportion. */
#define BLOCK ((int64_t)2048)

typedef struct constants {
    double period, reciprocal;        /* of the period */
    double inverse_high, inverse_low; /* of period * (period - ddof) */
    double width, unit;
} constants;

static constants constants_of(const syi_window *window, int unit)
{
    constants k = {.period = (double)window->period, .width = window->width};
    double divisor = k.period * (double)(window->period - window->ddof);
    k.reciprocal = 1.0 / k.period;
    k.inverse_high = 1.0 / divisor;
    k.inverse_low = fma(-k.inverse_high, divisor, 1.0) / divisor;
    k.unit = syi_pow2(unit);
    return k;
}

SYI_INLINE syi_approx mean_of(const chunk *c, int j, const constants *k)
{
    syi_approx sum = {c->sum_high[j], c->sum_low[j], c->sum_error[j]};
    return syi_divide(sum, k->period, k->reciprocal);
}

/* sqrt(spread / (period * (period - ddof))); exactly zero for a zero spread. */
SYI_INLINE syi_approx deviation_of(const chunk *c, int j, const constants *k)
{
    double high = c->spread_high[j], low = c->spread_low[j];
    double square = high * k->inverse_high;
    double below =
        fma(high, k->inverse_high, -square) + (high * k->inverse_low + low * k->inverse_high);
    double root = sqrt(square);
    double rest = (fma(-root, root, square) + below) / (root + root);
    return (syi_approx){root, high == 0.0 ? 0.0 : rest, root * SYI_SLACK};
}

/* mean + width * deviation. The absolute term covers what underflows in the product. */
SYI_INLINE syi_approx band_of(syi_approx mean, syi_approx deviation, double width)
{
    double high, rest, step = width * deviation.high;
    double below = fma(width, deviation.high, -step) + width * deviation.low;
    double error = (fabs(mean.high) + fabs(step)) * SYI_SLACK + mean.error + 0x1p-900;
    syi_two_sum(mean.high, step, &high, &rest);
    error = deviation.high == 0.0 ? mean.error : error;
    error = width == 0.0 ? mean.error : error;
    return (syi_approx){high, rest + (mean.low + below), error};
}

static void finish_means(const chunk *c, int n, const constants *k, double *restrict out,
                         double *restrict doubt)
{
    for (int j = 0; j < n; j++)
        out[j] = syi_settle(mean_of(c, j, k), k->unit, &doubt[j]);
}

static void finish_deviations(const chunk *c, int n, const constants *k, double *restrict out,
                              double *restrict doubt)
{
    for (int j = 0; j < n; j++)
        out[j] = syi_settle(deviation_of(c, j, k), k->unit, &doubt[j]);
}

static void finish_bands(const chunk *c, int n, const constants *k, double *restrict upper,
                         double *restrict middle, double *restrict lower, double *restrict doubt)
{
    for (int j = 0; j < n; j++) {
        double up, mid, down;
        syi_approx mean = mean_of(c, j, k), deviation = deviation_of(c, j, k);
        middle[j] = syi_settle(mean, k->unit, &mid);
        upper[j] = syi_settle(band_of(mean, deviation, k->width), k->unit, &up);
        lower[j] = syi_settle(band_of(mean, deviation, -k->width), k->unit, &down);
        doubt[j] = up + mid + down;
    }
}

/* Rounds a chunk's windows into out[..][at .. at + n). */
static void finish(const syi_window *window, const slide *s, const chunk *c, int n,
                   double *const *out, int64_t at)
{
    constants k = constants_of(window, slide_unit(s));
    double doubt[CHUNK], doubts = 0.0;
    if (window->kind == SYI_WINDOW_MEAN)
        finish_means(c, n, &k, out[0] + at, doubt);
    else if (window->kind == SYI_WINDOW_DEVIATION)
        finish_deviations(c, n, &k, out[0] + at, doubt);
    else
        finish_bands(c, n, &k, out[0] + at, out[1] + at, out[2] + at, doubt);
    for (int j = 0; j < n; j++)
        doubts += doubt[j];
    for (int j = 0; doubts != 0.0 && j < n; j++) {
        double *place[3] = {out[0] + at + j, NULL, NULL};
        if (doubt[j] == 0.0)
            continue;
        if (window->kind == SYI_WINDOW_BANDS)
            place[1] = out[1] + at + j, place[2] = out[2] + at + j;
        syi_window_decide(window, s->bottom, s->limbs, &c->sum[j * s->limbs],
                          &c->spread[j * 2 * s->limbs], place);
    }
}

/* NaN for every window of [first, last) that holds a NaN or an infinity. */
static void mark_non_finite(const syi_window *window, const double *x, double *const *out,
                            int64_t first, int64_t last)
{
    int outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    int64_t marked = first; /* windows that end before this column hold the last one found */
    for (int64_t i = first - window->period + 1; i < last; i++) {
        if (!syi_is_finite(x[i]))
            marked = i + window->period;
        for (int k = 0; i >= first && i < marked && k < outputs; k++)
            out[k][i] = syi_nan();
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
        finish(window, &s, c, n, out, at);
        at += n;
    }
    if (span.has_non_finite)
        mark_non_finite(window, x, out, first, last);
}

sy_status SYI_ISA_NAME(syi_window_run)(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    int outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    int64_t stride = window->period > BLOCK ? window->period : BLOCK;
    int64_t first = window->period - 1 - segment->first;
    chunk c;
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    for (int k = 0; k < outputs; k++)
        for (int64_t i = 0; i < first; i++)
            segment->out[k][i] = syi_nan();
    while (first < segment->count) {
        int64_t last = segment->count - first < stride ? segment->count : first + stride;
        run_block(window, segment->in[0], segment->out, first, last, &c);
        first = last;
    }
    return SY_OK;
}
