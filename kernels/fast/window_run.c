/* Rolling deviations, scores and bands in fast accuracy. Compiled for several instruction sets. */
#include "fast/vector.h"
#include "fast/window.h"

#include <math.h>

enum { CHUNK = 512, ROOM = 2 * SYI_FAST_PERIOD + 2 * SYI_WIDTH, ROOMS = 3 };

/* Of the stretches from column j on: the distance of the mean from x[j], and the variance. */
typedef struct spread {
    double distance[ROOM], variance[ROOM];
} spread;

/* A chunk of windows; window j is x[j .. j + period). Room for a whole vector is behind x and the
 * outputs. `factor` makes the variance that of the window less ddof. */
typedef struct task {
    const syi_window *window;
    const double *x;
    double *out[3];
    int64_t windows;
    double factor;
    spread room[ROOMS];
} task;

/* What has been put together: stretches of `length` columns; the `have` oldest of window j. */
typedef struct parts {
    const spread *stretch, *head;
    int64_t length, have;
} parts;

typedef struct pair {
    syi_vector distance, variance;
} pair;

SYI_INLINE spread *free_room(task *t, const parts *p)
{
    int k = 0;
    while (&t->room[k] == p->stretch || &t->room[k] == p->head)
        k++;
    return &t->room[k];
}

/* From single columns to stretches of four (two at `twofold`). */
SYI_INLINE void begin(task *t, parts *p, int twofold)
{
    spread *to = free_room(t, p);
    int64_t count = t->windows + t->window->period - (twofold ? 2 : 4);
    for (int64_t j = 0; j < count; j += SYI_WIDTH) {
        const double *x = t->x + j;
        syi_vector x0 = SYI_LOAD(x), half = (SYI_LOAD(x + 1) - x0) * 0.5;
        syi_vector distance = half, variance = half * half;
        if (!twofold) {
            syi_vector x2 = SYI_LOAD(x + 2), later = (SYI_LOAD(x + 3) - x2) * 0.5;
            half = ((x2 - x0) + (later - distance)) * 0.5;
            distance += half;
            variance = (variance + later * later) * 0.5 + half * half;
        }
        SYI_STORE(to->distance + j, distance);
        SYI_STORE(to->variance + j, variance);
    }
    p->stretch = to;
    p->length = twofold ? 2 : 4;
}

/* Two stretches of `length` columns, from column j on, as one. */
SYI_INLINE void load_twice(const task *t, const spread *from, int64_t length, int64_t j, pair *to)
{
    const double *distance = from->distance + j, *variance = from->variance + j;
    syi_vector mine = SYI_LOAD(distance), its = SYI_LOAD(distance + length);
    syi_vector apart = SYI_LOAD(t->x + j + length) - SYI_LOAD(t->x + j);
    syi_vector half = (apart + (its - mine)) * 0.5;
    syi_vector sum = SYI_LOAD(variance) + SYI_LOAD(variance + length);
    to->distance = mine + half;
    to->variance = sum * 0.5 + half * half;
}

SYI_INLINE void store(spread *to, int64_t j, const pair *what)
{
    SYI_STORE(to->distance + j, what->distance);
    SYI_STORE(to->variance + j, what->variance);
}

static void twice(task *t, parts *p)
{
    spread *to = free_room(t, p);
    int64_t count = t->windows + t->window->period - 2 * p->length;
    for (int64_t j = 0; j < count; j += SYI_WIDTH) {
        pair both;
        load_twice(t, p->stretch, p->length, j, &both);
        store(to, j, &both);
    }
    p->stretch = to;
    p->length *= 2;
}

/* The head of some windows with the stretch behind it, or with two (`doubled`). A single column
 * has neither distance nor variance. */
SYI_INLINE void joined(const task *t, const parts *p, int doubled, int64_t j, pair *to)
{
    const double more = (double)(doubled ? 2 * p->length : p->length);
    const double later = more / ((double)p->have + more);
    const double earlier = (double)p->have / ((double)p->have + more);
    const int64_t behind = j + p->have;
    pair next = {{0}, {0}};
    syi_vector apart;
    if (doubled)
        load_twice(t, p->stretch, p->length, behind, &next);
    else if (p->stretch)
        next = (pair){SYI_LOAD(p->stretch->distance + behind),
                      SYI_LOAD(p->stretch->variance + behind)};
    else if (!p->have) /* a window of one column: NaN where it is not finite */
        next.variance = SYI_LOAD(t->x + j) - SYI_LOAD(t->x + j);
    *to = next;
    if (!p->have)
        return;
    *to = (pair){{0}, {0}};
    if (p->head)
        *to = (pair){SYI_LOAD(p->head->distance + j), SYI_LOAD(p->head->variance + j)};
    apart = SYI_LOAD(t->x + behind) - SYI_LOAD(t->x + j);
    apart += next.distance - to->distance;
    to->distance += apart * later;
    to->variance =
        (to->variance * earlier + next.variance * later) + apart * apart * (earlier * later);
}

