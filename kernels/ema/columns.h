/* An exponential moving average column by column, and where zeros go on by blocks. Included by
 * ema_run.c. */
#ifndef SYI_KERNELS_EMA_COLUMNS_H
#define SYI_KERNELS_EMA_COLUMNS_H

#include "ema/early.h"
#include "ema/ema.h"
#include "ema/state.h"
#include "exact/total.h"
#include "isa.h"
#include "recurrence/fade.h"
#include "recurrence/tie.h"
#include "traffic.h"

typedef struct task {
    const double *x;             /* x[0] is column `first` */
    double *y;                   /* NULL: only the state is wanted */
    int64_t first, row, columns; /* of the whole row */
    int64_t put;                 /* what is before this column of y may not have been put */
    syi_ema ema;
    syi_factor_dd factor;
    syi_doubts *doubts;
    int past_cache;
} task;

/* Settles a column that is in doubt, or leaves it to wider arithmetic. */
static sy_status put_doubt(const task *task, int64_t i)
{
    const syi_tie_past past = {task->x, task->y, 1, task->put, task->first == 0};
    const int shift = syi_tie_shift((int64_t)task->ema.period);
    if (shift != 0 && syi_tie_settle(&past, i, shift, &task->y[i]))
        return SY_OK;
    if (task->first == 0 && ema_settle_early(task->x, i, &task->ema, &task->y[i]))
        return SY_OK;
    return syi_doubts_add(task->doubts, task->row, task->first + i);
}

static sy_status put(const task *task, int64_t i, const syi_ema_state *state)
{
    if (syi_ema_settle(state, &task->y[i]) != 0.0)
        return put_doubt(task, i);
    return SY_OK;
}

/* From column *at on, as long as there are zeros, before which there have been such until little is
 * left. */
static sy_status run_zeros(const task *task, syi_ema_state *state, int64_t *at, int64_t to)
{
    syi_deviation left = syi_lifted(state->deviation);
    const int64_t from = *at, count = syi_count_still(task->x + from, 0.0, to - from);
    SYI_TRY(syi_fade_out(&left, &task->factor, task->y ? task->y + from : NULL, count, task->doubts,
                         task->row, task->first + from));
    *at += count;
    state->deviation = syi_unlifted(left);
    return SY_OK;
}

/* Columns [from, to), and where there are long zeros up to `most`. */
static sy_status run_steps(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                           int64_t most, int64_t *reached)
{
    syi_ema_state s = *state;
    int64_t i = from;
    while (i < to) {
        double x = task->x[i];
        const double left = fabs(s.deviation.value.high);
        if (x == 0.0 && s.x == 0.0 && left > 0.0 && left < SYI_LIFT_BELOW) {
            syi_ema_state zeros = s; /* so that the other stays in registers */
            SYI_TRY(run_zeros(task, &zeros, &i, most));
            s = zeros;
            continue;
        }
        if (!(fabs(x) <= SYI_HUGE)) {
            s.phase = syi_phase_after(x);
            break;
        }
        syi_ema_advance(&s, x, &task->factor);
        if (task->y)
            SYI_TRY(put(task, i, &s));
        i++;
    }
    *state = s;
    *reached = i;
    return SY_OK;
}

/* The same of the row that is so many behind it. */
static task task_of_row(const task *first, int64_t row)
{
    task task = *first;
    task.x += row * first->columns;
    task.y += row * first->columns;
    task.row += row;
    return task;
}

/* On from column *at to where the output begins a line, or to `to`. */
static sy_status run_to_line(const task *task, syi_ema_state *state, int64_t *at, int64_t to)
{
    const int64_t line = syi_line_after(task->y, *at, to);
    return run_steps(task, state, *at, line, line, at);
}

/* Puts a row's first value, the mean of what comes before it, which is often as near to one number
 * as to the next. */
static void put_seed(const task *task, int64_t i, const syi_ema_state *state)
{
    const int64_t count = task->ema.seeded;
    const double *const x[] = {task->x + i + 1 - count};
    const syi_inputs in = {x, NULL};
    if (syi_ema_settle(state, &task->y[i]) != 0.0 &&
        !ema_settle_early(x[0], count - 1, &task->ema, &task->y[i]))
        task->y[i] = syi_total_exact(&in, 0, count, count);
}

/* Columns before the first value, and that value once it is reached. */
static void run_seed(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                     int64_t *reached)
{
    int64_t seed = task->ema.seeded - 1 - task->first;
    if (task->y)
        syi_fill_nan(task->y, from, seed < to ? seed : to);
    *reached = seed < to ? seed : to;
    if (seed >= to)
        return;
    state->phase = syi_phase_of_seed(task->x + seed + 1 - task->ema.seeded, task->ema.seeded,
                                     SYI_PHASE_RUNNING);
    if (state->phase != SYI_PHASE_RUNNING)
        return;
    state->x = task->x[seed];
    state->deviation = syi_deviation_seed(task->x + seed, task->ema.seeded, 0.0);
    ++*reached;
    if (task->y)
        put_seed(task, seed, state);
}

/* Beyond the fast arithmetic's range, until something is not finite. */
static sy_status run_huge(const task *task, syi_ema_state *state, int64_t from, int64_t to,
                          int64_t *reached)
{
    int64_t i = from;
    for (; i < to && syi_is_finite(task->x[i]); i++)
        if (task->y) {
            task->y[i] = task->x[i];
            SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + i));
        }
    if (i < to)
        state->phase = SYI_PHASE_POISONED;
    *reached = i;
    return SY_OK;
}

#endif
