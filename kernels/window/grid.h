/* A window of means that slides over a stretch, cut as window/grid_cut.h says, from left to right.
 */
#ifndef SYI_KERNELS_WINDOW_GRID_H
#define SYI_KERNELS_WINDOW_GRID_H

#include "window/grid_cut.h"

#if SYI_HAVE_VECTORS

/* Of the windows that end in the last SYI_VECTOR columns the sums, of near values `high` above them
 * by the shift, and by what each is above the window before. */
typedef struct grid {
    int64_t period;
    window_divisor by; /* that */
    grid_cut cut;      /* shift 0: nothing is held */
    int64_t fresh;     /* so many of the next columns come before such windows are known */
    window_parts sum, change;
} grid;

SYI_INLINE grid grid_of(int64_t period)
{
    return (grid){.period = period, .by = window_divisor_of(period)};
}

/* Takes from *rest what is a multiple of the shift's grid. */
SYI_INLINE double grid_take(double *rest, double shift)
{
    const double part = (*rest + shift) - shift;
    *rest -= part;
    return part;
}

/* The window of the next column, which is x[0 .. s->period). */
SYI_INLINE void grid_fill(grid *s, const double *x)
{
    const int64_t count = s->period;
    const grid_cut cut = s->cut;
    double high = cut.way == GRID_NEAR ? cut.shift : 0.0, low = 0.0, least = 0.0;
    for (int64_t i = 0; !grid_cuts(cut.way) && i < count; i++)
        high += cut.way == GRID_CLOSE ? x[i] - cut.shift : x[i];
    for (int64_t i = 0; grid_cuts(cut.way) && i < count; i++) {
        double rest = x[i];
        high += grid_take(&rest, cut.shift);
        low += cut.way == GRID_DEEP ? grid_take(&rest, cut.shift_low) : rest;
        least += cut.way == GRID_DEEP ? rest : 0.0;
    }
    s->fresh = SYI_VECTOR;
    s->sum = (window_parts){syi_vec_of(high), syi_vec_of(low), syi_vec_of(least)};
    s->change = (window_parts){{0}, {0}, {0}};
}

/* What changes a window that gets `in` and loses `out`. Of near values it is cut if need be, of far
 * ones each of both. */
SYI_INLINE window_parts grid_change(syi_vec in, syi_vec out, const grid_cut *cut, grid_way way)
{
    const syi_vec shift = syi_vec_of(cut->shift), change = in - out, none = {0};
    if (grid_is_far(way))
        return window_cut(in, out, shift, syi_vec_of(cut->shift_low), way == GRID_DEEP);
    const syi_vec part = way == GRID_WIDE ? (change + shift) - shift : change;
    return (window_parts){part, change - part, none};
}

/* Whether windows that are held with one cut can be held with the other, without their values. */
SYI_INLINE int grid_can_turn(grid_cut from, grid_cut to)
{
    const int are_near = from.shift != 0.0 && !grid_is_far(from.way) && from.way != GRID_WHOLE &&
                         !grid_is_far(to.way) && to.way != GRID_WHOLE;
    return are_near &&
           (from.way != GRID_CLOSE || to.way != GRID_CLOSE); /* pivots may be far apart */
}

/* From one cut of near values to another, only one of them by a pivot. That one's sums are less
 * than the others by period * pivot, which is product + rest. All sums are exact. */
SYI_INLINE void grid_turn(grid *s, grid_cut to)
{
    const grid_way way = s->cut.way;
    const syi_vec from = syi_vec_of(s->cut.shift), shift = syi_vec_of(to.shift), none = {0};
    const syi_vec period = syi_vec_of((double)s->period);
    const syi_vec pivot = way == GRID_CLOSE ? from : to.way == GRID_CLOSE ? shift : none;
    const syi_vec product = period * pivot, rest = syi_vec_fma(period, pivot, -product);
    const syi_vec change = s->change.high + (way == GRID_WIDE ? s->change.low : none);
    syi_vec high = way == GRID_NEAR ? s->sum.high - from : s->sum.high;
    if (to.way == GRID_CLOSE) {
        high = (high - product) + (s->sum.low - rest);
    } else {
        const syi_vec a = (high + shift) - shift, b = (product + shift) - shift;
        s->sum.low = (way == GRID_CLOSE ? rest : s->sum.low) + ((product - b) + (high - a));
        high = a + b;
    }
    s->sum.high = to.way == GRID_NEAR ? high + shift : high;
    s->change = grid_change(change, none, &to, to.way);
    s->cut = to;
}

/* What lacks a multiple of g in its lower part gets it back. */
SYI_INLINE void grid_settle(grid *s)
{
    const syi_vec shift = syi_vec_of(s->cut.shift), rest = (s->sum.low + shift) - shift;
    s->sum.high += rest;
    s->sum.low -= rest;
}

/* Makes what is held of the windows before x[0] that of another cut; gives whether the sum is that
 * of the window which ends there, added up anew. */
