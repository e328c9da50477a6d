/*
 * A block of a MACD's lanes (macd/slab.h): its grid, the three stages of a column
 * (recurrence/stage.h), and the outputs. The macd's high part is a multiple of the same grid's
 * unit, so the signal smooths it as if it were a price. Where a price stands still, and the signal
 * forgets later than the averages, that is no longer so: it has a coarser grid of its own then.
 */
#ifndef SYI_KERNELS_MACD_BLOCK_H
#define SYI_KERNELS_MACD_BLOCK_H

#include "macd/error.h"

#if SYI_HAVE_VECTORS

/* Moves the pivot by `by` + `rest`. */
SYI_INLINE void macd_move(macd_slab *s, int k, syi_vec by, syi_vec rest, int of_steps)
{
    syi_stage *stage = &s->lanes.stage[k];
    const syi_vec weight = syi_vec_of(s->weight[k]), moved = weight * by, none = {0};
    if (of_steps) {
        stage->error += syi_vec_abs(weight * rest) * syi_vec_of(4.0 * SYI_STAGE_LOSS);
        syi_stage_move(stage, moved, syi_vec_fma(weight, by, -moved) + weight * rest);
    } else {
        syi_stage_move(stage, k == SIGNAL ? none : by, k == SIGNAL ? none : rest);
    }
}

/* By how much more a lane's signal may be than its averages, and than its prices are apart, for
 * them to be on one grid. */
#define MACD_APART 0x1p+10

SYI_INLINE syi_stage_grid macd_enter(macd_slab *s, int64_t at, int of_steps)
{
    macd_lanes *l = &s->lanes;
    syi_vec first = s->tile[at], by, rest, size;
    syi_vec least = s->least[at / MACD_PART], most = s->most[at / MACD_PART];
    syi_stage_grid grid;
    grid.pivot = (syi_vec)((syi_bits_vec)first & syi_stage_is_near(least, most));
    syi_vec_two_sum(grid.pivot, -l->pivot, &by, &rest);
    size = syi_vec_max(syi_vec_abs(least - grid.pivot), syi_vec_abs(most - grid.pivot));
    for (int k = 0; k < SIGNAL; k++) {
        macd_move(s, k, by, rest, of_steps);
        size = syi_vec_max(size, syi_vec_abs(l->stage[k].high) *
                                     syi_vec_of(of_steps ? s->share[k] : 1.0));
    }
    macd_move(s, SIGNAL, by, rest, of_steps);
    const syi_vec signal =
        syi_vec_abs(l->stage[SIGNAL].high) * syi_vec_of(of_steps ? s->share[SIGNAL] : 0.5);
    s->is_apart = !of_steps && syi_vec_any((syi_bits_vec)(signal > size * MACD_APART));
    size = s->is_apart ? size : syi_vec_max(size, signal);
    syi_stage_choose(&grid, least, most, size, of_steps ? s->room : 2.0);
    if (s->is_apart)
        syi_stage_choose(&s->coarse, least, most, syi_vec_max(size, signal), 2.0);
    for (int k = 0; k < SIGNAL; k++)
        syi_stage_enter(&l->stage[k], grid.shift);
    syi_stage_enter(&l->stage[SIGNAL], s->is_apart ? s->coarse.shift : grid.shift);
    l->pivot = grid.pivot;
    return grid;
}

/* All lanes inside of a block. */
typedef struct macd_run {
    syi_stage fast, slow, signal;
} macd_run;

SYI_INLINE macd_run macd_begin(const macd_lanes *l)
{
    return (macd_run){syi_stage_copy(&l->stage[FAST]), syi_stage_copy(&l->stage[SLOW]),
                      syi_stage_copy(&l->stage[SIGNAL])};
}

/* What a block consists of: prices of which syi_stage_grid.even says that they have no low part,
 * other ones, or steps; or others with a signal on a grid of its own. */
typedef enum macd_kind { MACD_EVEN, MACD_ANY, MACD_STEPS, MACD_TWO_GRIDS } macd_kind;

SYI_INLINE void macd_average(syi_stage *stage, const macd_slab *s, int k,
                             const syi_stage_grid *grid, macd_pair x, macd_kind kind)
{
    const syi_vec weight = syi_vec_of(s->weight[k]);
    if (kind == MACD_STEPS)
        x = (macd_pair){syi_vec_fma(weight, x.high - grid->shift, grid->shift), weight * x.low};
    syi_stage_step(stage, &s->terms[k], x.high, x.low, kind == MACD_EVEN);
}

