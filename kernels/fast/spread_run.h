/*
 * Rolling deviations, scores and bands in fast accuracy. Whoever includes this says which by
 * SYI_SPREAD_KIND, a syi_window_kind: a fifth of the time would go into asking in every step. Short
 * windows take one pass from left to right (fast/spread.h): what they need of the columns before is
 * still in registers, so nothing is stored but results, and what goes past the cache is hidden
 * behind the computing.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_RUN_H
#define SYI_KERNELS_FAST_SPREAD_RUN_H

#include "fast/scan_run.h"

/* Of columns EVERY apart, from a block's own back, there are the groups that end in them: STRIDE of
 * them further back is the group before. A block is SHIFT of them. */
enum {
    EVERY = SYI_WIDTH < SYI_GROUP_COLUMNS ? SYI_WIDTH : SYI_GROUP_COLUMNS,
    STRIDE = SYI_GROUP_COLUMNS / EVERY,
    SHIFT = SYI_WIDTH / EVERY,
    KEPT = (SYI_GROUPS_MOST - 1) * STRIDE + SHIFT
};

/* Blocks whose results are made one after another, while the next ones' spreads are: so neither is
 * waited for. Without fused operations there would be only more code. */
enum { ROUND = SYI_WIDTH < 4 ? 1 : 4, ROUND_COLUMNS = ROUND * SYI_WIDTH };

/* SPREAD_BEFORE: columns before a window that are read, but not used. Windows without them are
 * computed on a copy: APART at most. */
enum { SPREAD_BEFORE = 16, APART = SPREAD_BEFORE + SYI_LINE + ROUND_COLUMNS };

/* A block of columns: the squares of steps, rises of two columns, and of these and those two
 * before; the groups that end there and in the columns before; and the pairs of groups there and
 * two groups before. */
typedef struct flow {
    syi_vector steps, two, sum;
    syi_vector rise[KEPT], square[KEPT];
    syi_pair newer, older;
} flow;

/* On to the block of columns from x[0] on. */
SYI_INLINE void go_on(flow *flow, const double *x)
{
    const syi_vector step = syi_step(x), two = syi_rise_of_two(x), steps = step * step;
    const syi_vector squares = steps + SYI_TWO_BEFORE(flow->steps, steps);
    const syi_vector sum = two + SYI_TWO_BEFORE(flow->two, two);
    SYI_UNROLL(16)
    for (int k = KEPT - 1; k >= SHIFT; k--) {
        flow->rise[k] = flow->rise[k - SHIFT];
        flow->square[k] = flow->square[k - SHIFT];
    }
    flow->rise[0] = sum + SYI_TWO_BEFORE(flow->sum, sum);
    flow->square[0] = syi_product_sum(two, two, squares + squares);
    if (SHIFT > 1) {
        flow->rise[SHIFT - 1] = SYI_AFTER_4(flow->rise[SHIFT], flow->rise[0]);
        flow->square[SHIFT - 1] = SYI_AFTER_4(flow->square[SHIFT], flow->square[0]);
    }
    flow->older = SHIFT == 2
                      ? flow->newer
                      : syi_pair_of(flow->rise + 2 * STRIDE, flow->square + 2 * STRIDE, STRIDE);
    flow->newer = syi_pair_of(flow->rise, flow->square, STRIDE);
    flow->steps = steps;
    flow->two = two;
    flow->sum = sum;
}

/* The windows that end in the next block of columns, which begins with x[0]. */
SYI_INLINE syi_spread next_spread(const task *t, flow *flow, const double *x, int groups,
                                  int columns)
{
    const syi_vector none = {0};
    syi_spread_sums sums = {SYI_LOAD(x) - SYI_LOAD(x), none, none, none};
    syi_ask_at(x, t->ahead, SYI_WIDTH);
    if (groups) {
        go_on(flow, x);
        sums =
            syi_spread_groups(groups, flow->rise, flow->square, STRIDE, flow->newer, flow->older);
    }
    return syi_spread_of(x, groups, columns, &t->by, sums);
}

/* Windows of so many groups and columns beyond them. Gives whether something is not finite. */
SYI_INLINE int compute_groups(const task *task, syi_late *late, int groups, int columns)
{
    const struct task t = *task;
    const int64_t before = ((groups - 1) * SYI_GROUP_COLUMNS + 2 * SYI_WIDTH - 1) & -SYI_WIDTH;
    const syi_vector none = {0};
    flow flow = {none, none, none, {none}, {none}, {none, none}, {none, none}};
    syi_spread all[ROUND];
    syi_vector strange = none;
    int64_t of = 0; /* the round of `all`; the first are nobody's, and their results written over */
    for (int64_t i = groups ? -before : 0; i < 0; i += SYI_WIDTH)
        go_on(&flow, t.x + i);
    for (int k = 0; k < ROUND; k++)
        all[k] = (syi_spread){none + 1.0, none};
    for (int64_t j = 0; j < t.windows; j += ROUND_COLUMNS) {
        SYI_UNROLL(4)
        for (int k = 0; k < ROUND; k++) {
            strange += result(&t, late, of + k * SYI_WIDTH, &all[k], by_products(t.products, k));
            all[k] = next_spread(&t, &flow, t.x + j + k * SYI_WIDTH, groups, columns);
        }
        of = j;
    }
    SYI_UNROLL(4)
    for (int k = 0; k < ROUND; k++)
        strange += result(&t, late, of + k * SYI_WIDTH, &all[k], 0);
    put_late(&t, late);
    strange -= strange;
    return syi_any(&strange);
}

