/* Exponential moving averages in fast accuracy. Compiled for several instruction sets. */
#include "ema/ema.h"
#include "ema/fast.h"
#include "fast/beside.h"
#include "isa.h"

/* The mean of the columns up to the seed's. */
SYI_INLINE double seed_value(const syi_walk_one *t)
{
    return syi_walk_sum(t->rows, 0, 0, t->seed + 1) / (double)(t->seed + 1);
}

SYI_INLINE void take(const double *const *in, int64_t i, syi_pairs *x)
{
    syi_pairs_load(x, in[0] + i);
}

SYI_INLINE void gather(void *argument, syi_chain_gathered *past, int64_t count,
                       const double *const *in, int end)
{
    syi_walk_one *t = argument;
    syi_walk_gather(1, &t->chain, &t->state, take, past, count, in, end);
}

SYI_INLINE int64_t met(void *argument, int64_t at, int64_t count, const double *const *in)
{
    (void)at;
    return syi_chain_met(&((syi_walk_one *)argument)->state, in[0], count);
}

SYI_INLINE int is_dead(const void *argument)
{
    return syi_chain_is_dead(&((const syi_walk_one *)argument)->state);
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       syi_distance ahead, syi_results *out, int past)
{
    syi_walk_one *t = argument;
    int64_t i = 0;
    if (t->seeding) {
        const double seed = seed_value(t);
        syi_pairs x;
        if (!syi_is_finite(seed))
            return 0;
        syi_pairs_load(&x, in[0]);
        syi_chain_begin(&x, t->seed - at, syi_chain_seed(&t->chain, seed));
        syi_chain_put(&t->chain, &t->state, &x, out, past);
        t->seeding = 0;
        i = SYI_STEP;
    }
    syi_walk_one_run(t, 1, take, in, i, count, ahead, out, past);
    return syi_chain_met(&t->state, in[0], count);
}

#if SYI_HAVE_VECTORS

static uint8_t run_beside(const void *argument, const syi_walk *walk)
{
    const syi_chain chain = ((const syi_walk_one *)argument)->chain;
    const int64_t columns = syi_beside_columns(walk), count = walk->seed + 1;
    const int64_t first = walk->seed / SYI_STEP * SYI_STEP;
    syi_beside_chain state = {0};
    syi_vector x[SYI_BESIDE_SEED], seed;
    syi_beside_first(walk, 0, count, x);
    seed = syi_beside_sum(x, count) / (double)count;
    for (int64_t at = first; at < columns; at += SYI_STEP) {
        syi_beside_load(walk, 0, at, x);
        if (at == first)
            syi_beside_begin(x, walk->seed - at, seed / chain.a);
        syi_beside_step(&chain, &state, x);
        syi_beside_scale(&chain, x);
        syi_beside_store(walk, 0, at, x);
    }
    return syi_beside_sound(&state, seed);
}

#endif

sy_status SYI_ISA_NAME(syi_ema_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {syi_walk_one_start, gather, met, is_dead, run};
    syi_ema ema = syi_ema_of(piece->segment.params);
    syi_walk_rows rows;
    syi_walk walk = {&rows, ema.seeded - 1, ema.seeded - 1, syi_ema_cut(ema.period), 1, 1};
    syi_walk_one t = {
        .rows = &rows, .seed = walk.seed, .chain = syi_chain_of(2.0, ema.period + 1.0)};
    syi_walk_begin(&rows, piece, 1, 1);
    do
        if (!syi_beside_did(&walk, SYI_BESIDE_LONGEST, run_beside, &t))
            syi_walk_run(&walk, &form, &t);
    while (syi_walk_next_row(&rows, 1, 1));
    return SY_OK;
}
