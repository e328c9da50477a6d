/* What whole rows begin with, as many as a slab has lanes. Included by macd_run.c. */
#ifndef SYI_KERNELS_MACD_ROWS_H
#define SYI_KERNELS_MACD_ROWS_H

#include "macd/columns.h"
#include "macd/long.h"
#include "recurrence/seeds.h"

#if SYI_HAVE_VECTORS

/* A sum of each lane's macd so far: high + low, off by `error`. */
typedef struct macd_sum {
    syi_vec high, low, error;
} macd_sum;

/* Adds the macd of the part that has been loaded. */
SYI_INLINE void macd_sum_part(macd_slab *s, int count, macd_sum *sum)
{
    const syi_stage_grid grid = macd_enter(s, 0);
    const syi_vec error = macd_error(s->part_terms, &s->lanes, &grid);
    macd_run run = macd_begin(&s->lanes);
    for (int i = 0; i < count; i++) {
        const macd_pair macd = macd_step(&run, s->terms, &grid, s->tile[i], 0);
        syi_vec lost, high;
        syi_vec_two_sum(sum->high, macd.high, &high, &lost);
        lost += macd.low;
        sum->high = high;
        sum->low += lost;
        sum->error += error + (syi_vec_abs(lost) + syi_vec_abs(sum->low)) *
                                  syi_vec_of(SYI_STAGE_LOSS * (1.0 + 0x1p-40));
    }
    macd_leave(s, &grid, &run, error, count);
}

/* The averages of `count` columns from x[0] on, and the sum of what they are apart. */
SYI_INLINE macd_sum macd_sum_rows(macd_slab *s, const double *x, int64_t count)
{
    macd_sum sum = {{0}, {0}, {0}};
    for (int64_t at = 0; at < count; at += MACD_PART) {
        const int some = count - at < MACD_PART ? (int)(count - at) : MACD_PART;
        macd_go_to(s, x, NULL, x[-1], at);
        macd_load(s, 0, some);
        macd_sum_part(s, some, &sum);
    }
    return sum;
}

/* Puts a row's first value, at task->warmup, where its averages are `t`. */
static sy_status put_first(const task *task, const syi_macd_triple *t)
{
    const int64_t i = task->warmup;
    syi_macd_state state = {.phase = SYI_PHASE_RUNNING};
    for (int k = 0; k < 3; k++)
        syi_fill_nan(task->y[k], 0, i);
    syi_macd_state_set(&task->terms, &state, t, task->x[i > 0 ? i - 1 : 0], task->x[i]);
    if (task->macd.seeded_signal == 1) /* it is the macd itself */
        state.signal = (syi_deviation){{0.0, 0.0}, 0.0};
    return put(task, i, &state);
}

/* Begins the rows: their first values and slab->start, behind those. Gives whether all of them are
 * in range; else they are to be run one by one. */
static sy_status begin_rows(const task *task, macd_slab *slab, int *begun)
{
    const double *x = task->x + task->seed;
    const int64_t count = task->warmup - task->seed, stride = slab->stride;
    syi_deviation fast[MACD_LANES], slow[MACD_LANES];
    macd_sum sum;
    slab->outside = slab->straight = (syi_bits_vec){0};
    *begun = syi_lanes_seed(x, stride, task->macd.seeded_fast, fast) &&
             syi_lanes_seed(x, stride, task->macd.seeded_slow, slow);
    if (!*begun)
        return SY_OK;
    slab->columns_each = count;
    macd_go_to(slab, x + 1, NULL, x[0], 0);
    for (int lane = 0; lane < MACD_LANES; lane++)
        macd_set(slab, lane, &(syi_macd_triple){fast[lane], slow[lane], {{0.0, 0.0}, 0.0}});
    sum = macd_sum_rows(slab, x + 1, count);
    *begun = !syi_vec_any(slab->outside);
    for (int lane = 0; lane < MACD_LANES && *begun; lane++) {
        double *y[3];
        const struct task row = task_of_row(task, lane, y);
        syi_macd_triple *start = &slab->start[lane];
        *start = macd_triple(&slab->lanes, lane, row.x[row.warmup]);
        const syi_dd others = syi_dd_of_sum(sum.high[lane], sum.low[lane]); /* than the first */
        const syi_deviation first = syi_deviation_less(fast[lane], slow[lane]);
        start->signal =
            syi_macd_first_signal(&task->macd, syi_deviation_plus(first, others, sum.error[lane]));
        SYI_TRY(put_first(&row, start));
    }
    return SY_OK;
}

#endif
#endif
