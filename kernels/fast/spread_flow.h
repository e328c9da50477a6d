/*
 * Windows of which one or two stretches are left beyond their tail, where a stretch is a vector
 * long: finished in one pass, from right to left, however many they are. What they need of the
 * blocks behind is still in registers, so nothing is stored but results, and what goes past the
 * cache is hidden behind the computing. A block's windows take several steps, each while the blocks
 * behind are at the next one: a processor looks two blocks ahead or three, and in that all of one
 * block would wait for itself.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_FLOW_H
#define SYI_KERNELS_FAST_SPREAD_FLOW_H

#include "fast/spread_task.h"

/* How many blocks behind results are put. Bands, which have more to do then, are joined at once. */
enum { LATER = SYI_SPREAD_KIND == SYI_WINDOW_BANDS ? 1 : 2 };

/* Asks for what is read and, through the cache, written soon where column j has been read: what
 * goes past the cache is all one chunk, of which it is a KiB further to the left, else it is the
 * next chunk's. Of scores, which the processor's registers hardly hold, it is always the former:
 * where they had the choice they took 1.3 times as long past the cache. */
SYI_INLINE void ask_for_more(const task *t, int64_t j)
{
    if (t->past || SCORES) {
        syi_ask_for((uintptr_t)(t->x + j) - 1024, SYI_WIDTH);
        return;
    }
    syi_ask_for((uintptr_t)(t->x + t->windows + j), SYI_WIDTH);
    for (int k = 0; k < OUTPUTS; k++)
        syi_ask_to_write((uintptr_t)(t->out[k] + t->windows + j), SYI_WIDTH);
}

/* The column so many blocks before column j; nothing before the first one is needed. */
SYI_INLINE int64_t blocks_before(int64_t j, int blocks)
{
    return j < blocks * SYI_WIDTH ? 0 : j - blocks * SYI_WIDTH;
}

/* Gives whether something is not finite. */
SYI_INLINE int flow_all(const task *task, int64_t tail, int times)
{
    const struct task t = *task;
    const int64_t ahead = t.period - tail;
    const syi_joint joint = syi_known_joint(*joint_of(task, times * FIRST), tail);
    int64_t j = ahead + ((t.windows + SYI_WIDTH - 1) & -SYI_WIDTH);
    syi_spread_block next[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    beginning now, one = {{0}, {0}, {0}, {{0}, {0}, {0}}}, two = one; /* so many blocks behind */
    fours four = begin_fours(&t, j, &next[0]);
    fours before = begin_fours(&t, blocks_before(j, 1), &next[0]);
    ending now_last, last = {{0}, {0}, {{0}, {0}, {0}}};
    syi_spread joined = {{0}, {0}, {0}};
    syi_vector strange = {0};
    for (; j >= 0; j -= SYI_WIDTH, two = one, one = now) {
        const fours at = four; /* what is two blocks ahead is begun before it: 1 to 5 % */
        four = before;
        before = begin_fours(&t, blocks_before(j, 2), &next[0]);
        now = begin(&t, j, tail, j >= ahead - FIRST, at, &next[1]);
        if (j >= t.windows)
            continue;
        ask_for_more(&t, j);
        if (j + LATER * SYI_WIDTH < t.windows)
            strange += result(&t, j + LATER * SYI_WIDTH, &joined);
        now_last =
            (ending){now.square, times == 2 ? one.gap : now.gap, times == 2 ? two.all : one.all};
        now_last = ending_of(now_last, times, now.drop, one.square);
        joined = finish(&joint, LATER == 1 ? now_last : last);
        last = now_last;
    }
    if (LATER == 2 && t.windows > SYI_WIDTH)
        strange += result(&t, SYI_WIDTH, &joined);
    if (LATER == 2)
        joined = finish(&joint, last);
    strange += result(&t, 0, &joined);
    strange -= strange;
    return syi_any(&strange);
}

#endif
