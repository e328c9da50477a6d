/* MACD in fast accuracy: the two averages side by side, the signal behind them. Compiled for
 * several instruction sets. */
#include "fast/beside.h"
#include "isa.h"
#include "macd/fast.h"
#include "macd/macd.h"

typedef struct task {
    const syi_walk_rows *rows;
    int waits;                    /* as in syi_piece */
    int64_t columns[MACD_CHAINS]; /* whose mean an average begins with */
    int64_t seed, shown;          /* columns: of the averages' beginning, of the signal's */
    int seeding;                  /* the next step holds one of them, or lies between */
    syi_dd sum;                   /* of the macd from `seed` on */
    syi_chain chain[MACD_CHAINS];
    syi_chain_state state[MACD_CHAINS];
} task;

SYI_INLINE void start(void *argument, int64_t at, int seeded)
{
    task *t = argument;
    (void)at;
    t->seeding = seeded;
    t->sum = (syi_dd){0.0, 0.0};
    for (int k = 0; k < MACD_CHAINS; k++)
        syi_chain_start(&t->state[k]);
}

SYI_INLINE void take(const double *const *in, int64_t i, syi_pairs *x)
{
    syi_pairs_load(&x[MACD_FAST], in[0] + i);
    x[MACD_SLOW] = x[MACD_FAST];
}

/* Of the averages; the signal begins behind. */
SYI_INLINE void gather(void *argument, syi_chain_gathered *past, int64_t count,
                       const double *const *in, int end)
{
    task *t = argument;
    syi_walk_gather(MACD_SIGNAL, t->chain, t->state, take, past, count, in, end);
}

SYI_INLINE int64_t met(void *argument, int64_t at, int64_t count, const double *const *in)
{
    (void)at;
    return syi_chain_met(&((task *)argument)->state[MACD_SLOW], in[0], count);
}

SYI_INLINE int is_dead(const void *argument)
{
    return syi_chain_is_dead(&((const task *)argument)->state[MACD_SLOW]);
}

/* Where results go: past the cache, with `late` one behind the other. */
typedef struct to {
    syi_results *y;
    syi_late *late;
    int past;
} to;

/* Result k of the step that begins at column i. */
SYI_INLINE void put(const to *to, int k, int64_t i, const syi_pairs *pairs)
{
    if (to->late)
        syi_results_put_late(&to->y[k], to->late, k, i, pairs);
    else
        syi_results_put_pairs(&to->y[k], pairs, to->past);
}

/* The signal of the step that begins at column i, from its z, and what it leaves of the macd. */
SYI_INLINE void put_signal(const syi_chain *signal, const syi_pairs *macd, syi_pairs *z,
                           const to *to, int64_t i)
{
    syi_pairs rest;
    syi_macd_rest(signal, macd, z, &rest);
    put(to, 1, i, z);
    put(to, 2, i, &rest);
}

/* Begins both averages in a step's inputs; gives whether with something finite. */
SYI_INLINE int seed_averages(const task *t, int64_t at, syi_pairs *inputs)
{
    int is_finite = 1;
    for (int k = MACD_FAST; k <= MACD_SLOW; k++) {
        const int64_t columns = t->columns[k];
        double mean = syi_walk_sum(t->rows, 0, t->seed + 1 - columns, columns) / (double)columns;
        syi_chain_begin(&inputs[k], t->seed - at, syi_chain_seed(&t->chain[k], mean));
        is_finite &= syi_is_finite(mean);
    }
    return is_finite;
}

/* A step of which the macd may be needed for the signal's seed, the mean of the first ones. Gives
 * the first column whose input is not finite. */
