/* The average true range on a GPU. */
#include "atr/fast.h"
#include "fast/walk_unit.h"
#include "wilder/stretch.h"

SYI_KERNEL __launch_bounds__(SYI_STRETCH_THREADS, 4) syi_gpu_atr(const syi_launch launch)
{
    wilder_unit(&launch, 1);
}

/* The sum of the ranges up to column `seed`, 0 or more, by a warp. */
SYI_DEVICE double atr_sum(const double *high, const double *low, const double *close, int64_t seed)
{
    double sum = seed > 0 ? syi_atr_nothing(close[0]) : 0.0;
#pragma unroll 1
    for (int64_t at = 1; at <= seed; at += SYI_CHUNK) {
        const int64_t left = seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        double total = 0.0;
        SYI_FAST_LANE_SUM(
            total, i, count,
            syi_atr_range(high[at + i], low[at + i], close[at + i], close[at + i - 1]))
        sum += syi_fast_fold_warp(total);
    }
    return sum;
}

/* Each group's own seed, which the whole warp makes in turn. */
SYI_DEVICE double atr_seed(const syi_walk_unit *walk, const syi_pass *pass)
{
    double mine = 0.0;
#pragma unroll 1
    for (int group = 0; group < SYI_GROUPS; group++) {
        const double *high = syi_group_pointer(walk->in[0], group);
        const double *low = syi_group_pointer(walk->in[1], group);
        const double *close = syi_group_pointer(walk->in[2], group);
        double sum = atr_sum(high, low, close, syi_group_number(pass->seeded * walk->seed, group));
        mine = group == SYI_GROUP ? sum : mine;
    }
    return mine / (double)walk->seed;
}

/* What a pass's next step needs. */
typedef struct atr_ahead {
    syi_pairs high, low, close;
    double last; /* the close before */
} atr_ahead;

SYI_DEVICE atr_ahead atr_look_ahead(const syi_walk_unit *walk, const syi_pass *pass)
{
    return (atr_ahead){syi_pass_load(pass, walk->in[0], pass->at),
                       syi_pass_load(pass, walk->in[1], pass->at),
                       syi_pass_load(pass, walk->in[2], pass->at),
                       syi_pass_before(pass, walk->in[2])};
}

/* The ranges of a step. */
SYI_DEVICE syi_pairs atr_take(const syi_pass *pass, atr_ahead *ahead, const syi_walk_unit *walk)
{
    syi_pairs high = syi_pass_take(pass, walk->in[0], &ahead->high), x;
    syi_pairs low = syi_pass_take(pass, walk->in[1], &ahead->low);
    syi_pairs close = syi_pass_take(pass, walk->in[2], &ahead->close);
    double before = SYI_BEFORE_1(&ahead->last, close.odd[0]);
    ahead->last = close.odd[0];
    x.even[0] = syi_atr_range(high.even[0], low.even[0], close.even[0], before);
    x.odd[0] = syi_atr_range(high.odd[0], low.odd[0], close.odd[0], close.even[0]);
    return x;
}

SYI_KERNEL __launch_bounds__(SYI_WALK_THREADS, 4) syi_gpu_atr_fast(const syi_launch launch)
{
    const double period = launch.params[0];
    syi_chain chain = syi_chain_of(1.0, period);
    syi_walk_unit walk;
    if (!syi_walk_of(&launch, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 3, 1,
                     &walk))
        return;
    for (int k = 0; k < SYI_WALK_BLOCKS; k++) {
        syi_pass pass = syi_pass_of(&walk, k);
        syi_pass before = syi_pass_cut(&walk, &pass);
        atr_ahead ahead = atr_look_ahead(&walk, &before);
        syi_chain_gathered past;
        syi_chain_state state;
        double seed = atr_seed(&walk, &pass);
        syi_pass_seed(&pass, seed, &walk);
        syi_chain_start(&state);
        syi_chain_gather_start(1, &past);
#pragma unroll 1
        for (; before.steps > 0; syi_pass_next(&before)) {
            syi_pairs x = atr_take(&before, &ahead, &walk);
            syi_pass_look(&before, &x, &walk);
            syi_pass_gather(1, &chain, &before, &past, &x, &state);
        }
        ahead = atr_look_ahead(&walk, &pass);
#pragma unroll 1
        for (; pass.steps > 0; syi_pass_next(&pass)) {
            syi_pairs x = atr_take(&pass, &ahead, &walk), y;
            syi_pass_begin(&pass, walk.seed, syi_chain_seed(&chain, seed), &x);
            syi_pass_look(&pass, &x, &walk);
            syi_chain_step(&chain, &state, &x, &y);
            syi_pairs_scale(&y, chain.a);
            syi_pass_put(&pass, &y, walk.out[0]);
        }
    }
    syi_walk_end(&launch, &walk, 1);
}
