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
#define ROOM         (SHORT_PERIOD + COLUMNS + SYI_WIDTH)
/* Of one pass: what begins one waits for what goes past the cache. */
#define FLOW_COLUMNS 8192

/* The extremes of `count` (1 to 4) stretches that begin at x[0], x[step], x[2 step] and x[last], a
 * vector of them. */
SYI_INLINE syi_vector join(const double *x, int64_t step, int64_t last, int count, int greatest)
{
    syi_vector y = SYI_LOAD(x);
    if (count > 1)
        y = syi_more_extreme(y, SYI_LOAD(x + last), greatest);
    if (count > 2)
        y = syi_more_extreme(y, SYI_LOAD(x + step), greatest);
    if (count > 3)
        y = syi_more_extreme(y, SYI_LOAD(x + 2 * step), greatest);
    return syi_plus_zero(y);
}

/* `n` of them. Whole lines may go `past` the cache, where `to` begins one; then what lies at `next`
 * is far away as well and asked for meanwhile. */
SYI_INLINE void join_all(const double *x, int64_t step, int64_t last, int count, int greatest,
                         double *restrict to, int64_t n, const double *next, int past)
{
    int64_t i = 0;
    for (; i + SYI_WIDTH <= n; i += SYI_WIDTH) {
        const syi_vector y = join(x + i, step, last, count, greatest);
        if (past && i % SYI_LINE == 0)
            syi_ask_for((uintptr_t)(next + i), SYI_LINE);
        if (past)
            syi_store_past(to + i, y);
        else
            SYI_STORE(to + i, y);
    }
    if (i < n) {
        const syi_vector y = join(x + i, step, last, count, greatest);
        memcpy(to + i, &y, (size_t)(n - i) * sizeof *to);
    }
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
    return syi_more_extreme(now, later, greatest);
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

/* The windows that end at x[0 .. n), for n <= COLUMNS and a short period; as many columns from
 * x[ahead] on are asked for. Where something is not finite it is taken for more extreme than all.
 */
SYI_INLINE void roll_short(const double *x, int64_t ahead, double *restrict out, int64_t n,
                           int64_t period, int past, int greatest)
{
    _Alignas(64) double room[2][ROOM];
    const double *first = x - (period - 1), *from = room[0];
    int64_t count = period - 1 + n, length = FIRST;
    int strange, next = 1;
    while (length > period)
        length /= 2;
    strange = begin(first, count, length, greatest, room[0]);
    if (strange) {
        for (int64_t i = 0; i < count; i++)
            room[1][i] = syi_is_finite(first[i]) ? first[i] : greatest ? INFINITY : -INFINITY;
        begin(room[1], count, length, greatest, room[0]);
        past = 0;
    }
    past &= n >= SYI_LINE; /* fewer columns end where a line begins, or the row */
    for (; 4 * length < period; length *= 4, next ^= 1) {
        count -= 3 * length;
        join_all(from, length, 3 * length, 4, greatest, room[next], count, NULL, 0);
        from = room[next];
    }
    if (period <= length)
        join_all(from, length, period - length, 1, greatest, out, n, x + ahead, past);
    else if (period <= 2 * length)
        join_all(from, length, period - length, 2, greatest, out, n, x + ahead, past);
    else if (period <= 3 * length)
        join_all(from, length, period - length, 3, greatest, out, n, x + ahead, past);
    else
        join_all(from, length, period - length, 4, greatest, out, n, x + ahead, past);
    for (int64_t i = 0; strange && i < n; i++)
        out[i] = syi_is_finite(out[i]) ? out[i] : syi_nan();
}

/* What is compared: the value, negated for greatest ones; less than any for what is not finite. */
SYI_INLINE double key_of(double x, int greatest)
{
    return !syi_is_finite(x) ? -INFINITY : greatest ? -x : x;
}

SYI_INLINE double value_of(double key, int greatest)
{
    double value = greatest ? -key : key;
    return syi_is_finite(key) ? value + 0.0 : syi_nan(); /* a zero is +0 */
}

SYI_INLINE double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The windows that end at x[0 .. n), for n <= period. */
SYI_INLINE void roll_long(const double *x, double *restrict out, int64_t n, int64_t period,
                          int greatest)
{
    double least = INFINITY;
    for (int64_t i = -1; i >= n - period; i--)
        least = lesser(key_of(x[i], greatest), least);
    for (int64_t i = n - 1; i >= 0; i--) {
        out[i] = least;
        if (i > 0)
            least = lesser(key_of(x[i - period], greatest), least);
    }
    least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        least = lesser(key_of(x[i], greatest), least);
        out[i] = value_of(lesser(out[i], least), greatest);
    }
}

/* How many of the `left` columns that begin at `out` come next: those before a line, then whole
 * lines, `most` of them, then the rest. */
static int64_t columns_at_once(const double *out, int64_t left, int64_t most)
{
    const int64_t before = syi_line_after(out, 0, left), lines = left / SYI_LINE * SYI_LINE;
    if (before > 0 || lines == 0)
        return before > 0 ? before : left;
    return lines < most ? lines : most;
}

/* From the segment's column `first` on, which has a value. */
SYI_INLINE void roll(const syi_piece *piece, int64_t first, int greatest)
{
    const sy_segment *segment = &piece->segment;
    const int64_t period = (int64_t)segment->params[0], count = segment->count;
    const int64_t known = syi_known(piece);
    const int past = piece->past_cache;
    const int64_t most = past && period < COLUMNS / 4 ? COLUMNS / 2 : COLUMNS;
    int64_t n;
    for (int64_t at = first, done = 0; at < count; at += n, done = 0) {
        const double *x = segment->in[0] + at;
        double *out = segment->out[0] + at;
        if (period > SHORT_PERIOD) {
            n = count - at < period ? count - at : period;
            roll_long(x, out, n, period, greatest);
            continue;
        }
        n = columns_at_once(out, count - at, flows(period) ? FLOW_COLUMNS : most);
        if (n >= SYI_LINE && flows(period))
            done = flow_all(x, syi_ahead(known, at + n, SYI_AHEAD), out, n, period, past, greatest);
        n = n - done < COLUMNS ? n : done + COLUMNS;
        if (done < n)
            roll_short(x + done, syi_ahead(known, at + n, n - done), out + done, n - done, period,
                       past, greatest);
    }
    syi_past_done();
}

sy_status SYI_ISA_NAME(syi_extreme_roll)(const syi_piece *piece, int greatest)
{
    const sy_segment *segment = &piece->segment;
    int64_t first = (int64_t)segment->params[0] - 1 - segment->first;
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    for (int64_t i = 0; i < first; i++)
        segment->out[0][i] = syi_nan();
    if (first == segment->count)
        return SY_OK;
    if (greatest)
        roll(piece, first, 1);
    else
        roll(piece, first, 0);
    return SY_OK;
}
