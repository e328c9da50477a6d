/* The rolling mean in fast accuracy: sums of stretches of 1, 2, 4 ... columns, joined as means.
 * Compiled for several instruction sets. */
#include "fast/vector.h"
#include "fast/window.h"

enum { CHUNK = 1024, ROOM = 2 * SYI_FAST_PERIOD + 2 * SYI_WIDTH };

/* A chunk of windows; window j is x[j .. j + period). Room for a whole vector is behind x and y. */
typedef struct task {
    const double *x;
    double *y;
    int64_t windows, period;
    double room[3][ROOM];
} task;

/* What has been put together: sums over `length` columns from column j on; the mean of the `have`
 * oldest columns of window j, head[j] * scale. */
typedef struct parts {
    const double *sums, *head;
    int64_t length, have;
    double scale;
} parts;

SYI_INLINE double *free_room(task *t, const parts *p)
{
    int k = 0;
    while (t->room[k] == p->sums || t->room[k] == p->head)
        k++;
    return t->room[k];
}

static void twice(task *t, parts *p)
{
    double *to = free_room(t, p);
    int64_t count = t->windows + t->period - 2 * p->length;
    for (int64_t j = 0; j < count; j += SYI_WIDTH)
        SYI_STORE(to + j, SYI_LOAD(p->sums + j) + SYI_LOAD(p->sums + j + p->length));
    p->sums = to;
    p->length *= 2;
}

/* Twice twice, without what lies between. */
static void fourfold(task *t, parts *p)
{
    double *to = free_room(t, p);
    int64_t length = p->length, count = t->windows + t->period - 4 * length;
    for (int64_t j = 0; j < count; j += SYI_WIDTH) {
        const double *from = p->sums + j;
        syi_vector left = SYI_LOAD(from) + SYI_LOAD(from + length);
        syi_vector right = SYI_LOAD(from + 2 * length) + SYI_LOAD(from + 3 * length);
        SYI_STORE(to + j, left + right);
    }
    p->sums = to;
    p->length *= 4;
}

/* The head and `times` (1, 2, 4) stretches behind it become the head; `last`: the mean of the
 * window, a zero of which is +0. Gives whether something is not finite. */
SYI_INLINE int join(task *t, parts *p, int times, int last)
{
    double *to = last ? t->y : free_room(t, p);
    const int64_t length = p->length, more = times * length;
    double inverse = 1.0 / (double)more, part = (double)more / (double)(p->have + more);
    syi_vector strange = {0};
    for (int64_t j = 0; j < t->windows; j += SYI_WIDTH) {
        const double *sums = p->sums + p->have + j;
        syi_vector mean = SYI_LOAD(sums);
        if (times > 1)
            mean += SYI_LOAD(sums + length);
        if (times > 2)
            mean += SYI_LOAD(sums + 2 * length) + SYI_LOAD(sums + 3 * length);
        mean *= inverse;
        if (p->have) {
            syi_vector older = SYI_LOAD(p->head + j) * p->scale;
            mean = older + (mean - older) * part;
        }
        if (last) {
            mean += 0.0;
            strange += mean - mean;
        }
        SYI_STORE(to + j, mean);
    }
    p->head = to;
    p->have += more;
    p->scale = 1.0;
    return last && syi_any(&strange);
}

static void compute(task *t)
{
    parts p = {.sums = t->x, .length = 1};
    int strange;
    for (;;) {
        int64_t rest = t->period - p.have;
        if (rest == p.length || rest == 2 * p.length || rest == 4 * p.length)
            break;
        if (t->period & p.length) {
            if (p.have) {
                join(t, &p, 1, 0);
            } else {
                p.head = p.sums;
                p.have = p.length;
                p.scale = 1.0 / (double)p.length;
            }
        }
        if (t->period & 2 * p.length)
            twice(t, &p);
        else
            fourfold(t, &p);
    }
    switch ((t->period - p.have) / p.length) {
    case 1:
        strange = join(t, &p, 1, 1);
        break;
    case 2:
        strange = join(t, &p, 2, 1);
        break;
    default:
        strange = join(t, &p, 4, 1);
    }
    if (strange)
        syi_fast_mark(t->y, t->windows);
}

/* The last chunk: nothing may be touched behind the ends. */
static void compute_last(task *t, double *x, double *y)
{
    double *result = t->y;
    memcpy(x, t->x, (size_t)(t->windows + t->period - 1) * sizeof *x);
    t->x = x;
    t->y = y;
    compute(t);
    memcpy(result, y, (size_t)t->windows * sizeof *y);
}

sy_status SYI_ISA_NAME(syi_fast_mean_run)(const syi_piece *piece, int64_t period)
{
    const sy_segment *segment = &piece->segment;
    const int64_t most = period < CHUNK ? CHUNK : period / SYI_WIDTH * SYI_WIDTH;
    int64_t at = period - 1 - segment->first;
    double last_x[ROOM], last_y[ROOM];
    task t;
    t.period = period;
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    syi_fast_blank(segment->out[0], at);
    for (; at < segment->count; at += t.windows) {
        t.windows = segment->count - at;
        t.x = segment->in[0] + at - (period - 1);
        t.y = segment->out[0] + at;
        if (t.windows >= most + SYI_WIDTH) {
            t.windows = most;
            compute(&t);
        } else {
            t.windows = t.windows < most ? t.windows : most;
            compute_last(&t, last_x, last_y);
        }
    }
    return SY_OK;
}
