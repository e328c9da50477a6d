/*
 * A recurrence's unit in fast accuracy on a GPU: eight threads go through the blocks that it
 * touches, in each from the columns that run before it, as fast/walk.h does with a piece on the
 * CPU. A unit is as long as a block, so it touches two at most. The four units of a warp take their
 * steps together, since all threads take part in every exchange.
 */
#ifndef SYI_KERNELS_FAST_WALK_UNIT_H
#define SYI_KERNELS_FAST_WALK_UNIT_H

#include "cuda/forms.h"

#include "fast/chain.h"
#include "fast/reduce_unit.h"

enum { SYI_WALK_ARRAYS = 3, SYI_WALK_BLOCKS = 2 };

typedef struct syi_walk_unit {
    syi_unit unit;       /* of no columns when there is none for these threads */
    int64_t first, last; /* its columns in the row */
    int64_t seed, shown; /* as in syi_walk */
    int64_t dead;        /* the first that is not finite, of those this thread has seen */
    syi_chain_cut cut;
    const double *in[SYI_WALK_ARRAYS]; /* at the row's column 0 */
    double *out[SYI_WALK_ARRAYS];
} syi_walk_unit;

/* The way through one block: columns [from, end), of which those from `wanted` on are put out. */
typedef struct syi_pass {
    int64_t from, wanted, end;
    int64_t at;    /* this thread's pair of the step */
    int64_t steps; /* to go, of the longest in the warp */
    int seeded;    /* it begins with the row's seed */
} syi_pass;

/* 0 when the warp has no unit. */
SYI_DEVICE int syi_walk_of(const syi_launch *launch, int64_t seed, int64_t shown, syi_chain_cut cut,
                           int inputs, int outputs, syi_walk_unit *walk)
{
    const int64_t units = launch->rows * launch->units_per_row;
    int64_t index = SYI_BLOCK * SYI_WALK_UNITS_PER_BLOCK + SYI_THREAD / SYI_WIDTH;
    if (index - index % SYI_GROUPS >= units)
        return 0;
    walk->unit = syi_unit_of(launch, index < units ? index : units - 1);
    walk->unit.count = index < units ? walk->unit.count : 0;
    walk->first = launch->first + walk->unit.at;
    walk->last = walk->first + walk->unit.count;
    walk->seed = seed;
    walk->shown = shown;
    walk->dead = INT64_MAX;
    walk->cut = cut;
    for (int k = 0; k < inputs; k++)
        walk->in[k] = syi_unit_in(launch, &walk->unit, launch->in[k]) - walk->first;
    for (int k = 0; k < outputs; k++)
        walk->out[k] = syi_unit_out(launch, &walk->unit, launch->out[k]) - walk->first;
    return 1;
}

/* The way through the unit's first block, or the one behind it; no columns when there is none, or
 * something that is not finite has been met. */
SYI_DEVICE syi_pass syi_pass_of(syi_walk_unit *walk, int number)
{
    const int64_t begin = walk->first < walk->shown ? walk->shown : walk->first;
    const int64_t block = (begin / walk->cut.block + number) * walk->cut.block;
    int64_t end = block + walk->cut.block < walk->last ? block + walk->cut.block : walk->last;
    syi_pass pass = {.from = block - walk->cut.decay};
    walk->dead = syi_lanes_least(walk->dead);
    pass.seeded = pass.from <= walk->seed;
    if (pass.seeded)
        pass.from = walk->seed / SYI_STEP * SYI_STEP;
    pass.wanted = begin < block ? block : begin;
    if (walk->dead != INT64_MAX || pass.wanted >= end)
        pass.from = end = pass.seeded = 0;
    pass.end = end;
    pass.at = pass.from + 2 * SYI_LANE;
    return pass;
}

/* The pass begins behind the columns that are gathered, which become one of their own; both know
 * their steps then. */
SYI_DEVICE syi_pass syi_pass_cut(const syi_walk_unit *walk, syi_pass *pass)
{
    const int64_t gathered = pass->seeded || pass->end == pass->from ? 0 : walk->cut.gathered;
    const int64_t left = pass->end - pass->from - gathered;
    syi_pass before = *pass;
    before.end = before.from + gathered;
    before.steps = syi_warp_most(gathered / SYI_STEP);
    pass->at += gathered;
    pass->steps = syi_warp_most((left + SYI_STEP - 1) / SYI_STEP);
    return before;
}

/* A value of the row; what is not there, or not of this pass, is 0. */
SYI_DEVICE double syi_pass_value(const syi_pass *pass, const double *row, int64_t column)
{
    return column >= 0 && column < pass->end ? row[column] : 0.0;
}

SYI_DEVICE syi_pairs syi_pass_load(const syi_pass *pass, const double *row, int64_t at)
{
    return (syi_pairs){{syi_pass_value(pass, row, at)}, {syi_pass_value(pass, row, at + 1)}};
}

/* What SYI_BEFORE_1 needs in a pass's first step: the value before it. */
SYI_DEVICE double syi_pass_before(const syi_pass *pass, const double *row)
{
    return SYI_LANE == SYI_WIDTH - 1 ? syi_pass_value(pass, row, pass->at - SYI_STEP + 1) : 0.0;
}

