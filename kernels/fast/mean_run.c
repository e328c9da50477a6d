/* The rolling mean in fast accuracy: sums of stretches of 1, 2, 4 ... columns, joined as means.
 * Compiled for several instruction sets. */
#include "fast/join.h"
#include "fast/window.h"

/* Windows at a time: few columns are summed up twice, and all stays in the nearest cache. */
enum { CHUNK = 1024, ROOM = 2 * SYI_FAST_PERIOD + 64 };

/* What the period has beyond a multiple of eight columns is its tail. FIRST: columns of the first
 * sums. */
enum { EIGHT = 8, FIRST = SYI_WIDTH == 8 ? 8 : 4 };

/* A chunk of windows; window j is x[j .. j + period). There are SYI_FAST_BEHIND columns more behind
 * x, and room for as many results behind y. Of the window's newest `have` columns there is the
 * mean, head[j] * scale; sums[j] are those of `length` columns from column j on. */
typedef struct task {
    const double *x;
    double *y;
    int64_t windows, period, length, have;
    const double *sums, *head;
    double scale;
    int past; /* results go past the cache: y begins a line */
    double (*room)[ROOM];
} task;

static double *free_room(const task *t)
{
    int k = 0;
    while (t->sums == t->room[k] || (t->head >= t->room[k] && t->head < t->room[k] + ROOM))
        k++;
    return t->room[k];
}

/* The mean of the tail, from x[0] on; `four`: the sum of the first
 * four, which alone is left as it is. */
SYI_INLINE syi_vector tail_mean(const double *x, syi_vector four, int64_t tail)
{
    syi_vector mean = {0};
    const double *newest = x + tail - 1;
    if (tail & 1)
        mean = SYI_LOAD(newest);
    if (tail & 2)
        mean = syi_join_mean(
            mean, SYI_LOAD(newest - (tail & 1) - 1) + SYI_LOAD(newest - (tail & 1)), 2, tail & 1);
    return tail == 4 ? four : tail & 4 ? syi_join_mean(mean, four, 4, tail & 3) : mean;
}

/* The sums of FIRST columns from column j on; `next`: those of two and four columns of the block
 * that follows. `four` gets those of four columns. */
SYI_INLINE syi_vector first_sum(const double *x, syi_vector *next, syi_vector *four)
{
#if SYI_WIDTH == 8
    const syi_vector two = SYI_LOAD(x) + SYI_LOAD(x + 1), last = next[1];
    *four = two + SYI_AFTER_2(two, next[0]);
    next[0] = two;
    next[1] = *four;
    return *four + SYI_AFTER_4(*four, last);
#else
    (void)next;
    *four = (SYI_LOAD(x) + SYI_LOAD(x + 1)) + (SYI_LOAD(x + 2) + SYI_LOAD(x + 3));
    return *four;
#endif
}

/* The first sums from the columns [first, last) on, from right to left, and the tails' means. */
SYI_INLINE void begin_part(task *t, int64_t first, int64_t last, int64_t tail, syi_vector *next)
{
    const double *x = t->x;
    double *sums = t->room[0], *head = t->room[1] - (t->period & -EIGHT);
    for (int64_t j = last - SYI_WIDTH; j >= first; j -= SYI_WIDTH) {
        syi_vector four, sum = first_sum(x + j, next, &four);
        SYI_STORE(sums + j, sum);
        if (tail)
            SYI_STORE(head + j, tail_mean(x + j, four, tail));
    }
}

static void begin(task *t)
{
    const int64_t ahead = t->period & -EIGHT;
    const int64_t last = ahead + ((t->windows + SYI_WIDTH - 1) & -SYI_WIDTH) + SYI_WIDTH;
    syi_vector next[2] = {{0}, {0}}; /* the block behind gives the tails their last sums */
    t->length = FIRST;
    t->have = t->period - ahead;
    t->scale = t->have == 4 ? 0.25 : 1.0;
    t->sums = t->room[0];
    t->head = t->room[1];
    if (t->have == 4)
        begin_part(t, ahead, last, 4, next);
    else
        begin_part(t, ahead, last, t->have, next);
    begin_part(t, 0, ahead, 0, next);
}

static void twice(task *t)
{
    const int64_t count = t->windows + t->period - 2 * t->length, length = t->length;
    const double *from = t->sums;
    double *to = free_room(t);
    for (int64_t j = 0; j < count; j += SYI_WIDTH)
        SYI_STORE(to + j, SYI_LOAD(from + j) + SYI_LOAD(from + j + length));
    t->sums = to;
    t->length *= 2;
}

