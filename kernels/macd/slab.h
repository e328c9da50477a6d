/*
 * A slab of a MACD: a stretch cut in lanes that are stepped together (recurrence/stage.h); for
 * short ones see macd/short.h, for long ones recurrence/long.h. The macd's high part is a multiple
 * of the same grid's unit, so the signal smooths it as if it were a price.
 */
#ifndef SYI_KERNELS_MACD_SLAB_H
#define SYI_KERNELS_MACD_SLAB_H

#include "macd/carry.h"
#include "macd/late.h"

#if SYI_HAVE_VECTORS

#define MACD_LANES SYI_VECTOR
/* The longest lane, in columns; as a stride no power of two. */
#define MACD_LENGTH (2304 / MACD_LANES)
/* Columns of a block: with more, a spike puts more of them in doubt. */
#define MACD_BLOCK 32
/* Columns of a part. Where a block has a spike, on whose grid little is left of what comes before
 * it, it goes by parts. */
#define MACD_PART  8
#define MACD_PARTS (MACD_LENGTH / MACD_PART)
#define MACD_LEAST (4 * MACD_LANES)
/* Columns of which a few differences tell, as a rule, that they do not lie on a line. */
#define MACD_FEW 6

enum { FAST, SLOW, SIGNAL, STAGES };

/* All lanes between two blocks. */
typedef struct macd_lanes {
    syi_vec pivot;
    syi_stage stage[STAGES];
} macd_lanes;

typedef struct macd_slab {
    const double *x; /* the slab's first column */
    double *y[3];
    int past;    /* its columns go past the cache, */
    int is_late; /* then some outputs behind others */
    macd_late late;
    double before;          /* the value before it */
    int64_t stride, length; /* from lane to lane; columns of each that are run */
    int64_t first;          /* of them, in their lane */
    int64_t columns_each;   /* of long lanes all that are run in the end */
    int are_rows;           /* the lanes, `stride` being a row's columns, */
    int asks;               /* for as many behind them */
    syi_stage_terms terms[STAGES], part_terms[STAGES];
    syi_macd_map map; /* of `mapped` columns */
    int64_t mapped;
    syi_vec tile[MACD_LENGTH];
    syi_bits_vec outside;  /* not 0: a value is out of range */
    syi_bits_vec straight; /* not 0: a block is, but not flat */
    macd_lanes lanes;
    /* Of the block or the part that begins with a part: */
    int columns[MACD_PARTS]; /* 0: none does */
    syi_vec least[MACD_PARTS], most[MACD_PARTS];
    macd_lanes begun[MACD_PARTS];
    syi_bits_vec unsure[MACD_PARTS];       /* of every part; not 0: a column is */
    syi_macd_triple start[MACD_LANES + 1]; /* of each lane */
    /* Of each long lane the columns at its beginning of which what is claimed says too little. */
    int64_t vague[MACD_LANES];
} macd_slab;

SYI_INLINE void macd_set_terms_of(syi_stage_terms *terms, const syi_macd *macd, int block)
{
    terms[FAST] = syi_stage_terms_of(macd->fast, 0.5, block);
    terms[SLOW] = syi_stage_terms_of(macd->slow, 0.5, block);
    terms[SIGNAL] =
        syi_stage_terms_of(macd->signal, terms[FAST].low_most + terms[SLOW].low_most, block);
}

SYI_INLINE void macd_set_terms(macd_slab *s, const syi_macd *macd)
{
    macd_set_terms_of(s->terms, macd, MACD_BLOCK);
    macd_set_terms_of(s->part_terms, macd, MACD_PART);
}

/* What becomes of errors in so many columns. The other terms are the same in both. */
SYI_INLINE const syi_stage_terms *macd_terms(const macd_slab *s, int count)
{
    return count > MACD_PART ? s->terms : s->part_terms;
}

/* The range of the values of a block or a part. */
SYI_INLINE void macd_look(macd_slab *s, int64_t at, int count)
{
    syi_vec least, most;
    syi_vec_extremes(s->tile + at, count, &least, &most);
    s->outside |= ~(syi_bits_vec)(syi_vec_max(syi_vec_abs(least), syi_vec_abs(most)) <= SYI_HUGE);
    s->least[at / MACD_PART] = least;
    s->most[at / MACD_PART] = most;
}

