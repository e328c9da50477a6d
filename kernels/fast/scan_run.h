/*
 * Rolling deviations, scores and bands in fast accuracy (fast/scan.h). Whoever includes this says
 * which by SYI_SPREAD_KIND, a syi_window_kind. A lane goes through some blocks of a period, and
 * each loop through a block's beginnings and, for the windows of the next one, its ends: what waits
 * for one of them is hidden behind the other.
 */
#ifndef SYI_KERNELS_FAST_SCAN_RUN_H
#define SYI_KERNELS_FAST_SCAN_RUN_H

#include "exact/vector.h"
#include "fast/scan.h"
#include "fast/spread_task.h"

/* A lane's columns, in whole blocks: so many that it pays, and that all stays in the near caches.
 */
enum { SCAN_STRIDE = 192, SCAN_BLOCKS = 4, SCAN_MOST_STRIDE = 2 * SYI_SCAN_MOST };
/* Columns of a batch, all lanes of it. */
enum { SCAN_MOST = SCAN_MOST_STRIDE * SYI_WIDTH, SCAN_APART = SYI_SCAN_MOST * SYI_WIDTH };

/* By the count of a window's newer part, or of what a scan has gone through. */
typedef struct scan_weights {
    double inverse[SYI_SCAN_MOST + 1], squares[SYI_SCAN_MOST + 1];
    double joint[SYI_SCAN_MOST + 1], part[SYI_SCAN_MOST + 1];
} scan_weights;

/* A block's ends, by the column they begin at; behind the last one there is nothing. */
typedef struct ends {
    syi_vector mean[SYI_SCAN_MOST + 1], square[SYI_SCAN_MOST + 1];
} ends;

/* A batch: lane l goes through x[l * stride .. (l + 1) * stride), which begins a block. */
typedef struct scan_task {
    const syi_window *window;
    const double *x;
    double *out[OUTPUTS];
    int64_t blocks, stride;
    double factor;
    scan_weights by;
    ends ends[2]; /* of the block before, of this one */
    /* The columns from a period before the lanes on; a block's results, and before them those of
     * the block before that no vector of columns held yet. */
    syi_vector tile[SYI_SCAN_MOST + SCAN_MOST_STRIDE + SYI_WIDTH];
    syi_vector result[OUTPUTS][SYI_SCAN_MOST + SYI_WIDTH];
    syi_vector strange;
} scan_task;

/* r[k][l] = x[l * stride + k]. */
SYI_INLINE void load_columns(const double *x, int64_t stride, syi_vector *r)
{
#if SYI_HAVE_VECTORS
    syi_vec_columns(x, stride, r);
#else
    for (int k = 0; k < SYI_WIDTH; k++)
        for (int l = 0; l < SYI_WIDTH; l++)
            r[k][l] = x[l * stride + k];
#endif
}

/* y[l * stride + k] = from[k][l]. */
SYI_INLINE void store_columns(double *y, int64_t stride, const syi_vector *from)
{
#if SYI_HAVE_VECTORS
    syi_vector r[SYI_WIDTH];
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_WIDTH; k++)
        r[k] = from[k];
    syi_vec_rows(y, stride, r, 0);
#else
    for (int k = 0; k < SYI_WIDTH; k++)
        for (int l = 0; l < SYI_WIDTH; l++)
            y[l * stride + k] = from[k][l];
#endif
}

static void scan_load(scan_task *t)
{
    const int64_t period = t->window->period, columns = period + t->stride;
    int64_t i = 0;
    for (; i < columns; i += SYI_WIDTH)
        load_columns(t->x - period + i, t->stride, t->tile + i);
    t->tile[i] = (syi_vector){0}; /* the border of a block that is nobody's */
}

/* The ends of the block before the lanes. */
static void scan_before(scan_task *t)
{
    const int64_t period = t->window->period;
    const syi_vector border = t->tile[period];
    syi_scan end = {{0}, {0}};
    for (int64_t k = 1; k < period; k++) {
        syi_scan_add(&end, t->tile[period - k] - border, t->by.inverse[k], t->by.squares[k]);
        t->ends[0].mean[period - k] = end.mean;
        t->ends[0].square[period - k] = end.square;
    }
}

