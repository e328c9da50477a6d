/*
 * A slab of a MACD: a stretch cut in lanes that are stepped together, block by block
 * (macd/block.h); for short ones see macd/short.h, for long ones recurrence/long.h.
 *
 * Where prices lie nearly on a line the histogram is far smaller than they are. There the averages
 * are of d, the steps from price to price, if these are doubles. With w = 1 - p the average of w d,
 * of period p, is off from w d by 2 g, with the g of macd/step.h. So two of them differ by twice
 * the macd, and what the line itself adds to that is a multiple of the pivot.
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
    double before;          /* the value before it, */
    double step_before;     /* and how far that is from the one before that, of steps */
    int64_t stride, length; /* from lane to lane; columns of each that are run */
    int64_t first;          /* of them, in their lane */
    int64_t columns_each;   /* of long lanes all that are run in the end */
    int are_rows;           /* the lanes, `stride` being a row's columns, */
    int asks;               /* for as many behind them */
    int of_steps, may_step; /* the averages are, or may be if that is better */
    int is_long;            /* they are of so many columns that lows are told from what they are */
    /* What steps are averaged times; of the signal what a pivot of 1 adds to it. A grid is chosen
     * for numbers as large as the steps, or as that share of a stage, with room for so many. */
    double weight[STAGES], share[STAGES], room;
    syi_vec last; /* the price before the steps that are taken next */
    syi_stage_terms terms[STAGES], part_terms[STAGES];
    syi_macd_map map; /* of `mapped` columns */
    int64_t mapped;
    syi_vec tile[MACD_LENGTH];
    syi_bits_vec outside; /* not 0: a value is out of range */
    macd_lanes lanes;
    /* Of the block or the part that begins with a part: */
    int columns[MACD_PARTS]; /* 0: none does */
    syi_vec least[MACD_PARTS], most[MACD_PARTS];
    macd_lanes begun[MACD_PARTS];
    syi_bits_vec unsure[MACD_PARTS];       /* of every part; not 0: a column is */
    syi_macd_triple start[MACD_LANES + 1]; /* of each lane */
    /* Of each long lane the columns at its beginning of which what is claimed says too little. */
    int64_t vague[MACD_LANES];
    int may_be_vague;
    int is_apart; /* the signal of the block at hand is on a grid of its own, a coarser one */
    syi_stage_grid coarse;
} macd_slab;

SYI_INLINE void macd_set_terms_of(syi_stage_terms *terms, const syi_macd *macd,
                                  const double *weight, int block)
{
    terms[FAST] = syi_stage_terms_of(macd->fast, 0.5 * fabs(weight[FAST]), block);
    terms[SLOW] = syi_stage_terms_of(macd->slow, 0.5 * fabs(weight[SLOW]), block);
    terms[SIGNAL] =
        syi_stage_terms_of(macd->signal, terms[FAST].low_most + terms[SLOW].low_most, block);
}

/* A shorter average's lows are about as large as they can be. */
#define MACD_LONG 100.0

SYI_INLINE void macd_set_terms(macd_slab *s, const syi_macd *macd, int of_steps)
{
    const double weight[STAGES] = {of_steps ? 1.0 - macd->fast : 1.0,
                                   of_steps ? 1.0 - macd->slow : 1.0,
                                   of_steps ? macd->slow - macd->fast : 0.0};
    const double sizes = fabs(weight[FAST]) + fabs(weight[SLOW]);
    s->of_steps = of_steps;
    s->is_long = !of_steps && macd->slow > MACD_LONG;
    for (s->room = 2.0; s->room < sizes;)
        s->room *= 2.0;
    for (int k = 0; k < STAGES; k++) {
        s->weight[k] = weight[k];
        s->share[k] = k == SIGNAL ? 1.0 / s->room : weight[k] != 0.0 ? 1.0 / fabs(weight[k]) : 0.0;
    }
    macd_set_terms_of(s->terms, macd, weight, MACD_BLOCK);
    macd_set_terms_of(s->part_terms, macd, weight, MACD_PART);
}

/* What becomes of errors in so many columns. The other terms are the same in both. */
SYI_INLINE const syi_stage_terms *macd_terms(const macd_slab *s, int count)
{
    return count > MACD_PART ? s->terms : s->part_terms;
}

