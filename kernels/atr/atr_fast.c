/* The average true range in fast accuracy. Compiled for several instruction sets. */
#include "atr/fast.h"
#include "fast/reduce_run.h"
#include "fast/walk.h"
#include "isa.h"

/* syi_atr_range of a vector of columns where no high is below a low; else *strange becomes other
 * than 0. Rounded differences are in the order of the true ones, so the largest one is the largest
 * one's. What is not finite in a close shows in the column behind it. */
SYI_INLINE syi_vector range_of(const double *const *in, int64_t i, unsigned *strange)
{
    syi_vector high = SYI_LOAD(in[0] + i), low = SYI_LOAD(in[1] + i);
    syi_vector before = SYI_LOAD(in[2] + i - 1);
    *strange |= syi_not_ordered(low, high);
    return syi_larger(high, before) - syi_smaller(low, before);
}

SYI_INLINE void ranges(const double *const *in, int64_t i, syi_pairs *x)
{
    syi_vector range[2 * SYI_PARTS];
    unsigned strange = 0;
    for (int k = 0; k < 2 * SYI_PARTS; k++)
        range[k] = range_of(in, i + k * SYI_WIDTH, &strange);
    if (__builtin_expect(strange != 0, 0)) {
        double defined[SYI_STEP];
        SYI_ROLLED
        for (int k = 0; k < SYI_STEP; k++)
            defined[k] = syi_atr_range(in[0][i + k], in[1][i + k], in[2][i + k], in[2][i + k - 1]);
        for (int k = 0; k < 2 * SYI_PARTS; k++)
            range[k] = SYI_LOAD(defined + k * SYI_WIDTH);
    }
    for (int k = 0; k < SYI_PARTS; k++) {
        x->even[k] = SYI_LOWER(range[2 * k], range[2 * k + 1]);
        x->odd[k] = SYI_UPPER(range[2 * k], range[2 * k + 1]);
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

/* The first of the columns from i on that is not finite, if the chain has met one or the last close
 * is none; else `count`. */
SYI_INLINE int64_t met(const syi_walk_one *t, const double *const *in, int64_t i, int64_t count)
{
    if (!syi_chain_is_dead(&t->state) && syi_is_finite(in[2][count - 1]))
        return count;
    while (i < count && syi_is_finite(syi_atr_range(in[0][i], in[1][i], in[2][i], in[2][i - 1])))
        i++;
    return i;
}

SYI_INLINE int64_t gather(void *argument, int64_t count, const double *const *in)
{
    syi_walk_one *t = argument;
    syi_walk_gather(1, &t->chain, &t->state, ranges, in, count);
    return met(t, in, 0, count);
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       int64_t ahead, syi_results *out, int past)
{
    syi_walk_one *t = argument;
    int64_t i = 0, begun = 0;
    if (t->seeding) {
        const double seed = seed_value(t);
        syi_pairs x;
        if (!syi_is_finite(seed))
            return 0;
        ranges(in, 0, &x);
        syi_chain_begin(&x, t->seed - at, syi_chain_seed(&t->chain, seed));
        syi_chain_put(&t->chain, &t->state, &x, out, past);
        t->seeding = 0;
        begun = t->seed + 1 - at; /* what is before is in the seed, or does not count */
        i = SYI_STEP;
    }
    syi_walk_one_run(t, 3, ranges, in, i, count, ahead, out, past);
    return met(t, in, begun, count);
}

/* A function of its own: three inputs need all registers there are. */
static __attribute__((noinline)) void run_row(const syi_walk *walk, syi_walk_one *t)
{
    static const syi_walk_form form = {syi_walk_one_start, gather, run};
    syi_walk_run(walk, &form, t);
}

sy_status SYI_ISA_NAME(syi_atr_fast_run)(const syi_piece *piece)
{
    double period = piece->segment.params[0];
    syi_walk_rows rows;
    syi_walk walk = {&rows.piece, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 3, 1};
    syi_walk_one t = {
        .segment = &rows.piece.segment, .seed = walk.seed, .chain = syi_chain_of(1.0, period)};
    syi_walk_begin(&rows, piece, 3, 1);
    do
        run_row(&walk, &t);
    while (syi_walk_next_row(&rows, 3, 1));
    return SY_OK;
}