/* Asks for the next batch, as far as it is nearer than another page. */
SYI_INLINE void scan_ask(const scan_task *t, int64_t done)
{
    syi_ask_for((uintptr_t)(t->x + SYI_WIDTH * (t->stride + done)), SYI_WIDTH);
}

/* The windows that end in the block `number` of each lane, whose results go to `at` on. */
SYI_INLINE void scan_block(scan_task *t, int64_t number, int64_t at)
{
    const int64_t period = t->window->period;
    const syi_vector *block = t->tile + (number + 1) * period;
    const syi_vector border = block[0], next_border = block[period];
    const ends *const before = &t->ends[number % 2];
    ends *const now = &t->ends[1 - number % 2];
    const scan_weights *const by = &t->by;
    const double factor = t->factor;
    syi_scan newer = {{0}, {0}}, end = newer;
    syi_vector strange = {0};
    for (int64_t k = 0; k < period; k++) {
        const syi_scan older = {before->mean[k + 1], before->square[k + 1]};
        const syi_vector x = block[k] - border, last = block[period - 1 - k] - next_border;
        syi_vector out[3];
        syi_scan all;
        syi_scan_add(&newer, x, by->inverse[k + 1], by->squares[k + 1]);
        all = syi_scan_join(&older, &newer, by->joint[k + 1], by->part[k + 1]);
        syi_scan_result(SYI_SPREAD_KIND, factor, border, x, &all, out);
        for (int j = 0; j < OUTPUTS; j++)
            t->result[j][at + k] = out[j];
        strange += out[0] - out[0];
        syi_scan_add(&end, last, by->inverse[k + 1], by->squares[k + 1]);
        now->mean[period - 1 - k] = end.mean;
        now->square[period - 1 - k] = end.square;
        scan_ask(t, number * period + k);
    }
    t->strange += strange;
}

/* Writes whole vectors of columns, from the lanes' column `from` on, of `count` results; returns
 * how many it has left, which begin the next ones. */
static int64_t scan_put(scan_task *t, int64_t from, int64_t count)
{
    const int64_t whole = count / SYI_WIDTH * SYI_WIDTH;
    for (int j = 0; j < OUTPUTS; j++) {
        for (int64_t i = 0; i < whole; i += SYI_WIDTH)
            store_columns(t->out[j] + from + i, t->stride, t->result[j] + i);
        for (int64_t i = whole; i < count; i++)
            t->result[j][i - whole] = t->result[j][i];
    }
    return count - whole;
}

/* What is left of the lanes' ends. */
static void scan_put_rest(const scan_task *t, int64_t count)
{
    for (int j = 0; j < OUTPUTS; j++)
        for (int64_t i = 0; i < count; i++)
            for (int l = 0; l < SYI_WIDTH; l++)
                t->out[j][(l + 1) * t->stride - count + i] = t->result[j][i][l];
}

/* Where the first result is not finite there is none. */
static void scan_mark(const scan_task *t)
{
    const int64_t count = SYI_WIDTH * t->stride;
    for (int k = OUTPUTS; --k > 0;)
        for (int64_t j = 0; j < count; j++)
            if (!syi_is_finite(t->out[0][j]))
                t->out[k][j] = syi_nan();
    syi_fast_mark(t->out[0], count);
}

static void scan_compute(scan_task *t)
{
    const int64_t period = t->window->period;
    int64_t held = 0;
    t->strange = (syi_vector){0};
    scan_load(t);
    scan_before(t);
    for (int64_t number = 0; number < t->blocks; number++) {
        scan_block(t, number, held);
        held = scan_put(t, number * period - held, held + period);
    }
    scan_put_rest(t, held);
    if (syi_any(&t->strange))
        scan_mark(t);
}

