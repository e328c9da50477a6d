/*
 * How a piece of a recurrence in fast accuracy goes through its blocks: for each of them the
 * columns that run before it, then its own, in whole steps at fixed columns, until something that
 * is not finite is met. What the steps do is the workload's `form`, a constant, so that its calls
 * are inlined.
 */
#ifndef SYI_KERNELS_FAST_WALK_H
#define SYI_KERNELS_FAST_WALK_H

#include "fast/walk_rows.h"

typedef struct syi_walk_form {
    /* From nothing at column `at` of the row, which begins a step; `seeded`: from the row's seed,
     * in that step, which is then run alone. */
    void (*start)(void *task, int64_t at, int seeded);
    /* After that, unseeded: over the next columns before a block that are gathered, `past` what
     * they leave, until their `end`. */
    void (*gather)(void *task, syi_chain_gathered *past, int64_t count, const double *const *in,
                   int end);
    /* The first of `count` columns from column `at` on, over which something has been gathered,
     * whose inputs are not finite; `count` when all are, or what came to be is. */
    int64_t (*met)(void *task, int64_t at, int64_t count, const double *const *in);
    /* Whether what came to be is not finite. */
    int (*is_dead)(const void *task);
    /* The next `count` columns, whole steps, from column `at` of the row on: in[k][-1 .. count) to
     * out[k], `past` the cache or not; meanwhile those `ahead` are asked for. Gives the first of
     * them whose inputs are not finite, `count` when all are. */
    int64_t (*run)(void *task, int64_t at, int64_t count, const double *const *in,
                   syi_distance ahead, syi_results *out, int past);
} syi_walk_form;

/* The task of a form with one chain. */
typedef struct syi_walk_one {
    const syi_walk_rows *rows;
    int64_t seed; /* the column of the row's seed */
    int seeding;  /* it is in the next step */
    syi_chain chain;
    syi_chain_state state;
} syi_walk_one;

SYI_INLINE void syi_walk_one_start(void *task, int64_t at, int seeded)
{
    syi_walk_one *one = task;
    (void)at;
    one->seeding = seeded;
    syi_chain_start(&one->state);
}

/* What makes a step's inputs of the columns from in[..][i] on. */
typedef void (*syi_walk_take)(const double *const *in, int64_t i, syi_pairs *x);

/* A step under way. */
typedef struct syi_walk_step {
    syi_pairs x;
    syi_chain_sums sums;
} syi_walk_step;

/* Begins one with the inputs x. */
SYI_INLINE void syi_walk_open(const syi_chain *chain, syi_chain_state *state, const syi_pairs *x,
                              syi_walk_step *step)
{
    step->x = *x;
    syi_chain_sum_near(1, chain, state, &x, &step->sums);
}

/* Puts the averages of one whose sums have come as far as the odd columns' z. */
SYI_INLINE void syi_walk_put(const syi_chain *chain, const syi_walk_step *step, syi_results *y,
                             int past)
{
    const syi_pairs *const x = &step->x;
    syi_pairs z;
    syi_chain_sum_even(1, chain, &step->sums, &x, &z);
    syi_pairs_scale(&z, chain->a);
    syi_results_put_pairs(y, &z, past);
}

/* The averages of a step. */
SYI_INLINE void syi_chain_put(const syi_chain *chain, syi_chain_state *state, const syi_pairs *x,
                              syi_results *y, int past)
{
    syi_walk_step step;
    syi_walk_open(chain, state, x, &step);
    syi_chain_sum_far(1, chain, state, &step.sums);
    syi_walk_put(chain, &step, y, past);
}

