/* The average true range in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce.h"
#include "fast/walk.h"
#include "isa.h"
#include "wilder/fast.h"

typedef struct task {
    const sy_segment *segment;
    int64_t seed; /* the column of the row's seed */
    int seeding;  /* it is in the next step */
    syi_chain chain;
    syi_chain_state state;
} task;

SYI_INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The true ranges of `count` columns, NaN or infinite where something in one is not finite, the
 * close of its own column included. */
SYI_INLINE void ranges(const double *high, const double *low, const double *close, int64_t count,
                       double *restrict to)
{
    for (int64_t i = 0; i < count; i++) {
        double up = fabs(high[i] - close[i - 1]), down = fabs(low[i] - close[i - 1]);
        /* In this order the NaN of high - low is the larger one. */
        to[i] = larger(larger(up, down), high[i] - low[i]) + (close[i] - close[i]);
    }
}

SYI_INLINE void start(void *argument, int64_t at, int seeded)
{
    task *t = argument;
    (void)at;
    t->seeding = seeded;
    syi_chain_start(&t->state);
}

/* The mean of the ranges of columns 1 .. seed; of column 0 the close alone counts. */
static double seed_value(const task *t)
{
    const double *high = t->segment->in[0] - t->segment->first;
    const double *low = t->segment->in[1] - t->segment->first;
    const double *close = t->segment->in[2] - t->segment->first;
    double sum = close[0] * 0.0, range[SYI_CHUNK];
    for (int64_t at = 1; at <= t->seed; at += SYI_CHUNK) {
        int64_t left = t->seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        ranges(high + at, low + at, close + at, count, range);
        sum += syi_fast_sum(range, NULL, 0, count);
    }
    return sum / (double)t->seed;
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       double *const *out)
{
    task *t = argument;
    const syi_chain chain = t->chain;
    syi_chain_state state = t->state;
    double x[SYI_CHUNK];
    ranges(in[0], in[1], in[2], count, x);
    if (t->seeding) {
        syi_chain_begin(x, x, t->seed - at, syi_chain_seed(&chain, seed_value(t)));
        t->seeding = 0;
    }
    for (int64_t i = 0; i < count; i += SYI_STEP) {
        syi_pairs inputs, y;
        syi_pairs_load(&inputs, x + i);
        syi_chain_step(&chain, &state, &inputs, &y);
        syi_pairs_scale(&y, chain.a);
        syi_pairs_store(out[0] + i, &y);
    }
    t->state = state;
    return syi_chain_met(&state, x, count);
}

sy_status SYI_ISA_NAME(syi_atr_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, run};
    double period = piece->segment.params[0];
    syi_walk walk = {piece, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 3, 1};
    task t = {.segment = &piece->segment, .seed = walk.seed, .chain = syi_chain_of(1.0, period)};
    syi_walk_run(&walk, &form, &t);
    return SY_OK;
}
