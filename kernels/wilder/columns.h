/* Wilder's averages of a stretch of a row, column by column (wilder/run.h). */
#ifndef SYI_KERNELS_WILDER_COLUMNS_H
#define SYI_KERNELS_WILDER_COLUMNS_H

#include "recurrence/fade.h"
#include "traffic.h"
#include "wilder/early.h"
#include "wilder/tied.h"
#include "wilder/tile.h"

typedef struct task {
    syi_wilder_prices x; /* column 0 is `first` */
    double *y;           /* NULL: only the state is wanted */
    int64_t first, row;
    double period;
    syi_factor_dd factor;
    weights *weights; /* of tiles: once made they serve others of so many columns, too */
    syi_doubts *doubts;
    int64_t known; /* columns of prices that are there (traffic.h) */
    int past_cache;
    int is_long; /* enough columns for whole lines to be worth their beginning */
    int is_last; /* of the row */
} task;

/* Columns of a stretch that is not short. */
enum { LONG = 1024 };

SYI_INLINE syi_wilder_prices prices_at(const task *task, int64_t at)
{
    if (IS_RANGE)
        return (syi_wilder_prices){task->x.high + at, task->x.low + at, task->x.close + at};
    return (syi_wilder_prices){NULL, NULL, task->x.close + at};
}

SYI_INLINE double largest_of(const task *task, int64_t i)
{
    return syi_wilder_largest(&task->x, i, IS_RANGE && task->first + i > 0);
}

/* Column i is put, but may be something else, `most` at most. */
static sy_status doubt(const task *task, int64_t i, double most)
{
    if (IS_RANGE &&
        (syi_atr_settle_tie(&task->x, task->y, i, task->first, task->period, &most) ||
         (task->first == 0 && syi_atr_settle_early(&task->x, i, task->period, &most)))) {
        task->y[i] = most;
        return SY_OK;
    }
    return syi_doubts_add(task->doubts, task->row, task->first + i);
}

static sy_status put(const task *task, int64_t i, const syi_wilder_state *s)
{
    syi_deviation average;
    if (syi_wilder_settle(s, IS_RANGE, &task->y[i]) == 0.0)
        return SY_OK;
    average = syi_atr_value(s);
    return doubt(task, i, syi_dd_most(average.value, average.error));
}

/* From column *at on, as long as there are no ranges, of which there have been none until the sum
 * is small. */
SYI_INLINE sy_status run_still(const task *task, syi_wilder_state *s, int64_t *at, int64_t to)
{
    syi_deviation mean = syi_wilder_mean(syi_lifted(s->total), s->period);
    const int64_t from = *at;
    int64_t count = syi_count_still(task->x.high + from, s->close, to - from);
    count = syi_count_still(task->x.low + from, s->close, count);
    count = syi_count_still(task->x.close + from, s->close, count);
    SYI_TRY(syi_fade_out(&mean, &task->factor, task->y ? task->y + from : NULL, count, task->doubts,
                         task->row, task->first + from));
    *at += count;
    s->total = syi_unlifted(syi_wilder_total(mean, s->period));
    return SY_OK;
}

/* Column by column, as long as they are in range, and where nothing moves for long up to `most`. */
SYI_INLINE sy_status run_steps(const task *task, syi_wilder_state *state, int64_t from, int64_t to,
                               int64_t most, int64_t *reached)
{
    syi_wilder_state s = *state;
    int64_t i = from;
    for (; i < to; i++) {
        double size = largest_of(task, i);
        if (IS_RANGE && s.total.value.high > 0.0 && s.total.value.high < SYI_LIFT_BELOW &&
            syi_atr_stands(&task->x, s.close, i)) {
            syi_wilder_state still = s; /* so that the other stays in registers */
            SYI_TRY(run_still(task, &still, &i, most));
            s = still;
            i--;
            continue;
        }
        if (!(size <= SYI_HUGE)) {
            s.phase = syi_phase_after(size);
            break;
        }
        syi_wilder_advance(&s, &task->x, i, IS_RANGE, &task->factor);
        if (task->y)
            SYI_TRY(put(task, i, &s));
    }
    *state = s;
    *reached = i;
    return SY_OK;
}

/* On by a column at least, which may be the first move for long, of a long stretch to where the
 * output begins a line, or to `to`. */
SYI_INLINE sy_status run_to_line(const task *task, syi_wilder_state *s, int64_t *at, int64_t to)
{
    const int64_t next = *at < to ? *at + 1 : to;
    const int64_t line = task->is_long ? syi_line_after(task->y, next, to) : next;
    return run_steps(task, s, *at, line, line, at);
}

#endif