/* Not 0: a lane's `count` values do not lie on a line, or on a flat one. */
SYI_INLINE syi_bits_vec macd_bends(const syi_vec *x, int count)
{
    const syi_vec step = x[1] - x[0];
    syi_bits_vec bends = (syi_bits_vec)(step == 0.0);
    for (int i = 2; i < count; i++)
        bends |= (syi_bits_vec)(x[i] - x[i - 1]) ^ (syi_bits_vec)step;
    return bends;
}

/* Whether the values of a block lie on a line that is not flat, which a few of them deny as a rule.
 */
SYI_INLINE void macd_find_straight(macd_slab *s, int64_t at)
{
    const syi_vec *x = s->tile + at;
    if (syi_vec_any((syi_bits_vec)(macd_bends(x, MACD_FEW) == 0)))
        s->straight |= (syi_bits_vec)(macd_bends(x, MACD_BLOCK) == 0);
}

SYI_INLINE void macd_load(macd_slab *s, int64_t at, int count)
{
    syi_lanes_load(s->tile + at, s->x + at, s->stride, count);
    macd_look(s, at, count);
}

SYI_INLINE void macd_read(macd_slab *s, int64_t at, int count)
{
    macd_load(s, at, count);
    if (count == MACD_BLOCK)
        macd_find_straight(s, at);
}

/* Whether the block at the beginning has a value that is much larger than the least one. */
SYI_INLINE int macd_is_rough(const macd_slab *s)
{
    const syi_vec a = syi_vec_abs(s->least[0]), b = syi_vec_abs(s->most[0]);
    const syi_vec smaller = syi_vec_min(a, b);
    return syi_vec_any((syi_bits_vec)(smaller * 0x1p16 < syi_vec_max(a, b)) &
                       (syi_bits_vec)(smaller > 0));
}

