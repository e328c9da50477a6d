/*
 * Windows of up to 2,048 columns, made of up to four stretches that may overlap: of 1, 2, 4 or 8
 * columns, or of 32, 128 or 512 where those would be too many. The short ones are made of the
 * columns, a longer one of four of the length before. Columns are gone through in blocks, from left
 * to right, and what a block needs of those before is kept: while its windows are put together the
 * next one's short stretches are made, so that reading, computing and writing go on at the same
 * time.
 */
#ifndef SYI_KERNELS_EXTREME_STRETCHES_H
#define SYI_KERNELS_EXTREME_STRETCHES_H

#include "fast/vector.h"

enum { SHORT_MOST = 8, WINDOW_MOST = 2048 };

/* A block's columns. */
typedef struct columns {
    const double *x;
    int64_t count, known; /* so many are there before x[0], those of its short stretch at least */
    int64_t ahead;        /* and so many columns ahead they are asked for */
} columns;

/* What is known of the vectors before: these, the stretches of two and of four columns that end
 * there, and whether something is not finite. */
typedef struct making {
    syi_vector one, two, four, older, strange;
} making;

/* The short stretches that end at x[0] and the columns behind it. Nothing else is read: reads of
 * what has just been read would wait where an output lies at the same place of a page. */
SYI_INLINE syi_vector make(making *m, const double *x, int length, int greatest)
{
    const syi_vector one = SYI_LOAD(x);
    const syi_vector two = syi_more_extreme(one, SYI_ONE_BEFORE(m->one, one), greatest);
    const syi_vector four = syi_more_extreme(two, SYI_TWO_BEFORE(m->two, two), greatest);
    const syi_vector before = SYI_WIDTH == 8   ? SYI_AFTER_4(m->four, four)
                              : SYI_WIDTH == 4 ? m->four
                                               : m->older;
    m->strange = syi_exact_product_sum(one, (syi_vector){0}, m->strange);
    m->one = one;
    m->two = two;
    m->older = m->four;
    m->four = four;
    return length == 1   ? one
           : length == 2 ? two
           : length == 4 ? four
                         : syi_more_extreme(four, before, greatest);
}

SYI_INLINE making making_at(columns of, int length, int greatest)
{
    double first[SHORT_MOST] = {0}; /* what lies farther left is in no stretch */
    const double *from = first;
    making m = {{0}, {0}, {0}, {0}, {0}};
    if (of.known >= SHORT_MOST)
        from = of.x - SHORT_MOST;
    else
        memcpy(first + SHORT_MOST - of.known, of.x - of.known, (size_t)of.known * sizeof *first);
    for (int i = 0; i < SHORT_MOST; i += SYI_WIDTH)
        make(&m, from + i, length, greatest);
    return m;
}

/* From column i on. Gives whether something that these stretches hold is not finite. */
SYI_INLINE int make_rest(making *m, columns of, int64_t i, int length, int greatest, double *to)
{
    double rest[SYI_WIDTH] = {0};
    for (; i + SYI_WIDTH <= of.count; i += SYI_WIDTH)
        SYI_STORE(to + i, make(m, of.x + i, length, greatest));
    if (i < of.count) {
        memcpy(rest, of.x + i, (size_t)(of.count - i) * sizeof *rest);
        SYI_STORE(to + i, make(m, rest, length, greatest));
    }
    return syi_any(&m->strange);
}

/* Stretches of a length, the first of which ends at `from[0]`. Those that are joined end `step`
 * columns before each other, the oldest of them `last` before the newest. */
typedef struct joint {
    const double *from;
    int64_t step, last;
} joint;

/* How many are joined. */
SYI_INLINE int joint_count(joint of)
{
    return of.last <= of.step ? 2 : of.last <= 2 * of.step ? 3 : 4;
}

/* The extremes of `count` stretches, 2 to 4; a vector of them. */
SYI_INLINE syi_vector join(joint of, int64_t i, int count, int greatest)
{
    const double *from = of.from + i;
    syi_vector y = syi_more_extreme(SYI_LOAD(from), SYI_LOAD(from - of.last), greatest);
    if (count > 2)
        y = syi_more_extreme(y, SYI_LOAD(from - of.step), greatest);
    if (count > 3)
        y = syi_more_extreme(y, SYI_LOAD(from - 2 * of.step), greatest);
    return syi_plus_zero(y);
}

/* From column i on, of n. */
SYI_INLINE void join_rest(joint of, int64_t i, int64_t n, int count, int greatest, double *to)
{
    for (; i + SYI_WIDTH <= n; i += SYI_WIDTH)
        SYI_STORE(to + i, join(of, i, count, greatest));
    if (i < n) {
        const syi_vector y = join(of, i, count, greatest);
        memcpy(to + i, &y, (size_t)(n - i) * sizeof *to);
    }
}

/* A block's windows, `past` the cache where `out` begins a line, and beside them the next one's
 * short stretches. Gives whether something that these hold is not finite. */
SYI_INLINE int put_beside(joint of, int64_t n, int count, int length, int past, int greatest,
                          double *out, columns next, double *to)
{
    const int64_t both = (n < next.count ? n : next.count) / SYI_LINE * SYI_LINE;
    making m = making_at(next, length, greatest);
    for (int64_t i = 0; i < both; i += SYI_LINE) {
        syi_vector y[SYI_LINE / SYI_WIDTH];
        syi_ask_ahead(next.x + i, next.ahead, SYI_LINE);
        for (int k = 0; k < SYI_LINE / SYI_WIDTH; k++) {
            const int64_t at = i + k * SYI_WIDTH;
            SYI_STORE(to + at, make(&m, next.x + at, length, greatest));
            y[k] = join(of, at, count, greatest);
        }
        for (int k = 0; k < SYI_LINE / SYI_WIDTH; k++)
            if (past)
                syi_store_past(out + i + k * SYI_WIDTH, y[k]);
            else
                SYI_STORE(out + i + k * SYI_WIDTH, y[k]);
    }
    join_rest(of, both, n, count, greatest, out);
    return make_rest(&m, next, both, length, greatest, to);
}

/* The same; what a window is made of has code of its own each. */
SYI_INLINE int put_windows(joint of, int64_t n, int length, int past, int greatest, double *out,
                           columns next, double *to)
{
    switch (length < SHORT_MOST ? length : SHORT_MOST * joint_count(of)) {
    case 1:
        return put_beside(of, n, 2, 1, past, greatest, out, next, to);
    case 2:
        return put_beside(of, n, 2, 2, past, greatest, out, next, to);
    case 4:
        return put_beside(of, n, 2, 4, past, greatest, out, next, to);
    case 2 * SHORT_MOST:
        return put_beside(of, n, 2, SHORT_MOST, past, greatest, out, next, to);
    case 3 * SHORT_MOST:
        return put_beside(of, n, 3, SHORT_MOST, past, greatest, out, next, to);
    default:
        return put_beside(of, n, 4, SHORT_MOST, past, greatest, out, next, to);
    }
}

#endif
