/*
 * Rows side by side from their first values on, each in a lane of its own, by weights and a grid as
 * a tile's stretches (grid.h). What a lane begins with is known here, so it is in the sums from the
 * start on, and a column's values are made as soon as its sums are. With what a lane begins with
 * `low` is at most a g larger than there, and its additions lose 64 units more; of all that a
 * stretch's bound has room for, seven stretches before it and their chain, a row needs nothing.
 */
#ifndef SYI_KERNELS_WILDER_BESIDE_H
#define SYI_KERNELS_WILDER_BESIDE_H

#include "exact/columns.h"
#include "wilder/columns.h"
#include "wilder/moves.h"
#include "wilder/ranges.h"

#if SYI_HAVE_VECTORS

/* One of the state's sums, of each row: b times what it is before the next column, and its error as
 * a syi_deviation has it. */
typedef struct row_sum {
    syi_vec high, low, error;
} row_sum;

typedef struct beside {
    const weights *w;
    double period;
    int64_t steps, stride; /* columns of a tile, at most; from row to row */
    int asks;              /* for the rows behind these */
    syi_dd power;          /* b^steps */
    row_sum total, up;
    syi_vec close;     /* before the next column */
    syi_vec_mask fits; /* rows for which the tile could be done this way */
    syi_vec term[STEPS];
} beside;

/* What a sum of a tile is held with. */
typedef struct row_grid {
    syi_vec size; /* it stays below that */
    syi_vec shift;
    group_sum sum; /* with the shift */
    syi_vec error; /* relative, of what follows */
    syi_vec own;   /* the part of it that the tile adds */
} row_grid;

/* A tile's sums on their way, and the relative error of the values. */
typedef struct held_sums {
    row_grid total, up;
    syi_vec error;
} held_sums;

/* What a first tile begins with, whose first column is the one of these states, without a term: as
 * if they had been divided by b before. */
SYI_INLINE row_sum row_sum_of(const weights *w, const syi_wilder_state *state, int is_up)
{
    row_sum rows;
    for (int l = 0; l < SYI_VECTOR; l++) {
        const syi_deviation *sum = is_up ? &state[l].up : &state[l].total;
        rows.high[l] = sum->value.high;
        rows.low[l] = sum->value.low;
        rows.error[l] = sum->error * w->back.high * (1.0 + 0x1p-40);
    }
    return rows;
}

SYI_INLINE syi_deviation row_sum_at(const weights *w, const row_sum *rows, int l)
{
    return (syi_deviation){syi_dd_multiply(w->back, (syi_dd){rows->high[l], rows->low[l]}),
                           rows->error[l]};
}

/* The terms of a tile's columns [i, i + some), at most a vector's. */
SYI_INLINE void take_columns(beside *b, const syi_wilder_prices *x, int64_t i, int some,
                             price_traits *what)
{
    syi_vec close[SYI_VECTOR], high[SYI_VECTOR], low[SYI_VECTOR];
    syi_lanes_load_some(close, x->close + i, b->stride, some);
    if (IS_RANGE) {
        syi_lanes_load_some(high, x->high + i, b->stride, some);
        syi_lanes_load_some(low, x->low + i, b->stride, some);
    }
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++) {
        if (k >= some)
            break;
        b->term[i + k] = IS_RANGE ? take_range(low[k], high[k], b->close, what)
                                  : take_move(close[k], b->close, what);
        b->close = close[k];
    }
}

/* The terms of a tile; gives how far its prices are apart. Rows that are not for a grid do not fit
 * (apart()). */
SYI_INLINE syi_vec take_tile(beside *b, const syi_wilder_prices *x, int64_t count)
{
    price_traits what = {b->close, b->close, syi_vec_mask_full()};
    int64_t i = 0;
    for (; i + SYI_VECTOR <= count; i += SYI_VECTOR)
        take_columns(b, x, i, SYI_VECTOR, &what);
    if (i < count)
        take_columns(b, x, i, (int)(count - i), &what);
    b->fits = syi_vec_mask_ordered(what.ordered, syi_vec_of(LEAST_PRICE), what.least);
    b->fits = syi_vec_mask_ordered(b->fits, what.most, syi_vec_of(MOST_PRICE));
    b->fits = syi_vec_mask_ordered(b->fits, what.most, what.least + what.least);
    b->fits = syi_vec_mask_ordered(b->fits, syi_vec_abs(b->close), syi_vec_of(MOST_PRICE));
    return what.most - what.least;
}

