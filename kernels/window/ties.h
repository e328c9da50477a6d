/*
 * Windows of a batch that no bound of their spread makes sure, where a price moves seldom: flat
 * ones, and bands that lie in the middle between two doubles, which are common then. They are
 * decided while the batch is on its way, so that its results are written once.
 */
#ifndef SYI_KERNELS_WINDOW_TIES_H
#define SYI_KERNELS_WINDOW_TIES_H

#include "window/squares.h"
#include "window/two_prices.h"

#if SYI_HAVE_VECTORS

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

/* The bits of a batch's windows from i on. */
SYI_INLINE uint64_t windows_from(int64_t i)
{
    return i < BATCH ? UINT64_MAX << i : 0;
}

/* The bits of a lane's windows. */
static uint64_t windows_of(int lane)
{
    return ~windows_from(LANE) << lane * LANE;
}

/* Which of a batch's windows are not sure; of bands the upper ones and the lower ones. */
typedef struct unsure_windows {
    uint64_t upper, lower;
} unsure_windows;

/* Of those that are asked for. */
static unsure_windows unsure_of(const squares *s, const squares_batch *b, uint64_t asked)
{
    const uint64_t lower = s->kind == SYI_WINDOW_BANDS ? squares_unsure(s, b, 1) : 0;
    return (unsure_windows){squares_unsure(s, b, 0) & asked, lower & asked};
}

/* The moments about the pivot of the window that ends at `newest`, modulo 2^64. */
typedef struct tied_moments {
    const double *newest; /* NULL: of none */
    double pivot;
    uint64_t sum, square;
} tied_moments;

/* Decides which of a batch's windows, which end at x[0 .. count), are flat; gives the others. */
static uint64_t decide_flat(const squares *s, squares_batch *b, const double *x, int64_t count,
                            uint64_t unsure)
{
    uint64_t left = 0;
    while (unsure) {
        const int64_t first = __builtin_ctzll(unsure);
        const int64_t end = flat_end(x, s->period, first, count);
        const double result = flat_result(s->kind, x[first]);
        for (int64_t i = first; i < end; i++)
            for (int k = 0; k < syi_window_outputs(s->kind); k++)
                b->out[k][i & (LANE - 1)][i / LANE] = result;
        left |= end > first ? 0 : unsure & -unsure;
        unsure &= end > first ? windows_from(end) : unsure - 1;
    }
    return left;
}

/* A band that is not sure is in the middle between two doubles or next to it. With c values,
 * f = c - ddof and its distance width * sqrt(spread / (c f)) from the mean it is in the middle
 * where
 *
 *     width^2 c spread = f (c (middle - pivot) - sum)^2.
 *
 * In a quarter of the values' unit, and an eighth as width's, both sides are integers, and a
 * bound of the band's error is one of their difference: below 2^62 that is what it is modulo 2^64.
 */
/* The pivot that is nearest to 0. */
static double least_pivot(const squares *s)
{
    double least = fabs(s->pivot[0]);
    for (int l = 1; l < SYI_VECTOR; l++)
        least = fabs(s->pivot[l]) < least ? fabs(s->pivot[l]) : least;
    return least;
}

/* Gives squares.decidable. Bands that are decided are less than a quarter of the pivot away from
 * it, so that their unit is half the values' or more, and half of it at least four times their
 * error.
 */
static double decidable_of(const syi_window *window, squares *s)
{
    const double c = (double)s->period, f = c - (double)window->ddof;
    const double far = s->reach * (1.0 + c * s->width);
    const double quarter = 0.25 * least_pivot(s), most = far < quarter ? far : quarter;
    const double side = 2.5 * c * (s->reach + most) * s->per_unit;
    s->band_reach = far < quarter ? INFINITY : quarter;
    if (window->kind != SYI_WINDOW_BANDS || squares_are_far(s->way) || places_of(window) == 0 ||
        !(quarter > 0.0) || !(side < 0x1p62))
        return 0.0;
    const double apart = 0x1p62 / (3.0 * FINE * FINE * f * side);
    const double least = apart < side ? apart : side, error = 0.25 * least / c;
    return (error < 0.25 ? error : 0.25) / (s->per_unit * s->error[0]);
}

/* Adds the values from x[0] on, or takes them away. */
static void tied_add(tied_moments *m, const squares *s, const double *x, int64_t count, int away)
{
    const double per_unit = s->per_unit, pivot = m->pivot;
    uint64_t sum = 0, square = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t distance = (uint64_t)(int64_t)((x[i] - pivot) * per_unit);
        sum += distance;
        square += distance * distance;
    }
    m->sum += away ? 0 - sum : sum;
    m->square += away ? 0 - square : square;
}

/* Makes *m that of a window, from what it was if that is near; *spare pays for it. */
static void measure_tied(tied_moments *m, const squares *s, const double *newest, double pivot,
                         int64_t *spare)
{
    const int is_near =
        m->newest && m->pivot == pivot && newest >= m->newest && newest - m->newest < s->period / 2;
    const int64_t more = is_near ? newest - m->newest : s->period;
    if (!is_near)
        *m = (tied_moments){NULL, pivot, 0, 0};
    tied_add(m, s, newest + 1 - more, more, 0);
    if (is_near)
        tied_add(m, s, newest + 1 - more - s->period, more, 1);
    m->newest = newest;
    *spare -= more / 4;
}

