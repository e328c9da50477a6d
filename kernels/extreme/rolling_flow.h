/*
 * Windows of 8 to 31 columns, where a vector has eight, in one pass from left to right. A window is
 * made of stretches of eight columns: those that end at its last column, eight before it and so on,
 * and one that begins at its first. What they need of the blocks before is still in registers, so
 * nothing is stored but results, and what goes past the cache is hidden behind the computing.
 */
#ifndef SYI_KERNELS_EXTREME_ROLLING_FLOW_H
#define SYI_KERNELS_EXTREME_ROLLING_FLOW_H

#include "extreme/stretches.h"

#if SYI_WIDTH == 8

/* Blocks of eight columns that a window may reach back, and the longest window that does not reach
 * farther. */
enum { FLOW_BLOCKS = 3, FLOW_LONGEST = 8 * FLOW_BLOCKS + 7 };

/* What is known at a block: what the next one's stretches take of its own, and these, of eight
 * columns, that end there and in the blocks before. */
typedef struct flow_state {
    making made;
    syi_vector eight[FLOW_BLOCKS + 1];
} flow_state;

/* The vector that begins `columns` before `now`, which follows `before`. */
SYI_INLINE syi_vector back_by(syi_vector before, syi_vector now, int columns)
{
    switch (columns) {
    case 0:
        return now;
    case 1:
        return SYI_AFTER(before, now, 7);
    case 2:
        return SYI_AFTER(before, now, 6);
    case 3:
        return SYI_AFTER(before, now, 5);
    case 4:
        return SYI_AFTER(before, now, 4);
    case 5:
        return SYI_AFTER(before, now, 3);
    case 6:
        return SYI_AFTER(before, now, 2);
    default:
        return SYI_AFTER(before, now, 1);
    }
}

/* On to the block of columns from x[0] on. */
SYI_INLINE void flow_step(flow_state *s, const double *x, int greatest)
{
    for (int k = FLOW_BLOCKS; k > 0; k--)
        s->eight[k] = s->eight[k - 1];
    s->eight[0] = make(&s->made, x, SHORT_MOST, greatest);
}

/* The windows of `blocks` stretches and `tail` columns that end at the block. */
SYI_INLINE syi_vector flow_windows(const flow_state *s, int blocks, int tail, int greatest)
{
    syi_vector y = s->eight[0];
    for (int k = 1; k < blocks; k++)
        y = syi_more_extreme(y, s->eight[k], greatest);
    if (tail)
        y = syi_more_extreme(y, back_by(s->eight[blocks], s->eight[blocks - 1], tail), greatest);
    return syi_plus_zero(y);
}

/* The windows that end at x[0 .. n), n whole vectors; `past` the cache, where `out` begins a line;
 * meanwhile the columns `ahead` are asked for. Gives before which column they are right: as far as
 * all values are known to be finite. */
SYI_INLINE int64_t flow(const double *x, syi_distance ahead, double *out, int64_t n, int blocks,
                        int tail, int past, int greatest)
{
    enum { BEFORE = 8 * (FLOW_BLOCKS + 1), LOOK = 512 };
    const int left = 8 * blocks + tail - 1;
    double before[BEFORE] = {0}; /* what lies farther left is in no window */
    flow_state s = {{{0}, {0}, {0}, {0}, {0}}, {{0}}};
    memcpy(before + BEFORE - left, x - left, (size_t)left * sizeof *x);
    for (int i = 0; i < BEFORE; i += 8)
        flow_step(&s, before + i, greatest);
    for (int64_t done = 0, i = 0; done < n; done = i) {
        const int64_t end = n - done < LOOK ? n : done + LOOK;
        for (; i < end; i += 8) {
            flow_step(&s, x + i, greatest);
            syi_ask_at(x + i, ahead, 8);
            if (past)
                syi_store_past(out + i, flow_windows(&s, blocks, tail, greatest));
            else
                SYI_STORE(out + i, flow_windows(&s, blocks, tail, greatest));
        }
        if (syi_any(&s.made.strange))
            return done;
    }
    return n;
}

/* Each tail has code of its own: which columns are picked is part of an instruction. */
SYI_INLINE int64_t flow_tail(const double *x, syi_distance ahead, double *out, int64_t n,
                             int blocks, int tail, int past, int greatest)
{
    switch (tail) {
    case 0:
        return flow(x, ahead, out, n, blocks, 0, past, greatest);
    case 1:
        return flow(x, ahead, out, n, blocks, 1, past, greatest);
    case 2:
        return flow(x, ahead, out, n, blocks, 2, past, greatest);
    case 3:
        return flow(x, ahead, out, n, blocks, 3, past, greatest);
    case 4:
        return flow(x, ahead, out, n, blocks, 4, past, greatest);
    case 5:
        return flow(x, ahead, out, n, blocks, 5, past, greatest);
    case 6:
        return flow(x, ahead, out, n, blocks, 6, past, greatest);
    default:
        return flow(x, ahead, out, n, blocks, 7, past, greatest);
    }
}

/* Whether these windows are computed here. */
SYI_INLINE int flows(int64_t period)
{
    return period >= 8 && period <= FLOW_LONGEST;
}

SYI_INLINE int64_t flow_all(const double *x, syi_distance ahead, double *out, int64_t n,
                            int64_t period, int past, int greatest)
{
    switch (period / 8) {
    case 1:
        return flow_tail(x, ahead, out, n, 1, (int)(period % 8), past, greatest);
    case 2:
        return flow_tail(x, ahead, out, n, 2, (int)(period % 8), past, greatest);
    default:
        return flow_tail(x, ahead, out, n, 3, (int)(period % 8), past, greatest);
    }
}

#else

SYI_INLINE int flows(int64_t period)
{
    (void)period;
    return 0;
}

SYI_INLINE int64_t flow_all(const double *x, syi_distance ahead, double *out, int64_t n,
                            int64_t period, int past, int greatest)
{
    (void)x, (void)ahead, (void)out, (void)n, (void)period, (void)past, (void)greatest;
    return 0;
}

#endif

#endif
