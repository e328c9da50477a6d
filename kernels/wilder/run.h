/*
 * A stretch of Wilder's averages. Included by rsi_run.c and atr_run.c, which are compiled for
 * several instruction sets; `is_range` is a constant in each (atr), so that one of the two remains.
 */
#ifndef SYI_KERNELS_WILDER_RUN_H
#define SYI_KERNELS_WILDER_RUN_H

#include "wilder/state.h"

typedef struct task {
    const double *high, *low, *close; /* [0] is column `first`; rsi has the last alone */
    double *y;                        /* NULL: only the state is wanted */
    int64_t first, row;
    double period;
    syi_factor_dd factor;
    syi_doubts *doubts;
    int is_range;
} task;

SYI_INLINE double largest_of(const task *task, int64_t i)
{
    double size = fabs(task->close[i]);
    if (!task->is_range || task->first + i == 0)
        return size;
    /* A NaN anywhere has to be the answer. */
    size =
        fabs(task->high[i]) > size || task->high[i] != task->high[i] ? fabs(task->high[i]) : size;
    return fabs(task->low[i]) > size || task->low[i] != task->low[i] ? fabs(task->low[i]) : size;
}

SYI_INLINE void terms_of(const task *task, double close, int64_t i, syi_dd *up, syi_dd *down)
{
    *down = (syi_dd){0.0, 0.0};
    if (task->is_range)
        *up = syi_wilder_range(task->high[i], task->low[i], close);
    else
        syi_wilder_moves(close, task->close[i], up, down);
}

SYI_INLINE double settle(const task *task, const syi_wilder_state *s, double *y)
{
    return task->is_range ? syi_atr_settle(s, task->period, y) : syi_rsi_settle(s, y);
}

/* The columns in range from `from` on; a column without a move repeats the value before it. */
SYI_INLINE sy_status run_steps(const task *task, syi_wilder_state *state, int64_t from, int64_t to,
                               int64_t *reached)
{
    syi_wilder_state s = *state;
    int64_t i = from;
    double value = 0.0, doubt = 0.0;
    if (task->y)
        doubt = settle(task, &s, &value);
    for (; i < to; i++) {
        double size = largest_of(task, i);
        syi_dd up, down;
        if (!(size <= SYI_HUGE)) {
            s.phase = syi_phase_after(size);
            break;
        }
        terms_of(task, s.close, i, &up, &down);
        s.close = task->close[i];
        if (!task->is_range && task->period > 1.0 && up.high + down.high == 0.0) {
            s.still += 1.0;
        } else {
            if (s.still != 0.0)
                syi_wilder_catch_up(&s, &task->factor);
            s.up = syi_wilder_plus(syi_wilder_shrink(s.up, &task->factor, 0.0), up);
            if (!task->is_range)
                s.down = syi_wilder_plus(syi_wilder_shrink(s.down, &task->factor, 0.0), down);
            if (task->y)
                doubt = settle(task, &s, &value);
        }
        if (task->y)
            task->y[i] = value;
        if (task->y && doubt != 0.0)
            SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + i));
    }
    *state = s;
    *reached = i;
    return SY_OK;
}

/* Columns before the first value, and that value once it is reached: the sums of a period. */
SYI_INLINE sy_status run_seed(const task *task, syi_wilder_state *s, int64_t from, int64_t to,
                              int64_t *reached)
{
    int64_t start = -task->first, seed = start + (int64_t)task->period;
    syi_dd up, down;
    double value;
    *reached = seed < to ? seed : to;
    if (task->y)
        syi_fill_nan(task->y, from, *reached);
    if (seed >= to)
        return SY_OK;
    s->phase = SYI_PHASE_RUNNING;
    for (int64_t i = start; i <= seed && s->phase != SYI_PHASE_POISONED; i++)
        if (!(largest_of(task, i) <= SYI_HUGE))
            s->phase = syi_phase_after(largest_of(task, i));
    if (s->phase != SYI_PHASE_RUNNING)
        return SY_OK;
    for (int64_t i = start + 1; i <= seed; i++) {
        terms_of(task, task->close[i - 1], i, &up, &down);
        s->up = syi_wilder_plus(s->up, up);
        s->down = syi_wilder_plus(s->down, down);
    }
    s->close = task->close[seed];
    ++*reached;
    if (task->y && settle(task, s, &value) != 0.0)
        SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + seed));
    if (task->y)
        task->y[seed] = value;
    return SY_OK;
}

