/* MACD in fast accuracy: the two averages side by side, the signal behind them, chunk by chunk.
 * Compiled for several instruction sets. */
#include "fast/reduce.h"
#include "fast/walk.h"
#include "isa.h"
#include "macd/fast.h"
#include "macd/macd.h"

typedef struct task {
    const sy_segment *segment;
    int64_t fast_columns, slow_columns; /* that the averages begin with */
    int64_t seed, shown, started; /* columns: of the row's seeds, of the signal's; of this start */
    double fast_seed, slow_seed, signal_seed;
    syi_chain fast, slow, signal;
    syi_chain_room for_fast, for_slow, macd;
} task;

SYI_INLINE double mean_before(const double *x, int64_t end, int64_t count)
{
    return syi_fast_sum(x + (end - count), NULL, 0, count) / (double)count;
}

SYI_INLINE void start(void *argument, int64_t at)
{
    task *t = argument;
    const double *x = t->segment->in[0] - t->segment->first;
    t->started = at;
    t->signal_seed = 0.0;
    syi_chain_start(&t->fast);
    syi_chain_start(&t->slow);
    syi_chain_start(&t->signal);
    syi_room_start(&t->for_fast);
    syi_room_start(&t->for_slow);
    syi_room_start(&t->macd);
    if (at == t->seed) {
        t->fast_seed = mean_before(x, at + 1, t->fast_columns);
        t->slow_seed = mean_before(x, at + 1, t->slow_columns);
    }
}

/* The averages of the next columns, and their difference into the room for the signal's inputs.
 * Where a row's seeds are among the inputs, each average has inputs of its own. */
SYI_INLINE int64_t run_averages(task *t, int64_t at, int64_t count)
{
    const double *x = t->segment->in[0] + (at - t->segment->first), *for_fast = x, *for_slow = x;
    const int64_t last = t->segment->first + t->segment->count;
    double fast[SYI_CHAIN_CHUNK], slow[SYI_CHAIN_CHUNK], *difference = syi_room_chunk(&t->macd);
    int in_place = at - t->started > 3 && at + count + SYI_CHAIN_LAG <= last;
    if (!in_place) {
        double *own[2] = {syi_room_chunk(&t->for_fast), syi_room_chunk(&t->for_slow)};
        for (int k = 0; k < 2; k++) {
            memcpy(own[k], x, (size_t)count * sizeof *x);
            if (at - t->started > 3)
                memcpy(own[k] - 3, x - 3, 3 * sizeof *x);
        }
        if (at == t->seed && at == t->started) {
            own[0][0] = syi_chain_seed(&t->fast, t->fast_seed);
            own[1][0] = syi_chain_seed(&t->slow, t->slow_seed);
        }
        for_fast = own[0];
        for_slow = own[1];
    }
    syi_chain_run(&t->fast, for_fast, fast, count);
    syi_chain_run(&t->slow, for_slow, slow, count);
    for (int64_t i = 0; i < count; i++)
        difference[i] = fast[i] - slow[i];
    if (!in_place) {
        int64_t met = syi_chain_met(&t->slow, for_slow, count);
        syi_room_next(&t->for_fast, count);
        syi_room_next(&t->for_slow, count);
        return met;
    }
    return syi_chain_met(&t->slow, x, count);
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, double *const *out)
{
    task *t = argument;
    double *difference = syi_room_chunk(&t->macd);
    int64_t met = run_averages(t, at, count);
    for (int64_t i = 0; i < count; i++)
        out[0][i] = difference[i] + 0.0;
    if (t->started == t->seed && at <= t->shown) {
        /* The row's beginning: the mean of the first differences begins the signal. */
        for (int64_t i = 0; i < count && at + i <= t->shown; i++)
            t->signal_seed += difference[i];
        if (at < t->shown)
            return met;
        syi_room_start(&t->macd);
        difference[0] =
            syi_chain_seed(&t->signal, t->signal_seed / (double)(t->shown - t->seed + 1));
    }
    syi_chain_run(&t->signal, difference, out[1], count);
    syi_room_next(&t->macd, count);
    for (int64_t i = 0; i < count; i++) {
        out[1][i] += 0.0;
        out[2][i] = out[0][i] - out[1][i] + 0.0;
    }
    return met;
}

sy_status SYI_ISA_NAME(syi_macd_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, run};
    syi_macd macd = syi_macd_of(piece->segment.params);
    syi_walk walk = {piece, macd.seeded_slow - 1, syi_macd_warmup(&macd), syi_macd_cut(&macd), 3};
    task t;
    t.segment = &piece->segment;
    t.fast_columns = macd.seeded_fast;
    t.slow_columns = macd.seeded_slow;
    t.seed = walk.seed;
    t.shown = walk.shown;
    syi_chain_open(&t.fast, 2.0, macd.fast + 1.0);
    syi_chain_open(&t.slow, 2.0, macd.slow + 1.0);
    syi_chain_open(&t.signal, 2.0, macd.signal + 1.0);
    syi_walk_run(&walk, &form, &t);
    return SY_OK;
}