static int grid_recut(grid *s, grid_cut cut, const double *x)
{
    const int same = s->cut.shift == cut.shift && s->cut.way == cut.way;
    const int anew = !same && !grid_can_turn(s->cut, cut);
    if (anew) {
        s->cut = cut;
        grid_fill(s, x - s->period + 1);
    } else if (!same) {
        grid_turn(s, cut);
    }
    if (cut.way == GRID_WIDE || cut.way == GRID_NEAR)
        grid_settle(s);
    return anew;
}

/* Sums of 1, 2 .. SYI_VECTOR / 2 changes, of the last SYI_VECTOR columns; of[0] are these. */
enum { GRID_SUMS = SYI_VECTOR == 8 ? 3 : 2 };
typedef struct grid_sums {
    syi_vec of[GRID_SUMS];
} grid_sums;

/* The sums of SYI_VECTOR changes, with the next ones: how windows differ from those of the last
 * vector. */
SYI_INLINE syi_vec grid_sum(grid_sums *last, syi_vec change)
{
    SYI_UNROLL(8)
    for (int k = 0; k < GRID_SUMS; k++) {
        const syi_vec before = syi_vec_before(last->of[k], change, 1 << k);
        last->of[k] = change;
        change += before;
    }
    return change;
}

/* After the changes of the last columns alone; what is not right in it is not used. */
SYI_INLINE grid_sums grid_sums_of(syi_vec change)
{
    grid_sums sums = {{{0}}};
    grid_sum(&sums, change);
    return sums;
}

/* Sums, and by what cutting left behind of them. */
SYI_INLINE void grid_add(window_parts *s, const window_parts *change, grid_way way)
{
    const syi_vec sum = s->high + change->high;
    if (grid_cuts(way))
        s->low += way == GRID_NEAR ? change->high - (sum - s->high) : change->low;
    if (way == GRID_DEEP)
        s->least += change->least;
    s->high = sum;
}

/* The mean of a window from its sum, all of whose parts are exact. */
SYI_INLINE syi_vec grid_cut_mean(const window_parts *s, syi_vec high, const window_divisor *by,
                                 grid_way way)
{
    syi_vec total = high, rest = s->low, mean;
    if (grid_is_far(way))
        window_join_parts(s, way == GRID_DEEP, &total, &rest);
    mean = total * by->inverse;
    return mean + window_divide(rest + syi_vec_fnma(mean, by->count, total), by);
}

/* The means of the windows whose sums these are. */
SYI_INLINE syi_vec grid_mean(const window_parts *s, syi_vec shift, const window_divisor *by,
                             grid_way way)
{
    syi_vec rest, mean;
    if (way != GRID_CLOSE)
        return grid_cut_mean(s, way == GRID_NEAR ? s->high - shift : s->high, by, way);
    mean = window_mean(s->high, shift, by, &rest);
    return mean + window_divide(rest, by);
}

/* What is computed is hidden behind reading what comes next: `asked` columns behind each one lie
 * those that are asked for, `met` behind it those that are measured. */
typedef struct grid_ahead {
    int64_t asked, met;
    window_extremes extremes;
} grid_ahead;

/* n columns, whole lines. */
SYI_INLINE void grid_lines(grid *state, const double *x, int64_t n, double *out, grid_ahead *ahead,
                           grid_way way, int past)
{
    const window_divisor by = state->by;
    const grid_cut cut = state->cut;
    const syi_vec shift = syi_vec_of(cut.shift);
    const double *old = x - state->period;
    const int64_t asked = ahead->asked, met = ahead->met;
    window_extremes extremes = window_extremes_of(syi_vec_load(x + met));
    grid s = *state;
    grid_sums sums = grid_sums_of(s.change.high), sums_low = grid_sums_of(s.change.low);
    grid_sums sums_least = grid_sums_of(s.change.least);
    for (int64_t i = 0; i < n; i += SYI_LINE) {
        syi_ask_ahead(x + i, asked, SYI_LINE);
        if (!past)
            syi_ask_to_write((uintptr_t)(out + i + asked), SYI_LINE);
        SYI_UNROLL(1) /* two at once need more registers than AVX2 has */
        for (int64_t k = i; k < i + SYI_LINE; k += SYI_VECTOR) {
            window_meet(&extremes, syi_vec_load(x + k + met));
            window_parts change =
                grid_change(syi_vec_load(x + k), syi_vec_load(old + k), &cut, way);
            if (way < GRID_NEAR)
                change.low = grid_sum(&sums_low, change.low);
            if (way == GRID_DEEP)
                change.least = grid_sum(&sums_least, change.least);
            change.high = grid_sum(&sums, change.high);
            grid_add(&s.sum, &change, way);
            syi_vec_put(out + k, grid_mean(&s.sum, shift, &by, way), past);
        }
    }
    ahead->extremes = extremes;
    s.change = (window_parts){sums.of[0], sums_low.of[0], sums_least.of[0]};
    *state = s;
}

