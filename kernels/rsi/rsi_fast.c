/*
 * The relative strength index in fast accuracy: two of Wilder's averages side by side, of the gains
 * and of the losses; what makes sums of them averages cancels. While the price stands still both
 * shrink, and the index stays. Where less is left than any move adds, the value before holds: a
 * block that begins in the middle of a long rest takes it from the block before. So a piece tells
 * its right neighbour its last value, and its left one whether it relied on the value that it had
 * to assume. Compiled for several instruction sets.
 */
#include "fast/reduce.h"
#include "fast/walk.h"
#include "isa.h"
#include "rsi/fast.h"
#include "wilder/fast.h"

#define FAINT 0x1p-900

enum { GAINS, LOSSES, CHAINS };

typedef struct task {
    const sy_segment *segment;
    int64_t seed, decay; /* the column of the row's seeds; columns that run before a block */
    int64_t block;       /* where the values begin to count */
    int seeding;         /* the seeds are in the next step */
    int known, relied;   /* `value` comes from the row; the piece shows one that does not */
    int forgets;         /* at once, with a period of 1: a price that stands still is a new one */
    double value;        /* the last one, or what stands for it */
    syi_chain chain[CHAINS];
    syi_chain_state state[CHAINS];
} task;

SYI_INLINE void start(void *argument, int64_t at, int seeded)
{
    task *t = argument;
    t->block = seeded ? at : at + t->decay;
    t->seeding = seeded;
    t->known |= seeded;
    for (int k = 0; k < CHAINS; k++)
        syi_chain_start(&t->state[k]);
}

/* What the closes gain and lose on the ones before them. What is not finite makes the loss so. */
SYI_INLINE void moves(const double *close, int64_t count, double *restrict gains,
                      double *restrict losses)
{
    for (int64_t i = 0; i < count; i++) {
        double move = close[i] - close[i - 1], gain = move > 0.0 ? move : 0.0;
        gains[i] = gain;
        losses[i] = gain - move;
    }
}

/* The sums of columns 1 .. seed. */
static void sum_moves(const task *t, double sum[CHAINS])
{
    const double *close = t->segment->in[0] - t->segment->first;
    double room[CHAINS][SYI_CHUNK];
    sum[GAINS] = sum[LOSSES] = 0.0;
    for (int64_t at = 1; at <= t->seed; at += SYI_CHUNK) {
        int64_t left = t->seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        moves(close + at, count, room[GAINS], room[LOSSES]);
        for (int k = 0; k < CHAINS; k++)
            sum[k] += syi_fast_sum(room[k], NULL, 0, count);
    }
}

/* 100 * gains / (gains + losses), NaN where both are faint; those go to `faint`. */
SYI_INLINE void divide(syi_vector gains, syi_vector losses, syi_vector *y, syi_vector_mask *faint)
{
    syi_vector total = gains + losses;
    syi_vector_mask is_faint = total < FAINT;
    *y = (syi_vector)((syi_vector_mask)(gains / total * 100.0) | is_faint);
    *faint |= is_faint;
}

/* Columns without a value get the one before; the last one becomes the task's. `at`: the column of
 * y[0]. */
SYI_INLINE void hold(task *t, int64_t at, double *y, int64_t count, int any)
{
    int64_t i = t->block > at ? t->block - at : 0;
    if (i >= count)
        return;
    for (; any && i < count; i++)
        if (y[i] != y[i]) {
            t->relied |= !t->known && at + i >= t->segment->first;
            y[i] = t->value;
        } else if (!t->forgets) {
            t->value = y[i];
            t->known = 1;
        }
    if (!t->forgets) {
        t->value = y[count - 1];
        t->known |= !any;
    }
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       double *const *out)
{
    task *t = argument;
    const syi_chain chain[CHAINS] = {t->chain[GAINS], t->chain[LOSSES]};
    syi_chain_state state[CHAINS] = {t->state[GAINS], t->state[LOSSES]};
    syi_vector_mask faint = {0};
    double x[CHAINS][SYI_CHUNK], sum[CHAINS];
    int64_t met;
    moves(in[0], count, x[GAINS], x[LOSSES]);
    if (t->seeding) {
        sum_moves(t, sum);
        for (int k = 0; k < CHAINS; k++)
            syi_chain_begin(x[k], x[k], t->seed - at, sum[k]);
        t->seeding = 0;
    }
    for (int64_t i = 0; i < count; i += SYI_STEP) {
        syi_pairs inputs[CHAINS], z[CHAINS], y;
        const syi_pairs *const from[CHAINS] = {&inputs[GAINS], &inputs[LOSSES]};
        for (int k = 0; k < CHAINS; k++)
            syi_pairs_load(&inputs[k], x[k] + i);
        syi_chain_steps(CHAINS, chain, state, from, z);
        for (int k = 0; k < SYI_PARTS; k++) {
            divide(z[GAINS].even[k], z[LOSSES].even[k], &y.even[k], &faint);
            divide(z[GAINS].odd[k], z[LOSSES].odd[k], &y.odd[k], &faint);
        }
        syi_pairs_store(out[0] + i, &y);
    }
    memcpy(t->state, state, sizeof state);
    met = syi_chain_met(&state[LOSSES], x[LOSSES], count);
    hold(t, at, out[0], met, syi_any((const syi_vector *)&faint));
    return met;
}

sy_status SYI_ISA_NAME(syi_rsi_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, run};
    const sy_segment *segment = &piece->segment;
    const double period = segment->params[0];
    const int64_t last = segment->first + segment->count;
    syi_walk walk = {piece, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 1, 1};
    task t = {.segment = segment,
              .seed = walk.seed,
              .decay = walk.cut.decay,
              .known = piece->start != NULL || period == 1.0,
              .forgets = period == 1.0,
              .value = piece->start && period > 1.0 ? piece->start->word[2] : SYI_RSI_STILL,
              .chain = {syi_chain_of(1.0, period), syi_chain_of(1.0, period)}};
    syi_walk_run(&walk, &form, &t);
    if (piece->assumed)
        syi_rsi_tell(piece->assumed, SYI_RSI_STILL, t.relied);
    if (piece->end)
        syi_rsi_tell(piece->end,
                     last > walk.shown ? segment->out[0][segment->count - 1] : SYI_RSI_STILL, 0);
    return SY_OK;
}
