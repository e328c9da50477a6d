/*
 * Rolling deviations, scores and bands in fast accuracy. Whoever includes this says which by
 * SYI_SPREAD_KIND, a syi_window_kind: a fifth of the time would go into asking in every step.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_RUN_H
#define SYI_KERNELS_FAST_SPREAD_RUN_H

#include "fast/scan_run.h"
#include "fast/spread_task.h"

/* The gap of twice the length before what has been joined, whose drops are at `drop`; `fresh`: the
 * stretch there has just been joined. */
SYI_INLINE syi_vector next_gap(const double *gap, const double *drop, int64_t length, int fresh)
{
    return syi_scaled_sum(SYI_LOAD(fresh ? drop - length : gap), 2.0, SYI_LOAD(drop - 2 * length));
}

/* What the last join takes: the square of its stretch or, of the two that are it, of both, the
 * first one's drop, the gap before them and what has been joined. */
typedef struct ending {
    syi_vector square, later, drop, gap;
    syi_spread all;
} ending;

/* From where the passes left it. */
SYI_INLINE ending ending_at(const task *t, int64_t j, const syi_joint *joint, int times, int fresh)
{
    ending last = {SYI_LOAD(t->square + j), {0}, {0}, {0}, {{0}, {0}, {0}}};
    if (times == 2) {
        last.later = SYI_LOAD(t->square + j + t->length);
        last.drop = SYI_LOAD(t->drop + j);
    }
    last.gap = SYI_LOAD(fresh ? t->drop + j + t->length : t->gap + j);
    if (!joint->first)
        load_spread(&t->all, j, &last.all);
    return last;
}

/* The last join, of one stretch or two (`times`). */
SYI_INLINE syi_spread finish(const syi_joint *joint, int times, ending last)
{
    if (times == 2) {
        last.square += last.later;
        last.square = syi_product_sum(last.drop, last.drop, last.square + last.square);
        last.gap = syi_scaled_sum(last.gap, 2.0, last.drop);
    }
    syi_join(joint, 1, last.square, last.gap, &last.all);
    return last.all;
}

/* The first stretches from a block's columns on; where it is part of a tail's or before one, the
 * tail and the gap before it. */
typedef struct beginning {
    syi_vector drop, square, gap;
    syi_spread all;
} beginning;

/* The stretches of four columns from a block's columns on; `next`: of two of the block that
 * follows. */
typedef struct fours {
    syi_vector drop, square;
} fours;

SYI_INLINE fours begin_fours(const task *t, int64_t j, syi_spread_block *next)
{
    const double *x = t->x + j;
    syi_vector one = syi_drop_1(x);
    fours now = {syi_drop_2(x), one * one};
    syi_spread_twice(2, next, &now.drop, &now.square);
    return now;
}

/* Those of the block at column j. Where windows are finished in the same pass, `at_once`, so much
 * would be waited for: there they have been made, `before`, and those of the next one are made
 * meanwhile. */
SYI_INLINE fours next_fours(const task *t, int64_t j, int at_once, fours *before,
                            syi_spread_block *next)
{
    const fours at = *before;
    if (!at_once)
        return begin_fours(t, j, next);
    *before = begin_fours(t, j < SYI_WIDTH ? 0 : j - SYI_WIDTH, next);
    return at;
}

/* From column j on, where there are `four`; `next`: the block that follows. */
SYI_INLINE beginning begin(const task *t, int64_t j, int64_t tail, fours four,
                           syi_spread_block *next)
{
    const int64_t ahead = t->window->period - tail, before = ahead - FIRST;
    const double *x = t->x + j;
    beginning now = {four.drop, four.square, four.drop, {{0}, {0}, {0}}};
    if (FIRST > 4) {
        syi_vector later = syi_spread_twice(4, next, &now.drop, &now.square);
        if (j >= before)
            now.gap = syi_scaled_sum(tail & 4 ? later : syi_gap_4(x + FIRST, tail), 2.0, now.gap);
    } else if (j >= before) {
        now.gap = syi_gap_4(x + FIRST, tail);
    }
    if (j >= before && tail)
        syi_spread_tail(x, four.square, tail, t->joints, &now.all);
    return now;
}

SYI_INLINE void store_beginning(const task *t, int64_t j, int64_t tail, const beginning *now)
{
    const int64_t ahead = t->window->period - tail, before = ahead - FIRST;
    if (j >= before && tail)
        store_spread(&t->all, j - ahead, &now->all);
    if (j >= before)
        SYI_STORE(t->gap + j - before, now->gap);
    SYI_STORE(t->drop + j, now->drop);
    SYI_STORE(t->square + j, now->square);
}