SYI_INLINE syi_stage_grid macd_enter(macd_slab *s, int64_t at)
{
    macd_lanes *l = &s->lanes;
    syi_vec first = s->tile[at], by, rest;
    syi_vec least = s->least[at / MACD_PART], most = s->most[at / MACD_PART];
    syi_stage_grid grid;
    grid.pivot = (syi_vec)((syi_bits_vec)first & syi_stage_is_near(least, most));
    syi_vec_two_sum(grid.pivot, -l->pivot, &by, &rest);
    syi_stage_move(&l->stage[FAST], by, rest);
    syi_stage_move(&l->stage[SLOW], by, rest);
    syi_stage_move(&l->stage[SIGNAL], (syi_vec){0}, (syi_vec){0});
    syi_vec size = syi_vec_max(syi_vec_abs(least - grid.pivot), syi_vec_abs(most - grid.pivot));
    size = syi_vec_max(size, syi_vec_abs(l->stage[FAST].high));
    size = syi_vec_max(size, syi_vec_abs(l->stage[SLOW].high));
    size = syi_vec_max(size, syi_vec_abs(l->stage[SIGNAL].high * syi_vec_of(0.5)));
    syi_stage_choose(&grid, least, most, size, 2.0);
    for (int k = 0; k < STAGES; k++)
        syi_stage_enter(&l->stage[k], grid.shift);
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

/* The macd is high + low. */
typedef struct macd_pair {
    syi_vec high, low;
} macd_pair;

SYI_INLINE macd_pair macd_step(macd_run *r, const syi_stage_terms *terms,
                               const syi_stage_grid *grid, syi_vec x, int even)
{
    syi_vec low, high = syi_stage_high(grid, x, even, &low);
    syi_stage_step(&r->fast, &terms[FAST], high, low, even);
    syi_stage_step(&r->slow, &terms[SLOW], high, low, even);
    return (macd_pair){r->fast.high - r->slow.high, r->fast.low - r->slow.low};
}

SYI_INLINE macd_pair macd_smooth(macd_run *r, const syi_stage_terms *terms,
                                 const syi_stage_grid *grid, macd_pair macd)
{
    syi_stage_step(&r->signal, &terms[SIGNAL], macd.high + grid->shift, macd.low, 0);
    return (macd_pair){r->signal.high - grid->shift, r->signal.low};
}

/* What the macd of a block may be off by: the averages' errors, and the difference's rounding. */
SYI_INLINE syi_vec macd_error(const syi_stage_terms *terms, const macd_lanes *l,
                              const syi_stage_grid *grid)
{
    double noise = terms[FAST].noise + terms[SLOW].noise;
    noise += SYI_STAGE_LOSS * (terms[FAST].low_most + terms[SLOW].low_most);
    return l->stage[FAST].error + l->stage[SLOW].error + grid->unit * syi_vec_of(noise);
}

SYI_INLINE void macd_leave(macd_slab *s, const syi_stage_grid *grid, const macd_run *r,
                           syi_vec macd_error, int count)
{
    const syi_vec none = {0};
    syi_stage *stage = s->lanes.stage;
    stage[FAST] = syi_stage_copy(&r->fast);
    stage[SLOW] = syi_stage_copy(&r->slow);
    stage[SIGNAL] = syi_stage_copy(&r->signal);
    for (int k = 0; k < STAGES; k++)
        syi_stage_leave(&stage[k], &macd_terms(s, count)[k], grid->shift, grid->unit,
                        k == SIGNAL ? macd_error : none, count);
}

SYI_INLINE void macd_try_some(macd_run *run, const syi_stage_terms *terms,
                              const syi_stage_grid *grid, const syi_vec *tile, int count, int even)
{
    for (int i = 0; i < count; i++)
        macd_smooth(run, terms, grid, macd_step(run, terms, grid, tile[i], even));
}

/* A block without outputs. */
SYI_INLINE void macd_try(macd_slab *s, int64_t at, int count)
{
    syi_stage_grid grid = macd_enter(s, at);
    syi_vec error = macd_error(macd_terms(s, count), &s->lanes, &grid);
    macd_run run = macd_begin(&s->lanes);
    const syi_vec *tile = s->tile + at;
    if (syi_stage_is_even(&grid))
        macd_try_some(&run, s->terms, &grid, tile, count, 1);
    else
        macd_try_some(&run, s->terms, &grid, tile, count, 0);
    macd_leave(s, &grid, &run, error, count);
}

/* How far the outputs of a block may be off. */
typedef struct macd_errors {
    syi_vec macd, signal, histogram;
} macd_errors;

SYI_INLINE macd_errors macd_errors_of(const syi_stage_terms *terms, const syi_stage_grid *grid,
                                      syi_vec input, syi_vec signal)
{
    const syi_vec fine = syi_vec_of(SYI_FINE * (1.0 + 0x1p-40));
    /* Twice the lows' rounding, for what the test of the rounding loses. */
    double lost = terms[SIGNAL].noise + 2.0 * SYI_STAGE_LOSS * terms[SIGNAL].low_most;
    double test = SYI_STAGE_LOSS * (terms[FAST].low_most + terms[SLOW].low_most);
    macd_errors error = {.macd = (input + grid->unit * syi_vec_of(test)) * fine};
    error.signal = error.macd + (signal + grid->unit * syi_vec_of(lost)) * fine;
    error.histogram = error.macd + error.macd + error.signal;
    return error;
}

SYI_INLINE void macd_round(macd_pair macd, macd_pair signal, const macd_errors *error,
                           syi_bits_vec *unsure, syi_vec *macd_out, syi_vec *signal_out,
                           syi_vec *histogram_out)
{
    *macd_out = syi_vec_round(macd.high, macd.low, error->macd, unsure);
    *signal_out = syi_vec_round(signal.high, signal.low, error->signal, unsure);
    *histogram_out =
        syi_vec_round(macd.high - signal.high, macd.low - signal.low, error->histogram, unsure);
}

/* `count` columns of a block with outputs, at most a part; `late`: some of whole lines
 * wait. Of long lanes what lies far away is asked for a block before it is read. */
SYI_INLINE void macd_write_some(macd_slab *s, int64_t at, int count, int even, int late,
                                macd_run *run, const syi_stage_grid *grid, const macd_errors *error)
{
    syi_bits_vec unsure = {0};
    syi_vec out[3][SYI_LINE] = {{{0}}};
    macd_pair macd[SYI_LINE] = {{{0}, {0}}}, signal[SYI_LINE] = {{{0}, {0}}};
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_LINE; k++)
        if (k < count)
            macd[k] = macd_step(run, s->terms, grid, s->tile[at + k], even);
    /* What waits for a column's averages stands behind the next columns'. */
    SYI_UNROLL(10)
    for (int k = 0; k < SYI_LINE + 1; k++) {
        if (k < count)
            signal[k] = macd_smooth(run, s->terms, grid, macd[k]);
        if (k > 0 && k <= count)
            macd_round(macd[k - 1], signal[k - 1], error, &unsure, &out[0][k - 1], &out[1][k - 1],
                       &out[2][k - 1]);
    }
    if (late && count == SYI_LINE) {
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < SYI_LINE; i++)
                s->late.last[s->late.next].out[k][i] = out[k][i];
        macd_late_put(&s->late, s->y, at, s->stride);
    } else {
        SYI_UNROLL(3)
        for (int k = 0; k < 3; k++)
            syi_lanes_store(s->y[k] + at, s->stride, out[k], count, s->past);
    }
    for (int k = 0; k < 3 && s->are_rows; k++)
        syi_lanes_ask_to_write(s->y[k] + at, s->stride, 2 * SYI_LINE);
    if (s->asks)
        syi_lanes_ask_next(s->x + at, s->stride);
    if (s->past && s->length < s->stride)
        syi_lanes_ask(s->x + at, s->stride, MACD_BLOCK);
    s->unsure[at / MACD_PART] = unsure;
}

