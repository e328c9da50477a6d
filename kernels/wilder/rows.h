/*
 * Rows one behind the other. Of as many as a vector has lanes the sums that they begin with are
 * made side by side.
 */
#ifndef SYI_KERNELS_WILDER_ROWS_H
#define SYI_KERNELS_WILDER_ROWS_H

#include "recurrence/seeds.h"
#include "wilder/beside.h"
#include "wilder/running.h"

#if SYI_HAVE_VECTORS

enum { ROWS_BESIDE = SYI_VECTOR };

/* The terms of a row a lane so far, and whether one is out of range: then not 0. */
typedef struct row_tally {
    syi_lanes_tally total, up;
    syi_vec close; /* of the last column */
    syi_bits_vec outside;
} row_tally;

SYI_INLINE void look_at(row_tally *s, syi_vec price)
{
    s->outside |= ~(syi_bits_vec)(syi_vec_abs(price) <= SYI_HUGE);
}

SYI_INLINE void add_range(row_tally *s, syi_vec high, syi_vec low)
{
    syi_vec term, rest;
    look_at(s, high);
    look_at(s, low);
    s->outside |= ~(syi_bits_vec)(low <= high);
    syi_vec_two_sum(syi_vec_max(high, s->close), -syi_vec_min(low, s->close), &term, &rest);
    syi_lanes_tally_add(&s->total, term, rest);
}

SYI_INLINE void add_move(row_tally *s, syi_vec close)
{
    const syi_bits_vec sign = (syi_bits_vec){0} + (UINT64_C(1) << 63);
    syi_vec move, rest;
    syi_vec_two_sum(close, -s->close, &move, &rest);
    const syi_bits_vec gain = (syi_bits_vec)(move > 0.0), fall = (syi_bits_vec)move & sign;
    syi_lanes_tally_add(&s->total, syi_vec_abs(move), (syi_vec)((syi_bits_vec)rest ^ fall));
    syi_lanes_tally_add(&s->up, (syi_vec)((syi_bits_vec)move & gain),
                        (syi_vec)((syi_bits_vec)rest & gain));
}

/* Columns [i, end), at most SYI_TALLY_MOST. */
SYI_INLINE void add_terms(row_tally *s, const syi_wilder_prices *x, int64_t stride, int64_t i,
                          int64_t end)
{
    syi_vec close[SYI_VECTOR], high[SYI_VECTOR], low[SYI_VECTOR];
    for (int some; i < end; i += some) {
        some = end - i < SYI_VECTOR ? (int)(end - i) : SYI_VECTOR;
        syi_lanes_load_some(close, x->close + i, stride, some);
        if (IS_RANGE) {
            syi_lanes_load_some(high, x->high + i, stride, some);
            syi_lanes_load_some(low, x->low + i, stride, some);
        }
        for (int k = 0; k < some; k++) {
            if (IS_RANGE)
                add_range(s, high[k], low[k]);
            else
                add_move(s, close[k]);
            look_at(s, close[k]);
            s->close = close[k];
        }
    }
}

/* The states of the rows at column `period`, as syi_wilder_seed() makes them; gives whether all are
 * in range, and no high is below a low. */
static int seed_rows(const task *task, int64_t columns, syi_wilder_state *state)
{
    const int64_t period = (int64_t)task->period;
    syi_lanes_number total = {{0}, {0}, {0}}, up = total;
    row_tally s = {.outside = {0}};
    s.close = syi_lanes_column(task->x.close, columns);
    look_at(&s, s.close);
    for (int64_t i = 1; i <= period;) {
        const int64_t end = i + SYI_TALLY_MOST <= period ? i + SYI_TALLY_MOST : period + 1;
        s.total = s.up = (syi_lanes_tally){{0}, {0}, {0}};
        add_terms(&s, &task->x, columns, i, end);
        syi_lanes_tally_end(&s.total, &total);
        syi_lanes_tally_end(&s.up, &up);
        i = end;
    }
    for (int l = 0; l < SYI_VECTOR; l++)
        state[l] = (syi_wilder_state){.phase = SYI_PHASE_RUNNING,
                                      .from_start = 1.0,
                                      .period = task->period,
                                      .close = s.close[l],
                                      .total = syi_lanes_deviation(&total, l),
                                      .up = syi_lanes_deviation(&up, l)};
    return !syi_vec_any(s.outside);
}

#endif

/* Columns from `from` on, and on to the next row. */
static sy_status run_row(task *task, int64_t columns, int64_t from, syi_wilder_state *state)
{
    SYI_TRY(run_columns(task, state, from, columns));
    task->x = prices_at(task, columns);
    task->y += columns;
    task->known -= columns;
    task->row++;
    return SY_OK;
}

static sy_status run_rows(const task *first, int64_t rows, int64_t columns)
{
    const syi_wilder_state none = {
        .phase = SYI_PHASE_BEFORE, .from_start = 1.0, .period = first->period};
    task task = *first;
#if SYI_HAVE_VECTORS
    const int64_t seed = (int64_t)task.period;
    for (; rows >= ROWS_BESIDE && columns > seed && seed > 1; rows -= ROWS_BESIDE) {
        syi_wilder_state state[ROWS_BESIDE];
        int64_t reached[ROWS_BESIDE] = {0};
        const int are_seeded = seed_rows(&task, columns, state);
        if (are_seeded) {
            for (int l = 0; l < ROWS_BESIDE; l++)
                syi_fill_nan(task.y + l * columns, 0, seed);
            SYI_TRY(run_rows_beside(&task, columns, seed, state, reached));
        }
        for (int l = 0; l < ROWS_BESIDE; l++) {
            if (!are_seeded)
                state[l] = none;
            SYI_TRY(run_row(&task, columns, reached[l], &state[l]));
        }
    }
#endif
    for (; rows > 0; rows--) {
        syi_wilder_state state = none;
        SYI_TRY(run_row(&task, columns, 0, &state));
    }
    return SY_OK;
}

#endif
