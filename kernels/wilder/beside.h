/*
 * Rows side by side from their first values on, each in a lane of its own: what a row begins with
 * is known here, so its sums go on column by column. A sum has two parts,
 *
 *     high' = b * high + term, rounded, and low' = b * low + what that has lost,
 *
 * which are put in order only where a tile of columns begins. After k columns `low` is at most
 * (3 k + 1) u of `high`, for u = 2^-53, and what a column loses (6 k + 15) u^2. No term is
 * negative, so in relation to the sum an error never becomes larger; a tile adds less than
 * SUM_ERROR in units of SYI_FINE. What a mean is made with adds less than 1000 u^2. Of a quotient's
 * parts the low one is divided by `high` alone, of which it is up to 400 u: that is off by 200 u of
 * it.
 */
#ifndef SYI_KERNELS_WILDER_BESIDE_H
#define SYI_KERNELS_WILDER_BESIDE_H

#include "exact/columns.h"
#include "wilder/columns.h"
#include "wilder/grid.h"

#if SYI_HAVE_VECTORS

/* What a value adds to the sums' relative errors, and a tile to those of both. */
#define BESIDE_ERROR (IS_RANGE ? LAST_ERROR : 0x1p-88)
#define TILE_ERROR   (2.0 * SUM_ERROR * SYI_FINE)

/* Sums that are no larger have terms that are not too large, in a tile of 64 columns. */
#define MOST_SUM 0x1p+130

typedef struct row_sums {
    group_sum total, up;
} row_sums;

typedef struct beside {
    syi_dd b, part;                   /* 1 / period */
    int64_t stride;                   /* from row to row */
    int asks;                         /* for the rows behind these */
    row_sums at;                      /* before the tile */
    syi_vec error;                    /* of both sums together, relative */
    syi_vec move[STEPS], rest[STEPS]; /* the tile's; rest is what a move has lost */
    int has_rest;                     /* once moves are not exact it is made at once */
} beside;

/* What a tile's prices were like. */
typedef struct bar_traits {
    syi_vec least, most;
    syi_vec_mask ordered;
} bar_traits;

/* At most a vector's columns of moves, with `has_rest` of any prices. */
SYI_INLINE void take_columns(beside *b, const syi_wilder_prices *x, int i, int some, int has_rest,
                             syi_vec *before, bar_traits *what)
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
        syi_vec first = *before, last = close[k];
        if (IS_RANGE) {
            what->ordered = syi_vec_mask_ordered(what->ordered, low[k], high[k]);
            first = syi_vec_min(low[k], first);
            last = syi_vec_max(high[k], *before);
        }
        what->least = syi_vec_min(IS_RANGE ? first : last, what->least);
        what->most = syi_vec_max(last, what->most);
        if (has_rest)
            syi_vec_two_sum(last, -first, &b->move[i + k], &b->rest[i + k]);
        else
            b->move[i + k] = last - first;
        *before = close[k];
    }
}

SYI_INLINE bar_traits take_bars(beside *b, const task *task, int64_t at, int count, int has_rest)
{
    const syi_wilder_prices x = prices_at(task, at);
    syi_vec before = syi_lanes_column(x.close - 1, b->stride);
    bar_traits what = {before, before, syi_vec_mask_full()};
    int i = 0;
    for (; i + SYI_VECTOR <= count; i += SYI_VECTOR)
        take_columns(b, &x, i, SYI_VECTOR, has_rest, &before, &what);
    if (i < count)
        take_columns(b, &x, i, count - i, has_rest, &before, &what);
    return what;
}

/* The moves of a tile of `count` columns from column `at` on; gives whether they are exact, since
 * in no row a price is more than twice another. */
