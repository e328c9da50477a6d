/*
 * Stretches of a window and how far their values are spread, for fast accuracy. Of a stretch of a
 * power of two columns there are
 *
 *     drop[j]     the sum of the stretch from column j on less the sum of the next one
 *     square[j]   its length times the sum of its values' squared distances from their mean
 *
 * and of those of twice the length, with a, b, c the drops from j, j + length, j + 2 length on,
 *
 *     (a + b) + (b + c)     and     2 (square[j] + square[j + length]) + a a.
 *
 * Nothing but differences of neighbours enters, so a large common value costs nothing, and squares
 * are only added. The stretches that make up a period are joined from the newest on; for that a
 * `gap` is carried up the lengths, the sum of the stretch that comes next less as many times the
 * mean of the oldest one joined (of the newest value, while none is).
 */
#ifndef SYI_KERNELS_FAST_SPREAD_H
#define SYI_KERNELS_FAST_SPREAD_H

#include "fast/join.h"
#include "fast/window.h"

enum {
    SYI_SPREAD_FIRST = SYI_WIDTH > 2 ? 8 : 4, /* the stretches made from the columns */
    SYI_SPREAD_TAIL = SYI_SPREAD_FIRST - 1,   /* what the period has beyond them, as a mask */
};

/* The drops of one and of two columns. */
SYI_INLINE syi_vector syi_drop_1(const double *x)
{
    return SYI_LOAD(x) - SYI_LOAD(x + 1);
}

SYI_INLINE syi_vector syi_drop_2(const double *x)
{
    return (SYI_LOAD(x) - SYI_LOAD(x + 2)) + (SYI_LOAD(x + 1) - SYI_LOAD(x + 3));
}

/* The gap of two columns before column x[0], behind which are `tail` that are joined. */
SYI_INLINE syi_vector syi_gap_2(const double *x, int64_t tail)
{
    return tail & 1 ? syi_scaled_sum(syi_drop_1(x - 1), 2.0, syi_drop_1(x - 2)) : syi_drop_1(x - 2);
}

/* The same of four columns; `first`: the drops of their first two. */
SYI_INLINE syi_vector syi_gap_4(const double *x, syi_vector first, int64_t tail)
{
    syi_vector gap = tail & 2 ? syi_drop_2(x - 2) : syi_gap_2(x, tail);
    return syi_scaled_sum(gap, 2.0, first);
}

/* The square of four columns. */
SYI_INLINE syi_vector syi_square_4(const double *x)
{
    syi_vector one = syi_drop_1(x), later = syi_drop_1(x + 2), two = syi_drop_2(x);
    syi_vector both = one * one + later * later;
    return syi_product_sum(two, two, both + both);
}

/* The tail, from x[0] on; `four`: the square of its first four columns, `two`: the drops of its
 * first two. */
SYI_INLINE void syi_spread_tail(const double *x, syi_vector four, syi_vector two, int64_t tail,
                                const syi_joint *joints, syi_spread *all)
{
    const double *end = x + tail;
    const syi_joint two_columns = syi_known_joint(joints[1], tail & 1),
                    four_columns = syi_known_joint(joints[2], tail & 3);
    *all = (syi_spread){{0}, {0}, {0}};
    if (tail & 1) { /* not finite where it is not */
        end--;
        all->square = SYI_LOAD(end) - SYI_LOAD(end);
    }
    if (tail & 2) {
        syi_vector drop = syi_drop_1(end - 2);
        syi_join(&two_columns, 0, drop * drop, syi_gap_2(end, tail), all);
        end -= 2;
    }
    if (tail & 4)
        syi_join(&four_columns, 0, four, syi_gap_4(end, two, tail & 3), all);
}

/* The stretches of two and of four columns from a block's columns on. */
typedef struct syi_spread_block {
    syi_vector drop, sum, square; /* sum: of the drops from a column and one length later on */
} syi_spread_block;

/* From stretches of `columns` to those of twice as many; `next`: of the block that follows. Gives
 * the drops that begin `columns` later. */
SYI_INLINE syi_vector syi_spread_twice(int columns, syi_spread_block *next, syi_vector *drop,
                                       syi_vector *square)
{
    const int two = columns == 2;
    syi_spread_block now = {*drop, {0}, *square};
    syi_vector later = two ? SYI_AFTER_2(now.drop, next->drop) : SYI_AFTER_4(now.drop, next->drop);
    now.sum = now.drop + later;
    *drop = now.sum + (two ? SYI_AFTER_2(now.sum, next->sum) : SYI_AFTER_4(now.sum, next->sum));
    *square += two ? SYI_AFTER_2(now.square, next->square) : SYI_AFTER_4(now.square, next->square);
    *square = syi_product_sum(now.drop, now.drop, *square + *square);
    *next = now;
    return later;
}

#endif
