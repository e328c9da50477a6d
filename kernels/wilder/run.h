/*
 * A stretch of Wilder's averages. Included by rsi_run.c and atr_run.c, which are compiled for
 * several instruction sets; `is_range` is a constant in each (atr), so that one of the two remains.
 */
#ifndef SYI_KERNELS_WILDER_RUN_H
#define SYI_KERNELS_WILDER_RUN_H

#include "wilder/tile.h"

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

SYI_INLINE void terms_of(const task *task, double close, int64_t i, syi_dd *term, syi_dd *gain)
{
    *gain = (syi_dd){0.0, 0.0};
    if (task->is_range)
        *term = syi_wilder_range(task->high[i], task->low[i], close);
    else
        syi_wilder_move(close, task->close[i], term, gain);
}

SYI_INLINE double settle(const task *task, const syi_wilder_state *s, double *y)
{
    return task->is_range ? syi_atr_settle(s, y) : syi_rsi_settle(s, y);
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
        syi_dd term, gain;
        if (!(size <= SYI_HUGE)) {
            s.phase = syi_phase_after(size);
            break;
        }
        terms_of(task, s.close, i, &term, &gain);
        s.close = task->close[i];
        if (!task->is_range && task->period > 1.0 && term.high == 0.0) {
            s.still += 1.0;
        } else {
            syi_wilder_catch_up(&s, &task->factor);
            syi_wilder_advance(&s, term, gain, task->is_range, &task->factor);
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

/* What the terms of a tile are like. */
typedef struct traits {
    int64_t unfit;        /* not 0: not for a tile */
    uint64_t moved, rest; /* not 0: a term is not 0.0, has a rest */
} traits;

SYI_INLINE void take_term(const task *task, double close, int64_t i, tile *t, int64_t k,
                          traits *what)
{
    double from = close, to = task->close[i], size = fabs(to);
    int64_t unfit = 0;
    syi_dd term;
    if (task->is_range) {
        double high = task->high[i], low = task->low[i];
        unfit = !(low <= high) | !(fabs(low) <= MOST_PRICE) | !(fabs(high) <= MOST_PRICE);
        to = high > close ? high : close;
        from = low < close ? low : close;
    }
    term = syi_dd_of_sum(to, -from);
    t->high[k] = term.high;
    t->low[k] = term.low;
    unfit |= !(size <= MOST_PRICE);
    unfit |= term.high != 0.0 && fabs(term.high) < LEAST_TERM;
    what->unfit += unfit;
    what->moved |= syi_bits(term.high);
    what->rest |= syi_bits(term.low);
}

/* Columns [at, at + LANES * steps) as they come. */
SYI_INLINE traits take_terms(const task *task, double close, int64_t at, tile *t)
{
    traits what = {0, 0, 0};
    take_term(task, close, at, t, 0, &what);
    for (int64_t k = 1; k < LANES * t->steps; k++)
        take_term(task, task->close[at + k - 1], at + k, t, k, &what);
    return what;
}

/* The tile's doubts, once it is known to have any. */
static sy_status report(const task *task, const weights *w, const tile *t, int64_t at, double error)
{
    for (int l = 0; l < LANES; l++)
        for (int64_t i = 0; i < t->steps; i++) {
            double y;
            if (settle_at(w, t, i, l, task->is_range, error, &y) != 0.0)
                SYI_TRY(
                    syi_doubts_add(task->doubts, task->row, task->first + at + l * t->steps + i));
        }
    return SY_OK;
}
/* Columns without a move change neither sums nor values. */
SYI_INLINE sy_status stand_still(const task *task, syi_wilder_state *s, int64_t at, int64_t count)
{
    double value;
    s->still += (double)count;
    if (!task->y)
        return SY_OK;
    if (settle(task, s, &value) != 0.0)
        SYI_TRY(syi_doubts_add_stretch(task->doubts, task->row, task->first + at,
                                       task->first + at + count));
    for (int64_t i = at; i < at + count; i++)
        task->y[i] = value;
    return SY_OK;
}

/* The columns of a tile from `at` on; *done is 0 when they are not for a tile. */
SYI_INLINE sy_status run_tile(const task *task, const weights *w, tile *t, syi_wilder_state *s,
                              int64_t at, int *done)
{
    const int64_t count = LANES * t->steps;
    syi_wilder_state next = *s;
    traits what = take_terms(task, s->close, at, t);
    double error;
    *done = what.unfit == 0;
    if (*done && !task->is_range && what.moved << 1 == 0)
        return stand_still(task, s, at, count);
    syi_wilder_catch_up(&next, &task->factor);
    *done &= is_fit(&next.total) && is_fit(&next.up);
    *done &= task->is_range || next.total.value.high != 0.0;
    if (!*done)
        return SY_OK;
    spread(t->high, t->steps, t->term);
    if (what.rest << 1 != 0)
        spread(t->low, t->steps, t->rest);
    error = sum_tile(w, t, &next, task->is_range, what.rest << 1 != 0);
    next.close = task->close[at + count - 1];
    *s = next;
    if (!task->y)
        return SY_OK;
    if (settle_tile(w, t, task->is_range, error) != 0.0)
        SYI_TRY(report(task, w, t, at, error));
    gather(t->y, t->steps, task->y + at);
    return SY_OK;
}

/* The columns in range: tiles where they can be, else one by one. */
SYI_INLINE sy_status run_running(const task *task, syi_wilder_state *s, int64_t from, int64_t to,
                                 int64_t *reached)
{
    weights w;
    tile t;
    int64_t i = from;
    make_weights(&w, task->period, to - from);
    while (i < to && s->phase == SYI_PHASE_RUNNING) {
        int64_t left = (to - i) / LANES / 8 * 8, next;
        int done = 0;
        t.steps = left < w.steps ? left : w.steps;
        if (t.steps > 0)
            SYI_TRY(run_tile(task, &w, &t, s, i, &done));
        next = t.steps > 0 ? i + LANES * t.steps : to;
        if (done)
            i = next;
        else
            SYI_TRY(run_steps(task, s, i, next, &i));
    }
    *reached = i;
    return SY_OK;
}

/* Columns before the first value, and that value once it is reached: the sums of a period. */
SYI_INLINE sy_status run_seed(const task *task, syi_wilder_state *s, int64_t from, int64_t to,
                              int64_t *reached)
{
    int64_t start = -task->first, seed = start + (int64_t)task->period;
    syi_dd term, gain;
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
        terms_of(task, task->close[i - 1], i, &term, &gain);
        s->total = syi_wilder_plus(s->total, term);
        s->up = syi_wilder_plus(s->up, gain);
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
        SYI_TRY(run_running(task, s, i, to, &i));
    if (i < to && s->phase == SYI_PHASE_HUGE)
        SYI_TRY(run_huge(task, s, i, to, &i));
    if (task->y)
        syi_fill_nan(task->y, i, to);
    return SY_OK;
}

/* What columns [-left, 0) suggest of the sums before them: the chain of states checks it. */
SYI_INLINE syi_wilder_state assume(const task *task, int64_t left)
{
    syi_wilder_state s = {
        .phase = SYI_PHASE_RUNNING, .period = task->period, .close = task->close[-left]};
    double most = 0.0, most_gain = 0.0, scale = 8.0 * SYI_PER_FINE * task->period;
    for (int64_t i = 1 - left; i < 0; i++) {
        syi_dd term, gain;
        terms_of(task, task->close[i - 1], i, &term, &gain);
        most = term.high > most ? term.high : most;
        most_gain = gain.high > most_gain ? gain.high : most_gain;
    }
    s.total.error = most <= SYI_HUGE ? scale * most : 0.0;
    s.up.error = most_gain <= SYI_HUGE ? scale * most_gain : 0.0;
    return s;
}

/* The state before column 0 of the segment. */
SYI_INLINE sy_status find_start(const task *columns, const syi_piece *piece, syi_wilder_state *s)
{
    int64_t left = piece->segment.left;
    task unseen = *columns;
    unseen.y = NULL;
    *s =
        (syi_wilder_state){.phase = SYI_PHASE_BEFORE, .from_start = 1.0, .period = columns->period};
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
    syi_wilder_claim(s);
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
