/*
 * Rolling deviations, scores and bands in fast accuracy. Whoever includes this says which by
 * SYI_SPREAD_KIND, a syi_window_kind: a fifth of the time would go into asking in every step.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_RUN_H
#define SYI_KERNELS_FAST_SPREAD_RUN_H

#include "fast/scan_run.h"
#include "fast/spread_flow.h"

/* The gap of twice the length before what has been joined, whose drops are at `drop`; `fresh`: the
 * stretch there has just been joined. */
SYI_INLINE syi_vector next_gap(const double *gap, const double *drop, int64_t length, int fresh)
{
    return syi_scaled_sum(SYI_LOAD(fresh ? drop - length : gap), 2.0, SYI_LOAD(drop - 2 * length));
}

/* From where the passes left it. */
SYI_INLINE ending ending_at(const task *t, int64_t j, const syi_joint *joint, int times, int fresh)
{
    syi_vector drop = {0}, later = {0};
    ending last = {SYI_LOAD(t->square + j), {0}, {{0}, {0}, {0}}};
    if (times == 2) {
        later = SYI_LOAD(t->square + j + t->length);
        drop = SYI_LOAD(t->drop + j);
    }
    last.gap = SYI_LOAD(fresh ? t->drop + j + t->length : t->gap + j);
    if (!joint->first)
        load_spread(&t->all, j, &last.all);
    return ending_of(last, times, drop, later);
}

SYI_INLINE void store_beginning(const task *t, int64_t j, int64_t tail, const beginning *now)
{
    const int64_t ahead = t->period - tail, before = ahead - FIRST;
    if (j >= before && tail)
        store_spread(&t->all, j - ahead, &now->all);
    if (j >= before)
        SYI_STORE(t->gap + j - before, now->gap);
    SYI_STORE(t->drop + j, now->drop);
    SYI_STORE(t->square + j, now->square);
}

/* The first stretches, from right to left, and where no more than two (`times`) are left of the
 * windows these. Gives whether something is not finite. */
SYI_INLINE int begin_all(task *task, int64_t tail, int times)
{
    const struct task t = *task;
    const int64_t ahead = t.period - tail;
    const int64_t last = ahead + ((t.windows + SYI_WIDTH - 1) & -SYI_WIDTH) + 8;
    const syi_joint joint = syi_known_joint(*joint_of(task, times ? times * FIRST : 1), tail);
    syi_spread_block next[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    syi_spread joined = {{0}, {0}, {0}}; /* of the block before: its roots need not be waited for */
    syi_vector strange = {0};
    for (int64_t j = last - SYI_WIDTH; j >= 0; j -= SYI_WIDTH) {
        fours four = begin_fours(&t, j, &next[0]);
        beginning now = begin(&t, j, tail, j >= ahead - FIRST, four, &next[1]);
        store_beginning(&t, j, tail, &now);
        if (!times || j >= t.windows)
            continue;
        ask_for_next(&t, t.windows - SYI_WIDTH - j);
        if (j + SYI_WIDTH < t.windows)
            strange += result(&t, j + SYI_WIDTH, &joined);
        joined = finish(&joint, ending_at(&t, j, &joint, times, 0));
    }
    if (times)
        strange += result(&t, 0, &joined);
    strange -= strange;
    return syi_any(&strange);
}

SYI_INLINE int begin_times(task *t, int64_t tail, int64_t times)
{
    if (SYI_WIDTH == FIRST) /* up to SYI_SCAN_LEAST there are no more */
        return times == 1 ? flow_all(t, tail, 1) : flow_all(t, tail, 2);
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
    const int64_t period = t.period;
    const double alone = period & (period - 1) ? 1.0 : 1.0 / (double)period;
    syi_vector strange = {0};
    for (int64_t j = 0; j < t.windows; j += SYI_WIDTH) {
        const double *x = t.x + j;
        syi_spread all;
        syi_spread_tail(x, syi_square_4(x), syi_drop_2(x), period, t.joints, &all);
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
    const int64_t length = t->length, windows = t->windows, behind = t->period - 2 * length;
    const double *const from = t->drop + (t->period - t->have);
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
    const double *square = t->square + (t->period - t->have - t->length);
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
        syi_spread joined = finish(&joint, ending_at(&t, j, &joint, 2, fresh));
        ask_for_next(&t, j);
        strange += result(&t, j, &joined);
    }
    strange -= strange;
    return syi_any(&strange);
}

static int compute_windows(task *t)
{
    const int64_t period = t->period;
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
    const int64_t columns = t->windows + t->period - 1;
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
    t->period = period;
    t->factor = syi_spread_factor(window);
    t->joints = joints;
    for (int k = 0; length <= period; k++, length *= 2)
        if (period & length)
            joints[k] = syi_joint_of(period, length);
}

/* Of those that are left. Where nothing is kept but results it is all but the last ones, which are
 * computed apart; where results stay in a cache as many as the nearest one holds, for they may have
 * to be marked. */
static int64_t most_windows(int64_t period, int64_t left, int past)
{
    const int64_t all = (left - SYI_FAST_BEHIND) & -SYI_WIDTH;
    if (SYI_WIDTH == FIRST && period >= 8 && left > SHORT_CHUNK)
        return past || all < SYI_TILE / 2 ? all : SYI_TILE / 2;
    return period < 3 * FIRST ? SHORT_CHUNK : CHUNK;
}

/* The windows of a segment from its column `at` on. */
static void compute_all(task *t, const syi_piece *piece, int64_t at)
{
    const sy_segment *segment = &piece->segment;
    const int64_t period = t->period;
    const int past = piece->past_cache && syi_in_line(segment->out, OUTPUTS);
    for (; at < segment->count; at += t->windows) {
        int apart;
        const int64_t left = segment->count - at;
        t->x = segment->in[0] + at - (period - 1);
        for (int k = 0; k < OUTPUTS; k++)
            t->out[k] = segment->out[k] + at;
        t->windows =
            syi_fast_chunk(t->out[0], left, most_windows(period, left, past), past, &apart);
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