/* choose_grid(), start_of() and chain_grid()'s errors of each row. */
SYI_INLINE row_grid grid_of_rows(const beside *b, const row_sum *rows, syi_vec more)
{
    const syi_vec before = rows->high * syi_vec_of(b->w->back.high);
    const syi_vec size = (before + more) * syi_vec_of(1.0 + 0x1p-40);
    const syi_vec binade = syi_vec_binade(size);
    const syi_vec shift = binade * syi_vec_of(6.0), held = rows->high + shift;
    const syi_vec loose =
        (rows->error / before + syi_vec_of(SUM_ERROR)) * syi_vec_of(SYI_FINE * (1.0 + 0x1p-40));
    const syi_vec own = binade * syi_vec_of(LANES * 0x1p-91 * (1.0 + 0x1p-40)) / rows->high;
    const group_sum sum = {held, rows->low + (rows->high - (held - shift))};
    return (row_grid){size, shift, sum, loose + own, own};
}

/* On to the next tile: the sums' starts, and their errors. */
SYI_INLINE void end_sum(beside *b, const row_grid *g, row_sum *rows)
{
    const syi_vec power = syi_vec_of(b->power.high);
    syi_vec high, low, rest;
    syi_vec_quick_sum(g->sum.high - g->shift, g->sum.low, &high, &low);
    const syi_vec product = high * power;
    rest = syi_vec_fma(high, power, -product);
    rest += syi_vec_fma(high, syi_vec_of(b->power.low), low * power);
    syi_vec_quick_sum(product, rest, &rows->high, &rows->low);
    const syi_vec after = rows->high * syi_vec_of(b->w->back.high);
    const syi_vec lost =
        syi_vec_of(SUM_ERROR) + g->own * syi_vec_of(SYI_PER_FINE * (1.0 + 0x1p-40));
    rows->error = syi_vec_fma(power * syi_vec_of(1.0 + 0x1p-40), rows->error, lost * after);
}

/* The values at the tile's column i, the next one. */
SYI_INLINE syi_vec settle_column(const beside *b, int64_t i, held_sums *h, syi_bits_vec *unsure)
{
    const weights *const w = b->w;
    const syi_vec term = b->term[i];
    add_weighted(w, i, IS_RANGE ? term : syi_vec_abs(term), &h->total.sum);
    const group_sum total = {h->total.sum.high - h->total.shift, h->total.sum.low};
    if (IS_RANGE)
        return round_near(mean_of(total, w->out_high[i], w->out_low[i]), h->error, unsure);
    add_weighted(w, i, syi_vec_max(term, (syi_vec){0}), &h->up.sum);
    const group_sum up = {h->up.sum.high - h->up.shift, h->up.sum.low};
    return round_index(up, total, h->error, unsure);
}

/* At most a line of columns from the tile's column i on, to y. */
SYI_INLINE void put_columns(const beside *b, int64_t i, int some, held_sums *h,
                            syi_bits_vec *unsure, const syi_wilder_prices *x, double *y)
{
    syi_vec out[SYI_LINE] = {{0}};
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_LINE; k++) {
        if (k >= some)
            break;
        out[k] = settle_column(b, i + k, h, unsure);
    }
    syi_lanes_store(y + i, b->stride, out, some, 0);
    syi_lanes_ask_to_write(y + i, b->stride, 2 * SYI_LINE);
    if (!b->asks)
        return;
    syi_lanes_ask_next(x->close + i, b->stride);
    if (IS_RANGE) {
        syi_lanes_ask_next(x->high + i, b->stride);
        syi_lanes_ask_next(x->low + i, b->stride);
    }
}

/* What a tile of `count` columns begins with, whose prices are so far apart; rows that are not for
 * a grid no longer fit. */
SYI_INLINE held_sums hold_sums(beside *b, int64_t count, syi_vec apart)
{
    const double heaviest = b->w->high[count - 1] * b->period * (1.0 + 0x1p-40);
    const syi_vec more = syi_vec_of(heaviest) * apart, least = syi_vec_of(LEAST_BOUND);
    const double most = IS_RANGE ? MOST_RANGE_ERROR : MOST_MOVE_ERROR;
    held_sums h;
    h.total = h.up = grid_of_rows(b, &b->total, more);
    h.error = syi_vec_of(LAST_ERROR) + h.total.error;
    if (!IS_RANGE) {
        h.up = grid_of_rows(b, &b->up, more);
        h.error += h.up.error;
        b->fits = syi_vec_mask_ordered(b->fits, syi_vec_of(LEAST_TERM), more); /* it moves */
    }
    b->fits = syi_vec_mask_ordered(b->fits, least, h.total.size);
    b->fits = syi_vec_mask_ordered(b->fits, least, h.up.size);
    b->fits = syi_vec_mask_ordered(b->fits, h.error, syi_vec_of(most));
    return h;
}

