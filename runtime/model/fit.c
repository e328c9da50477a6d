/*
 * The fit in two steps. Each size's repeats become one point: the lower quartile is certainly
 * clean, what is far above it is dropped, and the rest has a median. Then the curve is the polyline
 * with its corners on such points that has the least sum of relative deviations over all points:
 * least deviations are deaf to single bad points, relative ones let small and large sizes count
 * alike, and corners on points make the search finite (dynamic programming over the corners).
 */
#include "model/fit.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

typedef struct points {
    int count;
    double x[SYI_FIT_SIZES], y[SYI_FIT_SIZES];
} points;

/* A size that takes longer than this many times its clean repeats was disturbed. */
static const double spike = 1.5;
/* Another bend must halve the deviation, and is not looked for below this one. */
static const double good_enough = 0.02;
/* Where times do not grow with the size: the least slope, as a part of the mean time. */
static const double least_slope = 1e-3;

static int by_size_and_time(const void *left, const void *right)
{
    const syi_sample *a = left, *b = right;
    if (a->elements != b->elements)
        return a->elements > b->elements ? 1 : -1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The typical time of one size's sorted samples. */
static double typical(const syi_sample *sorted, int count)
{
    double limit = sorted[(count - 1) / 4].ns * spike;
    int clean = count;
    while (sorted[clean - 1].ns > limit)
        clean--;
    return (sorted[(clean - 1) / 2].ns + sorted[clean / 2].ns) / 2;
}

static sy_status gather(const syi_sample *sorted, int count, points *out)
{
    for (int from = 0, to; from < count; from = to) {
        for (to = from; to < count && sorted[to].elements == sorted[from].elements;)
            to++;
        if (out->count == SYI_FIT_SIZES)
            return syi_fail(SY_ERR_ARGUMENT, "more than %d sample sizes; use fewer", SYI_FIT_SIZES);
        out->x[out->count] = sorted[from].elements;
        out->y[out->count++] = typical(sorted + from, to - from);
    }
    return SY_OK;
}

/* The deviation of points [first, last] from the line through the corners a and b; infinite when
 * that line falls. Only the first piece has a beginning, which may not be below zero. */
static double deviation(const points *p, int a, int b, int first, int last)
{
    double slope = (p->y[b] - p->y[a]) / (p->x[b] - p->x[a]), sum = 0;
    double begin = p->y[a] - slope * p->x[a];
    if (!(slope > 0) || (first == 0 && begin < 0))
        return INFINITY;
    for (int i = first; i <= last; i++)
        sum += fabs(begin + slope * p->x[i] - p->y[i]) / p->y[i];
    return sum;
}

/* The best line through the origin goes through one of the points. */
static double through_origin(const points *p, syi_curve *out)
{
    double best = INFINITY;
    for (int k = 0; k < p->count; k++) {
        double slope = p->y[k] / p->x[k], sum = 0;
        for (int i = 0; i < p->count; i++)
            sum += fabs(slope * p->x[i] - p->y[i]) / p->y[i];
        if (sum < best) {
            best = sum;
            *out = syi_curve_line(0, slope);
        }
    }
    return best;
}

/* Times that do not grow: nearly all of it is fixed. */
static double flat(const points *p, syi_curve *out)
{
    double slope = least_slope * p->y[p->count - 1] / p->x[p->count - 1], best = INFINITY;
    for (int k = 0; k < p->count; k++) {
        double begin = p->y[k] - slope * p->x[k], sum = 0;
        for (int i = 0; i < p->count; i++)
            sum += fabs(begin + slope * p->x[i] - p->y[i]) / p->y[i];
        if (begin >= 0 && sum < best) {
            best = sum;
            *out = syi_curve_line(begin, slope);
        }
    }
    return best;
}

/* best[m][b]: the least deviation of the points up to corner b with m + 1 pieces, the last of
 * which ends there; from[m][b]: the corner where that one begins. */
typedef struct corners {
    double best[SYI_PIECES][SYI_FIT_SIZES];
    int from[SYI_PIECES][SYI_FIT_SIZES];
} corners;

/* With piece m through the corners a and b, and counting the points up to `last`. */
static double with_piece(const points *p, const corners *c, int m, int a, int b, int last)
{
    return m ? c->best[m - 1][a] + deviation(p, a, b, a + 1, last) : deviation(p, a, b, 0, last);
}

static void place_corners(const points *p, corners *c)
{
    for (int m = 0; m < SYI_PIECES; m++)
        for (int b = 0; b < p->count; b++) {
            c->best[m][b] = INFINITY;
            for (int a = 0; a < b; a++) {
                double sum = with_piece(p, c, m, a, b, b);
                if (sum < c->best[m][b]) {
                    c->best[m][b] = sum;
                    c->from[m][b] = a;
                }
            }
        }
}

/* The least deviation with m + 1 pieces; the last one goes on to the points after its corner. */
static double best_polyline(const points *p, const corners *c, int m, syi_curve *out)
{
    double best = INFINITY;
    int a = 0, b = 0;
    for (int to = 1; to < p->count; to++)
        for (int from = 0; from < to; from++) {
            double sum = with_piece(p, c, m, from, to, p->count - 1);
            if (sum < best) {
                best = sum;
                a = from;
                b = to;
            }
        }
    *out = (syi_curve){.pieces = m + 1};
    for (; b > 0 && m >= 0; m--) {
        out->per_element_ns[m] = (p->y[b] - p->y[a]) / (p->x[b] - p->x[a]);
        if (m == 0)
            out->fixed_ns = p->y[a] - out->per_element_ns[0] * p->x[a];
        else
            out->until[m - 1] = p->x[a];
        b = a;
        a = m ? c->from[m - 1][b] : 0;
    }
    return best;
}

static void fit_points(const points *p, syi_curve *out)
{
    corners c;
    double best = through_origin(p, out), other;
    syi_curve curve = {0};
    if (p->count == 1)
        return;
    place_corners(p, &c);
    if ((other = best_polyline(p, &c, 0, &curve)) < best) {
        best = other;
        *out = curve;
    }
    if ((other = flat(p, &curve)) < best) {
        best = other;
        *out = curve;
    }
    for (int m = 1; m < SYI_PIECES && p->count >= 3 * (m + 1); m++) {
        if (best <= good_enough * p->count)
            return;
        if ((other = best_polyline(p, &c, m, &curve)) < best / 2) {
            best = other;
            *out = curve;
        }
    }
}

/* The median deviation of the samples that were not disturbed. Uses the samples up. */
static double spread_of(syi_sample *samples, int count, const syi_curve *curve)
{
    int clean = 0;
    for (int i = 0; i < count; i++) {
        double expected = syi_curve_ns(curve, samples[i].elements);
        if (samples[i].ns <= spike * expected)
            samples[clean++] = (syi_sample){0, fabs(samples[i].ns - expected) / expected};
    }
    if (clean == 0)
        return spike - 1;
    qsort(samples, (size_t)clean, sizeof *samples, by_size_and_time);
    return (samples[(clean - 1) / 2].ns + samples[clean / 2].ns) / 2;
}

sy_status syi_fit(const syi_sample *samples, int count, syi_curve *out)
{
    syi_curve curve = {0};
    points p = {0};
    syi_sample *sorted;
    sy_status status;
    if (count < 1)
        return syi_fail(SY_ERR_ARGUMENT, "no samples to fit a cost to; take at least one");
    for (int i = 0; i < count; i++)
        if (!(samples[i].elements > 0) || !(samples[i].ns > 0) || !isfinite(samples[i].elements) ||
            !isfinite(samples[i].ns))
            return syi_fail(SY_ERR_ARGUMENT,
                            "sample of %g elements in %g ns: both must be finite and above 0",
                            samples[i].elements, samples[i].ns);
    sorted = syi_alloc((size_t)count, sizeof *sorted);
    if (!sorted)
        return syi_no_memory((uint64_t)count * sizeof *sorted);
    for (int i = 0; i < count; i++)
        sorted[i] = samples[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_size_and_time);
    status = gather(sorted, count, &p);
    if (status == SY_OK) {
        fit_points(&p, &curve);
        curve.spread = spread_of(sorted, count, &curve);
        *out = curve;
    }
    syi_free(sorted);
    return status;
}

int syi_ladder(int64_t min, int64_t max, double factor, int64_t *sizes, int capacity)
{
    int count = 1;
    double size = (double)min;
    sizes[0] = min;
    while (sizes[count - 1] < max) {
        if (count == capacity) { /* every second one, and go on in longer steps */
            for (int i = 1; 2 * i < count; i++)
                sizes[i] = sizes[2 * i];
            count = (count + 1) / 2;
            factor *= factor;
            size = (double)sizes[count - 1];
        }
        size *= factor;
        sizes[count] = size < (double)max ? (int64_t)size : max;
        if (sizes[count] > sizes[count - 1])
            count++;
    }
    return count;
}
