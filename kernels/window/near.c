/*
 * Bands that lie in the middle between two doubles are common where a price moves seldom: the
 * deviation of two prices in one window is often rational. Wide integers take half a microsecond
 * for a window. But such prices are a few units apart, the unit being the last place of the binade
 * below the newest one's: then integers of 128 bits hold a window's moments, and the squares of
 * which one is larger says on which side of a middle a band is.
 */
#include "window/near.h"

#include "exact/bits.h"

#include <math.h>

typedef struct near_window {
    double pivot, reciprocal, per_unit; /* the newest value, 1 / that, 1 / unit */
    int64_t count, free;
    int64_t sum;            /* of the distances from the pivot, in units */
    syi_u128 spread;        /* count * sum of their squares - sum^2 */
    double mean, deviation; /* nearly, the mean as its distance from the pivot */
    /* Of one band: the sign of width * deviation, and 4 * width^2 * spread * count and free, both
     * times the same power of two. */
    int side;
    syi_u128 square, divisor;
} near_window;

static int bits_of(syi_u128 a)
{
    const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* *a *= by, unless that takes more than 127 bits. */
static int multiply(syi_u128 *a, syi_u128 by)
{
    const int holds = bits_of(*a) + bits_of(by) <= 127;
    if (holds)
        *a *= by;
    return holds;
}

/* All that is between half the pivot and twice the pivot is a whole number of units away from it,
 * less than 2^54. */
static int is_near(const near_window *n, double x)
{
    const double ratio = x * n->reciprocal;
    return ratio > 0.51 && ratio < 1.95;
}

static int64_t units(const near_window *n, double x)
{
    return (int64_t)((x - n->pivot) * n->per_unit);
}

/* Takes up the window's values; 0 where they are not near, or too many. */
static int measure(near_window *n, const syi_window *window, const double *newest)
{
    syi_u128 squares = 0;
    int64_t sum = 0;
    if (!(fabs(*newest) > 0x1p-900 && fabs(*newest) < 0x1p900) || window->period > 256)
        return 0;
    n->pivot = *newest;
    n->reciprocal = 1.0 / *newest;
    n->per_unit = syi_pow2(1 - syi_split(*newest).exponent);
    n->count = window->period;
    n->free = window->period - window->ddof;
    for (int64_t i = 1 - n->count; i < 0; i++) {
        if (!is_near(n, newest[i]))
            return 0;
        const int64_t distance = units(n, newest[i]);
        sum += distance;
        squares += (syi_u128)((syi_i128)distance * distance);
    }
    if (!multiply(&squares, (syi_u128)n->count))
        return 0;
    n->sum = sum; /* its square is not more than that */
    n->spread = squares - (syi_u128)((syi_i128)sum * sum);
    n->mean = (double)sum / (double)n->count / n->per_unit;
    n->deviation = sqrt((double)n->spread / (double)(n->count * n->free)) / n->per_unit;
    return 1;
}

/* The squares of a band; 0 where they are too large. */
static int take_band(near_window *n, double width)
{
    const syi_parts parts = syi_split(width);
    const int zeros = parts.mantissa ? __builtin_ctzll(parts.mantissa) : 0;
    const uint64_t odd = parts.mantissa >> zeros;
    const int power = 2 * (parts.exponent + zeros + 1);
    n->side = odd == 0 || n->spread == 0 ? 0 : parts.negative ? -1 : 1;
    n->square = n->spread;
    n->divisor = (syi_u128)n->free;
    if (n->side == 0)
        return 1;
    if (odd >> 30 || power < -60 || power > 60)
        return 0;
    return multiply(&n->square, odd * odd) && multiply(&n->square, (syi_u128)n->count) &&
           multiply(power > 0 ? &n->square : &n->divisor,
                    (syi_u128)1 << (power > 0 ? power : -power));
}

/* *order = the sign of (band - point), the point in half units from the pivot; 0 where that takes
 * too many bits. */
static int compare(const near_window *n, int64_t point, int *order)
{
    const syi_i128 apart = (syi_i128)point * n->count - 2 * (syi_i128)n->sum;
    const int sign = (apart > 0) - (apart < 0);
    syi_u128 distance = (syi_u128)(apart < 0 ? -apart : apart);
    *order = n->side == 0 ? -sign : n->side;
    if (n->side == 0 || sign != n->side)
        return 1;
    if (!multiply(&distance, distance) || !multiply(&distance, n->divisor))
        return 0;
    *order *= (n->square > distance) - (n->square < distance);
    return 1;
}

/* The doubles next to y, which is not near zero. */
static double above(double y)
{
    return syi_from_bits(syi_bits(y) + (y > 0.0 ? 1 : UINT64_MAX));
}

static double below(double y)
{
    return -above(-y);
}

/* *y = the band rounded; 0 where that cannot be said. A distance from the pivot that is small
 * beside it has bits to spare: they tell the nearest double, but where the band may be in the
 * middle between that and the one on the other side of it. */
static int round_band(near_window *n, double width, double *y)
{
    const double reach = width * n->deviation, apart = n->mean + reach;
    const double error = 0x1.1p-51 * (fabs(n->mean) + fabs(reach));
    const double nearest = n->pivot + apart, rest = apart - (nearest - n->pivot);
    const double other = rest > 0.0 ? above(nearest) : below(nearest);
    const double half = 0.5 * fabs(other - nearest);
    int order;
    *y = nearest;
    if (!is_near(n, nearest) || !is_near(n, other) || !(error < 0.5 * half))
        return 0;
    if (fabs(rest) + error < half)
        return 1;
    if (!take_band(n, width) || !compare(n, units(n, nearest) + units(n, other), &order))
        return 0;
    if (order == 0 ? (int)(syi_bits(nearest) & 1) : (order > 0) == (rest > 0.0))
        *y = other;
    return 1;
}

int syi_window_near(const syi_window *window, const double *newest, double *const *out)
{
    near_window n;
    if (!measure(&n, window, newest))
        return 0;
    for (int k = 0; k < 3; k++)
        if (!round_band(&n, (1.0 - k) * window->width, out[k]))
            return 0;
    return 1;
}