static void grid_any_lines(grid *s, const double *x, int64_t n, double *out, grid_ahead *ahead,
                           int past)
{
    if (s->cut.way == GRID_WHOLE)
        past ? grid_lines(s, x, n, out, ahead, GRID_WHOLE, 1)
             : grid_lines(s, x, n, out, ahead, GRID_WHOLE, 0);
    else if (s->cut.way == GRID_CLOSE)
        past ? grid_lines(s, x, n, out, ahead, GRID_CLOSE, 1)
             : grid_lines(s, x, n, out, ahead, GRID_CLOSE, 0);
    else if (s->cut.way == GRID_NEAR)
        past ? grid_lines(s, x, n, out, ahead, GRID_NEAR, 1)
             : grid_lines(s, x, n, out, ahead, GRID_NEAR, 0);
    else if (s->cut.way == GRID_WIDE)
        past ? grid_lines(s, x, n, out, ahead, GRID_WIDE, 1)
             : grid_lines(s, x, n, out, ahead, GRID_WIDE, 0);
    else if (s->cut.way == GRID_FAR)
        past ? grid_lines(s, x, n, out, ahead, GRID_FAR, 1)
             : grid_lines(s, x, n, out, ahead, GRID_FAR, 0);
    else
        past ? grid_lines(s, x, n, out, ahead, GRID_DEEP, 1)
             : grid_lines(s, x, n, out, ahead, GRID_DEEP, 0);
}

/* Of the last columns and n next ones the last SYI_VECTOR. */
SYI_INLINE void grid_append(syi_vec *last, syi_vec next, int64_t n)
{
    double both[2 * SYI_VECTOR];
    syi_vec_store(both, *last);
    syi_vec_store(both + SYI_VECTOR, next);
    *last = syi_vec_load(both + n);
}

SYI_INLINE void grid_append_parts(window_parts *last, const window_parts *next, int64_t n)
{
    grid_append(&last->high, next->high, n);
    grid_append(&last->low, next->low, n);
    grid_append(&last->least, next->least, n);
}

/* n <= SYI_VECTOR columns; `begun`: of the first one's window the sum is there already. */
static void grid_some(grid *s, const double *x, int64_t n, int begun, double *out)
{
    const grid_way way = s->cut.way;
    window_parts sum = {syi_vec_last(s->sum.high), syi_vec_last(s->sum.low),
                        syi_vec_last(s->sum.least)};
    double in[SYI_VECTOR], old[SYI_VECTOR], mean[SYI_VECTOR];
    for (int k = 0; k < SYI_VECTOR; k++)
        in[k] = old[k] = x[0];
    memcpy(in, x, (size_t)n * sizeof *x);
    memcpy(old + begun, x + begun - s->period, (size_t)(n - begun) * sizeof *x);
    const window_parts change = grid_change(syi_vec_load(in), syi_vec_load(old), &s->cut, way);
    const window_parts all = {syi_vec_scan(change.high), syi_vec_scan(change.low),
                              syi_vec_scan(change.least)};
    grid_add(&sum, &all, way);
    syi_vec_store(mean, grid_mean(&sum, syi_vec_of(s->cut.shift), &s->by, way));
    memcpy(out, mean, (size_t)n * sizeof *mean);
    grid_append_parts(&s->sum, &sum, n);
    grid_append_parts(&s->change, &change, n);
    s->fresh -= s->fresh < n ? s->fresh : n;
}

/* The means of the windows that end at x[0 .. count). In whole lines they are stored past the cache
 * with `past`. Of the `known` columns behind the next `count` are measured meanwhile, if these here
 * end where a line does; gives whether they are. */
SYI_INLINE int grid_means(grid *s, grid_cut cut, const double *x, int64_t count, double *out,
                          int64_t known, int past, window_range *next)
{
    int begun = grid_recut(s, cut, x);
    grid_ahead ahead;
    int64_t first = count; /* of the whole lines */
    ahead.met = known < count ? 0 : count;
    ahead.asked = syi_ahead(known, 0, ahead.met + SYI_AHEAD);
    for (int64_t i = 0, n; i < count; i += n) {
        n = syi_line_after(out, i, count) - i;
        n = n > 0 ? n : count - i;
        if (s->fresh == 0 && n >= SYI_LINE) {
            first = i;
            n = n / SYI_LINE * SYI_LINE;
            grid_any_lines(s, x + i, n, out + i, &ahead, past);
        } else {
            n = n < SYI_VECTOR ? n : SYI_VECTOR;
            grid_some(s, x + i, n, begun, out + i);
            begun = 0;
        }
    }
    if (ahead.met == 0 || first == count || (count - first) % SYI_LINE > 0)
        return 0;
    *next = window_met(&ahead.extremes);
    if (first > 0) {
        const window_range edge = window_measure(x + count, first);
        *next = window_join(&edge, next);
    }
    return 1;
}

#endif
#endif
