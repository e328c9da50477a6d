/* The exponential moving average on a GPU. */
#include "cuda/stretch.h"

#include "ema/ema.h"
#include "ema/fast.h"
#include "ema/state.h"
#include "fast/walk_unit.h"

/* The value at a column of the row, and the state after it; not 0.0 when the value is in doubt. */
SYI_DEVICE double ema_column(syi_ema_state *s, const double *x, int64_t column, const syi_ema *ema,
                             const syi_factor_dd *factor, double *y)
{
    *y = syi_nan();
    if (s->phase == SYI_PHASE_BEFORE) {
        if (column < ema->seeded - 1)
            return 0.0;
        s->phase = syi_phase_of_seed(x + 1 - ema->seeded, ema->seeded, SYI_PHASE_RUNNING);
        if (s->phase == SYI_PHASE_RUNNING) {
            s->x = x[0];
            s->deviation = syi_deviation_seed(x, ema->seeded, 0.0);
            return syi_ema_settle(s, y);
        }
    }
    if (s->phase == SYI_PHASE_RUNNING && !(fabs(x[0]) <= SYI_HUGE))
        s->phase = SYI_PHASE_HUGE;
    if (s->phase == SYI_PHASE_RUNNING) {
        syi_ema_advance(s, x[0], factor);
        return syi_ema_settle(s, y);
    }
    if (s->phase == SYI_PHASE_HUGE && syi_is_finite(x[0])) {
        *y = x[0];
        return 1.0;
    }
    s->phase = SYI_PHASE_POISONED;
    return 0.0;
}

SYI_KERNEL __launch_bounds__(SYI_STRETCH_THREADS, 4) syi_gpu_ema(const syi_launch launch)
{
    syi_ema ema = syi_ema_of(launch.params);
    syi_factor_dd factor = syi_smoothing_factor(ema.period);
    syi_stretch stretch;
    if (!syi_stretch_of(&launch, syi_ema_halo(&ema), &stretch))
        return;
    const double *x = stretch.x;
    double *out = syi_unit_out(&launch, &stretch.unit, launch.out[0]), y;
    syi_ema_state state = {SYI_PHASE_BEFORE, 1.0, 0.0, {{0.0, 0.0}, 0.0}};
    int exact = stretch.left == stretch.first;
    if (!exact)
        state = syi_ema_assume(x - stretch.left, stretch.left);
    for (int64_t i = -stretch.left; i < 0; i++)
        ema_column(&state, x + i, stretch.first + i, &ema, &factor, &y);
    if (!exact)
        syi_ema_claim(&state);
    memcpy(syi_stretch_assumed(&launch, &stretch), &state, sizeof state);
    for (int64_t i = 0; i < stretch.unit.count; i++) {
        if (ema_column(&state, x + i, stretch.first + i, &ema, &factor, &y) != 0.0)
            syi_stretch_doubt(&stretch, i);
        out[i] = y;
    }
    memcpy(syi_stretch_end(&launch, &stretch), &state, sizeof state);
    syi_unit_doubt(&launch, &stretch.unit, stretch.doubt_first, stretch.doubt_last);
}

SYI_KERNEL __launch_bounds__(SYI_WALK_THREADS, 4) syi_gpu_ema_fast(const syi_launch launch)
{
    syi_ema ema = syi_ema_of(launch.params);
    syi_chain chain = syi_chain_of(2.0, ema.period + 1.0);
    syi_walk_unit walk;
    if (!syi_walk_of(&launch, ema.seeded - 1, ema.seeded - 1, syi_ema_cut(ema.period), 1, 1, &walk))
        return;
    for (int k = 0; k < SYI_WALK_BLOCKS; k++) {
        syi_pass pass = syi_pass_of(&walk, k);
        syi_pass before = syi_pass_cut(&walk, &pass);
        syi_pairs ahead = syi_pass_load(&before, walk.in[0], before.at);
        syi_chain_gathered past;
        syi_chain_state state;
        double seed = syi_walk_sum(walk.in[0], pass.seeded ? ema.seeded : 0) / (double)ema.seeded;
        syi_pass_seed(&pass, seed, &walk);
        syi_chain_start(&state);
        syi_chain_gather_start(1, &past);
#pragma unroll 1
        for (; before.steps > 0; syi_pass_next(&before)) {
            syi_pairs x = syi_pass_take(&before, walk.in[0], &ahead);
            syi_pass_look(&before, &x, &walk);
            syi_pass_gather(1, &chain, &before, &past, &x, &state);
        }
        ahead = syi_pass_load(&pass, walk.in[0], pass.at);
#pragma unroll 1
        for (; pass.steps > 0; syi_pass_next(&pass)) {
            syi_pairs x = syi_pass_take(&pass, walk.in[0], &ahead), y;
            syi_pass_begin(&pass, walk.seed, syi_chain_seed(&chain, seed), &x);
            syi_pass_look(&pass, &x, &walk);
            syi_chain_step(&chain, &state, &x, &y);
            syi_pairs_scale(&y, chain.a);
            syi_pass_put(&pass, &y, walk.out[0]);
        }
    }
    syi_walk_end(&launch, &walk, 1);
}