SYI_INLINE macd_pair macd_step(macd_run *r, const macd_slab *s, const syi_stage_grid *grid,
                               syi_vec x, macd_kind kind)
{
    macd_pair pair;
    pair.high = syi_stage_high(grid, x, kind == MACD_EVEN, &pair.low);
    macd_average(&r->fast, s, FAST, grid, pair, kind);
    macd_average(&r->slow, s, SLOW, grid, pair, kind);
    return (macd_pair){r->fast.high - r->slow.high, r->fast.low - r->slow.low};
}

SYI_INLINE macd_pair macd_smooth(macd_run *r, const macd_slab *s, const syi_stage_grid *grid,
                                 macd_pair macd, macd_kind kind)
{
    const syi_vec shift = kind == MACD_TWO_GRIDS ? s->coarse.shift : grid->shift;
    const syi_vec high = macd.high + shift;
    if (kind == MACD_TWO_GRIDS)
        macd.low += macd.high - (high - shift);
    syi_stage_step(&r->signal, &s->terms[SIGNAL], high, macd.low, 0);
    return (macd_pair){r->signal.high - shift, r->signal.low};
}

/* `signal`: its shift. */
SYI_INLINE void macd_leave(macd_slab *s, syi_vec shift, syi_vec signal, const macd_run *r,
                           const macd_noise *noise, int count)
{
    const syi_vec none = {0};
    syi_stage *stage = s->lanes.stage;
    stage[FAST] = syi_stage_copy(&r->fast);
    stage[SLOW] = syi_stage_copy(&r->slow);
    stage[SIGNAL] = syi_stage_copy(&r->signal);
    for (int k = 0; k < STAGES; k++)
        syi_stage_leave(&stage[k], &macd_terms(s, count)[k], k == SIGNAL ? signal : shift,
                        noise->stage[k], k == SIGNAL ? noise->macd : none, count);
}

SYI_INLINE void macd_try_some(macd_run *run, const macd_slab *s, const syi_stage_grid *grid,
                              int64_t at, int count, macd_kind kind)
{
    for (int64_t i = at; i < at + count; i++)
        macd_smooth(run, s, grid, macd_step(run, s, grid, s->tile[i], kind), kind);
}

/* Not inline: so the compiler makes nothing slower of other blocks. */
static __attribute__((noinline)) void macd_try_apart(macd_slab *s, const syi_stage_grid *grid,
                                                     int64_t at, int count)
{
    const macd_noise noise = macd_noise_of(s, grid, count);
    macd_run run = macd_begin(&s->lanes);
    macd_try_some(&run, s, grid, at, count, MACD_TWO_GRIDS);
    macd_leave(s, grid->shift, s->coarse.shift, &run, &noise, count);
}

/* A block without outputs. */
SYI_INLINE void macd_try(macd_slab *s, int64_t at, int count, int of_steps)
{
    const syi_stage_grid grid = macd_enter(s, at, of_steps);
    if (s->is_apart) {
        macd_try_apart(s, &grid, at, count);
        return;
    }
    const macd_noise noise = macd_noise_of(s, &grid, count);
    macd_run run = macd_begin(&s->lanes);
    if (of_steps)
        macd_try_some(&run, s, &grid, at, count, MACD_STEPS);
    else if (syi_stage_is_even(&grid))
        macd_try_some(&run, s, &grid, at, count, MACD_EVEN);
    else
        macd_try_some(&run, s, &grid, at, count, MACD_ANY);
    macd_leave(s, grid.shift, grid.shift, &run, &noise, count);
}

/* What is known of an output of steps is twice that, but for the tilt. */
SYI_INLINE syi_vec macd_round_tilted(macd_pair value, macd_pair tilt, syi_vec error,
                                     syi_bits_vec *unsure)
{
    syi_vec high, rest;
    syi_vec_two_sum(tilt.high, value.high, &high, &rest);
    return 0.5 * syi_vec_round(high, rest + (tilt.low + value.low), error, unsure);
}