/* Results that are put past the cache when all are there. */
static void scan_compute_past(scan_task *t)
{
    double y[OUTPUTS][SCAN_MOST], *result[OUTPUTS];
    memcpy(result, t->out, sizeof result);
    for (int k = 0; k < OUTPUTS; k++)
        t->out[k] = y[k];
    scan_compute(t);
    for (int k = 0; k < OUTPUTS; k++)
        syi_put_past(result[k], y[k], SYI_WIDTH * t->stride);
}

/* Of a batch of single blocks the results [first, last), from the columns [first - period + 1,
 * last). A scan meets what is missing behind all that is wanted of it. */
static void scan_compute_apart(scan_task *t, int64_t first, int64_t last)
{
    const int64_t period = t->window->period, seen = first - (period - 1);
    double x[SYI_SCAN_MOST + SCAN_APART + SYI_WIDTH] = {0}, y[OUTPUTS][SCAN_APART],
                                          *result[OUTPUTS];
    memcpy(result, t->out, sizeof result);
    memcpy(x + period + seen, t->x + seen, (size_t)(last - seen) * sizeof *x);
    t->x = x + period;
    for (int k = 0; k < OUTPUTS; k++)
        t->out[k] = y[k];
    scan_compute(t);
    for (int k = 0; k < OUTPUTS; k++)
        memcpy(result[k] + first, y[k] + first, (size_t)(last - first) * sizeof *y[k]);
}

static void scan_plan(scan_task *t, const syi_window *window)
{
    const int64_t period = window->period;
    t->window = window;
    t->factor = syi_scan_factor(window);
    for (int64_t k = 1; k <= period; k++) {
        const double count = (double)k;
        t->by.inverse[k] = 1.0 / count;
        t->by.squares[k] = syi_scan_squares(count, t->by.inverse[k]);
        t->by.part[k] = syi_scan_part(count, (double)period, 1.0 / (double)period);
        t->by.joint[k] = count * t->by.part[k];
    }
    for (int i = 0; i < 2; i++)
        t->ends[i].mean[period] = t->ends[i].square[period] = (syi_vector){0};
}

/* The windows of a segment from its column `at` on. */
static void scan_all(scan_task *t, const syi_piece *piece, int64_t at)
{
    const sy_segment *segment = &piece->segment;
    const int64_t period = t->window->period, count = segment->count;
    const int64_t many =
        SCAN_MOST_STRIDE / period < SCAN_BLOCKS ? SCAN_MOST_STRIDE / period : SCAN_BLOCKS;
    const int64_t blocks = SCAN_STRIDE / period > many ? SCAN_STRIDE / period : many;
    for (int64_t from = at - (segment->first + at) % period; from < count;) {
        const int is_begun = from >= at && from - period >= -segment->left;
        const int64_t room = count - SYI_WIDTH - from;
        t->blocks = is_begun && SYI_WIDTH * blocks * period <= room ? blocks : 1;
        t->stride = t->blocks * period;
        t->x = segment->in[0] + from;
        for (int k = 0; k < OUTPUTS; k++)
            t->out[k] = segment->out[k] + from;
        if (!is_begun || SYI_WIDTH * t->stride > room)
            scan_compute_apart(t, from < at ? at - from : 0,
                               SYI_WIDTH * t->stride < count - from ? SYI_WIDTH * t->stride
                                                                    : count - from);
        else if (piece->past_cache)
            scan_compute_past(t);
        else
            scan_compute(t);
        from += SYI_WIDTH * t->stride;
    }
}

static sy_status syi_scan_run(const syi_piece *piece, const syi_window *window)
{
    const sy_segment *segment = &piece->segment;
    int64_t at = window->period - 1 - segment->first;
    scan_task t;
    scan_plan(&t, window);
    at = at < 0 ? 0 : at > segment->count ? segment->count : at;
    for (int k = 0; k < OUTPUTS; k++)
        syi_fast_blank(segment->out[k], at);
    scan_all(&t, piece, at);
    syi_past_done();
    return SY_OK;
}

#endif