SYI_DEVICE void syi_pass_next(syi_pass *pass)
{
    pass->at += SYI_STEP;
    pass->steps--;
}

/* This step's inputs; the next step's are on their way meanwhile. */
SYI_DEVICE syi_pairs syi_pass_take(const syi_pass *pass, const double *row, syi_pairs *ahead)
{
    syi_pairs now = *ahead;
    *ahead = syi_pass_load(pass, row, pass->at + SYI_STEP);
    return now;
}

/* The inputs x of a step of columns that are gathered. After the last one the states are those at
 * the block; those of a group that gathers nothing begin with nothing. */
SYI_DEVICE void syi_pass_gather(int chains, const syi_chain *chain, const syi_pass *pass,
                                syi_chain_gathered *past, const syi_pairs *x,
                                syi_chain_state *state)
{
    if (pass->steps > 2) {
        syi_chain_gather(chains, chain, past, x);
        return;
    }
    syi_chain_gather_last(chains, chain, past, x, state);
    if (pass->end == pass->from)
        for (int c = 0; c < chains; c++)
            syi_chain_start(&state[c]);
}

/* Nothing comes of a row whose seed is not finite. */
SYI_DEVICE void syi_pass_seed(const syi_pass *pass, double seed, syi_walk_unit *walk)
{
    if (pass->seeded && !syi_is_finite(seed))
        walk->dead = pass->from;
}

/* The step's inputs where the chain begins at `column`, with `value`. */
SYI_DEVICE void syi_pass_begin(const syi_pass *pass, int64_t column, double value, syi_pairs *x)
{
    if (!pass->seeded)
        return;
    if (pass->at <= column)
        x->even[0] = pass->at < column ? 0.0 : value;
    if (pass->at + 1 <= column)
        x->odd[0] = pass->at + 1 < column ? 0.0 : value;
}

/* Whether the inputs are finite. */
SYI_DEVICE void syi_pass_look(const syi_pass *pass, const syi_pairs *x, syi_walk_unit *walk)
{
    int64_t at = pass->at;
    at += syi_is_finite(x->even[0]) ? 1 + syi_is_finite(x->odd[0]) : 0;
    if (at < pass->at + 2 && at < pass->end && at < walk->dead)
        walk->dead = at;
}

SYI_DEVICE void syi_pass_put(const syi_pass *pass, const syi_pairs *y, double *row)
{
    if (pass->at >= pass->wanted && pass->at < pass->end)
        row[pass->at] = y->even[0];
    if (pass->at + 1 >= pass->wanted && pass->at + 1 < pass->end)
        row[pass->at + 1] = y->odd[0];
}

/* NaN to the columns [from, to) of the unit: each thread to its own ones, behind what it has put
 * there. */
SYI_DEVICE void syi_walk_blank(const syi_walk_unit *walk, int outputs, int64_t from, int64_t to)
{
    for (int64_t i = from / SYI_STEP * SYI_STEP + 2 * SYI_LANE; i < to; i += SYI_STEP)
        for (int k = 0; k < outputs; k++) {
            if (i >= from)
                walk->out[k][i] = syi_nan();
            if (i + 1 >= from && i + 1 < to)
                walk->out[k][i + 1] = syi_nan();
        }
}

/* After the last block: the columns without a value, and what the neighbours are told. */
SYI_DEVICE void syi_walk_end(const syi_launch *launch, syi_walk_unit *walk, int outputs)
{
    const int64_t first = walk->first, last = walk->last;
    syi_carry *links = launch->links + 2 * walk->unit.index;
    int64_t dead = syi_lanes_least(walk->dead);
    if (walk->unit.count == 0)
        return;
    walk->dead = dead < first ? first : dead;
    syi_walk_blank(walk, outputs, first, walk->shown < last ? walk->shown : last);
    syi_walk_blank(walk, outputs, walk->dead, last);
    if (SYI_LANE != 0)
        return;
    links[0] = syi_chain_carry(walk->dead == first);
    links[1] = syi_chain_carry(walk->dead != INT64_MAX);
    syi_unit_doubt(launch, &walk->unit, 0, 0);
}

/* What the threads of a warp's group hold, for all of the warp. */
SYI_DEVICE int64_t syi_group_number(int64_t number, int group)
{
    return (int64_t)syi_shuffle((uint64_t)number, group * SYI_WIDTH);
}

SYI_DEVICE const double *syi_group_pointer(const double *pointer, int group)
{
    return (const double *)(uintptr_t)syi_shuffle((uint64_t)(uintptr_t)pointer, group * SYI_WIDTH);
}

/* syi_fast_sum of each group's own values, by the whole warp in turn. */
SYI_DEVICE double syi_walk_sum(const double *x, int64_t count)
{
    double mine = 0.0;
#pragma unroll 1
    for (int group = 0; group < SYI_GROUPS; group++) {
        double sum =
            syi_fast_sum_warp(syi_group_pointer(x, group), NULL, 0, syi_group_number(count, group));
        mine = group == SYI_GROUP ? sum : mine;
    }
    return mine;
}

#endif