/* The doubts of a tile's `rows`; it is gone through again. */
static sy_status tell_doubts(const beside *b, held_sums h, const task *task, int64_t at,
                             int64_t count, uint64_t rows)
{
    for (int64_t i = 0; i < count; i++) {
        syi_bits_vec unsure = {0};
        settle_column(b, i, &h, &unsure);
        for (uint64_t left = rows & bits_of(unsure); left; left &= left - 1)
            SYI_TRY(syi_doubts_add(task->doubts, task->row + __builtin_ctzll(left), at + i));
    }
    return SY_OK;
}

/* The tile of `count` columns from column `at` on; of the rows those that it is not for are left no
 * more. */
SYI_INLINE sy_status run_beside(beside *b, const task *task, int64_t at, int64_t count,
                                int is_first, uint64_t *rows)
{
    const syi_wilder_prices x = prices_at(task, at);
    const syi_vec apart = take_tile(b, &x, count);
    const held_sums begun = hold_sums(b, count, apart);
    held_sums h = begun;
    syi_bits_vec unsure = {0};
    int64_t i = 0;
    if (is_first)
        b->term[0] = (syi_vec){0};
    for (; i + SYI_LINE <= count; i += SYI_LINE)
        put_columns(b, i, SYI_LINE, &h, &unsure, &x, task->y + at);
    if (i < count)
        put_columns(b, i, (int)(count - i), &h, &unsure, &x, task->y + at);
    end_sum(b, &h.total, &b->total);
    if (!IS_RANGE)
        end_sum(b, &h.up, &b->up);
    b->fits = syi_vec_mask_ordered(b->fits, (syi_vec){0}, b->total.high); /* no NaN */
    *rows &= syi_vec_mask_bits(b->fits);
    return syi_vec_any(unsure) ? tell_doubts(b, begun, task, at, count, *rows) : SY_OK;
}

/* Columns of a tile of rows, for weights that a grid can do with. */
SYI_INLINE int64_t beside_steps(const weights *w)
{
    int64_t steps = w->steps;
    while (steps > 0 && !IS_RANGE && w->high[steps - 1] > MOST_WEIGHT)
        steps -= SYI_LINE;
    return steps;
}

/* The rows' values from that of their states, at column `from`, to the last one, of `columns`.
 * Gives how many columns each has got by this way, and its state there where that is not all. */
static sy_status run_rows_beside(const weights *w, const task *task, int64_t columns, int64_t from,
                                 syi_wilder_state *state, int64_t *reached)
{
    beside b;
    uint64_t left = (UINT64_C(1) << SYI_VECTOR) - 1;
    b.w = w;
    b.period = task->period;
    b.steps = beside_steps(w);
    b.stride = columns;
    b.asks = 2 * SYI_VECTOR * columns <= task->known;
    b.power = syi_wilder_power(&w->b, b.steps);
    b.total = row_sum_of(w, state, 0);
    b.up = row_sum_of(w, state, 1);
    for (int l = 0; l < SYI_VECTOR; l++) {
        b.close[l] = state[l].close;
        reached[l] = b.steps > 0 ? columns : from;
    }
    for (int64_t at = from; at < columns && left && b.steps > 0; at += b.steps) {
        const int64_t count = columns - at < b.steps ? columns - at : b.steps;
        const row_sum total = b.total, up = b.up;
        const syi_vec close = b.close;
        const uint64_t before = left;
        SYI_TRY(run_beside(&b, task, at, count, at == from, &left));
        for (uint64_t lost = before & ~left; lost; lost &= lost - 1) {
            const int l = __builtin_ctzll(lost);
            reached[l] = at;
            if (at == from)
                continue;
            state[l].total = row_sum_at(w, &total, l);
            state[l].up = row_sum_at(w, &up, l);
            state[l].close = close[l];
        }
    }
    return SY_OK;
}

#endif
#endif