/* Beyond the fast arithmetic's range, until something is not finite. */
SYI_INLINE sy_status run_huge(const task *task, syi_wilder_state *s, int64_t from, int64_t to,
                              int64_t *reached)
{
    int64_t i = from;
    for (; i < to && syi_is_finite(largest_of(task, i)); i++)
        if (task->y) {
            task->y[i] = 0.0;
            SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + i));
        }
    if (i < to)
        s->phase = SYI_PHASE_POISONED;
    *reached = i;
    return SY_OK;
}

SYI_INLINE sy_status run_columns(const task *task, syi_wilder_state *s, int64_t from, int64_t to)
{
    int64_t i = from;
    if (i < to && s->phase == SYI_PHASE_BEFORE)
        SYI_TRY(run_seed(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_RUNNING)
        SYI_TRY(run_steps(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_HUGE)
        SYI_TRY(run_huge(task, s, i, to, &i));
    if (task->y)
        syi_fill_nan(task->y, i, to);
    return SY_OK;
}

/* What columns [-left, 0) suggest of the sums before them: the chain of states checks it. */
SYI_INLINE syi_wilder_state assume(const task *task, int64_t left)
{
    syi_wilder_state s = {.phase = SYI_PHASE_RUNNING, .close = task->close[-left]};
    double up_most = 0.0, down_most = 0.0, scale = 8.0 * SYI_PER_FINE * task->period;
    for (int64_t i = 1 - left; i < 0; i++) {
        syi_dd up, down;
        terms_of(task, task->close[i - 1], i, &up, &down);
        up_most = up.high > up_most ? up.high : up_most;
        down_most = down.high > down_most ? down.high : down_most;
    }
    s.up.error = up_most <= SYI_HUGE ? scale * up_most : 0.0;
    s.down.error = down_most <= SYI_HUGE ? scale * down_most : 0.0;
    return s;
}

/* The state before column 0 of the segment. */
SYI_INLINE sy_status find_start(const task *columns, const syi_piece *piece, syi_wilder_state *s)
{
    int64_t left = piece->segment.left;
    task unseen = *columns;
    unseen.y = NULL;
    *s = (syi_wilder_state){.phase = SYI_PHASE_BEFORE, .from_start = 1.0};
    if (left == piece->segment.first)
        return run_columns(&unseen, s, -left, 0);
    if (piece->start) {
        memcpy(s, piece->start, sizeof *s);
        return SY_OK;
    }
    *s = assume(&unseen, left);
    if (!(largest_of(&unseen, -left) <= SYI_HUGE))
        s->phase = syi_phase_after(largest_of(&unseen, -left));
    SYI_TRY(run_columns(&unseen, s, 1 - left, 0));
    s->up.error *= 4.0; /* room for the left neighbour's own error */
    s->down.error *= 4.0;
    return SY_OK;
}

SYI_INLINE sy_status syi_wilder_run(const syi_piece *piece, int is_range)
{
    const sy_segment *segment = &piece->segment;
    task task = {.close = segment->in[is_range ? 2 : 0],
                 .y = segment->out[0],
                 .first = segment->first,
                 .row = segment->row,
                 .period = segment->params[0],
                 .doubts = piece->doubts,
                 .is_range = is_range};
    syi_wilder_state state;
    if (is_range) {
        task.high = segment->in[0];
        task.low = segment->in[1];
    }
    task.factor = syi_wilder_factor(task.period);
    SYI_TRY(find_start(&task, piece, &state));
    memcpy(piece->assumed, &state, sizeof state);
    SYI_TRY(run_columns(&task, &state, 0, segment->count));
    memcpy(piece->end, &state, sizeof state);
    return SY_OK;
}

#endif