/* The first stretches, from right to left, and where no more than two (`times`) are left of the
 * windows these. Where a stretch is a vector long, what they need is still in registers: so nothing
 * is stored but results, and what goes past the cache is hidden behind the computing. Gives whether
 * something is not finite. */
SYI_INLINE int begin_all(task *task, int64_t tail, int times)
{
    const struct task t = *task;
    const int64_t ahead = t.window->period - tail;
    const int64_t last = ahead + ((t.windows + SYI_WIDTH - 1) & -SYI_WIDTH) + 8;
    const int at_once = times && SYI_WIDTH >= FIRST;
    syi_joint joint = *joint_of(task, times ? times * FIRST : 1);
    syi_spread_block next[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    beginning now, one = {{0}, {0}, {0}, {{0}, {0}, {0}}}, two = one; /* so many blocks behind */
    syi_spread joined = {{0}, {0}, {0}}; /* of the block before: its roots need not be waited for */
    syi_vector strange = {0};
    fours before = {{0}, {0}};
    joint.first = tail == 0; /* as it is there, but known when this is compiled */
    joint.second = (tail & (tail - 1)) == 0;
    if (at_once)
        before = begin_fours(&t, last - SYI_WIDTH, &next[0]);
    for (int64_t j = last - SYI_WIDTH; j >= 0; j -= SYI_WIDTH, two = one, one = now) {
        now = begin(&t, j, tail, next_fours(&t, j, at_once, &before, &next[0]), &next[1]);
        ending end = {now.square, one.square, now.drop, times == 2 ? one.gap : now.gap,
                      times == 2 ? two.all : one.all};
        if (!at_once)
            store_beginning(&t, j, tail, &now);
        if (!times || j >= t.windows)
            continue;
        if (!at_once)
            end = ending_at(&t, j, &joint, times, 0);
        ask_for_next(&t, t.windows - SYI_WIDTH - j);
        if (j + SYI_WIDTH < t.windows)
            strange += result(&t, j + SYI_WIDTH, &joined);
        joined = finish(&joint, times, end);
    }
    if (times)
        strange += result(&t, 0, &joined);
    strange -= strange;
    return syi_any(&strange);
}

SYI_INLINE int begin_times(task *t, int64_t tail, int64_t times)
{
    if (times == 1)
        return begin_all(t, tail, 1);
    return times == 2 ? begin_all(t, tail, 2) : begin_all(t, tail, 0);
}

static int begin_as(task *t, int64_t tail, int64_t times)
{
    switch (tail) { /* of these each has code of its own */
    case 0:
        return begin_times(t, 0, times);
    case 1:
        return begin_times(t, 1, times);
    case 2:
        return begin_times(t, 2, times);
    case 4:
        return begin_times(t, 4, times);
    default:
        return begin_times(t, tail, times);
    }
}

/* Windows of less than eight columns, all of one tail. */
static int compute_short(const task *task)
{
    const struct task t = *task;
    const int64_t period = t.window->period;
    const double alone = period & (period - 1) ? 1.0 : 1.0 / (double)period;
    syi_vector strange = {0};
    for (int64_t j = 0; j < t.windows; j += SYI_WIDTH) {
        const double *x = t.x + j;
        syi_spread all;
        syi_spread_tail(x, syi_square_4(x), period, t.joints, &all);
        all.distance *= alone;
        ask_for_next(&t, j);
        strange += result(&t, j, &all);
    }
    strange -= strange;
    return syi_any(&strange);
}

/* Stretches and gaps of twice the length. */
SYI_INLINE void twice(task *t, int fresh)
{
    const int64_t length = t->length, windows = t->windows, behind = t->window->period - 2 * length;
    const double *const from = t->drop + (t->window->period - t->have);
    double *const drops = t->drop, *const squares = t->square, *const gaps = t->gap;
    for (int64_t j = 0; j < windows + behind; j += SYI_WIDTH) {
        syi_vector a = SYI_LOAD(drops + j);
        syi_vector both = SYI_LOAD(squares + j) + SYI_LOAD(squares + j + length);
        if (j < windows)
            SYI_STORE(gaps + j, next_gap(gaps + j, from + j, length, fresh));
        SYI_STORE(squares + j, syi_product_sum(a, a, both + both));
        if (j < windows + behind - 2 * length) {
            syi_vector b = SYI_LOAD(drops + j + length), c = SYI_LOAD(drops + j + 2 * length);
            SYI_STORE(drops + j, (a + b) + (b + c));
        }
    }
    t->length *= 2;
}

static void join(task *t)
{
    const double *square = t->square + (t->window->period - t->have - t->length);
    const double *const gap = t->gap;
    const syi_joint joint = *joint_of(t, t->length);
    const int64_t windows = t->windows;
    const rooms spreads = t->all;
    for (int64_t j = 0; j < windows; j += SYI_WIDTH) {
        syi_spread all = {{0}, {0}, {0}};
        if (!joint.first)
            load_spread(&spreads, j, &all);
        syi_join(&joint, 0, SYI_LOAD(square + j), SYI_LOAD(gap + j), &all);
        store_spread(&spreads, j, &all);
    }
    t->have += t->length;
}

static int finish_all(const task *task, int fresh)
{
    const struct task t = *task;
    const syi_joint joint = *joint_of(task, 2 * t.length);
    syi_vector strange = {0};
    for (int64_t j = 0; j < t.windows; j += SYI_WIDTH) {
        syi_spread joined = finish(&joint, 2, ending_at(&t, j, &joint, 2, fresh));
        ask_for_next(&t, j);
        strange += result(&t, j, &joined);
    }
    strange -= strange;
    return syi_any(&strange);
}

static int compute_windows(task *t)
{
    const int64_t period = t->window->period;
    int64_t rest;
    int fresh = 0, strange;
    if (period < 8)
        return compute_short(t);
    t->length = FIRST;
    t->have = period & SYI_SPREAD_TAIL;
    rest = (period - t->have) / FIRST;
    strange = begin_as(t, t->have, rest);
    if (rest < 3)
        return strange;
    for (; rest > 2; rest = (period - t->have) / t->length) {
        if (rest & 1)
            join(t);
        else if (fresh)
            twice(t, 1);
        else
            twice(t, 0);
        fresh = (int)(rest & 1);
    }
    return fresh ? finish_all(t, 1) : finish_all(t, 0);
}

static void compute(task *t)
{
    if (compute_windows(t))
        mark(t->out, OUTPUTS, t->windows);
}

static void compute_apart(task *t)
{
    const int64_t columns = t->windows + t->window->period - 1;
    double x[ROOM], y[3][ROOM], *result[3];
    memcpy(x, t->x, (size_t)columns * sizeof *x);
    memset(x + columns, 0, SYI_FAST_BEHIND * sizeof *x);
    t->x = x;
    for (int k = 0; k < OUTPUTS; k++) {
        result[k] = t->out[k];
        t->out[k] = y[k];
    }
    compute(t);
    for (int k = 0; k < OUTPUTS; k++)
        memcpy(result[k], y[k], (size_t)t->windows * sizeof *y[k]);
}

static void plan(task *t, const syi_window *window, syi_joint *joints)
{
    const int64_t period = window->period;
    int64_t length = 1;
    t->window = window;
    t->factor = syi_spread_factor(window);
    t->joints = joints;
    for (int k = 0; length <= period; k++, length *= 2)
        if (period & length)
            joints[k] = syi_joint_of(period, length);
}

/* The windows of a segment from its column `at` on. */
static void compute_all(task *t, const syi_piece *piece, int64_t at)
{
    const sy_segment *segment = &piece->segment;
    const int64_t period = t->window->period;
    const int64_t most = period < 3 * FIRST ? SHORT_CHUNK : CHUNK;
    const int past = piece->past_cache && syi_in_line(segment->out, OUTPUTS);
    for (; at < segment->count; at += t->windows) {
        int apart;
        t->x = segment->in[0] + at - (period - 1);
        for (int k = 0; k < OUTPUTS; k++)
            t->out[k] = segment->out[k] + at;
        t->windows = syi_fast_chunk(t->out[0], segment->count - at, most, past, &apart);
        t->past = past && !apart;
        if (apart)
            compute_apart(t);
        else
            compute(t);
    }
}

static sy_status syi_spread_run(const syi_piece *piece, const syi_window *window)
{
    _Alignas(64) double drop[ROOM], square[ROOM], gap[ROOM], all[3][ROOM];
    const sy_segment *segment = &piece->segment;
    syi_joint joints[SYI_SPREAD_LENGTHS] = {{0}};
    int64_t at = window->period - 1 - segment->first;
    if (window->period >= SYI_SCAN_LEAST)
        return syi_scan_run(piece, window);
    task t = {.drop = drop, .square = square, .gap = gap}; /* all: there may be a block before */
    t.all = (rooms){all[0] + SYI_FAST_BEHIND, all[1] + SYI_FAST_BEHIND, all[2] + SYI_FAST_BEHIND};
    plan(&t, window, joints);
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    for (int k = 0; k < OUTPUTS; k++)
        syi_fast_blank(segment->out[k], at);
    compute_all(&t, piece, at);
    syi_past_done();
    return SY_OK;
}

#endif
