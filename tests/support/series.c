/* Seeded series for the tests. Only + - * / and ldexp: no library function
 * whose last bit depends on the machine. */
#include "support/series.h"

#include <math.h>
#include <string.h>

uint64_t series_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double series_uniform(uint64_t *state)
{
    return (double)(series_bits(state) >> 11) * 0x1p-53;
}

int64_t series_below(uint64_t *state, int64_t limit)
{
    return (int64_t)(series_bits(state) % (uint64_t)limit);
}

const char *series_name(series_kind kind)
{
    static const char *const names[] = {
        "walk",       "tick",        "spikes",  "offset",    "constant",  "flats",      "ramp",
        "small tick", "alternating", "returns", "subnormal", "integers",  "full range", "huge mix",
        "cancelling", "lines",       "volumes", "NaNs",      "infinities"};
    return names[kind];
}

static double sign(uint64_t *s)
{
    return series_bits(s) & 1 ? 1.0 : -1.0;
}

static double step(double price, uint64_t *s)
{
    return price * (1.0 + 0.01 * (series_uniform(s) - 0.5));
}

static double to_tick(double price, double per_unit)
{
    return floor(price * per_unit + 0.5) / per_unit;
}

static double any_exponent(uint64_t *s, int lowest, int highest)
{
    int exponent = lowest + (int)series_below(s, highest - lowest + 1);
    return sign(s) * ldexp(1.0 + series_uniform(s), exponent);
}

static double strange_nan(uint64_t *s)
{
    static const uint64_t patterns[] = {UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000000000),
                                        UINT64_C(0x7ff0000000000001), UINT64_C(0xfff8dead0000beef)};
    double value;
    memcpy(&value, &patterns[series_below(s, 4)], sizeof value);
    return value;
}

/* A lot is a quarter; of how many bits volumes are at most changes. */
static double volume(int64_t i, uint64_t *s)
{
    static const int bits[] = {8, 20, 34, 38, 40, 46};
    const int section = (int)(i / 600 % 6);
    const int64_t most = INT64_C(1) << (1 + series_below(s, bits[section]));
    return series_below(s, 10) < section % 3 ? 0.0 : 0.25 * (double)series_below(s, most);
}

/* What a kind adds to the walk's `price` at index i. */
static double value_at(series_kind kind, double price, int64_t i, uint64_t *s)
{
    switch (kind) {
    case SERIES_TICK:
        return to_tick(price, 100);
    case SERIES_SPIKES:
        return series_below(s, 97) == 0 ? 1e12 * (1 + series_uniform(s)) : to_tick(price, 100);
    case SERIES_OFFSET:
        return 1e8 + to_tick(series_uniform(s), 1000);
    case SERIES_RAMP:
        return 10.0 + 0.1 * (double)i;
    case SERIES_SMALL_TICK:
        return to_tick(0.0016 + 0.0004 * (series_uniform(s) - 0.5), 10000);
    case SERIES_RETURNS:
        return 0.02 * (series_uniform(s) - 0.5) * series_uniform(s);
    case SERIES_SUBNORMAL:
        return sign(s) * ldexp((double)series_below(s, 5000), -1074);
    case SERIES_INTEGERS:
        return (double)(series_below(s, 7) - 2);
    case SERIES_VOLUMES:
        return volume(i, s);
    case SERIES_FULL_RANGE:
        return any_exponent(s, -1074, 496);
    case SERIES_HUGE_MIX:
        return series_below(s, 40) ? price * sign(s)
                                   : any_exponent(s, series_bits(s) & 1 ? 480 : -500, 490);
    default:
        return price;
    }
}

/* Kinds whose values come in pairs or stretches. */
static void pair_up(series_kind kind, double *x, int64_t n, uint64_t *s)
{
    double last = 100;
    for (int64_t i = 0; i < n; i++) {
        if (kind == SERIES_ALTERNATING)
            x[i] = i % 2 ? -x[i - 1] : x[i];
        else if (kind == SERIES_CANCEL)
            x[i] = i % 3 == 0 ? any_exponent(s, 0, 100) : i % 3 == 1 ? -x[i - 1] : to_tick(x[i], 8);
        else if (kind == SERIES_FLATS)
            x[i] = last = i % 1500 > 500 || series_below(s, i % 1500 > 200 ? 40 : 3)
                              ? last
                              : to_tick(x[i], 100);
    }
}

static void lay_lines(double *x, int64_t n, uint64_t *s)
{
    double price = 100, slope = 0;
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++, left--) {
        if (left == 0) {
            slope = 0x1p-22 * (double)(series_below(s, 1 << 21) - (1 << 20));
            left = 1 + series_below(s, series_below(s, 2) ? 60 : 4000);
        }
        x[i] = price += slope;
    }
}

static void put_strange(series_kind kind, double *x, int64_t n, uint64_t *s)
{
    int64_t i = series_below(s, 60);
    while (i < n) {
        x[i] = kind == SERIES_NANS ? strange_nan(s) : sign(s) * INFINITY;
        i += 1 + series_below(s, series_below(s, 2) ? 4 : 1500);
    }
}

void series_fill(series_kind kind, uint64_t seed, double *x, int64_t n)
{
    uint64_t state = seed * 1000003u + (uint64_t)kind;
    double price = 100;
    for (int64_t i = 0; i < n; i++) {
        if (kind != SERIES_CONSTANT)
            price = step(price, &state);
        x[i] = value_at(kind, kind == SERIES_CONSTANT ? 123.456 : price, i, &state);
    }
    if (kind == SERIES_ALTERNATING || kind == SERIES_CANCEL || kind == SERIES_FLATS)
        pair_up(kind, x, n, &state);
    if (kind == SERIES_LINES)
        lay_lines(x, n, &state);
    if (kind == SERIES_NANS || kind == SERIES_INFINITIES)
        put_strange(kind, x, n, &state);
}