/* The band that is y if it is above the middle between that and the double below, and else that. */
static double round_tied(const syi_window *window, const squares *s, const tied_moments *m,
                         double pivot, double width, double y)
{
    const double under = syi_from_bits(syi_bits(y) + (y > 0.0 ? UINT64_MAX : 1));
    const uint64_t c = (uint64_t)s->period, f = c - (uint64_t)window->ddof;
    const uint64_t half = (uint64_t)(0.5 * (y - under) * s->per_unit);
    const uint64_t middle = (uint64_t)(int64_t)((y - pivot) * s->per_unit) - half;
    const uint64_t wide = (uint64_t)(int64_t)(FINE * width), apart = c * middle - m->sum;
    const uint64_t spread = c * m->square - m->sum * m->sum;
    const int64_t more = (int64_t)(wide * wide * c * spread - FINE * FINE * f * apart * apart);
    const int sign = width < 0.0 ? -1 : 1, other_side = apart != 0 && (apart ^ wide) >> 63;
    const int order = other_side ? sign : sign * ((more > 0) - (more < 0));
    return order > 0 || (order == 0 && !(syi_bits(y) & 1)) ? y : under;
}

/* The unit of a window's values: a power of two that they are multiples of. */
static double unit_of(const double *newest, int64_t period)
{
    int unit = 1024;
    for (int64_t i = 1 - period; i <= 0; i++) {
        const syi_parts parts = syi_split(newest[i]);
        const int least = parts.exponent + __builtin_ctzll(parts.mantissa | UINT64_C(1) << 63);
        unit = parts.mantissa && least < unit ? least : unit;
    }
    return syi_pow2(unit);
}

/* Whether a band that is zero within its error is it: where the middle of round_tied() and the
 * pivot are zero. For values of few units, such as flags. */
static int is_zero(const syi_window *window, const squares *s, const double *newest, double width)
{
    const double per_unit = 1.0 / unit_of(newest, s->period), most = s->reach * per_unit;
    const int64_t places = places_of(window);
    const double period = (double)s->period;
    const uint64_t c = (uint64_t)s->period, f = c - (uint64_t)window->ddof;
    int64_t sum = 0, squares = 0;
    if (s->way != SQUARES_FAR || !(period * most * most < 0x1p62) || places == 0)
        return 0;
    for (int64_t i = 1 - s->period; i <= 0; i++) {
        const int64_t value = (int64_t)(newest[i] * per_unit);
        sum += value;
        squares += value * value;
    }
    const uint64_t wide = (uint64_t)places;
    const syi_u128 square = (syi_u128)((syi_i128)sum * sum),
                   spread = (syi_u128)squares * c - square;
    return (sum > 0) == (width < 0.0) && spread * (wide * wide * c) == square * (FINE * FINE * f);
}

/* Decides the bands of a window, the upper and the lower one, that are not sure; its newest value
 * is x[0]. Gives 0 where it cannot. */
static int decide_bands(const syi_window *window, const squares *s, tied_moments *m,
                        const double *x, double pivot, double half, const int *unsure, double *band,
                        int64_t *spare)
{
    const double width[] = {window->width, -window->width};
    const int is_near = (!unsure[0] || fabs(band[0] - pivot) < s->band_reach) &&
                        (!unsure[1] || fabs(band[1] - pivot) < s->band_reach);
    if (half < s->decidable && is_near) {
        measure_tied(m, s, x, pivot, spare);
        for (int j = 0; j < 2; j++)
            band[j] = unsure[j] ? round_tied(window, s, m, pivot, width[j], band[j]) : band[j];
        return 1;
    }
    for (int j = 0; j < 2; j++) {
        if (!unsure[j])
            continue;
        if (!(fabs(band[j]) <= s->error[0] * half && is_zero(window, s, x, width[j])))
            return 0;
        band[j] = 0.0;
    }
    *spare -= s->period / 4;
    return 1;
}

/* Decides a batch's window with two prices, of which x[0] is the newest; gives whether it is one.
 */
SYI_INLINE int decide_two_prices(const syi_window *window, squares_batch *b, const double *x,
                                 int64_t k, int64_t l)
{
    double y[3];
    if (!may_be_two_prices(x, window->period) || !put_two_prices(window, x, y))
        return 0;
    for (int j = 0; j < 3; j++)
        b->out[j][k][l] = y[j];
    return 1;
}

/* Decides what can be of a batch's windows that are not sure, nor flat; gives the others. They end
 * at x[0] and the next columns. *spare pays for columns that are read again, four of which cost as
 * much as one of a window that begins anew; *tied has the moments of a window before. */
static uint64_t decide_ties(const syi_window *window, const squares *s, squares_batch *b,
                            const double *x, unsure_windows unsure, tied_moments *tied,
                            int64_t *spare)
{
    const uint64_t either = unsure.upper | unsure.lower;
    uint64_t decided = 0;
    for (uint64_t left = s->kind == SYI_WINDOW_BANDS ? either : 0; left && *spare > 0;
         left &= left - 1) {
        const int64_t i = __builtin_ctzll(left), k = i % LANE, l = i / LANE;
        const int ask[] = {unsure.upper >> i & 1, unsure.lower >> i & 1};
        double band[] = {b->out[0][k][l], b->out[2][k][l]};
        if (decide_bands(window, s, tied, x + i, s->pivot[l], b->half[k][l], ask, band, spare)) {
            b->out[0][k][l] = band[0];
            b->out[2][k][l] = band[1];
        } else if (!decide_two_prices(window, b, x + i, k, l)) {
            continue;
        }
        decided |= left & -left;
    }
    return either & ~decided;
}

#endif
#endif
