/*
 * Windows of a batch that no bound of their spread makes sure, where a price moves seldom: flat
 * ones, and bands that lie in the middle between two doubles, which are common then. They are
 * decided while the batch is on its way, so that its results are written once.
 */
#ifndef SYI_KERNELS_WINDOW_TIES_H
#define SYI_KERNELS_WINDOW_TIES_H

#include "window/squares.h"

#if SYI_HAVE_VECTORS

SYI_INLINE int squares_outputs(const squares *s)
{
    return s->kind == SYI_WINDOW_BANDS ? 3 : 1;
}

SYI_INLINE void squares_set(squares_batch *b, int which, int64_t window, double y)
{
    b->out[which][window % LANE][window / LANE] = y;
}

/* The outputs of a window that holds nothing but this value. */
SYI_INLINE double flat_result(syi_window_kind kind, double value)
{
    return kind == SYI_WINDOW_SCORE       ? syi_nan()
           : kind == SYI_WINDOW_DEVIATION ? 0.0
                                          : value + 0.0; /* a zero is +0 */
}

/* Up to which column of [first, last) the windows that end there hold but one value. */
static int64_t flat_end(const double *x, int64_t period, int64_t first, int64_t last)
{
    const int64_t start = first - period + 1;
    if (x[start] != x[first] || !syi_is_finite(x[first]))
        return first;
    const int64_t end = start + syi_count_still(x + start, x[first], last - start);
    return end > first ? end : first;
}

/* Bit i: the batch's window i is one of those, of which there are n, ending at x[0 .. n). */
SYI_INLINE uint64_t windows_from(int64_t i)
{
    return i < BATCH ? UINT64_MAX << i : 0;
}

/* Decides those that are flat; gives the others. */
static uint64_t decide_flat(const squares *s, squares_batch *b, const double *x, int64_t n,
                            uint64_t unsure)
{
    uint64_t left = 0;
    while (unsure) {
        const int64_t first = __builtin_ctzll(unsure), end = flat_end(x, s->period, first, n);
        for (int64_t i = first; i < end; i++)
            for (int k = 0; k < squares_outputs(s); k++)
                squares_set(b, k, i, flat_result(s->kind, x[i]));
        left |= end > first ? 0 : unsure & -unsure;
        unsure &= end > first ? windows_from(end) : unsure - 1;
    }
    return left;
}

/* A band that is not sure: y where it lies above the middle between y and the double `under` that,
 * else that; of the middle it is within `error`. */
typedef struct tied_band {
    double width, y, under, error;
} tied_band;

static tied_band band_of(const syi_window *window, const squares *s, const squares_batch *b,
                         int which, int64_t i)
{
    const int64_t k = i % LANE, l = i / LANE;
    const double y = b->out[which][k][l];
    return (tied_band){.width = which == 0 ? window->width : -window->width,
                       .y = y,
                       .under = syi_from_bits(syi_bits(y) + (y > 0.0 ? UINT64_MAX : 1)),
                       .error = s->error[0] * b->half[k][l]};
}

/* With c values, f = c - ddof and its distance width * sqrt(spread / (c f)) from the mean a band is
 * in the middle where
 *
 *     width^2 c spread = f (c (middle - pivot) - sum)^2.
 *
 * In an eighth of the values' unit, and of one as width's unit, both sides are integers. This tells
 * whether they are so close to each other that their difference modulo 2^64 is what it is. */
enum { FINE = 8 };

static int is_comparable(const syi_window *window, const squares *s, const tied_band *band)
{
    const double pivot = s->pivot[0], c = (double)s->period, f = c - (double)window->ddof;
    const double y = band->y, half = 0.5 * (y - band->under), places = FINE * band->width;
    const double side = 2.0 * c * (s->reach + fabs(y - pivot)) * s->per_unit;
    const double apart = 4.0 * c * band->error * s->per_unit;
    return fabs(places) < 1024.0 && places == (double)(int64_t)places && side < 0x1p62 &&
           y * pivot > 0.51 * pivot * pivot && y * pivot < 1.95 * pivot * pivot &&
           band->error < 0.125 * half && FINE * FINE * f * apart * (2.0 * side + apart) < 0x1p62;
}

/* A window's moments about the pivot, modulo 2^64. */
typedef struct tied_moments {
    uint64_t sum, square;
} tied_moments;

static tied_moments measure_tied(const squares *s, const double *newest)
{
    const double pivot = s->pivot[0], per_unit = s->per_unit;
    tied_moments m = {0, 0};
    for (int64_t i = 1 - s->period; i <= 0; i++) {
        const uint64_t distance = (uint64_t)(int64_t)((newest[i] - pivot) * per_unit);
        m.sum += distance;
        m.square += distance * distance;
    }
    return m;
}

/* A comparable band, rounded. */
static double round_tied(const syi_window *window, const squares *s, const tied_moments *m,
                         const tied_band *band)
{
    const double y = band->y, half = 0.5 * (y - band->under);
    const uint64_t c = (uint64_t)s->period, f = c - (uint64_t)window->ddof;
    const uint64_t middle =
        (uint64_t)(int64_t)((y - s->pivot[0]) * s->per_unit) - (uint64_t)(half * s->per_unit);
    const uint64_t width = (uint64_t)(int64_t)(FINE * band->width), apart = c * middle - m->sum;
    const uint64_t spread = c * m->square - m->sum * m->sum;
    const int64_t more = (int64_t)(width * width * c * spread - FINE * FINE * f * apart * apart);
    const int sign = band->width < 0.0 ? -1 : 1;
    const int other_side = apart != 0 && (apart >> 63) != (width >> 63);
    const int order = other_side ? sign : sign * ((more > 0) - (more < 0));
    return order > 0 || (order == 0 && !(syi_bits(y) & 1)) ? y : band->under;
}

/* Decides the bands of a window that are not sure; gives whether it could. */
static int decide_window(const syi_window *window, const squares *s, squares_batch *b,
                         const double *newest, int64_t i, const int *unsure)
{
    const tied_moments m = measure_tied(s, newest);
    int decided = 1;
    for (int k = 0; k < 2; k++) {
        const tied_band band = band_of(window, s, b, 2 * k, i);
        if (unsure[k] && is_comparable(window, s, &band))
            squares_set(b, 2 * k, i, round_tied(window, s, &m, &band));
        else if (unsure[k])
            decided = 0;
    }
    return decided;
}

/* Decides what can be of a batch's windows; gives the others that are not sure. *spare pays for
 * columns that are read again, four of which cost as much as one of a window that begins anew. */
static uint64_t decide_batch(const syi_window *window, const squares *s, squares_batch *b,
                             const double *x, int64_t n, int64_t *spare)
{
    const int bands = s->kind == SYI_WINDOW_BANDS;
    const uint64_t upper = squares_unsure(b, 0) & ~windows_from(n);
    const uint64_t lower = bands ? squares_unsure(b, 1) & ~windows_from(n) : 0;
    uint64_t unsure = decide_flat(s, b, x, n, upper | lower), left = unsure;
    for (; bands && s->way != SQUARES_FAR && unsure && *spare > 0; unsure &= unsure - 1) {
        const int64_t i = __builtin_ctzll(unsure);
        const int which[2] = {upper >> i & 1, lower >> i & 1};
        *spare -= s->period / 4;
        if (decide_window(window, s, b, x + i, i, which))
            left &= ~(unsure & -unsure);
    }
    return left;
}

#endif
#endif
