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
        syi_pairs next_high = syi_pass_load(&pass, walk.in[0], pass.at);
        syi_pairs next_low = syi_pass_load(&pass, walk.in[1], pass.at);
        syi_pairs next_close = syi_pass_load(&pass, walk.in[2], pass.at);
        double seed = atr_seed(&walk, &pass);
        double last = syi_pass_before(&pass, walk.in[2]);
        syi_chain_state state;
        syi_pass_seed(&pass, seed, &walk);
        syi_chain_start(&state);
#pragma unroll 1
        for (int64_t i = 0; i < pass.steps; i++, pass.at += SYI_STEP) {
            syi_pairs high = syi_pass_take(&pass, walk.in[0], &next_high), x, y;
            syi_pairs low = syi_pass_take(&pass, walk.in[1], &next_low);
            syi_pairs close = syi_pass_take(&pass, walk.in[2], &next_close);
            double before = SYI_BEFORE_1(&last, close.odd[0]);
            last = close.odd[0];
            x.even[0] = syi_atr_range(high.even[0], low.even[0], close.even[0], before);
            x.odd[0] = syi_atr_range(high.odd[0], low.odd[0], close.odd[0], close.even[0]);
            syi_pass_begin(&pass, walk.seed, syi_chain_seed(&chain, seed), &x);
            syi_pass_look(&pass, &x, &walk);
            syi_chain_step(&chain, &state, &x, &y);
            syi_pairs_scale(&y, chain.a);
            syi_pass_put(&pass, &y, walk.out[0]);
        }
    }
    syi_walk_end(&launch, &walk, 1);
}
