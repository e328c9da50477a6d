/* The columns of a stretch of Wilder's averages, by tiles where they can be (wilder/run.h). */
#ifndef SYI_KERNELS_WILDER_RUNNING_H
#define SYI_KERNELS_WILDER_RUNNING_H

#include "wilder/columns.h"
#include "wilder/quick.h"

/* What the terms of a tile are like. */
typedef struct traits {
    int64_t unfit;        /* not 0: not for a tile */
    uint64_t moved, rest; /* not 0: a term is not 0.0, has a rest */
} traits;

SYI_INLINE void take_term(const task *task, double close, int64_t i, tile *t, int64_t k,
                          traits *what)
{
    double from = close, to = task->x.close[i], size = fabs(to);
    int64_t unfit = 0;
    syi_dd term;
    if (IS_RANGE) {
        double high = task->x.high[i], low = task->x.low[i];
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
    const int64_t ahead = syi_ahead(task->known, at + LANES * t->steps, SYI_AHEAD);
    traits what = {0, 0, 0};
    take_term(task, close, at, t, 0, &what);
    for (int64_t k = 1; k < LANES * t->steps;) {
        const int64_t end = k + 64 < LANES * t->steps ? k + 64 : LANES * t->steps;
        syi_ask_ahead(task->x.close + at + k, ahead, 64);
        if (IS_RANGE) {
            syi_ask_ahead(task->x.high + at + k, ahead, 64);
            syi_ask_ahead(task->x.low + at + k, ahead, 64);
        }
        for (; k < end; k++)
            take_term(task, task->x.close[at + k - 1], at + k, t, k, &what);
    }
    return what;
}

/* The tile's doubts, once it is known to have any. */
static sy_status report(const task *task, const weights *w, const tile *t, int64_t at, double error)
{
    uint64_t lanes[STEPS];
    find_unsure(w, t, error, lanes);
    for (int l = 0; l < LANES; l++)
        for (int64_t i = 0; i < t->steps; i++) {
            double most;
            if (lanes[i] >> l & 1 && settle_at(w, t, i, l, error, &most) != 0.0)
                SYI_TRY(doubt(task, at + l * t->steps + i, most));
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
    if (syi_wilder_settle(s, IS_RANGE, &value) != 0.0)
        SYI_TRY(syi_doubts_add_stretch(task->doubts, task->row, task->first + at,
                                       task->first + at + count));
    for (int64_t i = at; i < at + count; i++)
        task->y[i] = value;
    return SY_OK;
}

/* The tiles from column `at` on that the quick way could do; returns the column it reached. */
SYI_INLINE int64_t run_quickly(const task *task, const weights *w, tile *t, syi_wilder_state *s,
                               int64_t at, int64_t to)
{
#if SYI_HAVE_VECTORS
    const int64_t count = LANES * t->steps, behind = task->is_last ? INT64_MAX / 2 : 0;
    const syi_wilder_prices x = prices_at(task, at);
    if (to - at >= count)
        at += count * run_tiles(w, &x, task->y ? task->y + at : NULL, task->past_cache, t, s,
                                (to - at) / count, behind);
#endif
    (void)task, (void)w, (void)t, (void)s, (void)to;
    return at;
}

/* Of moves that are not for a tile those that are none, before the first and behind the last one:
 * the former stand still, the latter may be another tile's; as all behind the first one may be that
 * nothing has moved before. Lines stay whole. */
SYI_INLINE sy_status stand_before(const task *task, const tile *t, syi_wilder_state *s,
                                  int64_t *reached, int64_t *next)
{
    const int64_t count = LANES * t->steps, at = *reached;
    int64_t first = 0, last = count;
    while (first < count && t->high[first] == 0.0)
        first++;
    if (s->total.value.high == 0.0)
        last = first < count ? first + 1 : count;
    while (last > first && t->high[last - 1] == 0.0)
        last--;
    first -= first % SYI_LINE;
    *reached = at + first;
    *next = at + (last + SYI_LINE - 1) / SYI_LINE * SYI_LINE;
    return first > 0 ? stand_still(task, s, at, first) : SY_OK;
}

/* The columns of a tile from *reached on; those before *next that it does not reach then are not
 * for a tile. */
SYI_INLINE sy_status run_tile(const task *task, const weights *w, tile *t, syi_wilder_state *s,
                              int64_t *reached, int64_t *next)
{
    const int64_t count = LANES * t->steps, at = *reached;
    const int is_seen = task->y != NULL;
    const syi_wilder_prices x = prices_at(task, at);
    syi_wilder_state then = *s;
    traits what = take_terms(task, s->close, at, t);
    double error;
    int fits;
    *next = at + count;
    if (what.unfit)
        return SY_OK;
    if (!IS_RANGE && what.moved << 1 == 0) {
        *reached = *next;
        return stand_still(task, s, at, count);
    }
    syi_wilder_catch_up(&then, &task->factor);
    fits = is_fit(&then.total, kept_of(t->left.power), is_seen) &
           is_fit(&then.up, kept_of(t->left.power), is_seen);
    if (!IS_RANGE)
        fits &= (!is_seen || then.total.value.high != 0.0) && then.lifted == 0.0;
    if (!fits)
        return IS_RANGE ? SY_OK : stand_before(task, t, s, reached, next);
    *reached = *next;
    t->ahead = syi_ahead(task->known, at + count, count);
    spread(t->high, t->steps, t->term);
    if (what.rest << 1 != 0)
        spread(t->low, t->steps, t->rest);
    error = sum_tile(w, t, &x, &then, what.rest << 1 != 0);
    then.close = task->x.close[at + count - 1];
    *s = then;
    if (!task->y)
        return SY_OK;
    if (settle_tile(w, t, error, task->y + at, task->past_cache))
        return report(task, w, t, at, error);
    return SY_OK;
}

/* `count` prices, then the last close, to `most`. */
SYI_INLINE void copy_rest(double *to, const double *from, int64_t count, double last, int64_t most)
{
    memcpy(to, from, (size_t)count * sizeof *to);
    for (int64_t i = count; i < most; i++)
        to[i] = last;
}

/* So many columns are worth to be copied for a larger tile. */
enum { REST = IS_RANGE ? LANES * STEPS / 2 : LANES * STEPS };

/* The columns of the tile for that. */
SYI_INLINE int64_t whole_rest(int64_t count)
{
    return (count + SHORT - 1) / SHORT * SHORT;
}

/* The only tile of a task, and whether all of it is sure. */
static int run_alone(const task *task, const weights *w, tile *t, const syi_wilder_state *s)
{
    const int64_t count = LANES * t->steps;
    syi_wilder_state then = *s;
    int64_t reached = 0, next = 0;
    sy_status status;
    int is_sure;
    if (run_quickly(task, w, t, &then, 0, count) == count)
        return 1;
    status = run_tile(task, w, t, &then, &reached, &next);
    is_sure = status == SY_OK && reached == count && task->doubts->count == 0;
    syi_doubts_clear(task->doubts);
    return is_sure;
}

/* The last columns, which do not fill a tile: as one that goes on without a move, if all of it is
 * sure. Gives whether they are done; the state stays before them. */
static int run_rest(const task *task, const weights *w, tile *t, const syi_wilder_state *s,
                    int64_t at, int64_t to)
{
    const syi_wilder_prices x = prices_at(task, at);
    const int64_t count = to - at, most = whole_rest(count), least = 4;
    double high[REST], low[REST], close[REST], y[REST];
    syi_doubts none = {0};
    const struct task rest = {.x = {high, low, close},
                              .y = y,
                              .first = task->first + at, /* of the row */
                              .period = task->period,
                              .factor = task->factor,
                              .doubts = &none,
                              .known = most,
                              .is_last = task->is_last};
    if (!SYI_HAVE_VECTORS || !task->y || count < least || most > REST || w->steps < most / LANES)
        return 0;
    copy_rest(close, x.close, count, x.close[count - 1], most);
    if (IS_RANGE) {
        copy_rest(high, x.high, count, x.close[count - 1], most);
        copy_rest(low, x.low, count, x.close[count - 1], most);
    }
    set_steps(w, t, most / LANES);
    if (!run_alone(&rest, w, t, s))
        return 0;
    memcpy(task->y + at, y, (size_t)count * sizeof *y);
    return 1;
}

/* The state after the columns that run_rest() has done; nobody wants it at a row's end. */
SYI_INLINE sy_status pass_rest(const task *task, syi_wilder_state *s, int64_t at, int64_t to)
{
    struct task unseen = *task;
    unseen.y = NULL;
    return task->is_last ? SY_OK : run_steps(&unseen, s, at, to, to, &at);
}

/* The first of columns [at, to) with prices that are not finite, or `to`. */
static int64_t find_strange(const task *task, int64_t at, int64_t to)
{
    while (at < to && syi_is_finite(largest_of(task, at)))
        at++;
    return at;
}

/* Tiles until the quick way is tried again. */
#define PATIENCE 3

/* The columns in range: tiles where they can be, else one by one. */
SYI_INLINE sy_status run_running(const task *task, syi_wilder_state *s, int64_t from, int64_t to,
                                 int64_t *reached)
{
    const int64_t last = to;
    weights *const w = task->weights;
    tile t;
    int64_t i = from, quick = from;
    make_weights(w, task->period, to - from < REST ? whole_rest(to - from) : to - from);
    set_steps(w, &t, w->steps);
    if (!(s->total.value.high > 0.0)) /* which the quick way begins with */
        quick += PATIENCE * LANES * t.steps;
    if (task->is_long || !(s->total.value.high > 0.0))
        SYI_TRY(run_to_line(task, s, &i, to));
    while (i < to && s->phase == SYI_PHASE_RUNNING) {
        int64_t left = (to - i) / LANES / 8 * 8, next = to;
        if (left == 0 || (left < t.steps && task->is_last)) {
            if (run_rest(task, w, &t, s, i, to)) {
                SYI_TRY(pass_rest(task, s, i, to));
                i = to;
                break;
            }
            quick = to; /* a part of it is as a rule no better */
        }
        if (left < t.steps)
            set_steps(w, &t, left);
        if (t.steps > 0 && i >= quick) {
            i = run_quickly(task, w, &t, s, i, to);
            if (to - i < LANES * t.steps)
                continue;
            quick = i + PATIENCE * LANES * t.steps; /* what follows is as a rule no better */
        }
        if (t.steps > 0)
            SYI_TRY(run_tile(task, w, &t, s, &i, &next));
        if (i < next) {
            const int64_t finite = find_strange(task, i, next);
            if (finite < next) {
                to = finite; /* tiles go as far as that */
                quick = i;
            } else {
                SYI_TRY(run_steps(task, s, i, next, to, &i));
                SYI_TRY(run_to_line(task, s, &i, to));
            }
        }
    }
    if (i < last && s->phase == SYI_PHASE_RUNNING)
        s->phase = syi_phase_after(largest_of(task, i));
    *reached = i;
    return SY_OK;
}

/* Columns before the first value, and that value once it is reached. */
SYI_INLINE sy_status run_seed(const task *task, syi_wilder_state *s, int64_t from, int64_t to,
                              int64_t *reached)
{
    int64_t seed = (int64_t)task->period - task->first;
    *reached = seed < to ? seed : to;
    if (task->y)
        syi_fill_nan(task->y, from, *reached);
    if (seed >= to)
        return SY_OK;
    syi_wilder_seed(s, &task->x, seed, IS_RANGE);
    if (s->phase != SYI_PHASE_RUNNING)
        return SY_OK;
    ++*reached;
    return task->y ? put(task, seed, s) : SY_OK;
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

/* Out of line: a start needs it, too, and it is long. */
static __attribute__((noinline)) sy_status run_columns(const task *task, syi_wilder_state *s,
                                                       int64_t from, int64_t to)
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

/* What is largest of columns [from, 0), many at a time, for each waits for the one before it. */
SYI_INLINE syi_wilder_most find_most(const syi_wilder_prices *x, int64_t from)
{
    syi_wilder_most most = {0.0, 0.0};
#if SYI_HAVE_VECTORS
    syi_vec term = {0}, gain = {0};
    for (; from + SYI_VECTOR <= 0; from += SYI_VECTOR) {
        const syi_vec before = syi_vec_load(x->close + from - 1);
        const syi_vec high = syi_vec_load((IS_RANGE ? x->high : x->close) + from);
        term = syi_vec_max(syi_vec_abs(high - before), term);
        if (IS_RANGE) {
            const syi_vec low = syi_vec_load(x->low + from);
            term = syi_vec_max(syi_vec_abs(low - before), term);
            term = syi_vec_max(high - low, term);
        } else {
            gain = syi_vec_max(high - before, gain);
        }
    }
    most = (syi_wilder_most){syi_vec_most(term), syi_vec_most(gain)};
#endif
    syi_wilder_look(&most, x, from, 0, IS_RANGE);
    return most;
}

/* The state before column 0 of the segment. */
SYI_INLINE sy_status find_start(const task *columns, const syi_piece *piece, syi_wilder_state *s)
{
    const int64_t left = piece->segment.left;
    syi_wilder_most most;
    task unseen = *columns;
    unseen.y = NULL;
    *s =
        (syi_wilder_state){.phase = SYI_PHASE_BEFORE, .from_start = 1.0, .period = columns->period};
    if (left == piece->segment.first)
        return run_columns(&unseen, s, -left, 0);
    if (piece->start) {
        memcpy(s, piece->start, sizeof *s);
        if (piece->is_claim && s->from_start == 0.0)
            syi_wilder_claim(s);
        return SY_OK;
    }
    most = find_most(&unseen.x, 1 - left);
    *s = syi_wilder_assume(&unseen.x, -left, unseen.period, IS_RANGE, &most);
    SYI_TRY(run_columns(&unseen, s, 1 - left, 0));
    syi_wilder_claim(s);
    return SY_OK;
}

#endif