SYI_INLINE int64_t step_with_seeds(task *t, int64_t at, const double *x, syi_results *out, int past)
{
    syi_pairs inputs[MACD_CHAINS], z[MACD_CHAINS], macd;
    const syi_pairs *const from[] = {&inputs[MACD_FAST], &inputs[MACD_SLOW]};
    const to to = {out, NULL, past};
    double values[SYI_STEP];
    syi_pairs_load(&inputs[MACD_FAST], x);
    syi_pairs_load(&inputs[MACD_SLOW], x);
    if (at <= t->seed && !seed_averages(t, at, inputs))
        return 0;
    syi_chain_steps(MACD_SIGNAL, t->chain, t->state, from, z);
    syi_macd_subtract(t->chain, z, &macd);
    syi_pairs_store(values, &macd);
    put(&to, 0, 0, &macd);
    for (int64_t i = 0; i < SYI_STEP && at + i <= t->shown; i++) {
        syi_macd_seed_add(&t->sum, at + i < t->seed ? 0.0 : values[i]);
        values[i] = 0.0;
        if (at + i == t->shown)
            values[i] =
                syi_macd_signal_seed(&t->chain[MACD_SIGNAL], t->sum, t->columns[MACD_SIGNAL]);
    }
    syi_pairs_load(&inputs[MACD_SIGNAL], values);
    syi_chain_step(&t->chain[MACD_SIGNAL], &t->state[MACD_SIGNAL], &inputs[MACD_SIGNAL],
                   &z[MACD_SIGNAL]);
    syi_chain_let_go(&t->state[MACD_SIGNAL], at + SYI_STEP);
    put_signal(&t->chain[MACD_SIGNAL], &macd, &z[MACD_SIGNAL], &to, 0);
    return syi_chain_met(&t->state[MACD_SLOW], x, SYI_STEP);
}

/* A step of both averages under way. */
typedef struct averages {
    syi_pairs x;
    syi_chain_sums sums[MACD_SIGNAL];
} averages;

SYI_INLINE void open_averages(const syi_chain *chain, syi_chain_state *state, const double *x,
                              averages *step)
{
    const syi_pairs *const inputs[] = {&step->x, &step->x};
    syi_pairs_load(&step->x, x);
    syi_chain_sum_near(MACD_SIGNAL, chain, state, inputs, step->sums);
}

SYI_INLINE void close_averages(const syi_chain *chain, const averages *step, syi_pairs *macd)
{
    const syi_pairs *const inputs[] = {&step->x, &step->x};
    syi_pairs z[MACD_SIGNAL];
    syi_chain_sum_even(MACD_SIGNAL, chain, step->sums, inputs, z);
    syi_macd_subtract(chain, z, macd);
}

/* The macd of whole steps from x[0] on, to the first output from its column i on and to `macd`.
 * Three steps are under way. One loop also begins and ends: of several gcc makes slower ones. */
SYI_INLINE void run_averages(task *t, const double *x, int64_t count, int64_t ahead, const to *to,
                             int64_t i, syi_pairs *macd)
{
    const syi_chain chain[] = {t->chain[MACD_FAST], t->chain[MACD_SLOW]};
    syi_chain_state state[] = {t->state[MACD_FAST], t->state[MACD_SLOW]};
    averages last = {0}, next = {0};
    for (int64_t k = 0; k < count + 2 * SYI_STEP; k += SYI_STEP) {
        if (k >= 2 * SYI_STEP) {
            close_averages(chain, &last, macd);
            put(to, 0, i + k - 2 * SYI_STEP, macd++);
        }
        if (k >= SYI_STEP && k < count + SYI_STEP) {
            last = next;
            syi_chain_sum_far(MACD_SIGNAL, chain, state, last.sums);
        }
        if (k < count) {
            syi_ask_ahead(x + k, ahead, SYI_STEP);
            open_averages(chain, state, x + k, &next);
        }
    }
    memcpy(t->state, state, sizeof state);
}

/* The signal of these steps, the first of which begins at column `at` of the row, to the other
 * outputs. */
