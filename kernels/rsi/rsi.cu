/* The relative strength index on a GPU. */
#include "fast/walk_unit.h"
#include "rsi/fast.h"
#include "wilder/fast.h"
#include "wilder/stretch.h"

SYI_KERNEL __launch_bounds__(SYI_STRETCH_THREADS, 4) syi_gpu_rsi(const syi_launch launch)
{
    wilder_unit(&launch, 0);
}

enum { RSI_GAINS, RSI_LOSSES, RSI_CHAINS };

/* Columns without a value get the one before (rsi_fast.c); per thread, but for `known`. */
typedef struct rsi_held {
    double value;        /* the thread's last one; that of the group's last thread is the row's */
    double final;        /* of the unit's last column, when it is this thread's */
    int known, relied;   /* the group's value comes from the row; one that does not was put out */
    int forgets;         /* at once, with a period of 1 */
    int64_t block;       /* where the values begin to count */
} rsi_held;

/* The gain on the close before, or the loss with `sign` -1; NaN stays. */
SYI_DEVICE double rsi_part(double sign, double before, double close)
{
    double move = sign * (close - before);
    return move < 0.0 ? 0.0 : move;
}

/* What a close gains and loses on the one before. What is not finite makes the loss so. What is
 * asked for is whether the move is above 0. */
SYI_DEVICE void rsi_move(double before, double close, double *gain, double *loss)
{
    double move = close - before;
    *gain = (int64_t)syi_bits(move) > 0 ? move : 0.0;
    *loss = *gain - move;
}

/* A step's inputs; `last`: the close before it. */
SYI_DEVICE void rsi_take(const syi_walk_unit *walk, const syi_pass *pass, syi_pairs *ahead,
                         double *last, syi_pairs *x)
{
    const syi_pairs close = syi_pass_take(pass, walk->in[0], ahead);
    const double before = SYI_BEFORE_1(last, close.odd[0]);
    *last = close.odd[0];
    rsi_move(before, close.even[0], x[RSI_GAINS].even, x[RSI_LOSSES].even);
    rsi_move(close.even[0], *last, x[RSI_GAINS].odd, x[RSI_LOSSES].odd);
}

/* The sum of the gains up to column `seed`, 0 or more, by a warp; of the losses with `sign` -1. */
SYI_DEVICE double rsi_sum(double sign, const double *close, int64_t seed)
{
    double sum = 0.0;
#pragma unroll 1
    for (int64_t at = 1; at <= seed; at += SYI_CHUNK) {
        const int64_t left = seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        double total = 0.0;
        SYI_FAST_LANE_SUM(total, i, count, rsi_part(sign, close[at + i - 1], close[at + i]))
        sum += syi_fast_fold_warp(total);
    }
    return sum;
}

/* Each group's own seed, which the whole warp makes in turn. */
SYI_DEVICE double rsi_seed(double sign, const syi_walk_unit *walk, const syi_pass *pass)
{
    double mine = 0.0;
#pragma unroll 1
    for (int group = 0; group < SYI_GROUPS; group++) {
        double sum = rsi_sum(sign, syi_group_pointer(walk->in[0], group),
                             syi_group_number(pass->seeded * walk->seed, group));
        mine = group == SYI_GROUP ? sum : mine;
    }
    return mine;
}

/* A step in which some pair of the warp has a column without a value. */
SYI_DEVICE void rsi_fill(const syi_walk_unit *walk, const syi_pass *pass, int even_faint,
                         int odd_faint, rsi_held *held, syi_pairs *y)
{
    double last = odd_faint ? y->even[0] : y->odd[0];
    double before = syi_lane_value(held->value, SYI_WIDTH - 1);
    int has = !odd_faint || !even_faint, known = held->known;
    for (int by = 1; by < SYI_WIDTH; by *= 2) {
        double its = syi_lane_before(0.0, last, by);
        int it_has = (int)syi_lane_before(0.0, (double)has, by);
        last = has ? last : its;
        has |= it_has;
    }
    double left = syi_lane_before(0.0, last, 1);
    int left_has = (int)syi_lane_before(0.0, (double)has, 1);
    held->known |= (int)syi_lane_value((double)has, SYI_WIDTH - 1);
    before = left_has ? left : before;
    known |= left_has;
    if (even_faint)
        held->relied |= !known && pass->at >= walk->first && pass->at < pass->end;
    y->even[0] = even_faint ? before : y->even[0];
    known |= !even_faint;
    if (odd_faint)
        held->relied |= !known && pass->at + 1 >= walk->first && pass->at + 1 < pass->end;
    y->odd[0] = odd_faint ? y->even[0] : y->odd[0];
    held->value = y->odd[0];
}

