/*
 * A slab of an exponential moving average: a stretch cut in lanes that are stepped together (see
 * recurrence/stage.h). Short lanes run twice: first each from a guess, the value before it. A wrong
 * start y + d is off by b^n d after n columns, so one goes from left to right over the lanes' ends
 * and knows where each has to start; then they run again and write. For long ones see
 * recurrence/long.h.
 */
#ifndef SYI_KERNELS_EMA_SLAB_H
#define SYI_KERNELS_EMA_SLAB_H

#include "ema/state.h"
#include "recurrence/stage.h"
#include "recurrence/tie.h"

#if SYI_HAVE_VECTORS

#define EMA_LANES SYI_VECTOR
/* The longest lane, in columns: the tile stays in the first cache, no two lanes in the same sets.
 */
#define EMA_LENGTH (2560 / EMA_LANES)
/* Columns of a block; to find its grid takes as long as several of them. */
#define EMA_BLOCK  64
#define EMA_BLOCKS ((EMA_LENGTH + EMA_BLOCK - 1) / EMA_BLOCK)
/* A shorter stretch is not worth a slab. */
#define EMA_LEAST (4 * EMA_LANES)

/* The column before a block, where averages may be ties (ema/tied.h): prices, what is put for them,
 * and on which side of the price an average is: an infinity, or 0 if that is not known. */
typedef struct ema_last {
    syi_vec price, put, side;
} ema_last;

/* Columns of a block: prices, what is put for them, and as bits the lanes that are unsure. Two more
 * stand for what was before. */
enum { EMA_KEPT = 2 };

typedef struct ema_kept {
    syi_vec x[EMA_KEPT + EMA_BLOCK], y[EMA_KEPT + EMA_BLOCK];
    uint64_t unsure[EMA_BLOCK];
} ema_kept;

/* A block of a long lane that is not sure, and what it began with. */
typedef struct ema_later {
    int64_t at; /* in its lane */
    int lane;
    double pivot, high, low, error;
} ema_later;

/* So many wait for their lane's true start. */
enum { EMA_LATER = 512 };

typedef struct ema_slab {
    const double *x; /* the slab's first column */
    double *y;
    int past;               /* its columns go past the cache */
    int are_rows;           /* the lanes, `stride` being a row's columns, */
    int asks;               /* for as many behind them */
    double before;          /* the value before x[0] */
    int64_t stride, length; /* from lane to lane; columns of each that are run */
    const syi_stage_terms *terms;
    const syi_factor_dd *factor;
    syi_vec tile[EMA_LENGTH];
    syi_vec least[EMA_BLOCKS], most[EMA_BLOCKS];
    syi_bits_vec outside; /* not 0: a value is out of range */
    syi_vec pivot;
    syi_stage stage;
    syi_ema ema;
    int tie_shift;   /* see recurrence/tie.h */
    int keep;        /* columns of so many blocks are kept */
    ema_last last;   /* before a block */
    double end_side; /* behind the short lanes that were run last */
    /* What each block began with, and whether one of its columns is unsure: then not 0. */
    syi_vec begun_pivot[EMA_BLOCKS];
    syi_stage begun[EMA_BLOCKS];
    syi_bits_vec unsure[EMA_BLOCKS];
    syi_deviation start[EMA_LANES + 1]; /* from the last value, of each lane */
    int is_long;                        /* what is before a lane has not been put yet */
    int64_t first;                      /* of long ones, the first column that is run */
    int may_put_off, n_later;
    ema_later later[EMA_LATER];
} ema_slab;

SYI_INLINE void ema_set_terms(ema_slab *s, const syi_stage_terms *terms,
                              const syi_factor_dd *factor, const syi_ema *ema)
{
    s->ema = *ema;
    s->terms = terms;
    s->factor = factor;
    s->tie_shift = syi_tie_shift((int64_t)ema->period);
    s->keep = 0;
    s->end_side = 0.0;
}

/* Reads a block of the lanes. */
SYI_INLINE void ema_read(ema_slab *s, int64_t at, int count)
{
    syi_vec least, most;
    syi_lanes_load(s->tile + at, s->x + at, s->stride, count);
    syi_vec_extremes(s->tile + at, count, &least, &most);
    s->outside |= ~(syi_bits_vec)(syi_vec_max(syi_vec_abs(least), syi_vec_abs(most)) <= SYI_HUGE);
    s->least[at / EMA_BLOCK] = least;
    s->most[at / EMA_BLOCK] = most;
}

/* A block's pivot. It has to be larger than what is added to it, so that the sum needs no
 * comparison. */
SYI_INLINE syi_vec ema_pivot(const ema_slab *s, int64_t at)
{
    syi_vec first = s->tile[at], least = s->least[at / EMA_BLOCK], most = s->most[at / EMA_BLOCK];
    syi_vec apart = syi_vec_abs(s->stage.high + (s->pivot - first));
    syi_bits_vec fits = (syi_bits_vec)(apart + apart <= syi_vec_abs(first));
    return (syi_vec)((syi_bits_vec)first & fits & syi_stage_is_near(least, most));
}

