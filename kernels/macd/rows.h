/* What whole rows begin with, as many as a slab has lanes. Included by macd_run.c. */
#ifndef SYI_KERNELS_MACD_ROWS_H
#define SYI_KERNELS_MACD_ROWS_H

#include "macd/columns.h"
#include "macd/long.h"
#include "recurrence/seeds.h"

#if SYI_HAVE_VECTORS

/* Of the lanes between blocks. */
SYI_INLINE syi_lanes_number macd_stage(const macd_lanes *l, int k)
{
    return (syi_lanes_number){l->stage[k].high, l->stage[k].low, l->stage[k].error};
}

SYI_INLINE void macd_set_stage(macd_lanes *l, int k, const syi_lanes_number *n)
{
    l->stage[k] = (syi_stage){n->high, n->low, n->error};
}

SYI_INLINE syi_lanes_number macd_less(syi_lanes_number a, syi_lanes_number b)
{
    return syi_lanes_plus(a, syi_lanes_negative(b));
}

SYI_INLINE syi_lanes_number macd_now(const macd_lanes *l)
{
    return macd_less(macd_stage(l, FAST), macd_stage(l, SLOW));
}

/* Adds the macd of the part that has been loaded. */
SYI_INLINE void macd_sum_part(macd_slab *s, int count, syi_lanes_number *sum)
{
    const syi_stage_grid grid = macd_enter(s, 0, 0);
    const macd_noise noise = macd_noise_of(s, &grid, MACD_PART);
    macd_run run = macd_begin(&s->lanes);
    for (int i = 0; i < count; i++) {
        const macd_pair macd = macd_step(&run, s, &grid, s->tile[i], MACD_ANY);
        syi_vec lost, high;
        syi_vec_two_sum(sum->high, macd.high, &high, &lost);
        lost += macd.low;
        sum->high = high;
        sum->low += lost;
        sum->error += noise.macd + syi_lanes_lost(syi_vec_abs(lost) + syi_vec_abs(sum->low));
    }
    macd_leave(s, grid.shift, grid.shift, &run, &noise, count);
}

/* The averages of `count` columns from x[0] on, and the sum of what these and those before them are
 * apart. */
SYI_INLINE syi_lanes_number macd_sum_rows(macd_slab *s, const double *x, int64_t count)
{
    syi_lanes_number sum = macd_now(&s->lanes);
    for (int64_t at = 0; at < count; at += MACD_PART) {
        const int some = count - at < MACD_PART ? (int)(count - at) : MACD_PART;
        macd_go_to(s, x, NULL, x[-1], at);
        macd_load(s, 0, some);
        macd_sum_part(s, some, &sum);
    }
    return sum;
}

/* Puts a row's first value, at task->warmup, again, with wider arithmetic. */
static sy_status put_first(const task *task, const syi_macd_triple *t)
{
    const int64_t i = task->warmup;
    syi_macd_state state = {.phase = SYI_PHASE_RUNNING};
    syi_macd_state_set(&task->terms, &state, t, task->x[i > 0 ? i - 1 : 0], task->x[i]);
    if (task->macd.seeded_signal == 1) /* it is the macd itself */
        state.signal = (syi_deviation){{0.0, 0.0}, 0.0};
    return put(task, i, &state);
}

/* Puts the rows' first values. */
SYI_INLINE sy_status put_firsts(const task *task, const macd_slab *s)
{
    const syi_lanes_number macd = macd_now(&s->lanes), signal = macd_stage(&s->lanes, SIGNAL);
    syi_bits_vec unsure = {0};
    const syi_vec out[] = {syi_lanes_rounded(macd, &unsure), syi_lanes_rounded(signal, &unsure),
                           syi_lanes_rounded(macd_less(macd, signal), &unsure)};
    for (int lane = 0; lane < MACD_LANES; lane++)
        for (int k = 0; k < 3; k++) {
            double *const y = task->y[k] + lane * s->stride;
            syi_fill_nan(y, 0, task->warmup);
            y[task->warmup] = out[k][lane];
        }
    for (int lane = 0; lane < MACD_LANES && syi_vec_any(unsure); lane++) {
        double *y[3];
        const struct task row = task_of_row(task, lane, y);
        const syi_macd_triple triple = macd_triple(s, &s->lanes, lane, row.x[row.warmup]);
        if (unsure[lane] != 0)
            SYI_TRY(put_first(&row, &triple));
    }
    return SY_OK;
}

/* Begins the rows: their first values, and the lanes behind those. Gives whether all of them are in
 * range; else they are to be run one by one. */
static sy_status begin_rows(const task *task, macd_slab *slab, int *begun)
{
    const double *x = task->x + task->seed;
    const int64_t count = task->warmup - task->seed, stride = slab->stride;
    macd_lanes *const lanes = &slab->lanes;
    syi_lanes_number fast, slow, signal;
    slab->outside = (syi_bits_vec){0};
    *begun = syi_lanes_seed(x, stride, task->macd.seeded_fast, &fast) &&
             syi_lanes_seed(x, stride, task->macd.seeded_slow, &slow);
    if (!*begun)
        return SY_OK;
    slab->columns_each = count;
    macd_go_to(slab, x + 1, NULL, x[0], 0);
    lanes->pivot = syi_lanes_column(x, stride);
    macd_set_stage(lanes, FAST, &fast);
    macd_set_stage(lanes, SLOW, &slow);
    macd_set_stage(lanes, SIGNAL, &(syi_lanes_number){{0}, {0}, {0}});
    signal = syi_lanes_part(macd_sum_rows(slab, x + 1, count), task->macd.seeded_signal);
    macd_set_stage(lanes, SIGNAL, &signal);
    *begun = !syi_vec_any(slab->outside);
    return *begun ? put_firsts(task, slab) : SY_OK;
}

#endif
#endif