/* A block or a part with outputs. */
SYI_INLINE void macd_write(macd_slab *s, int64_t at, int count, int late)
{
    const int64_t block = at / MACD_PART;
    const int whole = count / SYI_LINE * SYI_LINE;
    for (int i = 0; i < count; i += MACD_PART)
        s->columns[(at + i) / MACD_PART] = i ? 0 : count;
    s->begun[block].pivot = s->lanes.pivot;
    for (int k = 0; k < STAGES; k++)
        s->begun[block].stage[k] = syi_stage_copy(&s->lanes.stage[k]);
    syi_stage_grid grid = macd_enter(s, at);
    macd_run run = macd_begin(&s->lanes);
    syi_vec input = macd_error(macd_terms(s, count), &s->lanes, &grid);
    macd_errors error = macd_errors_of(macd_terms(s, count), &grid, input, run.signal.error);
    int i = 0;
    for (int even = syi_stage_is_even(&grid); even && i < whole; i += SYI_LINE)
        macd_write_some(s, at + i, SYI_LINE, 1, late, &run, &grid, &error);
    for (; i < whole; i += SYI_LINE)
        macd_write_some(s, at + i, SYI_LINE, 0, late, &run, &grid, &error);
    if (whole < count)
        macd_write_some(s, at + whole, count - whole, 0, late, &run, &grid, &error);
    macd_leave(s, &grid, &run, input, count);
}

SYI_INLINE void macd_set(macd_slab *s, int lane, const syi_macd_triple *start)
{
    const syi_deviation *of[STAGES] = {&start->fast, &start->slow, &start->signal};
    macd_lanes *l = &s->lanes;
    l->pivot[lane] = lane ? s->x[lane * s->stride - 1] : s->before;
    for (int stage = 0; stage < STAGES; stage++) {
        l->stage[stage].high[lane] = of[stage]->value.high;
        l->stage[stage].low[lane] = of[stage]->value.low;
        l->stage[stage].error[lane] = of[stage]->error;
    }
}

/* What is held of a lane, the last value being x. */
SYI_INLINE syi_macd_triple macd_triple(const macd_lanes *l, int lane, double x)
{
    double pivot = l->pivot[lane];
    return (syi_macd_triple){syi_stage_deviation(&l->stage[FAST], lane, pivot, x),
                             syi_stage_deviation(&l->stage[SLOW], lane, pivot, x),
                             syi_stage_deviation(&l->stage[SIGNAL], lane, 0.0, 0.0)};
}

/* What a lane ended with. */
SYI_INLINE syi_macd_triple macd_end(const macd_slab *s, int lane)
{
    return macd_triple(&s->lanes, lane, s->x[lane * s->stride + s->length - 1]);
}

/* What has been written is there. */
SYI_INLINE void macd_close(macd_slab *s)
{
    if (s->is_late)
        macd_late_end(&s->late, s->stride);
}

#endif
#endif