/* The averages of columns [i, count), whole steps, three of which are under way. */
SYI_INLINE void syi_walk_one_run(syi_walk_one *one, int inputs, syi_walk_take take,
                                 const double *const *in, int64_t i, int64_t count,
                                 syi_distance ahead, syi_results *out, int past)
{
    const syi_chain chain = one->chain;
    syi_chain_state state = one->state;
    const syi_distance near = {ahead.near, 0};
    syi_results y = *out;
    syi_walk_step last, next;
    syi_pairs x;
    if (i == count)
        return;
    take(in, i, &x);
    if (i + SYI_STEP == count) {
        syi_chain_put(&chain, &state, &x, &y, past);
    } else {
        syi_walk_open(&chain, &state, &x, &last);
        syi_chain_sum_far(1, &chain, &state, &last.sums);
        take(in, i + SYI_STEP, &x);
        syi_walk_open(&chain, &state, &x, &next);
        for (i += 2 * SYI_STEP; i < count; i += SYI_STEP) {
            for (int k = 0; k < inputs; k++)
                syi_ask_at(in[k] + i, inputs > 1 ? near : ahead, SYI_STEP);
            syi_walk_put(&chain, &last, &y, past);
            last = next;
            syi_chain_sum_far(1, &chain, &state, &last.sums);
            take(in, i, &x);
            syi_walk_open(&chain, &state, &x, &next);
        }
        syi_walk_put(&chain, &last, &y, past);
        syi_chain_sum_far(1, &chain, &state, &next.sums);
        syi_walk_put(&chain, &next, &y, past);
    }
    one->state = state;
    *out = y;
}

/* Whether the chain has met something that is not finite. */
SYI_INLINE int syi_chain_is_dead(const syi_chain_state *state)
{
    syi_vector strange = {0};
    for (int k = 0; k < SYI_PARTS; k++)
        strange += state->z[k] - state->z[k];
    return syi_any(&strange);
}

/* The first of the inputs x that is not finite, if the chain has met one; else `count`. */
SYI_INLINE int64_t syi_chain_met(const syi_chain_state *state, const double *x, int64_t count)
{
    int64_t i = 0;
    if (!syi_chain_is_dead(state))
        return count;
    while (i < count && syi_is_finite(x[i]))
        i++;
    return i;
}

/* Makes a step's inputs those of a chain that begins at the one with number `index`, with `value`.
 */
SYI_INLINE void syi_chain_begin(syi_pairs *x, int64_t index, double value)
{
    static const double columns[SYI_STEP] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const syi_vector begin = (syi_vector){0} + (double)index, first = (syi_vector){0} + value;
    syi_pairs at;
    syi_pairs_load(&at, columns);
    for (int k = 0; k < SYI_PARTS; k++) {
        syi_vector_mask even = at.even[k] == begin, odd = at.odd[k] == begin;
        x->even[k] = (syi_vector)(((syi_vector_mask)first & even) |
                                  ((syi_vector_mask)x->even[k] & (at.even[k] > begin)));
        x->odd[k] = (syi_vector)(((syi_vector_mask)first & odd) |
                                 ((syi_vector_mask)x->odd[k] & (at.odd[k] > begin)));
    }
}

/* Adds `count` columns to those gathered, two steps at least of which are the last ones at the
 * `end`: then the chains' states are those behind them. `take` gives the chains' inputs of the step
 * from column i on. */
SYI_INLINE void syi_walk_gather(int chains, const syi_chain *chain, syi_chain_state *state,
                                syi_walk_take take, syi_chain_gathered *past, int64_t count,
                                const double *const *in, int end)
{
    syi_chain_gathered sums = *past;
    syi_pairs x[SYI_CHAINS];
    int64_t i = 0;
    for (; i < count - (end ? 2 * SYI_STEP : 0); i += SYI_STEP) {
        take(in, i, x);
        syi_chain_gather(chains, chain, &sums, x);
    }
    for (; i < count; i += SYI_STEP) {
        take(in, i, x);
        syi_chain_gather_last(chains, chain, &sums, x, state);
    }
    *past = sums;
}

/* Floats are asked for so many columns before they are widened: while the chain runs. */
enum { SYI_WALK_AHEAD = 4096 };

/* At most SYI_CHUNK columns by way of a room, of which only [wanted, to) go to the outputs. Of one
 * step those that are not in memory are zeros. */