/* A column's outputs. */
SYI_INLINE void macd_round(macd_pair macd, macd_pair signal, const macd_errors *error,
                           macd_kind kind, syi_bits_vec *unsure, int k, syi_vec (*out)[SYI_LINE])
{
    const macd_pair none = {{0}, {0}};
    macd_pair histogram = {macd.high - signal.high, macd.low - signal.low};
    if (kind == MACD_STEPS) {
        out[0][k] = macd_round_tilted(macd, error->tilt, error->macd, unsure);
        out[1][k] = macd_round_tilted(signal, error->tilt, error->signal, unsure);
        out[2][k] = macd_round_tilted(histogram, none, error->histogram, unsure);
        return;
    }
    out[0][k] = syi_vec_round(macd.high, macd.low, error->macd, unsure);
    out[1][k] = syi_vec_round(signal.high, signal.low, error->signal, unsure);
    if (kind == MACD_TWO_GRIDS) {
        syi_vec rest;
        syi_vec_two_sum(macd.high, -signal.high, &histogram.high, &rest);
        histogram.low += rest;
    }
    out[2][k] = syi_vec_round(histogram.high, histogram.low, error->histogram, unsure);
}

/* `count` columns of a block with outputs, at most a part; `late`: some of whole lines wait. What
 * lies far away is asked for. */
SYI_INLINE void macd_write_some(macd_slab *s, int64_t at, int count, macd_kind kind, int late,
                                macd_run *run, const syi_stage_grid *grid, const macd_errors *error)
{
    syi_bits_vec unsure = {0};
    syi_vec out[3][SYI_LINE] = {{{0}}};
    macd_pair macd[SYI_LINE] = {{{0}, {0}}}, signal[SYI_LINE] = {{{0}, {0}}};
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_LINE; k++)
        if (k < count)
            macd[k] = macd_step(run, s, grid, s->tile[at + k], kind);
    /* What waits for a column's averages stands behind the next columns'. */
    SYI_UNROLL(10)
    for (int k = 0; k < SYI_LINE + 1; k++) {
        if (k < count)
            signal[k] = macd_smooth(run, s, grid, macd[k], kind);
        if (k > 0 && k <= count)
            macd_round(macd[k - 1], signal[k - 1], error, kind, &unsure, k - 1, out);
    }
    if (late && count == SYI_LINE) {
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < SYI_LINE; i++)
                s->late.last[s->late.next].out[k][i] = out[k][i];
        macd_late_put(&s->late, s->y, at, s->stride);
    } else {
        SYI_UNROLL(3)
        for (int k = 0; k < 3; k++)
            syi_lanes_store(s->y[k] + at, s->stride, out[k], count, s->past && count == SYI_LINE);
    }
    for (int k = 0; k < 3 && s->are_rows; k++)
        syi_lanes_ask_to_write(s->y[k] + at, s->stride, 2 * SYI_LINE);
    if (s->asks)
        syi_lanes_ask_next(s->x + at, s->stride);
    if (s->past)
        syi_lanes_ask_on(s->x, at, s->stride, s->length < s->stride, MACD_BLOCK);
    s->unsure[at / MACD_PART] |= unsure;
}

/* Keeps what a block or a part with outputs begins with. */
SYI_INLINE void macd_keep(macd_slab *s, int64_t at, int count)
{
    const int64_t block = at / MACD_PART;
    for (int i = 0; i < count; i += MACD_PART) {
        s->columns[(at + i) / MACD_PART] = i ? 0 : count;
        s->unsure[(at + i) / MACD_PART] = (syi_bits_vec){0};
    }
    s->begun[block].pivot = s->lanes.pivot;
    for (int k = 0; k < STAGES; k++)
        s->begun[block].stage[k] = syi_stage_copy(&s->lanes.stage[k]);
}

/* Columns of which the signal is on its own grid, with outputs. Not inline, as above. */
static __attribute__((noinline)) void macd_write_apart(macd_slab *s, const syi_stage_grid *grid,
                                                       int64_t at, int count, int late)
{
    const macd_noise noise = macd_noise_of(s, grid, count);
    macd_run run = macd_begin(&s->lanes);
    const macd_errors error = macd_errors_of(&noise, run.signal.error);
    for (int i = 0; i < count; i += SYI_LINE)
        macd_write_some(s, at + i, count - i < SYI_LINE ? count - i : SYI_LINE, MACD_TWO_GRIDS,
                        late, &run, grid, &error);
    macd_leave(s, grid->shift, s->coarse.shift, &run, &noise, count);
}