/* Columns of the block at `at`, of so many in a lane. */
SYI_INLINE int macd_block_columns(int64_t at, int64_t columns)
{
    return columns - at < MACD_BLOCK ? (int)(columns - at) : MACD_BLOCK;
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

/* The price before a lane's column. */
SYI_INLINE double macd_price_before(const macd_slab *s, int lane, int64_t at)
{
    const int64_t column = lane * s->stride + at;
    return column > 0 ? s->x[column - 1] : s->before;
}

/* What the averages are of there. */
SYI_INLINE double macd_input_before(const macd_slab *s, int lane, int64_t at)
{
    const double price = macd_price_before(s, lane, at);
    if (!s->of_steps)
        return price;
    return lane + at > 0 ? price - macd_price_before(s, lane, at - 1) : s->step_before;
}

SYI_INLINE syi_vec macd_prices_before(const macd_slab *s)
{
    syi_vec before = {0};
    for (int lane = 0; lane < MACD_LANES; lane++)
        before[lane] = macd_price_before(s, lane, 0);
    return before;
}

/* Makes steps of prices. One that is no double is out of range. */
SYI_INLINE void macd_take_steps(macd_slab *s, int64_t at, int count)
{
    syi_vec before = at > 0 ? s->last : macd_prices_before(s), lost = {0};
    for (int64_t i = at; i < at + count; i++) {
        const syi_vec x = s->tile[i];
        syi_vec rest;
        syi_vec_two_sum(x, -before, &s->tile[i], &rest);
        lost = syi_vec_max(lost, syi_vec_abs(rest));
        before = x;
    }
    s->last = before;
    s->outside |= (syi_bits_vec)(lost != 0.0);
}

SYI_INLINE void macd_load(macd_slab *s, int64_t at, int count)
{
    syi_lanes_load(s->tile + at, s->x + at, s->stride, count);
    if (s->of_steps)
        macd_take_steps(s, at, count);
    macd_look(s, at, count);
}

/* Whether the block at the beginning has a value that is much larger than the least one. */
SYI_INLINE int macd_is_rough(const macd_slab *s)
{
    const syi_vec a = syi_vec_abs(s->least[0]), b = syi_vec_abs(s->most[0]);
    const syi_vec smaller = syi_vec_min(a, b);
    return syi_vec_any((syi_bits_vec)(smaller * 0x1p16 < syi_vec_max(a, b)) &
                       (syi_bits_vec)(smaller > 0));
}

SYI_INLINE void macd_set(macd_slab *s, int lane, const syi_macd_triple *start)
{
    const syi_deviation *of[STAGES] = {&start->fast, &start->slow, &start->signal};
    macd_lanes *l = &s->lanes;
    l->pivot[lane] = macd_input_before(s, lane, 0);
    for (int stage = 0; stage < STAGES; stage++) {
        l->stage[stage].high[lane] = of[stage]->value.high;
        l->stage[stage].low[lane] = of[stage]->value.low;
        l->stage[stage].error[lane] = of[stage]->error;
    }
}

SYI_INLINE syi_deviation macd_deviation(const macd_slab *s, const macd_lanes *l, int k, int lane,
                                        double x)
{
    const syi_dd pivot = syi_dd_scale(syi_dd_of_sum(l->pivot[lane], -x), s->weight[k]);
    return syi_stage_deviation(&l->stage[k], lane, pivot, SYI_DD_ERROR * fabs(pivot.high));
}

/* What is held of a lane, the last of what is averaged being x. */
SYI_INLINE syi_macd_triple macd_triple(const macd_slab *s, const macd_lanes *l, int lane, double x)
{
    return (syi_macd_triple){macd_deviation(s, l, FAST, lane, x),
                             macd_deviation(s, l, SLOW, lane, x),
                             macd_deviation(s, l, SIGNAL, lane, x)};
}

/* What a lane ended with. */
SYI_INLINE syi_macd_triple macd_end(const macd_slab *s, int lane)
{
    return macd_triple(s, &s->lanes, lane, macd_input_before(s, lane, s->length));
}

/* The state before a lane's column. */
SYI_INLINE void macd_state_set(const macd_slab *s, const syi_macd_terms *k, syi_macd_state *state,
                               const syi_macd_triple *t, int lane, int64_t at)
{
    const int64_t column = lane * s->stride + at;
    const double x = macd_price_before(s, lane, at);
    if (s->of_steps)
        syi_macd_state_of_steps(state, t, x, macd_input_before(s, lane, at));
    else
        syi_macd_state_set(k, state, t, column > 1 ? s->x[column - 2] : x, x);
}

/* What has been written is there. */
SYI_INLINE void macd_close(macd_slab *s)
{
    if (s->is_late)
        macd_late_end(&s->late, s->stride);
}

#endif
#endif