static void join(task *t, parts *p)
{
    spread *to = free_room(t, p);
    for (int64_t j = 0; j < t->windows; j += SYI_WIDTH) {
        pair both;
        joined(t, p, 0, j, &both);
        store(to, j, &both);
    }
    p->head = to;
    p->have += p->length;
}

SYI_INLINE void root(syi_vector *square)
{
    double lane[SYI_WIDTH];
    memcpy(lane, square, sizeof lane);
    for (int k = 0; k < SYI_WIDTH; k++)
        lane[k] = sqrt(lane[k]);
    memcpy(square, lane, sizeof lane);
}

/* The last join, and what comes of it; the zeros are +0. Gives whether something is not finite. */
SYI_INLINE int finish(task *t, const parts *p, int doubled, syi_window_kind kind)
{
    const double width = t->window->width;
    const int64_t newest = t->window->period - 1;
    syi_vector strange = {0};
    for (int64_t j = 0; j < t->windows; j += SYI_WIDTH) {
        pair all;
        joined(t, p, doubled, j, &all);
        syi_vector oldest = SYI_LOAD(t->x + j), deviation = all.variance * t->factor, y;
        root(&deviation);
        if (kind == SYI_WINDOW_DEVIATION) {
            y = deviation;
        } else if (kind == SYI_WINDOW_SCORE) {
            y = ((SYI_LOAD(t->x + j + newest) - oldest) - all.distance) / deviation + 0.0;
        } else {
            syi_vector reach = deviation * width;
            y = oldest + (all.distance + reach) + 0.0;
            SYI_STORE(t->out[1] + j, oldest + all.distance + 0.0);
            SYI_STORE(t->out[2] + j, oldest + (all.distance - reach) + 0.0);
        }
        SYI_STORE(t->out[0] + j, y);
        strange += y - y;
    }
    return syi_any(&strange);
}

SYI_INLINE int finish_as(task *t, const parts *p, int doubled)
{
    switch (t->window->kind) {
    case SYI_WINDOW_DEVIATION:
        return finish(t, p, doubled, SYI_WINDOW_DEVIATION);
    case SYI_WINDOW_SCORE:
        return finish(t, p, doubled, SYI_WINDOW_SCORE);
    default:
        return finish(t, p, doubled, SYI_WINDOW_BANDS);
    }
}

static void compute(task *t)
{
    const int64_t period = t->window->period;
    parts p = {.length = 1};
    int strange;
    while (p.have + p.length < period && (p.length == 1 || p.have + 2 * p.length < period)) {
        if (period & p.length) {
            if (p.have)
                join(t, &p);
            else
                p.head = p.stretch;
            p.have = p.have ? p.have : p.length;
        }
        if (p.length > 1)
            twice(t, &p);
        else
            begin(t, &p, (period & 2) != 0);
    }
    strange = p.have + p.length == period ? finish_as(t, &p, 0) : finish_as(t, &p, 1);
    for (int k = 0; strange && k < (t->window->kind == SYI_WINDOW_BANDS ? 3 : 1); k++)
        syi_fast_mark(t->out[k], t->windows);
}

/* The last chunk: nothing may be touched behind the ends. */
static void compute_last(task *t, int outputs)
{
    double x[ROOM], y[3][ROOM], *result[3];
    memcpy(x, t->x, (size_t)(t->windows + t->window->period - 1) * sizeof *x);
    t->x = x;
    for (int k = 0; k < outputs; k++) {
        result[k] = t->out[k];
        t->out[k] = y[k];
    }
    compute(t);
    for (int k = 0; k < outputs; k++)
        memcpy(result[k], y[k], (size_t)t->windows * sizeof *y[k]);
}

sy_status SYI_ISA_NAME(syi_fast_window_run)(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    const int outputs = window->kind == SYI_WINDOW_BANDS ? 3 : 1;
    const int64_t period = window->period;
    const int64_t most = period < CHUNK ? CHUNK : period / SYI_WIDTH * SYI_WIDTH;
    int64_t at = period - 1 - segment->first;
    task t;
    t.window = window;
    t.factor = (double)period / (double)(period - window->ddof);
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    for (int k = 0; k < outputs; k++)
        syi_fast_blank(segment->out[k], at);
    for (; at < segment->count; at += t.windows) {
        t.windows = segment->count - at;
        t.x = segment->in[0] + at - (period - 1);
        for (int k = 0; k < outputs; k++)
            t.out[k] = segment->out[k] + at;
        if (t.windows >= most + SYI_WIDTH) {
            t.windows = most;
            compute(&t);
        } else {
            t.windows = t.windows < most ? t.windows : most;
            compute_last(&t, outputs);
        }
    }
    return SY_OK;
}