/* Columns on one grid with outputs. */
SYI_INLINE void macd_write_on(macd_slab *s, int64_t at, int count, int late, int of_steps)
{
    const macd_kind kind = of_steps ? MACD_STEPS : MACD_ANY;
    const int whole = count / SYI_LINE * SYI_LINE;
    const syi_stage_grid grid = macd_enter(s, at, of_steps);
    if (s->is_apart) {
        macd_write_apart(s, &grid, at, count, late);
        return;
    }
    macd_run run = macd_begin(&s->lanes);
    const macd_noise noise = macd_noise_of(s, &grid, count);
    macd_errors error = macd_errors_of(&noise, run.signal.error);
    int i = 0;
    if (of_steps)
        macd_tilt(s, &grid, &error);
    for (int even = !of_steps && syi_stage_is_even(&grid); even && i < whole; i += SYI_LINE)
        macd_write_some(s, at + i, SYI_LINE, MACD_EVEN, late, &run, &grid, &error);
    for (; i < whole; i += SYI_LINE)
        macd_write_some(s, at + i, SYI_LINE, kind, late, &run, &grid, &error);
    if (whole < count)
        macd_write_some(s, at + whole, count - whole, kind, late, &run, &grid, &error);
    macd_leave(s, grid.shift, grid.shift, &run, &noise, count);
}

/* A block with outputs. */
SYI_INLINE void macd_write(macd_slab *s, int64_t at, int count, int late, int of_steps)
{
    macd_keep(s, at, count);
    macd_write_on(s, at, count, late, of_steps);
}

/* How much farther a block's prices, or its steps, may be apart than what is left of the averages
 * before it: on the grid of those nothing would be left of these. */
#define MACD_BENT       0x1p+30
#define MACD_BENT_STEPS 0x1p+10

/* The lanes in which those of a block or a part are farther apart. */
SYI_INLINE syi_bits_vec macd_bent(const macd_slab *s, int64_t at)
{
    const double most = s->of_steps ? MACD_BENT_STEPS : MACD_BENT;
    const syi_stage *stage = s->lanes.stage;
    const syi_vec apart = s->most[at / MACD_PART] - s->least[at / MACD_PART];
    const syi_vec left = syi_vec_max(syi_vec_abs(stage[FAST].high) * syi_vec_of(s->share[FAST]),
                                     syi_vec_abs(stage[SLOW].high) * syi_vec_of(s->share[SLOW]));
    return (syi_bits_vec)(apart > left * most);
}

SYI_INLINE int macd_is_bent(const macd_slab *s, int64_t at)
{
    return syi_vec_any(macd_bent(s, at));
}

/* A part with outputs. Where a price that stood still moves in the midst of it, the columns before
 * that are far smaller than the move: they have a grid of their own. */
SYI_INLINE void macd_write_part(macd_slab *s, int64_t at, int count, int late, int of_steps)
{
    const int64_t end = at + count;
    macd_look(s, at, count);
    macd_keep(s, at, count);
    syi_bits_vec still = (syi_bits_vec)(s->tile[at] == s->lanes.pivot) & macd_bent(s, at);
    still = of_steps ? (syi_bits_vec){0} : still;
    for (int64_t i = at + 1; i < end && syi_vec_any(still); i++) {
        const syi_bits_vec moves = still & (syi_bits_vec)(s->tile[i] != s->tile[i - 1]);
        still &= ~moves;
        if (!syi_vec_any(moves))
            continue;
        macd_look(s, at, (int)(i - at));
        macd_write_on(s, at, (int)(i - at), late, of_steps);
        at = i;
        macd_look(s, at, (int)(end - at));
    }
    macd_write_on(s, at, (int)(end - at), late, of_steps);
}

/* A block by parts. */
SYI_INLINE void macd_write_parts(macd_slab *s, int64_t at, int count, int late, int of_steps)
{
    for (int i = 0; i < count; i += MACD_PART) {
        const int part = count - i < MACD_PART ? count - i : MACD_PART;
        macd_write_part(s, at + i, part, late, of_steps);
    }
}

#endif
#endif