SYI_INLINE void run_signal(task *t, int64_t at, const syi_pairs *macd, int64_t count, const to *to,
                           int64_t i)
{
    const syi_chain signal = t->chain[MACD_SIGNAL];
    syi_chain_state state = t->state[MACD_SIGNAL];
    syi_chain_sums last = {0}, next = {0};
    for (int64_t k = 0; k < count + 2 * SYI_STEP; k += SYI_STEP) {
        if (k >= 2 * SYI_STEP) {
            const syi_pairs *const of_last = macd + k / SYI_STEP - 2;
            syi_pairs z;
            syi_chain_sum_even(1, &signal, &last, &of_last, &z);
            put_signal(&signal, of_last, &z, to, i + k - 2 * SYI_STEP);
        }
        if (k >= SYI_STEP && k < count + SYI_STEP) {
            last = next;
            syi_chain_sum_far(1, &signal, &state, &last);
            syi_chain_let_go(&state, at + k);
        }
        if (k < count) {
            const syi_pairs *const of_next = macd + k / SYI_STEP;
            syi_chain_sum_near(1, &signal, &state, &of_next, &next);
        }
    }
    t->state[MACD_SIGNAL] = state;
}

/* Whole steps behind the seeds: of some the averages, then the signal, each of which has registers
 * enough by itself; of few where a line is one store, so that these go evenly. `late`: the signal
 * and what it leaves wait. */
SYI_INLINE void steps_as(task *t, int64_t at, const double *x, int64_t count, int64_t ahead,
                         syi_results *out, syi_late *late, int past)
{
    enum { ROOM = SYI_WIDTH == 8 ? 4 : 64 };
    syi_pairs macd[ROOM];
    syi_results y[] = {out[0], out[1], out[2]};
    const to first = {y, NULL, past}, others = {y, late, past};
    for (int64_t i = 0; i < count; i += ROOM * SYI_STEP) {
        const int64_t left = count - i, some = left < ROOM * SYI_STEP ? left : ROOM * SYI_STEP;
        run_averages(t, x + i, some, ahead, &first, i, macd);
        run_signal(t, at + i, macd, some, &others, i);
    }
    for (int k = 1; k < 3 && late; k++)
        syi_results_put_waiting(&y[k], late, k, count);
    memcpy(out, y, sizeof y);
}

SYI_INLINE void steps(task *t, int64_t at, const double *x, int64_t count, int64_t ahead,
                      syi_results *out, int past)
{
    double *const together[] = {out[1].y, out[2].y};
    syi_late late;
    if (past && syi_lags(t->waits, together, 2, SYI_LATE_UNIT, late.lag + 1))
        steps_as(t, at, x, count, ahead, out, &late, 1);
    else
        steps_as(t, at, x, count, ahead, out, NULL, past);
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       syi_distance ahead, syi_results *out, int past)
{
    task *t = argument;
    const double *x = in[0];
    int64_t i = 0;
    for (; t->seeding && i < count; i += SYI_STEP) {
        int64_t met = step_with_seeds(t, at + i, x + i, out, past);
        if (met < SYI_STEP)
            return i + met;
        t->seeding = at + i + SYI_STEP <= t->shown;
    }
    if (i < count)
        steps(t, at + i, x + i, count - i, ahead.near, out, past);
    return syi_chain_met(&t->state[MACD_SLOW], x, count);
}

#if SYI_HAVE_VECTORS

/* What the averages of each row begin with, of its first columns x. */
SYI_INLINE void seeds_beside(const task *t, const syi_vector *x, syi_vector *seed)
{
    for (int k = MACD_FAST; k <= MACD_SLOW; k++) {
        const int64_t columns = t->columns[k];
        syi_vector last[SYI_BESIDE_SEED];
        memcpy(last, x + t->seed + 1 - columns, (size_t)columns * sizeof *x);
        seed[k] = syi_beside_sum(last, columns) / (double)columns;
    }
}

/* The signals' inputs of a step: nothing, then of each row what its signal begins with, then the
 * macd. */