/* The values of a step from the chains' z. */
SYI_DEVICE void rsi_values(const syi_walk_unit *walk, const syi_pass *pass, const syi_pairs *z,
                           rsi_held *held, syi_pairs *y)
{
    const int64_t at = pass->at - 2 * SYI_LANE;
    const int counts = at >= held->block && at < pass->end;
    const double without = held->forgets ? SYI_RSI_STILL : syi_nan();
    double even = z[RSI_GAINS].even[0] + z[RSI_LOSSES].even[0];
    double odd = z[RSI_GAINS].odd[0] + z[RSI_LOSSES].odd[0];
    /* None is below 0, and a NaN is not faint. */
    int even_faint = syi_bits(even) < syi_bits(SYI_RSI_FAINT);
    int odd_faint = syi_bits(odd) < syi_bits(SYI_RSI_FAINT);
    y->even[0] = even_faint ? without : SYI_RSI_OF(z[RSI_GAINS].even[0], even);
    y->odd[0] = odd_faint ? without : SYI_RSI_OF(z[RSI_GAINS].odd[0], odd);
    if (held->forgets)
        return;
    if (SYI_ANY_OF_WARP(counts && (even_faint || odd_faint))) {
        rsi_held filled = *held;
        rsi_fill(walk, pass, even_faint, odd_faint, &filled, y);
        if (counts)
            *held = filled;
    } else if (counts) {
        held->value = y->odd[0];
        held->known = 1;
    }
}

SYI_DEVICE void rsi_end(const syi_launch *launch, syi_walk_unit *walk, const rsi_held *held)
{
    syi_carry *links = launch->links + 2 * walk->unit.index;
    int relied = syi_lanes_least(-held->relied) != 0;
    double final =
        syi_lane_value(held->final, (int)((walk->last - 1) % SYI_STEP / 2));
    syi_walk_end(launch, walk, 1);
    if (SYI_LANE != 0 || walk->unit.count == 0)
        return;
    syi_rsi_tell(&links[0], SYI_RSI_STILL, relied);
    syi_rsi_tell(&links[1], walk->dead < walk->last ? syi_nan() : final, 0);
}

/* The states at the pass's block, which begins it then. */
SYI_DEVICE void rsi_gather(syi_walk_unit *walk, syi_pass *pass, const syi_chain *chain,
                           syi_chain_state *state)
{
    syi_pass before = syi_pass_cut(walk, pass);
    syi_pairs ahead = syi_pass_load(&before, walk->in[0], before.at), x[RSI_CHAINS];
    double last = syi_pass_before(&before, walk->in[0]);
    syi_chain_gathered past;
    syi_chain_start(&state[RSI_GAINS]);
    syi_chain_start(&state[RSI_LOSSES]);
    syi_chain_gather_start(RSI_CHAINS, &past);
#pragma unroll 1
    for (; before.steps > 0; syi_pass_next(&before)) {
        rsi_take(walk, &before, &ahead, &last, x);
        syi_pass_look(&before, &x[RSI_LOSSES], walk);
        syi_pass_gather(RSI_CHAINS, chain, &before, &past, x, state);
    }
}

SYI_DEVICE void rsi_step(syi_walk_unit *walk, const syi_pass *pass, const syi_chain *chain,
                         syi_chain_state *state, const syi_pairs *x, rsi_held *held)
{
    const syi_pairs *const from[RSI_CHAINS] = {&x[RSI_GAINS], &x[RSI_LOSSES]};
    syi_pairs z[RSI_CHAINS], y;
    syi_pass_look(pass, &x[RSI_LOSSES], walk);
    syi_chain_steps(RSI_CHAINS, chain, state, from, z);
    rsi_values(walk, pass, z, held, &y);
    syi_pass_put(pass, &y, walk->out[0]);
    if (pass->at == walk->last - 1)
        held->final = y.even[0];
    if (pass->at + 1 == walk->last - 1)
        held->final = y.odd[0];
}

SYI_KERNEL __launch_bounds__(SYI_WALK_THREADS, 4) syi_gpu_rsi_fast(const syi_launch launch)
{
    const double period = launch.params[0];
    const int64_t seed = (int64_t)period;
    const syi_chain of_each = syi_chain_of(1.0, period), chain[RSI_CHAINS] = {of_each, of_each};
    rsi_held held = {SYI_RSI_STILL, SYI_RSI_STILL, 0, 0, period == 1.0, 0};
    syi_walk_unit walk;
    if (!syi_walk_of(&launch, seed, seed, syi_wilder_cut(period), 1, 1, &walk))
        return;
    for (int k = 0; k < SYI_WALK_BLOCKS; k++) {
        syi_pass pass = syi_pass_of(&walk, k);
        const double gains = rsi_seed(1.0, &walk, &pass);
        const double losses = rsi_seed(-1.0, &walk, &pass);
        syi_chain_state state[RSI_CHAINS];
        syi_pass_seed(&pass, gains + losses, &walk);
        held.known |= pass.seeded;
        held.block = pass.seeded ? pass.from : pass.from + walk.cut.decay;
        rsi_gather(&walk, &pass, chain, state);
        syi_pairs ahead = syi_pass_load(&pass, walk.in[0], pass.at), x[RSI_CHAINS];
        double last = syi_pass_before(&pass, walk.in[0]);
#pragma unroll 1
        for (; pass.steps > 0; syi_pass_next(&pass)) {
            rsi_take(&walk, &pass, &ahead, &last, x);
            syi_pass_begin(&pass, seed, gains, &x[RSI_GAINS]);
            syi_pass_begin(&pass, seed, losses, &x[RSI_LOSSES]);
            rsi_step(&walk, &pass, chain, state, x, &held);
        }
    }
    rsi_end(&launch, &walk, &held);
}