SYI_INLINE int take_tile(beside *b, const task *task, int64_t at, int count, uint64_t *fit)
{
    bar_traits what;
    int is_exact;
    if (b->has_rest)
        what = take_bars(b, task, at, count, 1);
    else
        what = take_bars(b, task, at, count, 0);
    is_exact = syi_vec_mask_is_full(
        syi_vec_mask_ordered(what.ordered, what.most, what.least + what.least));
    if (!is_exact && !b->has_rest) {
        b->has_rest = 1;
        take_bars(b, task, at, count, 1);
    }
    *fit &= syi_vec_mask_bits(what.ordered);
    return is_exact;
}

/* A sum with the next term, and with `has_rest` what that has lost. */
SYI_INLINE void add_term(const beside *b, syi_vec term, syi_vec rest, int has_rest, group_sum *s)
{
    const syi_vec by = syi_vec_of(b->b.high), fading = s->high * by, sum = fading + term;
    const syi_vec further = syi_vec_min(fading, term) - (sum - syi_vec_max(fading, term));
    syi_vec lost = syi_vec_fma(s->high, by, -fading);
    lost = syi_vec_fma(s->high, syi_vec_of(b->b.low), lost);
    if (has_rest)
        lost += rest;
    s->low = syi_vec_fma(s->low, by, further + lost);
    s->high = sum;
}

/* On by the tile's column i. */
SYI_INLINE void add_column(const beside *b, int i, int has_rest, row_sums *s)
{
    const syi_vec none = {0}, move = b->move[i], rest = has_rest ? b->rest[i] : none;
    if (IS_RANGE) {
        add_term(b, move, rest, has_rest, &s->total);
        return;
    }
    const syi_bits_vec gains = (syi_bits_vec)(move > none);
    const syi_bits_vec sign = (syi_bits_vec)move & ((syi_bits_vec){0} + (UINT64_C(1) << 63));
    add_term(b, syi_vec_max(move, none), (syi_vec)((syi_bits_vec)rest & gains), has_rest, &s->up);
    add_term(b, syi_vec_abs(move), (syi_vec)((syi_bits_vec)rest ^ sign), has_rest, &s->total);
}

/* The rows' values. */
SYI_INLINE syi_vec settle_rows(const beside *b, const row_sums *s, syi_vec error,
                               syi_bits_vec *unsure)
{
    group_sum total = s->total;
    if (IS_RANGE)
        return round_near(mean_of(total, b->part.high, b->part.low), error, unsure);
    const syi_bits_vec none = (syi_bits_vec)(total.high == 0.0); /* nothing has moved */
    total.high = syi_vec_pick(none, syi_vec_of(1.0), total.high);
    return syi_vec_pick(none, syi_vec_of(50.0), round_near(index_of(s->up, total), error, unsure));
}

/* Asks for what the next rows read, and these write soon. */
SYI_INLINE void ask_on(const beside *b, syi_wilder_prices x, double *y)
{
    syi_lanes_ask_to_write(y, b->stride, 2 * SYI_LINE);
    if (!b->asks)
        return;
    syi_lanes_ask_next(x.close, b->stride);
    if (IS_RANGE) {
        syi_lanes_ask_next(x.high, b->stride);
        syi_lanes_ask_next(x.low, b->stride);
    }
}

/* At most a line of the tile's columns from column i on, to y. */
SYI_INLINE void put_columns(const beside *b, int i, int some, int has_rest, syi_vec error,
                            row_sums *s, syi_bits_vec *unsure, double *y)
{
    syi_vec out[SYI_LINE] = {{0}};
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_LINE; k++) {
        if (k >= some)
            break;
        add_column(b, i + k, has_rest, s);
        out[k] = settle_rows(b, s, error, unsure);
    }
    syi_lanes_store(y + i, b->stride, out, some, 0);
}

