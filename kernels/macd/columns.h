/* A MACD column by column, and by blocks where the price stands still or goes on in equal steps.
 * Included by macd_run.c. */
#ifndef SYI_KERNELS_MACD_COLUMNS_H
#define SYI_KERNELS_MACD_COLUMNS_H

#include "isa.h"
#include "macd/fade.h"
#include "traffic.h"

typedef struct task {
    const double *x;             /* x[0] is column `first` */
    double *const *y;            /* NULL: only the state is wanted */
    int64_t first, row, columns; /* of the whole row */
    syi_macd macd;
    int64_t seed, warmup; /* relative to `first` */
    syi_macd_terms terms;
    macd_fade *fade; /* known once the price has gone on so */
    syi_doubts *doubts;
    int past_cache; /* and the lines of the outputs begin at the same columns */
    int waits;      /* as in syi_piece */
} task;

/* The same of the row that is so many behind it, with its outputs in y. */
static task task_of_row(const task *first, int64_t row, double **y)
{
    task task = *first;
    task.x += row * first->columns;
    for (int k = 0; first->y && k < 3; k++)
        y[k] = first->y[k] + row * first->columns;
    task.y = first->y ? y : NULL;
    task.row += row;
    return task;
}

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

/* Not 0 where the step from a price to the next is another one. */
SYI_INLINE uint64_t bends(syi_dd step, double price, double next)
{
    const syi_dd here = syi_dd_of_sum(next, -price);
    return (syi_bits(here.high) ^ syi_bits(step.high)) | (syi_bits(here.low) ^ syi_bits(step.low));
}

/* Columns from `at` on that are as far from the one before them as s->x was; 0 where they are fewer
 * than take as long one by one. */
static int64_t count_straight(const task *task, const syi_macd_state *s, int64_t at, int64_t to)
{
    const double *const x = task->x + at;
    const int64_t count = to - at;
    int64_t i = 1;
    if (s->slope.high == 0.0)
        return syi_count_still(x, s->x, count);
    if (bends(s->slope, s->x, x[0]))
        return 0;
    for (uint64_t any = 0; i + SYI_FADE <= count; i += SYI_FADE) {
        for (int k = 0; k < SYI_FADE; k++)
            any |= bends(s->slope, x[i + k - 1], x[i + k]);
        if (any)
            break;
    }
    while (i < count && !bends(s->slope, x[i - 1], x[i]))
        i++;
    return i < 3 ? 0 : i;
}

/* Writes columns [at, to), of which nothing is left but what the steps make of the macd, lifted. */
static sy_status put_straight(const task *task, const syi_deviation *tilt, int64_t at, int64_t to)
{
    double level;
    const double doubt = syi_settle_lifted(tilt->value, tilt->error, &level);
    for (int k = 0; k < 3; k++) {
        double *const y = task->y[k];
        for (int64_t i = at; i < to; i++)
            y[i] = k < 2 ? level : 0.0;
    }
    if (doubt == 0.0)
        return SY_OK;
    return syi_doubts_add_stretch(task->doubts, task->row, task->first + at, task->first + to);
}

/* From column *at on, as long as the price goes on in the same steps, or stands still. */
static sy_status run_straight(const task *task, syi_macd_state *s, int64_t *at, int64_t to)
{
    const syi_deviation tilt = macd_lifted_tilt(&task->terms, s);
    syi_macd_state left = macd_lifted(*s);
    int64_t i = *at;
    macd_fade_set(task->fade, &task->macd, &task->terms);
    while (i < to && !macd_is_gone(&left)) {
        const int count = syi_fade_count(to - i);
        macd_faded out;
        macd_fade_block(&out, task->fade, &left, count);
        macd_fade_tilt(&out, tilt);
        if (task->y)
            SYI_TRY(put_faded(task, &out, i, count));
        i += count;
    }
    if (task->y && i < to)
        SYI_TRY(put_straight(task, &tilt, i, to));
    *s = macd_unlifted(left);
    s->x = task->x[to - 1];
    *at = to;
    return SY_OK;
}

/* Columns [from, to), and where the price goes straight on for long up to `most`. */
static sy_status run_steps(const task *task, syi_macd_state *state, int64_t from, int64_t to,
                           int64_t most, int64_t *reached)
{
    syi_macd_state s = *state;
    int64_t i = from;
    while (i < to && !syi_macd_leaves_range(&s, task->x[i])) {
        const int is_straight =
            task->x[i] - s.x == s.slope.high && macd_is_liftable(&task->terms, &s);
        const int64_t straight = is_straight ? count_straight(task, &s, i, most) : 0;
        if (straight > 0) {
            syi_macd_state own = s; /* so that the other stays in registers */
            SYI_TRY(run_straight(task, &own, &i, i + straight));
            s = own;
        } else {
            syi_macd_smooth_signal(&task->terms, &s,
                                   syi_macd_advance(&task->terms, &s, task->x[i]));
            if (task->y)
                SYI_TRY(put(task, i, &s));
            i++;
        }
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

/* From the averages' first column to the signal's. */
static sy_status run_seeding(const task *task, syi_macd_state *s, int64_t from, int64_t to,
                             int64_t *reached)
{
    int64_t i = from;
    for (; i < to && i <= task->warmup; i++) {
        if (syi_macd_leaves_range(s, task->x[i]))
            break;
        syi_macd_seed_column(&task->terms, s, task->x[i], (double)(i - task->seed));
        if (i == task->warmup)
            syi_macd_seed_signal(&task->macd, s);
        if (i == task->warmup && task->y)
            SYI_TRY(put(task, i, s));
    }
    *reached = i;
    return SY_OK;
}

/* Columns before the averages' first values, and those values once they are reached. */
static void run_seed(const task *task, syi_macd_state *s, int64_t to, int64_t *reached)
{
    int64_t seed = task->seed;
    const syi_macd *macd = &task->macd;
    *reached = seed < to ? seed : to;
    if (seed >= to)
        return;
    s->phase = syi_phase_of_seed(task->x + seed + 1 - macd->seeded_slow, macd->seeded_slow,
                                 SYI_PHASE_SEEDING);
    if (s->phase != SYI_PHASE_SEEDING)
        return;
    syi_macd_begin(&task->terms, s, task->x + seed, macd);
}

/* Beyond the fast arithmetic's range, until something is not finite. */
static sy_status run_huge(const task *task, syi_macd_state *s, int64_t from, int64_t to,
                          int64_t *reached)
{
    int64_t i = from;
    for (; i < to && syi_is_finite(task->x[i]); i++)
        if (task->y && i >= task->warmup) {
            for (int k = 0; k < 3; k++)
                task->y[k][i] = 0.0;
            SYI_TRY(syi_doubts_add(task->doubts, task->row, task->first + i));
        }
    if (i < to)
        s->phase = SYI_PHASE_POISONED;
    *reached = i;
    return SY_OK;
}

#endif
