/*
 * The rolling extremes' loops. Nothing is rounded, so any order gives the same bits. A short window
 * is made of stretches of columns, for many columns at once: of FIRST at most in registers, then
 * each of four of the ones before; those that make up a window may overlap. With AVX-512 the
 * windows of 8 to 31 columns take one pass (extreme/rolling_flow.h). A long one is cut in two at a
 * block's border; the part before it waits in the output. This file is compiled for several
 * instruction sets.
 */
#include "extreme/rolling.h"
#include "extreme/rolling_flow.h"

/* The longest window that is made of stretches, and the columns of which they are made at once. */
#define SHORT_PERIOD 1024
#define COLUMNS      1024
#define ROOM         (SHORT_PERIOD + COLUMNS)

SYI_INLINE double more_extreme(double a, double b, int greatest)
{
    return greatest ? (a > b ? a : b) : syi_lesser(a, b);
}

/* The extremes of `count` (1 to 4) stretches that begin at x[0], x[step], x[2 step] and x[last]. */
SYI_INLINE double join(const double *x, int64_t step, int64_t last, int count, int greatest)
{
    double y = x[0];
    if (count > 1)
        y = more_extreme(y, x[last], greatest);
    if (count > 2)
        y = more_extreme(y, x[step], greatest);
    return count > 3 ? more_extreme(y, x[2 * step], greatest) : y;
}

SYI_INLINE void join_all(const double *x, int64_t step, int64_t last, int count, int greatest,
                         double *restrict to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = join(x + i, step, last, count, greatest) + 0.0; /* a zero is +0 */
}

/* A vector of them. */
SYI_INLINE syi_vector join_vector(const double *x, int64_t step, int64_t last, int count,
                                  int greatest)
{
    syi_vector y = SYI_LOAD(x);
    if (count > 1)
        y = more_extreme_of(y, SYI_LOAD(x + last), greatest);
    if (count > 2)
        y = more_extreme_of(y, SYI_LOAD(x + step), greatest);
    if (count > 3)
        y = more_extreme_of(y, SYI_LOAD(x + 2 * step), greatest);
    return y + 0.0; /* a zero is +0 */
}

/* join_all, past the cache where whole lines go there: `to` begins one. What lies `n` columns
 * behind `next` is far away as well and asked for meanwhile. */
SYI_INLINE void join_past(const double *x, int64_t step, int64_t last, int count, int greatest,
                          double *restrict to, int64_t n, const double *next)
{
    int64_t at = 0;
    for (; at + SYI_LINE <= n; at += SYI_LINE) {
        syi_ask_for((uintptr_t)(next + n + at), SYI_LINE);
        for (int64_t i = at; i < at + SYI_LINE; i += SYI_WIDTH)
            syi_store_past(to + i, join_vector(x + i, step, last, count, greatest));
    }
    join_all(x + at, step, last, count, greatest, to + at, n - at);
}

SYI_INLINE void join_last(const double *x, int64_t step, int64_t last, int count, int greatest,
                          double *restrict to, int64_t n, const double *next, int past)
{
    if (past)
        join_past(x, step, last, count, greatest, to, n, next);
    else
        join_all(x, step, last, count, greatest, to, n);
}

/* The longest stretches made in registers. */
enum { FIRST = SYI_WIDTH > 2 ? 8 : 4 };

/* Stretches of twice the columns; `next`: those of the block that follows, then of this one. */
SYI_INLINE syi_vector twice(int columns, syi_vector now, syi_vector *next, int greatest)
{
    syi_vector later = columns == 1   ? SYI_AFTER_1(now, *next)
                       : columns == 2 ? SYI_AFTER_2(now, *next)
                                      : SYI_AFTER_4(now, *next);
    *next = now;
    return more_extreme_of(now, later, greatest);
}

/* The stretches of 1, 2, 4 or 8 columns from x[0 .. count) on, from right to left; those that reach
 * beyond x are nobody's. There is room for a vector more. Gives whether something is not finite. */
