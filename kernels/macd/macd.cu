/* The MACD on a GPU. */
#include "cuda/stretch.h"

#include "fast/walk_unit.h"
#include "macd/fast.h"
#include "macd/macd.h"
#include "macd/step.h"

typedef struct macd_values {
    double macd, signal, histogram;
} macd_values;

/* The averages' own beginning: columns up to the signal's first. Not 0.0: in doubt. */
SYI_DEVICE double macd_seeding(const syi_macd *macd, const syi_macd_terms *k, syi_macd_state *s,
                               const double *x, int64_t column, macd_values *y)
{
    syi_macd_seed_column(k, s, x[0], (double)(column - (macd->seeded_slow - 1)));
    if (column < syi_macd_warmup(macd))
        return 0.0;
    syi_macd_seed_signal(macd, s);
    return syi_macd_settle(k, s, &y->macd, &y->signal, &y->histogram);
}

/* Beyond the fast arithmetic's range: left to the host. */
SYI_DEVICE double macd_huge(const syi_macd *macd, int64_t column, macd_values *y)
{
    if (column < syi_macd_warmup(macd))
        return 0.0;
    y->macd = y->signal = y->histogram = 0.0;
    return 1.0;
}

/* The values at a column of the row, and the state after it; not 0.0 when they are in doubt. */
SYI_DEVICE double macd_column(const syi_macd *macd, const syi_macd_terms *k, syi_macd_state *s,
                              const double *x, int64_t column, macd_values *y)
{
    y->macd = y->signal = y->histogram = syi_nan();
    if (s->phase == SYI_PHASE_BEFORE) {
        if (column < macd->seeded_slow - 1)
            return 0.0;
        s->phase =
            syi_phase_of_seed(x + 1 - macd->seeded_slow, macd->seeded_slow, SYI_PHASE_SEEDING);
        if (s->phase == SYI_PHASE_SEEDING)
            syi_macd_begin(k, s, x, macd);
    }
    if (s->phase == SYI_PHASE_SEEDING || s->phase == SYI_PHASE_RUNNING) {
        if (syi_macd_leaves_range(s, x[0]))
            return s->phase == SYI_PHASE_HUGE ? macd_huge(macd, column, y) : 0.0;
        if (s->phase == SYI_PHASE_SEEDING)
            return macd_seeding(macd, k, s, x, column, y);
        syi_macd_smooth_signal(k, s, syi_macd_advance(k, s, x[0]));
        return syi_macd_settle(k, s, &y->macd, &y->signal, &y->histogram);
    }
    if (s->phase == SYI_PHASE_HUGE && syi_is_finite(x[0]))
        return macd_huge(macd, column, y);
    s->phase = SYI_PHASE_POISONED;
    return 0.0;
}

SYI_KERNEL __launch_bounds__(SYI_STRETCH_THREADS, 4) syi_gpu_macd(const syi_launch launch)
{
    syi_macd macd = syi_macd_of(launch.params);
    syi_macd_terms terms = syi_macd_terms_of(&macd);
    syi_stretch stretch;
    if (!syi_stretch_of(&launch, syi_macd_halo(&macd), &stretch))
        return;
    const double *x = stretch.x;
    double *out[3] = {syi_unit_out(&launch, &stretch.unit, launch.out[0]),
                      syi_unit_out(&launch, &stretch.unit, launch.out[1]),
                      syi_unit_out(&launch, &stretch.unit, launch.out[2])};
    syi_macd_state state = {};
    macd_values y;
    int exact = stretch.left == stretch.first;
    state.phase = SYI_PHASE_BEFORE;
    state.from_start = 1.0;
    if (!exact)
        state = syi_macd_assume(x - stretch.left, stretch.left);
    for (int64_t i = -stretch.left; i < 0; i++)
        macd_column(&macd, &terms, &state, x + i, stretch.first + i, &y);
    if (!exact)
        syi_macd_claim(&state);
    memcpy(syi_stretch_assumed(&launch, &stretch), &state, sizeof state);
    for (int64_t i = 0; i < stretch.unit.count; i++) {
        if (macd_column(&macd, &terms, &state, x + i, stretch.first + i, &y) != 0.0)
            syi_stretch_doubt(&stretch, i);
        out[0][i] = y.macd;
        out[1][i] = y.signal;
        out[2][i] = y.histogram;
    }
    memcpy(syi_stretch_end(&launch, &stretch), &state, sizeof state);
    syi_unit_doubt(&launch, &stretch.unit, stretch.doubt_first, stretch.doubt_last);
}

/* What an average begins with, from the mean of so many columns up to the seed's. */
SYI_DEVICE double macd_seed(const syi_walk_unit *walk, const syi_pass *pass, int64_t columns,
                            const syi_chain *chain)
{
    const double *x = walk->in[0] + walk->seed + 1 - columns;
    double sum = syi_walk_sum(x, pass->seeded ? columns : 0);
    return syi_chain_seed(chain, sum / (double)columns);
}

