/*
 * How a piece of a recurrence in fast accuracy goes through its blocks: for each of them the
 * columns that run before it, then its own, chunk by chunk, until something that is not finite is
 * met. What a chunk does is the workload's `form`, a constant, so that its calls are inlined.
 */
#ifndef SYI_KERNELS_FAST_WALK_H
#define SYI_KERNELS_FAST_WALK_H

#include "fast/chain.h"

/* The inputs of a chunk, with the last ones before it. */
typedef struct syi_chain_room {
    double values[SYI_CHAIN_LAG + SYI_CHAIN_CHUNK + SYI_CHAIN_LAG];
} syi_chain_room;

SYI_INLINE double *syi_room_chunk(syi_chain_room *room)
{
    return room->values + SYI_CHAIN_LAG;
}

SYI_INLINE void syi_room_start(syi_chain_room *room)
{
    memset(room->values, 0, SYI_CHAIN_LAG * sizeof *room->values);
}

/* After a chunk of `count`: its last values come before the next one. */
SYI_INLINE void syi_room_next(syi_chain_room *room, int64_t count)
{
    memmove(room->values, room->values + count, SYI_CHAIN_LAG * sizeof *room->values);
}

/* The first of the inputs that is not finite, if the chain has met one; else `count`. */
SYI_INLINE int64_t syi_chain_met(const syi_chain *chain, const double *x, int64_t count)
{
    double strange = 0.0;
    for (int k = 0; k < SYI_CHAIN_LAG; k++)
        strange += chain->y[k] - chain->y[k];
    for (int64_t i = 0; strange != 0.0 && i < count; i++)
        if (!syi_is_finite(x[i]))
            return i;
    return count;
}

typedef struct syi_walk {
    const syi_piece *piece;
    int64_t seed; /* the column where the chains begin; the outputs begin at `shown` */
    int64_t shown;
    syi_chain_cut cut;
    int outputs;
} syi_walk;

typedef struct syi_walk_form {
    /* From nothing, at column `at` of the row; the row's seed where at is walk->seed. */
    void (*start)(void *task, int64_t at);
    /* The next columns [at, at + count) of the row, to out[k][0 ..]. Gives the first of them whose
     * inputs are not finite, `count` when all are. */
    int64_t (*run)(void *task, int64_t at, int64_t count, double *const *out);
} syi_walk_form;

/* Columns [from, to), of which those from `wanted` on go to the outputs; the first that is not
 * finite, or `to`. */
SYI_INLINE int64_t syi_walk_stretch(const syi_walk *walk, const syi_walk_form *form, void *task,
                                    int64_t from, int64_t wanted, int64_t to)
{
    const sy_segment *segment = &walk->piece->segment;
    double nowhere[3][SYI_CHAIN_CHUNK], *out[3];
    int64_t at, count;
    for (at = from; at < to; at += count) {
        int64_t reached, index = at - segment->first;
        count = to - at < SYI_CHAIN_CHUNK ? to - at : SYI_CHAIN_CHUNK;
        if (at < walk->shown && at + count > walk->shown)
            count = walk->shown - at;
        if (at < wanted && at + count > wanted)
            count = wanted - at;
        for (int k = 0; k < walk->outputs; k++)
            out[k] = at >= wanted ? segment->out[k] + index : nowhere[k];
        reached = form->run(task, at, count, out);
        if (reached < count)
            return at + reached;
    }
    return to;
}

SYI_INLINE void syi_walk_blank(const syi_walk *walk, int64_t from, int64_t to)
{
    const sy_segment *segment = &walk->piece->segment;
    for (int k = 0; k < walk->outputs && from < to; k++)
        syi_fast_blank(segment->out[k] + (from - segment->first), to - from);
}

/* The whole piece. */
SYI_INLINE void syi_walk_run(const syi_walk *walk, const syi_walk_form *form, void *task)
{
    const syi_piece *piece = walk->piece;
    const int64_t first = piece->segment.first, last = first + piece->segment.count;
    int64_t column = first < walk->shown ? walk->shown : first; /* the next one to be written */
    int64_t block = column / walk->cut.block * walk->cut.block, dead = INT64_MAX;
    if (piece->start && piece->start->word[1] != 0.0)
        dead = first;
    syi_walk_blank(walk, first, column < last ? column : last);
    for (; column < last && dead == INT64_MAX; block += walk->cut.block) {
        int64_t end = block + walk->cut.block < last ? block + walk->cut.block : last;
        int64_t from = block - walk->cut.decay, reached;
        from = from < walk->seed ? walk->seed : from;
        form->start(task, from);
        reached = syi_walk_stretch(walk, form, task, from, column, end);
        if (reached < end) {
            dead = reached < first ? first : reached;
            syi_walk_blank(walk, dead < column ? column : dead, last);
        }
        column = end;
    }
    if (dead == first)
        syi_walk_blank(walk, first, last);
    if (piece->assumed)
        *piece->assumed = syi_chain_carry(dead == first);
    if (piece->end)
        *piece->end = syi_chain_carry(dead != INT64_MAX);
}

#endif
