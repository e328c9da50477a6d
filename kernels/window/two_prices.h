/*
 * Windows of which the first values are one price and the others another, as behind a halt: with c
 * values, f = c - ddof and k of the second price, which is d above the first one, a band is
 *
 *     first + d (k / c) +- |d| width sqrt(k (c - k) / (c f)),
 *
 * a fraction where k (c - k) c f is a square. Then no bound of an error tells bands from ties, and
 * for long windows of large moves 64 bits do not, either (ties.h); so they are divided out.
 */
#ifndef SYI_KERNELS_WINDOW_TWO_PRICES_H
#define SYI_KERNELS_WINDOW_TWO_PRICES_H

#include "exact/dd.h"
#include "exact/vector.h"
#include "exact/wide.h"
#include "window/window.h"

#if SYI_HAVE_VECTORS

#include <math.h>

/* Widths are multiples of an eighth, below WIDEST; and periods so long at most. */
enum { FINE = 8, TWO_PRICES_PERIOD = 8192, TWO_PRICES_APART = 30 };
#define WIDEST 128.0

/* In eighths; 0: it is no such width. */
SYI_INLINE int64_t places_of(const syi_window *window)
{
    const double places = FINE * window->width;
    return places < FINE * WIDEST && places == (double)(int64_t)places ? (int64_t)places : 0;
}

/* How many of last[0], last[-1] ... up to `count` are this value. */
SYI_INLINE int64_t count_still_before(const double *last, double value, int64_t count)
{
    const syi_vec still = syi_vec_of(value);
    int64_t i = 0;
    while (i + SYI_VECTOR <= count &&
           !syi_vec_any((syi_bits_vec)(syi_vec_load(last - i - SYI_VECTOR + 1) != still)))
        i += SYI_VECTOR;
    while (i < count && last[-i] == value)
        i++;
    return i;
}

/* first + change * times / parts, rounded to a double; 0: it has too many bits. */
static int round_fraction(double first, double change, int64_t times, int64_t parts, double *out)
{
    const syi_parts a = syi_split(first), b = syi_split(change);
    const int zeros = __builtin_ctzll(b.mantissa), top = b.exponent + zeros;
    const int unit = a.exponent < top ? a.exponent : top;
    if (a.exponent - unit > TWO_PRICES_APART || top - unit > TWO_PRICES_APART)
        return 0;
    const syi_i128 from = ((syi_i128)a.mantissa << (a.exponent - unit)) * parts;
    const syi_i128 by = ((syi_i128)(b.mantissa >> zeros) << (top - unit)) * times;
    const syi_i128 sum = (a.negative ? -from : from) + (b.negative ? -by : by);
    return syi_round_fraction(sum, (uint64_t)parts, unit, out);
}

/* Whether the window's newest values, and its oldest, may be those of one that holds two prices:
 * of the first three or the last three there are two that are the same, side by side. */
SYI_INLINE int may_be_two_prices(const double *newest, int64_t period)
{
    const double *const oldest = newest + 1 - period;
    return period < 3 || ((newest[0] == newest[-1] || newest[-1] == newest[-2]) &&
                          (oldest[0] == oldest[1] || oldest[1] == oldest[2]));
}

/* The upper band, the mean and the lower band of the window whose newest value is newest[0], if
 * they are such fractions; else gives 0. The mean, too: what made the bands unsure may be in it. */
static __attribute__((noinline)) int put_two_prices(const syi_window *window, const double *newest,
                                                    double *y)
{
    const int64_t c = window->period, f = c - window->ddof, places = places_of(window);
    if (places == 0 || c > TWO_PRICES_PERIOD)
        return 0;
    const int64_t k = count_still_before(newest, newest[0], c);
    if (k == c || count_still_before(newest - k, newest[-k], c - k) < c - k)
        return 0;
    const syi_dd change = syi_dd_of_sum(newest[0], -newest[-k]);
    const int64_t square = k * (c - k) * c * f, root = (int64_t)sqrt((double)square);
    if (change.low != 0.0 || !(fabs(change.high) < INFINITY) || root * root != square)
        return 0;
    const int64_t mean = FINE * k * f, step = change.high < 0.0 ? -places * root : places * root;
    return round_fraction(newest[-k], change.high, mean + step, FINE * c * f, &y[0]) &&
           round_fraction(newest[-k], change.high, mean, FINE * c * f, &y[1]) &&
           round_fraction(newest[-k], change.high, mean - step, FINE * c * f, &y[2]);
}

#endif
#endif