/* Twice twice, without what lies between. */
static void fourfold(task *t)
{
    const int64_t length = t->length, count = t->windows + t->period - 4 * length;
    const double *from = t->sums;
    double *to = free_room(t);
    for (int64_t j = 0; j < count; j += SYI_WIDTH) {
        syi_vector left = SYI_LOAD(from + j) + SYI_LOAD(from + j + length);
        syi_vector right = SYI_LOAD(from + j + 2 * length) + SYI_LOAD(from + j + 3 * length);
        SYI_STORE(to + j, left + right);
    }
    t->sums = to;
    t->length *= 4;
}

static void join(task *t)
{
    const int64_t length = t->length, have = t->have;
    const double *sums = t->sums + (t->period - have - length), *head = t->head, scale = t->scale;
    double *to = free_room(t);
    for (int64_t j = 0; j < t->windows && have; j += SYI_WIDTH)
        SYI_STORE(to + j,
                  syi_join_mean(SYI_LOAD(head + j) * scale, SYI_LOAD(sums + j), length, have));
    t->head = have ? to : sums;
    t->scale = have ? 1.0 : 1.0 / (double)length;
    t->have += length;
}

/* `times` (0, 1, 2, 4) stretches and what is behind them are the window; a zero is +0. Gives
 * whether something is not finite. */
SYI_INLINE int finish(const task *t, int times)
{
    const int64_t length = t->length, have = t->have;
    const double *head = t->head, scale = t->scale;
    const double *next = t->x + t->period - 1 + t->windows; /* the next chunk's */
    double *y = t->y;
    syi_vector strange = {0};
    for (int64_t j = 0; j < t->windows; j += SYI_WIDTH) {
        const double *sums = t->sums + j;
        syi_vector mean = {0}, sum;
        if (have)
            mean = SYI_LOAD(head + j) * scale;
        if (times) {
            sum = SYI_LOAD(sums);
            if (times > 1)
                sum += SYI_LOAD(sums + length);
            if (times > 2)
                sum += SYI_LOAD(sums + 2 * length) + SYI_LOAD(sums + 3 * length);
            mean = syi_join_mean(mean, sum, times * length, have);
        }
        syi_ask_for((uintptr_t)(next + j), SYI_WIDTH);
        mean += 0.0;
        strange += mean;
        if (t->past)
            syi_store_past(y + j, mean);
        else
            SYI_STORE(y + j, mean);
    }
    strange -= strange;
    return syi_any(&strange);
}

static int finish_as(const task *t, int64_t times)
{
    switch (times) {
    case 0:
        return finish(t, 0);
    case 1:
        return finish(t, 1);
    case 2:
        return finish(t, 2);
    default:
        return finish(t, 4);
    }
}

static void compute(task *t)
{
    int64_t rest;
    begin(t);
    while (rest = (t->period - t->have) / t->length, rest == 3 || rest > 4) {
        if (rest & 1)
            join(t);
        else if (rest & 2)
            twice(t);
        else
            fourfold(t);
    }
    if (finish_as(t, rest))
        syi_fast_mark(t->y, t->windows);
}

static void compute_apart(task *t, double *x, double *y)
{
    double *result = t->y;
    const int64_t columns = t->windows + t->period - 1;
    memcpy(x, t->x, (size_t)columns * sizeof *x);
    memset(x + columns, 0, SYI_FAST_BEHIND * sizeof *x);
    t->x = x;
    t->y = y;
    compute(t);
    memcpy(result, y, (size_t)t->windows * sizeof *y);
}

sy_status SYI_ISA_NAME(syi_fast_mean_run)(const syi_piece *piece, int64_t period)
{
    const sy_segment *segment = &piece->segment;
    const int64_t most = period < CHUNK ? CHUNK : period & -SYI_WIDTH;
    int64_t at = period - 1 - segment->first;
    _Alignas(64) double room[3][ROOM], x[ROOM], y[ROOM];
    task t = {.period = period, .room = room};
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    syi_fast_blank(segment->out[0], at);
    for (; at < segment->count; at += t.windows) {
        int apart;
        t.x = segment->in[0] + at - (period - 1);
        t.y = segment->out[0] + at;
        t.windows = syi_fast_chunk(t.y, segment->count - at, most, piece->past_cache, &apart);
        t.past = piece->past_cache && !apart;
        if (apart)
            compute_apart(&t, x, y);
        else
            compute(&t);
    }
    syi_past_done();
    return SY_OK;
}
