/*
 * The rolling extremes' loops. Nothing is rounded, so any order gives the same bits. A short
 * window is doubled: of two neighbouring windows comes one of twice the length, for many columns
 * at once. A long one is cut in two at a block's border; the part before it waits in the output.
 * This file is compiled for several instruction sets.
 */
#include "extreme/rolling.h"

/* The longest window that is doubled, and the columns that are doubled at once. */
#define SHORT_PERIOD 128
#define COLUMNS      1024

/* The windows that end at x[0 .. n), for n <= COLUMNS and a short period. */
SYI_INLINE void roll_short(const double *x, double *restrict out, int n, int period, int greatest)
{
    double key[SHORT_PERIOD + COLUMNS];
    int count = period - 1 + n, length = 1;
    for (int i = 0; i < count; i++)
        key[i] = syi_rolling_key(x[i - (period - 1)], greatest);
    /* key[i] is the least of the `length` ones from i on */
    for (; 2 * length <= period; length *= 2)
        for (int i = 0; i + length < count; i++)
            key[i] = syi_lesser(key[i], key[i + length]);
    for (int i = 0; i < n; i++)
        out[i] = syi_rolling_value(syi_lesser(key[i], key[i + period - length]), greatest);
}

/* The windows that end at x[0 .. n), for n <= period. */
SYI_INLINE void roll_long(const double *x, double *restrict out, int64_t n, int64_t period,
                          int greatest)
{
    double least = INFINITY;
    for (int64_t i = -1; i >= n - period; i--)
        least = syi_lesser(syi_rolling_key(x[i], greatest), least);
    for (int64_t i = n - 1; i >= 0; i--) {
        out[i] = least;
        if (i > 0)
            least = syi_lesser(syi_rolling_key(x[i - period], greatest), least);
    }
    least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        least = syi_lesser(syi_rolling_key(x[i], greatest), least);
        out[i] = syi_rolling_value(syi_lesser(out[i], least), greatest);
    }
}

SYI_INLINE void roll(const double *x, double *out, int64_t count, int64_t period, int greatest)
{
    int64_t block = period <= SHORT_PERIOD ? COLUMNS : period;
    for (int64_t at = 0; at < count; at += block) {
        int64_t n = count - at < block ? count - at : block;
        if (period <= SHORT_PERIOD)
            roll_short(x + at, out + at, (int)n, (int)period, greatest);
        else
            roll_long(x + at, out + at, n, period, greatest);
    }
}

sy_status SYI_ISA_NAME(syi_extreme_roll)(const syi_piece *piece, int greatest)
{
    const sy_segment *segment = &piece->segment;
    int64_t period = (int64_t)segment->params[0], first = period - 1 - segment->first;
    const double *x = segment->in[0];
    double *out = segment->out[0];
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    for (int64_t i = 0; i < first; i++)
        out[i] = syi_nan();
    if (first == segment->count)
        return SY_OK;
    if (greatest)
        roll(x + first, out + first, segment->count - first, period, 1);
    else
        roll(x + first, out + first, segment->count - first, period, 0);
    return SY_OK;
}