/* The values of the tile's `count` columns, from column `at` on; gives whether one is in doubt. */
SYI_INLINE int put_tile(const beside *b, const task *task, int64_t at, int count, int has_rest,
                        syi_vec error, row_sums *s)
{
    double *const y = task->y + at;
    syi_bits_vec unsure = {0};
    int i = 0;
    for (; i + SYI_LINE <= count; i += SYI_LINE) {
        put_columns(b, i, SYI_LINE, has_rest, error, s, &unsure, y);
        ask_on(b, prices_at(task, at + i), y + i);
    }
    if (i < count)
        put_columns(b, i, count - i, has_rest, error, s, &unsure, y);
    return syi_vec_any(unsure);
}

/* The l-th row of a task whose rows are side by side. */
SYI_INLINE task row_of(const task *first, int l, int64_t stride)
{
    task row = *first;
    row.x = prices_at(first, l * stride);
    row.y += l * stride;
    row.row += l;
    return row;
}

/* The doubts of `rows` in a tile of `count` columns from column `at` on, which is gone through
 * again. */
static sy_status tell_doubts(const beside *b, const task *task, int64_t at, int count,
                             syi_vec error, uint64_t rows)
{
    row_sums s = b->at;
    for (int i = 0; i < count; i++) {
        syi_bits_vec unsure = {0};
        add_column(b, i, b->has_rest, &s);
        const syi_vec most = settle_rows(b, &s, error, &unsure);
        for (uint64_t left = rows & syi_vec_which(unsure); left; left &= left - 1) {
            const int l = __builtin_ctzll(left);
            const struct task row = row_of(task, l, b->stride);
            SYI_TRY(doubt(&row, at + i, most[l]));
        }
    }
    return SY_OK;
}

/* The rows in which a sum is 0, or neither too large nor small. */
SYI_INLINE uint64_t sums_in_range(syi_vec high)
{
    return syi_vec_which((syi_bits_vec)(high == 0.0) |
                         ((syi_bits_vec)(high >= LEAST_SUM) & (syi_bits_vec)(high <= MOST_SUM)));
}

/* The rows for which a tile is that begins or ends with such sums and such a close. */
SYI_INLINE uint64_t rows_in_range(const row_sums *s, syi_vec close)
{
    const uint64_t rows = syi_vec_which((syi_bits_vec)(syi_vec_abs(close) <= MOST_PRICE));
    return rows & sums_in_range(s->total.high) &
           (IS_RANGE ? ~UINT64_C(0) : sums_in_range(s->up.high));
}

/* The rows in which no sum of 0 begins with what may be too small. */
SYI_INLINE uint64_t rows_that_rise(const beside *b, int count)
{
    syi_bits_vec none = (syi_bits_vec)(b->at.total.high == 0.0);
    if (!IS_RANGE)
        none |= (syi_bits_vec)(b->at.up.high == 0.0);
    syi_bits_vec small = {0};
    for (int i = 0; i < count && syi_vec_any(none); i++)
        small |= (syi_bits_vec)(syi_vec_abs(b->move[i]) < LEAST_TERM) &
                 (syi_bits_vec)(b->move[i] != 0.0);
    return ~syi_vec_which(small & none);
}

/* A tile of `count` columns from column `at` on; of the rows those that it is not for are left no
 * more. */
static sy_status run_beside(beside *b, const task *task, int64_t at, int count, uint64_t *rows)
{
    const syi_vec error = b->error + syi_vec_of(BESIDE_ERROR + TILE_ERROR);
    const int is_exact = take_tile(b, task, at, count, rows);
    row_sums s = b->at;
    int is_unsure;
    if (b->has_rest)
        is_unsure = put_tile(b, task, at, count, 1, error, &s);
    else
        is_unsure = put_tile(b, task, at, count, 0, error, &s);
    *rows &= rows_that_rise(b, count) &
             rows_in_range(&s, syi_lanes_column(task->x.close + at + count - 1, b->stride));
    if (is_unsure)
        SYI_TRY(tell_doubts(b, task, at, count, error, *rows));
    syi_vec_quick_sum(s.total.high, s.total.low, &b->at.total.high, &b->at.total.low);
    syi_vec_quick_sum(s.up.high, s.up.low, &b->at.up.high, &b->at.up.low);
    b->error += syi_vec_of(TILE_ERROR);
    b->has_rest = !is_exact;
    return SY_OK;
}