SYI_INLINE void signals_beside(const task *t, int64_t at, const syi_vector *macd, syi_vector *sum,
                               syi_vector *lost, syi_vector *x)
{
    for (int i = 0; i < SYI_STEP; i++) {
        const int64_t column = at + i;
        syi_vector rest;
        x[i] = macd[i];
        if (column > t->shown)
            continue;
        if (column >= t->seed) { /* syi_macd_seed_add() */
            syi_vec_two_sum(*sum, macd[i], sum, &rest);
            *lost += rest;
        }
        x[i] = (syi_vector){0};
        if (column == t->shown) /* syi_macd_signal_seed() */
            x[i] = (*sum + *lost) / (double)t->columns[MACD_SIGNAL] / t->chain[MACD_SIGNAL].a;
    }
}

static uint8_t run_beside(const void *argument, const syi_walk *walk)
{
    const task *t = argument;
    const syi_chain *const fast = &t->chain[MACD_FAST], *const slow = &t->chain[MACD_SLOW];
    const syi_chain *const signal = &t->chain[MACD_SIGNAL];
    const int64_t columns = syi_beside_columns(walk), first = t->seed / SYI_STEP * SYI_STEP;
    syi_beside_chain state[MACD_CHAINS] = {0};
    syi_vector x[SYI_BESIDE_SEED], seed[MACD_SIGNAL], sum = {0}, lost = {0};
    syi_beside_first(walk, 0, t->seed + 1, x);
    seeds_beside(t, x, seed);
    for (int64_t at = first; at < columns; at += SYI_STEP) {
        syi_vector macd[SYI_STEP], y[SYI_STEP];
        syi_beside_load(walk, 0, at, macd);
        memcpy(y, macd, sizeof y);
        if (at == first) {
            syi_beside_begin(macd, t->seed - at, seed[MACD_FAST] / fast->a);
            syi_beside_begin(y, t->seed - at, seed[MACD_SLOW] / slow->a);
        }
        syi_beside_step(fast, &state[MACD_FAST], macd);
        syi_beside_step(slow, &state[MACD_SLOW], y);
        for (int i = 0; i < SYI_STEP; i++)
            macd[i] = syi_plus_zero(macd[i] * fast->a - y[i] * slow->a);
        syi_beside_store(walk, 0, at, macd);
        signals_beside(t, at, macd, &sum, &lost, y);
        syi_beside_step(signal, &state[MACD_SIGNAL], y);
        syi_beside_scale(signal, y);
        syi_beside_store(walk, 1, at, y);
        for (int i = 0; i < SYI_STEP; i++)
            y[i] = macd[i] - y[i];
        syi_beside_store(walk, 2, at, y);
    }
    return syi_beside_sound(&state[MACD_SLOW], seed[MACD_FAST] + seed[MACD_SLOW]);
}

#endif

sy_status SYI_ISA_NAME(syi_macd_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, gather, met, is_dead, run};
    syi_macd macd = syi_macd_of(piece->segment.params);
    syi_walk_rows rows;
    syi_walk walk = {&rows, macd.seeded_slow - 1, syi_macd_warmup(&macd), syi_macd_cut(&macd), 1,
                     3};
    task t = {.rows = &rows,
              .waits = piece->waits,
              .columns = {macd.seeded_fast, macd.seeded_slow, macd.seeded_signal},
              .seed = walk.seed,
              .shown = walk.shown,
              .chain = {syi_chain_of(2.0, macd.fast + 1.0), syi_chain_of(2.0, macd.slow + 1.0),
                        syi_chain_of(2.0, macd.signal + 1.0)}};
    syi_walk_begin(&rows, piece, 1, 3);
    do
        if (!syi_beside_did(&walk, SYI_BESIDE_LONGEST, run_beside, &t))
            syi_walk_run(&walk, &form, &t);
    while (syi_walk_next_row(&rows, 1, 3));
    return SY_OK;
}
