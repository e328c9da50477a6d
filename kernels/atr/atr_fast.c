/* The average true range in fast accuracy. Compiled for several instruction sets. */
#include "atr/fast.h"
#include "fast/reduce_run.h"
#include "fast/walk.h"
#include "isa.h"

/* syi_atr_range of a vector of columns. */
SYI_INLINE syi_vector ranges_of(const double *const *in, int64_t i)
{
    syi_vector high = SYI_LOAD(in[0] + i), low = SYI_LOAD(in[1] + i), close = SYI_LOAD(in[2] + i);
    syi_vector before = SYI_LOAD(in[2] + i - 1);
    syi_vector most = syi_larger(syi_size(high - before), syi_size(low - before));
    return syi_larger(most, high - low) + (close - close);
}

SYI_INLINE void ranges(const double *const *in, int64_t i, syi_pairs *x)
{
    for (int k = 0; k < 3; k++)
        syi_ask_ahead(in[k] + i, SYI_STEP);
    for (int k = 0; k < SYI_PARTS; k++, i += 2 * SYI_WIDTH) {
        syi_vector a = ranges_of(in, i), b = ranges_of(in, i + SYI_WIDTH);
        x->even[k] = SYI_LOWER(a, b);
        x->odd[k] = SYI_UPPER(a, b);
    }
}

/* The mean of the ranges of columns 1 .. seed. */
static double seed_value(const syi_walk_one *t)
{
    const double *high = t->segment->in[0] - t->segment->first;
    const double *low = t->segment->in[1] - t->segment->first;
    const double *close = t->segment->in[2] - t->segment->first;
    double sum = syi_atr_nothing(close[0]), range[SYI_CHUNK];
    for (int64_t at = 1; at <= t->seed; at += SYI_CHUNK) {
        int64_t left = t->seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        for (int64_t i = 0; i < count; i++)
            range[i] = syi_atr_range(high[at + i], low[at + i], close[at + i], close[at + i - 1]);
        sum += syi_fast_sum(range, count);
    }
    return sum / (double)t->seed;
}

/* The first column from i on that is not finite, of which there is one. */
static int64_t find(const double *const *in, int64_t i, int64_t count)
{
    while (i < count && syi_is_finite(syi_atr_range(in[0][i], in[1][i], in[2][i], in[2][i - 1])))
        i++;
    return i;
}

SYI_INLINE int64_t gather(void *argument, int64_t count, const double *const *in)
{
    syi_walk_one *t = argument;
    syi_walk_gather(1, &t->chain, &t->state, ranges, in, count);
    return syi_chain_is_dead(&t->state) ? find(in, 0, count) : count;
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       syi_results *out, int past)
{
    syi_walk_one *t = argument;
    const syi_chain chain = t->chain;
    syi_chain_state state = t->state;
    syi_results y = out[0];
    syi_pairs x;
    int64_t i = 0, begun = 0;
    if (t->seeding) {
        const double seed = seed_value(t);
        if (!syi_is_finite(seed))
            return 0;
        ranges(in, 0, &x);
        syi_chain_begin(&x, t->seed - at, syi_chain_seed(&chain, seed));
        syi_chain_put(&chain, &state, &x, &y, past);
        t->seeding = 0;
        begun = t->seed + 1 - at; /* what is before is in the seed, or does not count */
        i = SYI_STEP;
    }
    for (; i < count; i += SYI_STEP) {
        ranges(in, i, &x);
        syi_chain_put(&chain, &state, &x, &y, past);
    }
    t->state = state;
    out[0] = y;
    return syi_chain_is_dead(&state) ? find(in, begun, count) : count;
}

sy_status SYI_ISA_NAME(syi_atr_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {syi_walk_one_start, gather, run};
    double period = piece->segment.params[0];
    syi_walk walk = {piece, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 3, 1};
    syi_walk_one t = {
        .segment = &piece->segment, .seed = walk.seed, .chain = syi_chain_of(1.0, period)};
    syi_walk_run(&walk, &form, &t);
    return SY_OK;
}