/* A row's state where a tile begins. */
SYI_INLINE void get_row(const row_sums *s, double error, int l, double close,
                        syi_wilder_state *state)
{
    const double loose = error * (SYI_PER_FINE * (1.0 + 0x1p-40));
    state->total = (syi_deviation){{s->total.high[l], s->total.low[l]}, loose * s->total.high[l]};
    state->up = (syi_deviation){{s->up.high[l], s->up.low[l]}, loose * s->up.high[l]};
    state->close = close;
}

/* A sum's error, relative to it. */
SYI_INLINE double error_of_sum(const syi_deviation *sum)
{
    return sum->value.high > 0.0 ? looseness(sum) : sum->error == 0.0 ? 0.0 : INFINITY;
}

SYI_INLINE void start_beside(beside *b, const task *task, int64_t columns,
                             const syi_wilder_state *state)
{
    b->b = task->factor.b;
    b->part = syi_dd_divide((syi_dd){1.0, 0.0}, task->period);
    b->stride = columns;
    b->asks = 2 * SYI_VECTOR * columns <= task->known;
    b->has_rest = 0;
    for (int l = 0; l < SYI_VECTOR; l++) {
        b->at.total.high[l] = state[l].total.value.high;
        b->at.total.low[l] = state[l].total.value.low;
        b->at.up.high[l] = state[l].up.value.high;
        b->at.up.low[l] = state[l].up.value.low;
        b->error[l] = error_of_sum(&state[l].total) + error_of_sum(&state[l].up);
    }
}

/* The values that the rows begin with, in column `at`: those that are sure, of `rows`. */
static sy_status put_first(const beside *b, const task *task, int64_t at, uint64_t rows,
                           const syi_wilder_state *state)
{
    syi_bits_vec unsure = {0};
    const syi_vec y = settle_rows(b, &b->at, b->error + syi_vec_of(BESIDE_ERROR), &unsure);
    const uint64_t sure = rows & ~syi_vec_which(unsure);
    for (int l = 0; l < SYI_VECTOR; l++) {
        const struct task row = row_of(task, l, b->stride);
        if (sure >> l & 1)
            row.y[at] = y[l];
        else
            SYI_TRY(put(&row, at, &state[l]));
    }
    return SY_OK;
}

/* The rows' values from those of their states on, which are column `from`'s, to the last ones, of
 * `columns`. Gives how many columns each has got by this way, and its state there where that is not
 * all. */
static sy_status run_rows_beside(const task *task, int64_t columns, int64_t from,
                                 syi_wilder_state *state, int64_t *reached)
{
    beside b;
    uint64_t left;
    start_beside(&b, task, columns, state);
    left = syi_vec_which((syi_bits_vec)(b.error < MOST_RANGE_ERROR)) &
           rows_in_range(&b.at, syi_lanes_column(task->x.close + from, columns));
    SYI_TRY(put_first(&b, task, from, left, state));
    for (int l = 0; l < SYI_VECTOR; l++)
        reached[l] = left >> l & 1 ? columns : from + 1;
    for (int64_t at = from + 1; at < columns && left; at += STEPS) {
        const int count = columns - at < STEPS ? (int)(columns - at) : STEPS;
        const uint64_t before = left;
        const row_sums begun = b.at;
        const syi_vec error = b.error;
        SYI_TRY(run_beside(&b, task, at, count, &left));
        for (uint64_t lost = before & ~left; lost; lost &= lost - 1) {
            const int l = __builtin_ctzll(lost);
            reached[l] = at;
            get_row(&begun, error[l], l, task->x.close[l * columns + at - 1], &state[l]);
        }
    }
    return SY_OK;
}

#endif
#endif