/* Of each number of groups, with columns beyond them or without, there is code of its own. */
SYI_INLINE int compute_windows(const task *t, syi_late *late)
{
    const int groups = (int)t->period / SYI_GROUP_COLUMNS;
    const int columns = (int)t->period % SYI_GROUP_COLUMNS;
    switch (groups) {
    case 0:
        return compute_groups(t, late, 0, columns - 1);
    case 1:
        return columns ? compute_groups(t, late, 1, columns) : compute_groups(t, late, 1, 0);
    case 2:
        return columns ? compute_groups(t, late, 2, columns) : compute_groups(t, late, 2, 0);
    case 3:
        return columns ? compute_groups(t, late, 3, columns) : compute_groups(t, late, 3, 0);
    case 4:
        return columns ? compute_groups(t, late, 4, columns) : compute_groups(t, late, 4, 0);
    default:
        return columns ? compute_groups(t, late, 5, columns) : compute_groups(t, late, 5, 0);
    }
}

/* And where outputs wait, which only several do. */
static __attribute__((noinline)) int compute_late(const task *t)
{
    syi_late late;
    memcpy(late.lag, t->lag, sizeof t->lag);
    return compute_windows(t, &late);
}

static __attribute__((noinline)) int compute_at_once(const task *t)
{
    return compute_windows(t, NULL);
}

static void compute(const task *t)
{
    if (OUTPUTS > 1 && t->late ? compute_late(t) : compute_at_once(t))
        mark(t->out, OUTPUTS, t->windows);
}

/* As many windows as a chunk without columns before it, or of less than a round, has. */
static void compute_apart(const task *chunk)
{
    double x[SPREAD_BEFORE + SYI_SCAN_LEAST + APART] = {0}, y[OUTPUTS][APART];
    const int64_t before = chunk->period - 1;
    task t = *chunk;
    memcpy(x + SPREAD_BEFORE, chunk->x - before, (size_t)(chunk->windows + before) * sizeof *x);
    t.x = x + SPREAD_BEFORE + before;
    t.windows = (chunk->windows + ROUND_COLUMNS - 1) & -ROUND_COLUMNS;
    t.ahead = (syi_distance){0, 0};
    t.past = t.late = 0;
    for (int k = 0; k < OUTPUTS; k++)
        t.out[k] = y[k];
    compute(&t);
    for (int k = 0; k < OUTPUTS; k++)
        memcpy(chunk->out[k], y[k], (size_t)chunk->windows * sizeof *y[k]);
}

/* Whether results go past the cache. Not where the input waits for them (syi_meet), here also where
 * it is a line before an output: that takes 1.5 to 4 times as long. */
static int goes_past(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    int past = piece->past_cache && syi_in_line(segment->out, OUTPUTS);
    for (int k = 0; k < OUTPUTS && piece->waits; k++)
        past &= !syi_meet(segment->out[k], segment->in[0]) &&
                !syi_meet(segment->out[k] + SYI_LINE, segment->in[0]);
    return past;
}

/* The windows of a segment from its column `from` on. Where results stay in a cache they are as
 * many at a time as the nearest one holds, for they may have to be marked. */
static void compute_all(task *t, const syi_piece *piece, int64_t from)
{
    const sy_segment *segment = &piece->segment;
    const int64_t known = syi_known(piece);
    const int past = goes_past(piece);
    const int far = syi_asks_far(piece, 1 + OUTPUTS);
    const int late = syi_lags(piece->waits, segment->out, OUTPUTS, SYI_LATE_UNIT, t->lag);
    for (int64_t at = from; at < segment->count; at += t->windows) {
        const int64_t left = segment->count - at, whole = left & -ROUND_COLUMNS;
        /* The last ones by themselves, for less is ahead of them. */
        const int64_t most = (past ? known - at - SYI_AHEAD : SYI_TILE / 2) & -ROUND_COLUMNS;
        t->x = segment->in[0] + at;
        for (int k = 0; k < OUTPUTS; k++)
            t->out[k] = segment->out[k] + at;
        t->past = past && at > from;
        t->late = t->past && late;
        if (at == from || whole == 0) {
            t->windows =
                at > from ? left : syi_line_after(past ? t->out[0] : NULL, SPREAD_BEFORE, left);
            compute_apart(t);
        } else {
            t->windows = most <= 0 || whole < most ? whole : most;
            t->ahead = syi_distance_of(far, known, at + t->windows);
            compute(t);
        }
    }
}

static sy_status syi_spread_run(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    task t = {.period = window->period,
              .factor = syi_spread_factor(window),
              .products = piece->products,
              .by = syi_spread_weights_of(window->period)};
    int64_t at = window->period - 1 - segment->first;
    if (window->period >= SYI_SCAN_LEAST)
        return syi_scan_run(piece, window);
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    for (int k = 0; k < OUTPUTS; k++)
        syi_fast_blank(segment->out[k], at);
    compute_all(&t, piece, at);
    return SY_OK;
}

#endif
