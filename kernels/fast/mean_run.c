/* The rolling mean in fast accuracy: sums of stretches of 1, 2, 4 ... columns, joined as means.
 * Short windows are put together in registers, in one pass that stores nothing but results: so what
 * goes past the cache goes evenly, and is hidden behind the computing. Longer ones take a pass for
 * each length. Compiled for several instruction sets. */
#include "fast/window.h"

/* Windows at a time: few columns are summed up twice, and all stays in the nearest cache; and of
 * those of one pass, which stores nothing but results. */
enum { CHUNK = 1024, ROOM = CHUNK + SYI_MEAN_MOST + 64, CHUNK_OF_ONE_PASS = 8 * CHUNK };

/* What the period has beyond a multiple of eight columns is its tail. FIRST: columns of the first
 * sums; STEP: vectors from one of them to the next. */
enum { EIGHT = 8, FIRST = SYI_WIDTH == 8 ? 8 : 4, STEP = FIRST / SYI_WIDTH };
/* LONG stands for more first sums than a window of one pass has. Those of three times eight columns
 * are joined twice; vectors of two would be too many to keep. */
enum { LONG = 8, THREE_EIGHTS = 3 * EIGHT / FIRST };
#define JOINS_TWICE (SYI_WIDTH > 2)

/* A chunk of windows; window j is x[j .. j + period). There are SYI_FAST_BEHIND columns more behind
 * x, and room for as many results behind y. Of the window's newest `have` columns there is the
 * mean, head[j] * scale; sums[j] are those of `length` columns from column j on. */
typedef struct task {
    const double *x, *next; /* next[j] is asked for along with window j: the next chunk's columns */
    double *y;
    int64_t windows, period, length, have;
    const double *sums, *head;
    double scale;
    int past; /* results go past the cache: y begins a line */
    int far;  /* syi_asks_far */
    double (*room)[ROOM];
} task;

static double *free_room(const task *t)
{
    int k = 0;
    while (t->sums == t->room[k] || (t->head >= t->room[k] && t->head < t->room[k] + ROOM))
        k++;
    return t->room[k];
}

/* The mean of the tail, from x[0] on; `four`: the sum of the first four, which alone is left as it
 * is. */
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

/* What is known of the blocks behind one: the next one's sums of two columns; of those of eight
 * columns its sums of four, and the ones of two of the block after. */
typedef struct sums_behind {
    syi_vector four, two;
} sums_behind;

SYI_INLINE syi_vector sum_2(const double *x)
{
    return SYI_LOAD(x) + SYI_LOAD(x + 1);
}

/* Before the block at x[0]. */
SYI_INLINE sums_behind sums_from(const double *x)
{
#if SYI_WIDTH == 8
    const syi_vector two = sum_2(x), next = sum_2(x + SYI_WIDTH);
    return (sums_behind){two + SYI_AFTER_2(two, next), next};
#else
    return (sums_behind){{0}, sum_2(x)};
#endif
}

/* The sums of FIRST columns from x[0] on, block after block. `four` gets those of four columns. */
SYI_INLINE syi_vector first_sum(const double *x, sums_behind *behind, syi_vector *four)
{
#if SYI_WIDTH == 8
    const syi_vector two = sum_2(x + 2 * SYI_WIDTH);
    const syi_vector next = behind->two + SYI_AFTER_2(behind->two, two);
    *four = behind->four;
    *behind = (sums_behind){next, two};
    return *four + SYI_AFTER_4(*four, next);
#else
    const syi_vector two = sum_2(x + SYI_WIDTH);
    *four = behind->two + SYI_AFTER_2(behind->two, two);
    behind->two = two;
    return *four;
#endif
}

/* The first sums from the columns [first, last) on, and the tails' means. */
SYI_INLINE void begin_part(task *t, int64_t first, int64_t last, int64_t tail, sums_behind *behind)
{
    const double *x = t->x;
    double *sums = t->room[0], *head = t->room[1] - (t->period & -EIGHT);
    for (int64_t j = first; j < last; j += SYI_WIDTH) {
        syi_vector four, sum = first_sum(x + j, behind, &four);
        SYI_STORE(sums + j, sum);
        if (tail)
            SYI_STORE(head + j, tail_mean(x + j, four, tail));
    }
}