SYI_INLINE int64_t syi_walk_by_room(const syi_walk *walk, const syi_walk_form *form, void *task,
                                    int64_t at, int64_t count, int64_t wanted, int64_t to)
{
    const syi_piece *piece = &walk->rows->piece;
    const int64_t last = piece->segment.first + syi_known(piece), behind = at + count;
    const int64_t end = behind < last ? behind : last;
    const int64_t ahead = piece->past_cache ? syi_ahead(last, end, SYI_WALK_AHEAD) : 0;
    const int64_t from = at < wanted ? wanted : at, until = behind < to ? behind : to;
    double in_room[SYI_WALK_ARRAYS][SYI_WALK_ROOM(SYI_CHUNK)];
    double out_room[SYI_WALK_ARRAYS][SYI_CHUNK];
    const double *in[SYI_WALK_ARRAYS];
    syi_results out[SYI_WALK_ARRAYS];
    int64_t reached;
    for (int k = 0; k < walk->inputs; k++) {
        double *const room = in_room[k] + SYI_LINE;
        in[k] = syi_walk_columns(walk->rows, k, at, end - at, ahead, in_room[k]);
        if (at > 0 && end == behind)
            continue;
        if (in[k] != room)
            memcpy(room, in[k], (size_t)(end - at) * sizeof *room);
        room[-1] = at > 0 ? in[k][-1] : 0.0;
        memset(room + (end - at), 0, (size_t)(behind - end) * sizeof *room);
        in[k] = room;
    }
    for (int k = 0; k < walk->outputs; k++)
        out[k] = syi_results_at(out_room[k], 0);
    reached = form->run(task, at, count, in, (syi_distance){0, 0}, out, 0);
    for (int k = 0; k < walk->outputs && from < until; k++)
        syi_walk_write(walk->rows, k, from, until - from, out_room[k] + (from - at),
                       piece->past_cache);
    return reached;
}

/* Where results go on, from block to block: what has gone past the cache is not to be read again,
 * which would wait for the memory. */
typedef struct syi_walk_out {
    syi_results next[SYI_WALK_ARRAYS];
    int open;
} syi_walk_out;

SYI_INLINE syi_results syi_walk_next(const syi_walk *walk, const syi_walk_out *out, int k,
                                     int64_t index)
{
    return out->open ? out->next[k]
                     : syi_results_at(walk->rows->piece.segment.out[k] + index,
                                      walk->rows->piece.past_cache);
}

SYI_INLINE void syi_walk_close(const syi_walk *walk, syi_walk_out *out)
{
    for (int k = 0; k < walk->outputs && out->open; k++)
        syi_results_end(&out->next[k]);
    out->open = 0;
}

/* Columns [from, to), of which those from `wanted` on go to the outputs; the first that is not
 * finite, or `to`. The last step may end in the next row, which is written later. */
SYI_INLINE int64_t syi_walk_stretch(const syi_walk *walk, const syi_walk_form *form, void *task,
                                    int64_t from, int64_t wanted, int64_t to, syi_walk_out *kept)
{
    const sy_segment *segment = &walk->rows->piece.segment;
    const int past = walk->rows->piece.past_cache, floats = walk->rows->floats;
    const int far = syi_asks_far(&walk->rows->piece, walk->inputs + walk->outputs);
    const int may_end_there = !past && !walk->rows->done && walk->rows->left >= SYI_STEP;
    const int64_t spare = may_end_there && !floats ? SYI_STEP - 1 : 0;
    const double *in[SYI_WALK_ARRAYS];
    syi_results out[SYI_WALK_ARRAYS];
    int64_t at, count, reached = 0;
    int writing = 0;
    for (at = from; at < to; at += count) {
        const int64_t index = at - segment->first;
        const int64_t left = at < wanted ? wanted - at : to - at + spare;
        const int is_step =
            left < SYI_STEP || (at == 0 && !walk->rows->is_inner) || (past && index < SYI_WIDTH);
        count = is_step ? SYI_STEP : left / SYI_STEP * SYI_STEP;
        if (is_step || floats || at < wanted) {
            count = count < SYI_CHUNK ? count : SYI_CHUNK;
            reached = syi_walk_by_room(walk, form, task, at, count, wanted, to);
        } else {
            const syi_distance ahead =
                syi_distance_of(far, syi_known(&walk->rows->piece), index + count);
            for (int k = 0; k < walk->inputs; k++)
                in[k] = segment->in[k] + index;
            for (int k = 0; k < walk->outputs && !writing; k++)
                out[k] = syi_walk_next(walk, kept, k, index);
            writing = 1;
            reached = past ? form->run(task, at, count, in, ahead, out, 1)
                           : form->run(task, at, count, in, ahead, out, 0);
        }
        if (reached < count)
            break;
    }
    for (int k = 0; k < walk->outputs && writing; k++)
        kept->next[k] = out[k];
    kept->open |= writing;
    return at < to && at + reached < to ? at + reached : to;
}

