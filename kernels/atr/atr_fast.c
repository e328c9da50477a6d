/* The average true range in fast accuracy. Compiled for several instruction sets. */
#include "atr/fast.h"
#include "fast/reduce.h"
#include "fast/walk.h"
#include "isa.h"

typedef struct task {
    const sy_segment *segment;
    int64_t seed, started;
    syi_chain chain;
    syi_chain_room room;
} task;

SYI_INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The true ranges of columns [at, at + count), NaN or infinite where something in one is not
 * finite, the close of its own column included. */
SYI_INLINE void ranges(const sy_segment *segment, int64_t at, int64_t count, double *restrict to)
{
    const double *restrict high = segment->in[0] + (at - segment->first);
    const double *restrict low = segment->in[1] + (at - segment->first);
    const double *restrict close = segment->in[2] + (at - segment->first);
    for (int64_t i = 0; i < count; i++) {
        double up = fabs(high[i] - close[i - 1]), down = fabs(low[i] - close[i - 1]);
        double range = high[i] - low[i];
        double strange = (up + down) * 0.0 + close[i] * 0.0;
        to[i] = larger(range, larger(up, down)) + strange;
    }
}

SYI_INLINE void start(void *argument, int64_t at)
{
    task *t = argument;
    t->started = at;
    syi_chain_start(&t->chain);
    syi_room_start(&t->room);
}

/* The mean of the ranges of columns 1 .. seed; of column 0 the close alone counts. */
static double seed_value(const task *t)
{
    double sum = t->segment->in[2][-t->segment->first] * 0.0, range[SYI_CHAIN_CHUNK];
    for (int64_t at = 1; at <= t->seed; at += SYI_CHAIN_CHUNK) {
        int64_t left = t->seed + 1 - at, count = left < SYI_CHAIN_CHUNK ? left : SYI_CHAIN_CHUNK;
        ranges(t->segment, at, count, range);
        sum += syi_fast_sum(range, NULL, 0, count);
    }
    return sum / (double)t->seed;
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, double *const *out)
{
    task *t = argument;
    double *chunk = syi_room_chunk(&t->room);
    int64_t met;
    ranges(t->segment, at, count, chunk);
    if (at == t->seed && at == t->started)
        chunk[0] = syi_chain_seed(&t->chain, seed_value(t));
    syi_chain_run(&t->chain, chunk, out[0], count);
    met = syi_chain_met(&t->chain, chunk, count);
    syi_room_next(&t->room, count);
    return met;
}

sy_status SYI_ISA_NAME(syi_atr_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, run};
    double period = piece->segment.params[0];
    syi_walk walk = {piece, (int64_t)period, (int64_t)period, syi_atr_cut(period), 1};
    task t;
    t.segment = &piece->segment;
    t.seed = walk.seed;
    syi_chain_open(&t.chain, 1.0, period);
    syi_walk_run(&walk, &form, &t);
    return SY_OK;
}
