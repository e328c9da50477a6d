/* Exponential moving averages in fast accuracy. Compiled for several instruction sets. */
#include "ema/ema.h"
#include "ema/fast.h"
#include "fast/reduce.h"
#include "fast/walk.h"
#include "isa.h"

typedef struct task {
    const sy_segment *segment;
    int64_t seed, started; /* columns of the row's seed, of the chain's beginning */
    double seed_value;
    syi_chain chain;
    syi_chain_room room;
} task;

SYI_INLINE void start(void *argument, int64_t at)
{
    task *t = argument;
    t->started = at;
    syi_chain_start(&t->chain);
    syi_room_start(&t->room);
    if (at == t->seed) { /* the mean of the columns up to it */
        const double *x = t->segment->in[0] - t->segment->first;
        t->seed_value = syi_fast_sum(x, NULL, 0, at + 1) / (double)(at + 1);
    }
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, double *const *out)
{
    task *t = argument;
    const double *x = t->segment->in[0] + (at - t->segment->first);
    const int64_t last = t->segment->first + t->segment->count;
    /* In place where no input is a seed or nothing, and nothing behind the end is touched. */
    int in_place = at - t->started > 3 && at + count + SYI_CHAIN_LAG <= last;
    if (!in_place) {
        double *chunk = syi_room_chunk(&t->room);
        memcpy(chunk, x, (size_t)count * sizeof *x);
        if (at == t->seed && at == t->started)
            chunk[0] = syi_chain_seed(&t->chain, t->seed_value);
        if (at - t->started > 3)
            memcpy(chunk - 3, x - 3, 3 * sizeof *x);
        x = chunk;
    }
    syi_chain_run(&t->chain, x, out[0], count);
    if (!in_place)
        syi_room_next(&t->room, count);
    for (int64_t i = 0; i < count; i++)
        out[0][i] += 0.0;
    return syi_chain_met(&t->chain, x, count);
}

sy_status SYI_ISA_NAME(syi_ema_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, run};
    syi_ema ema = syi_ema_of(piece->segment.params);
    syi_walk walk = {piece, ema.seeded - 1, ema.seeded - 1, syi_ema_cut(ema.period), 1};
    task t;
    t.segment = &piece->segment;
    t.seed = walk.seed;
    syi_chain_open(&t.chain, 2.0, ema.period + 1.0);
    syi_walk_run(&walk, &form, &t);
    return SY_OK;
}