/* The grid for that pivot, from which the averages are as far as the stage's high parts say. */
SYI_INLINE syi_stage_grid ema_grid(const ema_slab *s, int64_t at, syi_vec pivot)
{
    const syi_vec least = s->least[at / EMA_BLOCK], most = s->most[at / EMA_BLOCK];
    syi_vec size = syi_vec_max(syi_vec_abs(least - pivot), syi_vec_abs(most - pivot));
    syi_stage_grid grid = {.pivot = pivot};
    syi_stage_choose(&grid, least, most, syi_vec_max(size, syi_vec_abs(s->stage.high)), 1.0);
    return grid;
}

SYI_INLINE syi_stage_grid ema_enter(ema_slab *s, int64_t at)
{
    const syi_vec pivot = ema_pivot(s, at);
    syi_vec by, rest;
    syi_vec_two_sum(pivot, -s->pivot, &by, &rest);
    syi_stage_move(&s->stage, by, rest);
    const syi_stage_grid grid = ema_grid(s, at, pivot);
    syi_stage_enter(&s->stage, grid.shift);
    s->pivot = pivot;
    return grid;
}

SYI_INLINE void ema_step(syi_stage *stage, const syi_stage_terms *terms, const syi_stage_grid *grid,
                         syi_vec x, int even)
{
    syi_vec low, high = syi_stage_high(grid, x, even, &low);
    syi_stage_step(stage, terms, high, low, even);
}

/* The rounded value; *unsure takes up whether it is. */
SYI_INLINE syi_vec ema_round(const syi_stage *stage, const syi_stage_grid *grid, syi_vec error,
                             syi_bits_vec *unsure)
{
    syi_vec part = syi_vec_less(stage->high, grid->shift), sum = grid->pivot + part;
    syi_vec low = syi_vec_plus(part - syi_vec_less(sum, grid->pivot), stage->low);
    return syi_vec_round(sum, low, error, unsure);
}

/* The most that lows are in a block that begins so: where averages are long that is far less than
 * they could be. */
SYI_INLINE syi_vec ema_low(const ema_slab *s, const syi_stage_grid *grid)
{
    return syi_stage_low(s->terms, s->stage.low, grid->unit * 0.5, grid->unit);
}

/* What such a block adds to the error. */
SYI_INLINE syi_vec ema_noise(const ema_slab *s, const syi_stage_grid *grid)
{
    return syi_stage_noise(s->terms, ema_low(s, grid), grid->unit * 0.5, grid->unit);
}

/* How far a block's values may be off, and what rounding them loses. */
SYI_INLINE syi_vec ema_error(const ema_slab *s, const syi_stage_grid *grid, syi_vec noise)
{
    const syi_vec lost = ema_low(s, grid) * syi_vec_of(2.0 * SYI_STAGE_LOSS);
    const syi_vec error = s->stage.error + noise + lost;
    return error * syi_vec_of(SYI_FINE * (1.0 + 0x1p-40)) +
           syi_vec_abs(grid->pivot) * syi_vec_of(0x1p-103);
}

SYI_INLINE void ema_try_some(const ema_slab *s, int64_t at, int count, int even, syi_stage *stage,
                             const syi_stage_grid *grid)
{
    for (int i = 0; i < count; i++)
        ema_step(stage, s->terms, grid, s->tile[at + i], even);
}

/* A block without outputs. */
SYI_INLINE void ema_try(ema_slab *s, int64_t at, int count)
{
    const syi_stage_grid grid = ema_enter(s, at);
    const syi_vec noise = ema_noise(s, &grid);
    syi_stage stage = syi_stage_copy(&s->stage);
    if (syi_stage_is_even(&grid))
        ema_try_some(s, at, count, 1, &stage, &grid);
    else
        ema_try_some(s, at, count, 0, &stage, &grid);
    syi_stage_leave(&stage, s->terms, grid.shift, noise, (syi_vec){0}, count);
    s->stage = syi_stage_copy(&stage);
}

/* Puts `count` columns of a block, at most a line's; what lies far away is asked for. */
SYI_INLINE void ema_put(const ema_slab *s, int64_t at, int count, const syi_vec *out)
{
    syi_lanes_store(s->y + at, s->stride, out, count, s->past);
    if (s->are_rows)
        syi_lanes_ask_to_write(s->y + at, s->stride, 2 * SYI_LINE);
    if (s->asks)
        syi_lanes_ask_next(s->x + at, s->stride);
    if (s->past)
        syi_lanes_ask_on(s->x, at, s->stride, s->length < s->stride, EMA_BLOCK);
}

