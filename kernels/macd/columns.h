/* A MACD column by column, and where the price stands still by blocks. Included by macd_run.c. */
#ifndef SYI_KERNELS_MACD_COLUMNS_H
#define SYI_KERNELS_MACD_COLUMNS_H

#include "isa.h"
#include "macd/fade.h"
#include "traffic.h"

typedef struct task {
    const double *x;  /* x[0] is column `first` */
    double *const *y; /* NULL: only the state is wanted */
    int64_t first, row;
    syi_macd macd;
    int64_t seed, warmup; /* relative to `first` */
    syi_macd_terms terms;
    macd_fade *fade; /* known once the price has stood still */
    syi_doubts *doubts;
    int past_cache; /* and the lines of the outputs begin at the same columns */
} task;

static sy_status put(const task *task, int64_t i, const syi_macd_state *s)
{
    double *const *y = task->y;
    if (syi_macd_settle(&task->terms, s, &y[0][i], &y[1][i], &y[2][i]) != 0.0)
        return syi_doubts_add(task->doubts, task->row, task->first + i);
    return SY_OK;
}

/* Writes `count` columns of a block, from `at` on. */
static sy_status put_faded(const task *task, const macd_faded *out, int64_t at, int count)
{
    syi_fade_doubts doubts = {{0.0}};
    syi_faded_settle(&out->macd, 1.0, task->y[0] + at, count, &doubts);
    syi_faded_settle(&out->signal, 1.0, task->y[1] + at, count, &doubts);
    syi_faded_settle(&out->deviation, -1.0, task->y[2] + at, count, &doubts);
    return syi_fade_report(&doubts, count, task->doubts, task->row, task->first + at);
}

/* From column *at on, as long as the price stands still, as it did in the column before. */
static sy_status run_still(const task *task, syi_macd_state *s, int64_t *at, int64_t to)
{
    syi_macd_state left = macd_lifted(*s);
    int64_t i = *at;
    macd_fade_set(task->fade, &task->macd, &task->terms);
    *at += syi_count_still(task->x + i, s->x, to - i);
    while (i < *at && !macd_is_gone(&left)) {
        const int count = syi_fade_count(*at - i);
        macd_faded out;
        macd_fade_block(&out, task->fade, &left, count);
        if (task->y)
            SYI_TRY(put_faded(task, &out, i, count));
        i += count;
    }
    for (int k = 0; k < 3 && task->y && i < *at; k++)
        memset(task->y[k] + i, 0, (size_t)(*at - i) * sizeof(double));
    *s = macd_unlifted(left);
    return SY_OK;
}

/* Columns [from, to), and where the price stands still for long up to `most`. */
static sy_status run_steps(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t most, int64_t *reached)
{
    syi_macd_state s = *state;
    int64_t i = from;
    while (i < to && !syi_macd_leaves_range(&s, task->x[i]))
        if (task->x[i] == s.x && s.slope.high == 0.0 && macd_is_liftable(&s)) {
            syi_macd_state still = s; /* so that the other stays in registers */
            SYI_TRY(run_still(task, &still, &i, most));
            s = still;
        } else {
            syi_macd_smooth_signal(&task->terms, &s,
                                   syi_macd_advance(&task->terms, &s, task->x[i]));
            if (task->y)
                SYI_TRY(put(task, i, &s));
            i++;
        }
    *state = s;
    *reached = i;
    return SY_OK;
}

/* On from column *at to where the outputs begin a line, or to `to`. */
static sy_status run_to_line(const task *task, syi_macd_state *state, int64_t *at, int64_t to)
{
    const int64_t line = syi_line_after(task->y ? task->y[0] : NULL, *at, to);
    return run_steps(task, state, *at, line, line, at);
}

#endif