SYI_INLINE int stretches(const double *x, int64_t count, int length, int greatest, double *to)
{
    const int64_t whole = count / SYI_WIDTH * SYI_WIDTH;
    syi_vector next[3] = {{0}, {0}, {0}}, strange = {0};
    double rest[SYI_WIDTH] = {0};
    memcpy(rest, x + whole, (size_t)(count - whole) * sizeof *rest);
    for (int64_t at = whole; at >= 0; at -= SYI_WIDTH) {
        syi_vector now = SYI_LOAD(at < whole ? x + at : rest);
        strange += now - now;
        for (int columns = 1, k = 0; columns < length; columns *= 2, k++)
            now = twice(columns, now, &next[k], greatest);
        SYI_STORE(to + at, now);
    }
    return syi_any(&strange);
}

/* The same; each length has code of its own. */
SYI_INLINE int begin(const double *x, int64_t count, int64_t length, int greatest, double *to)
{
    switch (length) {
    case 1:
        return stretches(x, count, 1, greatest, to);
    case 2:
        return stretches(x, count, 2, greatest, to);
    case 4:
        return stretches(x, count, 4, greatest, to);
    default:
        return stretches(x, count, FIRST, greatest, to);
    }
}

/* The windows that end at x[0 .. n), for n <= COLUMNS and a short period. Where something is not
 * finite it is taken for more extreme than all. */
SYI_INLINE void roll_short(const double *x, double *restrict out, int64_t n, int64_t period,
                           int past, int greatest)
{
    _Alignas(64) double room[2][ROOM];
    const double *first = x - (period - 1), *from = room[0];
    int64_t count = period - 1 + n, length = FIRST;
    int strange, next = 1;
    if (n % SYI_WIDTH == 0 && flows(period) && !flow_all(x, out, n, period, past, greatest))
        return;
    while (length > period)
        length /= 2;
    strange = begin(first, count, length, greatest, room[0]);
    if (strange) {
        for (int64_t i = 0; i < count; i++)
            room[1][i] = syi_is_finite(first[i]) ? first[i] : greatest ? INFINITY : -INFINITY;
        begin(room[1], count, length, greatest, room[0]);
        past = 0;
    }
    for (; 4 * length < period; length *= 4, next ^= 1) {
        count -= 3 * length;
        join_all(from, length, 3 * length, 4, greatest, room[next], count);
        from = room[next];
    }
    if (period <= length)
        join_last(from, length, period - length, 1, greatest, out, n, x, past);
    else if (period <= 2 * length)
        join_last(from, length, period - length, 2, greatest, out, n, x, past);
    else if (period <= 3 * length)
        join_last(from, length, period - length, 3, greatest, out, n, x, past);
    else
        join_last(from, length, period - length, 4, greatest, out, n, x, past);
    for (int64_t i = 0; strange && i < n; i++)
        out[i] = syi_is_finite(out[i]) ? out[i] : syi_nan();
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

/* How many of the `left` columns that begin at `out` come next: those before a line, then whole
 * lines, then the rest. */
static int64_t columns_at_once(const double *out, int64_t left, int64_t period, int past)
{
    const int64_t before = syi_line_after(out, 0, left), lines = left / SYI_LINE * SYI_LINE;
    const int64_t most = past && period < COLUMNS / 4 && !flows(period) ? COLUMNS / 2 : COLUMNS;
    if (before > 0 || lines == 0)
        return before > 0 ? before : left;
    return lines < most ? lines : most;
}

/* `past`: the results go past the cache. */
SYI_INLINE void roll(const double *x, double *out, int64_t count, int64_t period, int past,
                     int greatest)
{
    int64_t n;
    for (int64_t at = 0; at < count; at += n) {
        if (period > SHORT_PERIOD) {
            n = count - at < period ? count - at : period;
            roll_long(x + at, out + at, n, period, greatest);
            continue;
        }
        n = columns_at_once(out + at, count - at, period, past);
        roll_short(x + at, out + at, n, period, past, greatest);
    }
    syi_past_done();
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
        roll(x + first, out + first, segment->count - first, period, piece->past_cache, 1);
    else
        roll(x + first, out + first, segment->count - first, period, piece->past_cache, 0);
    return SY_OK;
}