/* So many columns of a block with outputs, which are kept where `kept` is not NULL. */
SYI_INLINE void ema_write_some(const ema_slab *s, int64_t at, int count, int even, syi_stage *stage,
                               const syi_stage_grid *grid, syi_vec error, syi_bits_vec *unsure,
                               ema_kept *kept)
{
    syi_vec out[SYI_LINE] = {{0}};
    /* A column is rounded behind the next one's step, which does not wait for that. */
    SYI_UNROLL(9)
    for (int k = 0; k < SYI_LINE + 1; k++) {
        const syi_stage last = syi_stage_copy(stage);
        if (k < count)
            ema_step(stage, s->terms, grid, s->tile[at + k], even);
        syi_bits_vec own = {0};
        if (k > 0 && k <= count)
            out[k - 1] = ema_round(&last, grid, error, kept ? &own : unsure);
        if (kept && k > 0 && k <= count) {
            kept->x[EMA_KEPT + at % EMA_BLOCK + k - 1] = s->tile[at + k - 1];
            kept->y[EMA_KEPT + at % EMA_BLOCK + k - 1] = out[k - 1];
            kept->unsure[at % EMA_BLOCK + k - 1] = syi_vec_which(own);
            *unsure |= own;
        }
    }
    ema_put(s, at, count, out);
}

/* What a block begins with is kept. */
SYI_INLINE void ema_begin(ema_slab *s, int64_t at)
{
    s->begun_pivot[at / EMA_BLOCK] = s->pivot;
    s->begun[at / EMA_BLOCK] = s->stage;
}

/* A block with outputs. */
SYI_INLINE void ema_write(ema_slab *s, int64_t at, int count, ema_kept *kept)
{
    const int whole = count / SYI_LINE * SYI_LINE;
    syi_bits_vec unsure = {0};
    int i = 0;
    ema_begin(s, at);
    const syi_stage_grid grid = ema_enter(s, at);
    const syi_vec noise = ema_noise(s, &grid), error = ema_error(s, &grid, noise);
    syi_stage stage = syi_stage_copy(&s->stage);
    for (int even = syi_stage_is_even(&grid); even && i < whole; i += SYI_LINE)
        ema_write_some(s, at + i, SYI_LINE, 1, &stage, &grid, error, &unsure, kept);
    for (; i < whole; i += SYI_LINE)
        ema_write_some(s, at + i, SYI_LINE, 0, &stage, &grid, error, &unsure, kept);
    if (whole < count)
        ema_write_some(s, at + whole, count - whole, 0, &stage, &grid, error, &unsure, kept);
    syi_stage_leave(&stage, s->terms, grid.shift, noise, (syi_vec){0}, count);
    s->stage = syi_stage_copy(&stage);
    s->unsure[at / EMA_BLOCK] = unsure;
}

/* The value before a lane, or behind the last one. */
SYI_INLINE double ema_before(const ema_slab *s, int lane)
{
    return lane ? s->x[lane * s->stride - 1] : s->before;
}

SYI_INLINE void ema_set(ema_slab *s, int lane, const syi_deviation *start)
{
    s->pivot[lane] = ema_before(s, lane);
    s->stage.high[lane] = start->value.high;
    s->stage.low[lane] = start->value.low;
    s->stage.error[lane] = start->error;
}

/* What a lane ended with, from its last value. */
SYI_INLINE syi_deviation ema_end(const ema_slab *s, int lane)
{
    const double last = s->x[lane * s->stride + s->length - 1];
    return syi_stage_deviation(&s->stage, lane, syi_dd_of_sum(s->pivot[lane], -last), 0.0);
}

/* start[0] is known; the others follow. Returns 0 when a value is out of range: a NaN, of which the
 * extremes may know nothing, is still in the state behind it. */
SYI_INLINE int ema_chain(ema_slab *s)
{
    const syi_deviation nothing = {{0.0, 0.0}, 0.0};
    syi_factor_dd left = syi_factor_power(s->factor, s->length);
    s->outside = (syi_bits_vec){0};
    for (int lane = 0; lane < EMA_LANES; lane++)
        ema_set(s, lane, &nothing);
    for (int64_t at = 0; at < s->length; at += EMA_BLOCK) {
        int64_t rest = s->length - at;
        int count = rest < EMA_BLOCK ? (int)rest : EMA_BLOCK;
        ema_read(s, at, count);
        ema_try(s, at, count);
    }
    for (int lane = 0; lane < EMA_LANES; lane++)
        s->start[lane + 1] = syi_deviation_carried(ema_end(s, lane), s->start[lane], &left);
    return !syi_vec_any(s->outside) && syi_is_finite(s->start[EMA_LANES].value.high);
}

/* Whether among zeros a lane may have been carried with loss, or is in doubt with nothing left. */
SYI_INLINE int ema_is_lossy(const ema_slab *s, int in_doubt)
{
    int lossy = 0;
    for (int lane = 1; lane <= EMA_LANES; lane++) {
        const double size = fabs(s->start[lane].value.high);
        lossy |= s->x[lane * s->stride - 1] == 0.0 && size < SYI_LOSSY && (in_doubt || size > 0.0);
    }
    return lossy;
}

/* Whether a written column is unsure. */
SYI_INLINE int ema_is_unsure(const ema_slab *s)
{
    syi_bits_vec unsure = {0};
    for (int64_t block = 0; block * EMA_BLOCK < s->length; block++)
        unsure |= s->unsure[block];
    return syi_vec_any(unsure);
}

#endif
#endif