SYI_INLINE void begin(task *t, int64_t tail)
{
    const int64_t ahead = t->period & -EIGHT;
    sums_behind behind = sums_from(t->x);
    t->length = FIRST;
    t->have = tail;
    t->scale = tail == 4 ? 0.25 : 1.0;
    t->sums = t->room[0];
    t->head = t->room[1];
    begin_part(t, 0, ahead, 0, &behind);
    begin_part(t, ahead, ahead + t->windows, tail, &behind);
}

static void twice(task *t)
{
    const int64_t length = t->length, count = t->windows + t->period - t->have - 2 * length;
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
    const int64_t length = t->length, count = t->windows + t->period - t->have - 4 * length;
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

/* A zero is +0. `strange` becomes what tells whether something is not finite. */
SYI_INLINE void put(const task *t, int64_t j, syi_vector mean, syi_vector *strange)
{
    mean += 0.0;
    *strange += mean;
    if (t->past)
        syi_store_past(t->y + j, mean);
    else
        SYI_STORE(t->y + j, mean);
}

SYI_INLINE int is_strange(syi_vector strange)
{
    strange -= strange;
    return syi_any(&strange);
}

/* `times` (2, 4) stretches and what is behind them are the window. Gives whether something is not
 * finite. */
SYI_INLINE int finish(const task *task, int times)
{
    const struct task t = *task;
    syi_vector strange = {0};
    for (int64_t j = 0; j < t.windows; j += SYI_WIDTH) {
        const double *const sums = t.sums + j;
        syi_vector mean = {0}, sum = SYI_LOAD(sums) + SYI_LOAD(sums + t.length);
        syi_ask_line(t.next + j, t.far);
        if (times == 4)
            sum += SYI_LOAD(sums + 2 * t.length) + SYI_LOAD(sums + 3 * t.length);
        if (t.have)
            mean = SYI_LOAD(t.head + j) * t.scale;
        mean = syi_join_mean(mean, sum, times * t.length, t.have);
        put(&t, j, mean, &strange);
    }
    return is_strange(strange);
}

/* The first sums of the last blocks, and those of two of them, one behind the other, that begin
 * there, of as many blocks as a window of one pass has; the last one first. */
enum { KEPT = (JOINS_TWICE && THREE_EIGHTS > 4 ? THREE_EIGHTS - 1 : 3) * STEP };
typedef struct sums_so_far {
    syi_vector one[STEP + 1], two[KEPT];
} sums_so_far;

SYI_INLINE void keep(sums_so_far *sums, syi_vector next)
{
    SYI_UNROLL(4)
    for (int k = STEP; k > 0; k--)
        sums->one[k] = sums->one[k - 1];
    SYI_UNROLL(8)
    for (int k = KEPT - 1; k > 0; k--)
        sums->two[k] = sums->two[k - 1];
    sums->one[0] = next;
    sums->two[0] = sums->one[STEP] + next;
}

/* That of `times` (1, 2, 4) stretches, so many stretches back. */
SYI_INLINE syi_vector sum_back(const sums_so_far *sums, int back, int times)
{
    const int i = (back + 1) * STEP - 1;
    if (times == 1)
        return sums->one[i];
    return times == 2 ? sums->two[i] : sums->two[i] + sums->two[i + 2 * STEP];
}

/* The mean of a window, of whose tail there is the mean, and of `times` first stretches before it
 * the sums. */
SYI_INLINE syi_vector through_mean(const sums_so_far *sums, int times, syi_vector mean,
                                   int64_t tail)
{
    enum { ONE = EIGHT / FIRST };
    if (times != THREE_EIGHTS)
        return times ? syi_join_mean(mean, sum_back(sums, 0, times), times * FIRST, tail) : mean;
    mean = syi_join_mean(mean, sum_back(sums, 0, ONE), EIGHT, tail);
    return syi_join_mean(mean, sum_back(sums, ONE, 2 * ONE), 2 * EIGHT, EIGHT + tail);
}

/* Windows of `times` (0, 1, 2, 4, THREE_EIGHTS) first stretches and a tail, in one pass. Now and
 * then it marks what is not finite: of that much is still in the nearest cache. */
SYI_INLINE void through(const task *task, int times, int64_t tail)
{
    const struct task t = *task;
    const double *x = t.x;
    sums_behind behind = sums_from(x);
    sums_so_far sums = {{{0}}, {{0}}};
    syi_vector four;
    for (int k = 0; k < times * STEP; k++, x += SYI_WIDTH)
        keep(&sums, first_sum(x, &behind, &four));
    for (int64_t from = 0, to; from < t.windows; from = to) {
        syi_vector strange = {0};
        to = t.windows - from < CHUNK ? t.windows : from + CHUNK;
        for (int64_t j = from; j < to;) {
            syi_ask_line(t.next + j, t.far);
            /* A line, so that the sums are seldom moved. */
            SYI_UNROLL(4)
            for (int k = 0; k < SYI_LINE; k += SYI_WIDTH, j += SYI_WIDTH) {
                syi_vector next = first_sum(x + j, &behind, &four);
                syi_vector mean = tail_mean(x + j, four, tail) * (tail == 4 ? 0.25 : 1.0);
                mean = through_mean(&sums, times, mean, tail);
                put(&t, j, mean, &strange);
                keep(&sums, next);
            }
        }
        if (is_strange(strange))
            syi_fast_mark(t.y + from, to - from);
    }
}

/* `times`, or LONG: the windows are longer, and only begun. */
SYI_INLINE void pass(task *t, int times, int64_t tail)
{
    if (times == LONG)
        begin(t, tail);
    else
        through(t, times, tail);
}

/* Each tail has code of its own: else its branches and factors would take as long as the rest. */
SYI_INLINE void first_pass(task *t, int times)
{
    switch (t->period % EIGHT) {
    case 0:
        pass(t, times, 0);
        break;
    case 1:
        pass(t, times, 1);
        break;
    case 2:
        pass(t, times, 2);
        break;
    case 3:
        pass(t, times, 3);
        break;
    case 4:
        pass(t, times, 4);
        break;
    case 5:
        pass(t, times, 5);
        break;
    case 6:
        pass(t, times, 6);
        break;
    default:
        pass(t, times, 7);
    }
}

static void compute_long(task *t)
{
    int64_t rest;
    first_pass(t, LONG);
    while (rest = (t->period - t->have) / t->length, rest == 3 || rest > 4) {
        if (rest & 1)
            join(t);
        else if (rest & 2)
            twice(t);
        else
            fourfold(t);
    }
    if (rest == 2 ? finish(t, 2) : finish(t, 4))
        syi_fast_mark(t->y, t->windows);
}

/* How many first stretches, beside the tail, are windows that take one pass; LONG: they take more.
 */
static int times_of(int64_t period)
{
    const int64_t times = period / EIGHT * EIGHT / FIRST;
    const int few = times < 3 || times == 4 || (JOINS_TWICE && times == THREE_EIGHTS);
    return few ? (int)times : LONG;
}

static void compute(task *t)
{
    const int times = times_of(t->period);
    if (times == 0)
        first_pass(t, 0);
    else if (times == 1)
        first_pass(t, 1);
    else if (times == 2)
        first_pass(t, 2);
    else if (times == 4)
        first_pass(t, 4);
    else if (times == THREE_EIGHTS && JOINS_TWICE)
        first_pass(t, THREE_EIGHTS);
    else
        compute_long(t);
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

static void compute_burst(task *t, double *y)
{
    double *result = t->y;
    t->y = y;
    compute(t);
    syi_put_past(result, y, t->windows);
}

sy_status SYI_ISA_NAME(syi_fast_mean_run)(const syi_piece *piece, int64_t period)
{
    const sy_segment *segment = &piece->segment;
    /* The last pass of several leaves time between its lines. */
    const int is_one_pass = times_of(period) != LONG, bursts = syi_in_bursts(piece) && is_one_pass;
    const int64_t most = is_one_pass && !piece->past_cache ? CHUNK_OF_ONE_PASS : CHUNK;
    int64_t at = period - 1 - segment->first;
    _Alignas(64) double room[3][ROOM], x[ROOM], y[ROOM];
    task t = {.period = period, .far = syi_asks_far(piece, 2), .room = room};
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    syi_fast_blank(segment->out[0], at);
    for (; at < segment->count; at += t.windows) {
        int apart;
        t.x = segment->in[0] + at - (period - 1);
        t.y = segment->out[0] + at;
        t.windows = syi_fast_chunk(t.y, segment->count - at, most, piece->past_cache, &apart);
        t.next = segment->in[0] + at +
                 syi_ahead(syi_known(piece), at + t.windows, t.windows < CHUNK ? t.windows : CHUNK);
        t.past = piece->past_cache && !bursts && !apart;
        if (apart)
            compute_apart(&t, x, y);
        else if (bursts)
            compute_burst(&t, y);
        else
            compute(&t);
    }
    return SY_OK;
}
