/*
 * A chunk of windows whose spreads are computed in fast accuracy, and the results it gives. For
 * fast/spread_run.h, which says by SYI_SPREAD_KIND what is wanted of the spreads.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_TASK_H
#define SYI_KERNELS_FAST_SPREAD_TASK_H

#include "fast/spread.h"

/* Windows at a time: few columns are gone through twice, and all stays in the near caches. Short
 * windows take one pass, which keeps less there. */
enum { CHUNK = 512, SHORT_CHUNK = 1024, ROOM = SHORT_CHUNK + 2 * SYI_SCAN_LEAST + 64 };
enum { FIRST = SYI_SPREAD_FIRST };
enum { OUTPUTS = SYI_SPREAD_KIND == SYI_WINDOW_BANDS ? 3 : 1 };
enum { SCORES = SYI_SPREAD_KIND == SYI_WINDOW_SCORE, MARKED = SCORES && SYI_SCORES_MARKED };

/* Where the spreads of what has been joined are. */
typedef struct rooms {
    double *square, *distance, *lead;
} rooms;

/* A chunk of windows; window j is x[j .. j + period). There are SYI_FAST_BEHIND columns more behind
 * x, and room for as many results behind the outputs. drop[j] and square[j] are of the stretches of
 * `length` columns from column j on. Of the window's newest `have` columns there are `all`, and
 * `gap` of the stretch before them. `factor` makes a variance of the squares. */
typedef struct task {
    const double *x;
    double *out[3];
    int64_t period, windows, length, have;
    double *drop, *square, *gap;
    rooms all;
    double factor;
    int past;                /* results go past the cache: the outputs begin lines */
    const syi_joint *joints; /* of the lengths that are in the period */
} task;

SYI_INLINE const syi_joint *joint_of(const task *t, int64_t length)
{
    return &t->joints[63 - __builtin_clzll((unsigned long long)length)];
}

SYI_INLINE void load_spread(const rooms *from, int64_t j, syi_spread *all)
{
    *all = (syi_spread){SYI_LOAD(from->square + j), SYI_LOAD(from->distance + j),
                        SYI_LOAD(from->lead + j)};
}

SYI_INLINE void store_spread(const rooms *to, int64_t j, const syi_spread *all)
{
    SYI_STORE(to->square + j, all->square);
    SYI_STORE(to->distance + j, all->distance);
    SYI_STORE(to->lead + j, all->lead);
}

/* The first stretches from a block's columns on; where it is part of a tail's or before one, the
 * tail and the gap before it. */
typedef struct beginning {
    syi_vector drop, square, gap;
    syi_spread all;
} beginning;

/* The stretches of four columns from a block's columns on, and the drops of two. */
typedef struct fours {
    syi_vector drop, square, two;
} fours;

/* `next`: of two columns of the block that follows. */
SYI_INLINE fours begin_fours(const task *t, int64_t j, syi_spread_block *next)
{
    const double *x = t->x + j;
    const syi_vector one = syi_drop_1(x), two = syi_drop_2(x);
    fours now = {two, one * one, two};
    syi_spread_twice(2, next, &now.drop, &now.square);
    return now;
}

/* From column j on, where there are `four`; `next`: the block that follows. `joined`: the tail and
 * the gap before it are wanted, too. */
SYI_INLINE beginning begin(const task *t, int64_t j, int64_t tail, int joined, fours four,
                           syi_spread_block *next)
{
    const double *x = t->x + j;
    beginning now = {four.drop, four.square, four.drop, {{0}, {0}, {0}}};
    if (FIRST > 4) {
        syi_vector later = syi_spread_twice(4, next, &now.drop, &now.square);
        if (joined)
            now.gap = syi_scaled_sum(
                tail & 4 ? later : syi_gap_4(x + FIRST, syi_drop_2(x + FIRST - 4), tail), 2.0,
                now.gap);
    } else if (joined) {
        now.gap = syi_gap_4(x + FIRST, four.two, tail);
    }
    if (joined && tail)
        syi_spread_tail(x, four.square, four.two, tail, t->joints, &now.all);
    return now;
}

/* What the last join takes: the square of its stretch, the gap before it and what has been joined.
 */
typedef struct ending {
    syi_vector square, gap;
    syi_spread all;
} ending;

/* The same where two stretches (`times`) are it: of them the first one's drop and the later one's
 * square. */
SYI_INLINE ending ending_of(ending last, int times, syi_vector drop, syi_vector later)
{
    if (times == 2) {
        last.square += later;
        last.square = syi_product_sum(drop, drop, last.square + last.square);
        last.gap = syi_scaled_sum(last.gap, 2.0, drop);
    }
    return last;
}

/* The last join. */
SYI_INLINE syi_spread finish(const syi_joint *joint, ending last)
{
    syi_join(joint, 1, last.square, last.gap, &last.all);
    return last.all;
}

/* Asks for columns of the next chunk, where `done` of this one's are done: from left to right, also
 * where this one is gone through from right to left. A processor looks ahead in its memory only
 * along what goes on from chunk to chunk. */
SYI_INLINE void ask_for_next(const task *t, int64_t done)
{
    const double *next = t->x + t->period - 1 + t->windows;
    syi_ask_for((uintptr_t)(next + done), SYI_WIDTH);
}

/* What comes of a window; the squares are of all its columns. Gives what tells whether something is
 * still to be marked. Flat windows have no score, and what has gone past the cache would have to be
 * fetched to be marked: such scores are marked at once. */
SYI_INLINE syi_vector result(const task *t, int64_t j, const syi_spread *all)
{
    syi_vector out[3], newest = {0};
    if (SYI_SPREAD_KIND == SYI_WINDOW_BANDS)
        newest = SYI_LOAD(t->x + j + t->period - 1);
    syi_spread_result(SYI_SPREAD_KIND, t->factor, newest, all, out);
    if (SCORES && !MARKED && t->past)
        out[0] = syi_marked(out[0]);
    for (int k = 0; k < OUTPUTS; k++)
        if (t->past)
            syi_store_past(t->out[k] + j, out[k]);
        else
            SYI_STORE(t->out[k] + j, out[k]);
    return SCORES && (MARKED || t->past) ? newest : out[0];
}

/* Where the first of some arrays is not finite there is nothing. */
static void mark(double *const *y, int arrays, int64_t count)
{
    for (int k = arrays; --k > 0;)
        for (int64_t j = 0; j < count; j++)
            if (!syi_is_finite(y[0][j]))
                y[k][j] = syi_nan();
    syi_fast_mark(y[0], count);
}

#endif