/* Adds what a step has of the columns [seed, shown], whose mean the signal begins with. */
SYI_DEVICE void macd_add(const syi_walk_unit *walk, const syi_pass *pass, const syi_pairs *values,
                         syi_dd *sum)
{
    const int64_t at = pass->at - 2 * SYI_LANE;
#pragma unroll 1
    for (int i = 0; i < SYI_STEP; i++) {
        double value = syi_lane_value(i % 2 ? values->odd[0] : values->even[0], i / 2);
        syi_macd_seed_add(sum, at + i >= walk->seed && at + i <= walk->shown ? value : 0.0);
    }
}

/* On the way through a block. */
typedef struct macd_way {
    syi_chain chain[MACD_CHAINS];
    syi_chain_state state[MACD_CHAINS];
    double fast, slow, signal; /* what they begin with */
    syi_dd sum;                /* of the signal's seed, so far */
} macd_way;

SYI_DEVICE void macd_start(syi_walk_unit *walk, const syi_pass *pass, const syi_macd *macd,
                           macd_way *way)
{
    way->fast = macd_seed(walk, pass, macd->seeded_fast, &way->chain[MACD_FAST]);
    way->slow = macd_seed(walk, pass, macd->seeded_slow, &way->chain[MACD_SLOW]);
    syi_pass_seed(pass, way->fast + way->slow, walk);
    way->signal = way->sum.high = way->sum.low = 0.0;
    syi_chain_start(&way->state[MACD_FAST]);
    syi_chain_start(&way->state[MACD_SLOW]);
    syi_chain_start(&way->state[MACD_SIGNAL]);
}

/* The averages before a block; the signal begins behind. */
SYI_DEVICE void macd_gather(syi_walk_unit *walk, syi_pass *before, macd_way *way)
{
    syi_pairs ahead = syi_pass_load(before, walk->in[0], before->at);
    syi_chain_gathered past;
    syi_chain_gather_start(MACD_SIGNAL, &past);
#pragma unroll 1
    for (; before->steps > 0; syi_pass_next(before)) {
        syi_pairs prices = syi_pass_take(before, walk->in[0], &ahead);
        const syi_pairs x[MACD_SIGNAL] = {prices, prices};
        syi_pass_look(before, &prices, walk);
        syi_pass_gather(MACD_SIGNAL, way->chain, before, &past, x, way->state);
    }
}

SYI_DEVICE void macd_step(syi_walk_unit *walk, const syi_pass *pass, const syi_macd *macd,
                          macd_way *way, syi_pairs prices)
{
    const syi_chain *last = &way->chain[MACD_SIGNAL];
    syi_pairs x[2] = {prices, prices}, z[MACD_CHAINS], values, input, rest;
    const syi_pairs *const from[2] = {&x[MACD_FAST], &x[MACD_SLOW]};
    syi_pass_begin(pass, walk->seed, way->fast, &x[MACD_FAST]);
    syi_pass_begin(pass, walk->seed, way->slow, &x[MACD_SLOW]);
    syi_pass_look(pass, &x[MACD_SLOW], walk);
    syi_chain_steps(2, way->chain, way->state, from, z);
    syi_macd_subtract(way->chain, z, &values);
    if (SYI_ANY_OF_WARP(pass->seeded && pass->at - 2 * SYI_LANE <= walk->shown)) {
        macd_add(walk, pass, &values, &way->sum);
        way->signal = syi_macd_signal_seed(last, way->sum, macd->seeded_signal);
    }
    input = values;
    syi_pass_begin(pass, walk->shown, way->signal, &input);
    syi_chain_step(last, &way->state[MACD_SIGNAL], &input, &z[MACD_SIGNAL]);
    syi_chain_let_go(&way->state[MACD_SIGNAL], pass->at - 2 * SYI_LANE + SYI_STEP);
    syi_macd_rest(last, &values, &z[MACD_SIGNAL], &rest);
    syi_pass_put(pass, &values, walk->out[0]);
    syi_pass_put(pass, &z[MACD_SIGNAL], walk->out[1]);
    syi_pass_put(pass, &rest, walk->out[2]);
}

SYI_KERNEL __launch_bounds__(SYI_WALK_THREADS, 4) syi_gpu_macd_fast(const syi_launch launch)
{
    syi_macd macd = syi_macd_of(launch.params);
    macd_way way;
    syi_walk_unit walk;
    if (!syi_walk_of(&launch, macd.seeded_slow - 1, syi_macd_warmup(&macd), syi_macd_cut(&macd), 1,
                     3, &walk))
        return;
    way.chain[MACD_FAST] = syi_chain_of(2.0, macd.fast + 1.0);
    way.chain[MACD_SLOW] = syi_chain_of(2.0, macd.slow + 1.0);
    way.chain[MACD_SIGNAL] = syi_chain_of(2.0, macd.signal + 1.0);
    for (int k = 0; k < SYI_WALK_BLOCKS; k++) {
        syi_pass pass = syi_pass_of(&walk, k);
        syi_pass before = syi_pass_cut(&walk, &pass);
        macd_start(&walk, &pass, &macd, &way);
        macd_gather(&walk, &before, &way);
        syi_pairs ahead = syi_pass_load(&pass, walk.in[0], pass.at);
#pragma unroll 1
        for (; pass.steps > 0; syi_pass_next(&pass))
            macd_step(&walk, &pass, &macd, &way, syi_pass_take(&pass, walk.in[0], &ahead));
    }
    syi_walk_end(&launch, &walk, 3);
}