/* Columns at a time of `left` that are gathered, `most` at most: two steps are left, or nothing. */
SYI_INLINE int64_t syi_walk_some(int64_t left, int64_t most)
{
    return left <= most ? left : left < most + 2 * SYI_STEP ? most - 2 * SYI_STEP : most;
}

/* The columns that are gathered, from `from` on; the first that is not finite, or the end. */
SYI_INLINE int64_t syi_walk_run_in(const syi_walk *walk, const syi_walk_form *form, void *task,
                                   int64_t from)
{
    const int64_t end = from + walk->cut.gathered;
    const int64_t most = walk->rows->floats ? SYI_CHUNK : walk->cut.gathered;
    double room[SYI_WALK_ARRAYS][SYI_WALK_ROOM(SYI_CHUNK)];
    const double *in[SYI_WALK_ARRAYS];
    syi_chain_gathered past;
    int64_t count = 0, met;
    syi_chain_gather_start(SYI_CHAINS, &past);
    for (int64_t at = from; at < end; at += count) {
        count = syi_walk_some(end - at, most);
        for (int k = 0; k < walk->inputs; k++)
            in[k] = syi_walk_columns(walk->rows, k, at, count, 0, room[k]);
        form->gather(task, &past, count, in, at + count == end);
    }
    met = form->met(task, end - count, count, in);
    if (met == count && !form->is_dead(task))
        return end;
    for (int64_t at = from; at < end; at += count) {
        count = syi_walk_some(end - at, most);
        for (int k = 0; k < walk->inputs; k++)
            in[k] = syi_walk_columns(walk->rows, k, at, count, 0, room[k]);
        met = form->met(task, at, count, in);
        if (met < count)
            return at + met;
    }
    return end;
}

/* The whole piece, of one row. */
SYI_INLINE void syi_walk_run(const syi_walk *walk, const syi_walk_form *form, void *task)
{
    const syi_piece *piece = &walk->rows->piece;
    const int64_t first = piece->segment.first, last = first + piece->segment.count;
    int64_t column = first < walk->shown ? walk->shown : first; /* the next one to be written */
    const int64_t shown = column < last ? column : last;
    int64_t block = column / walk->cut.block * walk->cut.block, dead = INT64_MAX;
    syi_walk_out out = {.open = 0};
    if (piece->start && piece->start->word[1] != 0.0)
        dead = first;
    for (; column < last && dead == INT64_MAX; block += walk->cut.block) {
        int64_t end = block + walk->cut.block < last ? block + walk->cut.block : last;
        int64_t from = block - walk->cut.decay, reached;
        int seeded = from <= walk->seed;
        from = seeded ? walk->seed / SYI_STEP * SYI_STEP : from;
        form->start(task, from, seeded);
        int64_t begun = seeded ? from : from + walk->cut.gathered;
        reached = seeded ? from : syi_walk_run_in(walk, form, task, from);
        if (reached == begun) {
            /* Nothing is before a row's seed, so it may be written, but past the cache. */
            const int is_plain = seeded && from >= first && !piece->past_cache;
            reached =
                syi_walk_stretch(walk, form, task, begun, is_plain ? from : column, end, &out);
        }
        if (reached < end) {
            syi_walk_close(walk, &out);
            dead = reached < first ? first : reached;
            syi_walk_blank(walk, dead < column ? column : dead, last);
        }
        column = end;
    }
    syi_walk_close(walk, &out);
    syi_walk_blank(walk, first, shown);
    if (dead == first)
        syi_walk_blank(walk, first, last);
    if (piece->assumed)
        *piece->assumed = syi_chain_carry(dead == first);
    if (piece->end)
        *piece->end = syi_chain_carry(dead != INT64_MAX);
}

#endif
