/*
 * The relative strength index in fast accuracy: two of Wilder's averages side by side, of the gains
 * and of the losses; what makes sums of them averages cancels. While the price stands still both
 * shrink, and the index stays. Where less is left than any move adds, the value before holds: a
 * block that begins in the middle of a long rest takes it from the block before. So a piece tells
 * its right neighbour its last value, and its left one whether it relied on the value that it had
 * to assume. Compiled for several instruction sets.
 */
#include "fast/reduce_run.h"
#include "fast/walk.h"
#include "isa.h"
#include "rsi/beside.h"
#include "wilder/fast.h"

enum { GAINS, LOSSES, CHAINS };

typedef struct task {
    const syi_walk_rows *rows;
    int64_t seed, decay; /* the column of the row's seeds; columns that run before a block */
    int64_t block;       /* where the values begin to count */
    int seeding;         /* the seeds are in the next step */
    int known, relied;   /* `value` comes from the row; the piece shows one that does not */
    int forgets;         /* at once, with a period of 1: a price that stands still is a new one */
    int faint;           /* some of the last columns have no value of their own */
    int bursts;          /* results go past the cache by many */
    syi_distance ahead;  /* how many columns ahead closes are asked for */
    double value;        /* the last one, or what stands for it */
    syi_chain chain;     /* of both */
    syi_chain_state state[CHAINS];
} task;

SYI_INLINE void start(void *argument, int64_t at, int seeded)
{
    task *t = argument;
    t->block = seeded ? t->seed : at + t->decay;
    t->seeding = seeded;
    t->known |= seeded;
    for (int k = 0; k < CHAINS; k++)
        syi_chain_start(&t->state[k]);
}

/* What a step's closes gain and lose on the ones before them. What is not finite makes the loss so.
 */
SYI_INLINE void moves(const double *const *in, int64_t i, syi_pairs *x)
{
    const syi_vector none = {0};
    const double *close = in[0] + i;
    for (int k = 0; k < SYI_PARTS; k++, close += 2 * SYI_WIDTH) {
        syi_vector a = SYI_LOAD(close) - SYI_LOAD(close - 1);
        syi_vector b = SYI_LOAD(close + SYI_WIDTH) - SYI_LOAD(close + SYI_WIDTH - 1);
        syi_vector even = SYI_LOWER(a, b), odd = SYI_UPPER(a, b);
        x[GAINS].even[k] = syi_larger(even, none);
        x[GAINS].odd[k] = syi_larger(odd, none);
        x[LOSSES].even[k] = x[GAINS].even[k] - even;
        x[LOSSES].odd[k] = x[GAINS].odd[k] - odd;
    }
}

/* The sum of the gains of columns 1 .. seed, of the losses with `sign` -1. */
static double sum_moves(const task *t, double sign)
{
    double closes[SYI_WALK_ROOM(SYI_CHUNK)], room[SYI_CHUNK], sum = 0.0;
    for (int64_t at = 1; at <= t->seed; at += SYI_CHUNK) {
        int64_t left = t->seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        const double *close = syi_walk_columns(t->rows, 0, at, count, 0, closes);
        int64_t i = 0;
        for (; i < count; i += SYI_WIDTH) {
            const syi_vector to = syi_load_some(close + i, count - i), none = {0};
            const syi_vector from = syi_load_some(close + i - 1, count - i);
            SYI_STORE(room + i, syi_larger(none, sign * (to - from)));
        }
        sum += syi_fast_sum(room, i); /* with what is +0 at its end */
    }
    return sum;
}

/* 100 * gains / (gains + losses), and the least of the sums; with `marks` NaN where they are faint.
 */
SYI_INLINE void divide(syi_vector gains, syi_vector losses, syi_vector *y, syi_vector *least,
                       int marks)
{
    syi_vector total = gains + losses;
    *least = syi_smaller(total, *least);
    *y = SYI_RSI_OF(gains, total);
    if (marks)
        *y = (syi_vector)((syi_vector_mask)*y | (total < SYI_RSI_FAINT));
}

/* The columns [from, to) of y, all without a value, get the one before them. `at`: the column of
 * y[0]. */
SYI_INLINE void fill(task *t, int64_t at, double *y, int64_t from, int64_t to)
{
    const double value = t->value;
    t->relied |= !t->known && from < to && at + to > t->rows->piece.segment.first;
    for (int64_t i = from; i < to; i++)
        y[i] = value;
}

/* A value that comes from the row. */
static void keep(task *t, double value)
{
    if (t->forgets)
        return;
    t->value = value;
    t->known = 1;
}

/* The first of y[i .. count) that has a value. */
SYI_INLINE int64_t skip_empty(const double *y, int64_t i, int64_t count)
{
    enum { AT_ONCE = 64 };
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        syi_vector_mask values = {0};
        for (int k = 0; k < AT_ONCE; k += SYI_WIDTH) {
            syi_vector v = SYI_LOAD(y + i + k);
            values |= v == v;
        }
        if (syi_any((const syi_vector *)&values))
            break;
    }
    while (i < count && y[i] != y[i])
        i++;
    return i;
}

/* Fills what has no value, and tells whether there was any; the last one becomes the task's. */
SYI_INLINE void hold(task *t, int64_t at, double *y, int64_t count)
{
    const int looks = t->faint;
    int64_t i = t->block > at ? t->block - at : 0;
    t->faint = 0;
    while (i < count) {
        int64_t from = i;
        if (looks)
            i = skip_empty(y, i, count);
        fill(t, at, y, from, i);
        t->faint |= from < i;
        from = i;
        i = looks ? i : count;
        while (i < count && y[i] == y[i])
            i++;
        if (i > from)
            keep(t, y[i - 1]);
    }
}

/* Begins a step with its gains and losses x. */
SYI_INLINE void open_step(const syi_chain *chain, syi_chain_state *state, const syi_pairs *x,
                          syi_chain_sums *sums)
{
    syi_chain_sum_near(CHAINS, chain, state, (const syi_pairs *const[]){&x[GAINS], &x[LOSSES]},
                       sums);
}

/* The averages of that. */
SYI_INLINE void average(const syi_chain *chain, syi_chain_state *state, const syi_pairs *x,
                        syi_chain_sums *sums, syi_pairs *z)
{
    syi_chain_sum_far(CHAINS, chain, state, sums);
    syi_chain_sum_even(CHAINS, chain, sums, (const syi_pairs *const[]){&x[GAINS], &x[LOSSES]}, z);
}

/* A step of values, of the averages z. */
SYI_INLINE void put(const syi_pairs *z, syi_results *to, syi_vector *least, int marks, int past)
{
    syi_pairs y;
    for (int k = 0; k < SYI_PARTS; k++) {
        divide(z[GAINS].even[k], z[LOSSES].even[k], &y.even[k], least, marks);
        divide(z[GAINS].odd[k], z[LOSSES].odd[k], &y.odd[k], least, marks);
    }
    syi_results_put_pairs(to, &y, past);
}

/* The first of the closes from column `at` on that is not finite, if the chains have met one; else
 * `count`. */
SYI_INLINE int64_t first_strange(const syi_chain_state *state, int64_t at, const double *close,
                                 int64_t count)
{
    return at == 0 || syi_is_finite(close[-1]) ? syi_chain_met(&state[LOSSES], close, count) : 0;
}

SYI_INLINE void gather(void *argument, syi_chain_gathered *past, int64_t count,
                       const double *const *in, int end)
{
    task *t = argument;
    const syi_chain chain[CHAINS] = {t->chain, t->chain};
    syi_walk_gather(CHAINS, chain, t->state, moves, past, count, in, end);
}

SYI_INLINE int64_t met(void *argument, int64_t at, int64_t count, const double *const *in)
{
    return first_strange(((task *)argument)->state, at, in[0], count);
}

SYI_INLINE int is_dead(const void *argument)
{
    return syi_chain_is_dead(&((const task *)argument)->state[LOSSES]);
}

/* Makes a step's inputs those of chains that begin with the seeds; gives whether they are finite.
 */
SYI_INLINE int seed(task *t, int64_t at, syi_pairs *x)
{
    const double gains = sum_moves(t, 1.0), losses = sum_moves(t, -1.0);
    syi_chain_begin(&x[GAINS], t->seed - at, gains);
    syi_chain_begin(&x[LOSSES], t->seed - at, losses);
    t->seeding = 0;
    return syi_is_finite(gains + losses);
}

/* Columns between two looks at whether something is faint; those that are kept from going past the
 * cache: few, so that their stores then do not pile up, unless they are to. */
enum { LOOK = 512, APART = 256, BURST = 512 };

/* Whole steps, as many looks as end without anything faint, or with `marks` all, LOOK at most. A
 * step's values are put while the averages of the next one are made: each waits for itself. Gives
 * how many columns; 0 with `marks` when the seeds are not finite. */
SYI_INLINE int64_t steps(task *t, int64_t at, int64_t count, const double *close, syi_results *out,
                         int marks, int past)
{
    const syi_chain chain[CHAINS] = {t->chain, t->chain};
    syi_chain_state state[CHAINS] = {t->state[GAINS], t->state[LOSSES]};
    syi_results y = *out;
    syi_pairs x[CHAINS], z[CHAINS];
    syi_chain_sums sums[CHAINS];
    int64_t i = 0, done = 0;
    for (t->faint = 0; done < count && !t->faint; done = i) {
        const int64_t end = count - done < LOOK ? count : done + LOOK;
        syi_vector least = {0};
        syi_vector_mask faint;
        least += SYI_RSI_FAINT;
        moves(&close, i, x);
        if (marks && t->seeding && !seed(t, at, x))
            return 0;
        open_step(chain, state, x, sums);
        average(chain, state, x, sums, z);
        i += SYI_STEP;
        if (i < end) {
            moves(&close, i, x);
            open_step(chain, state, x, sums);
            for (i += SYI_STEP; i < end; i += SYI_STEP) {
                syi_ask_at(close + i, t->ahead, SYI_STEP);
                put(z, &y, &least, marks, past);
                average(chain, state, x, sums, z);
                moves(&close, i, x);
                open_step(chain, state, x, sums);
            }
            put(z, &y, &least, marks, past);
            average(chain, state, x, sums, z);
        }
        put(z, &y, &least, marks, past);
        faint = least < SYI_RSI_FAINT;
        t->faint = syi_any((const syi_vector *)&faint);
        if (t->faint && !marks)
            break;
        memcpy(t->state, state, sizeof state);
        *out = y;
    }
    return done;
}

/* Whether the price stands still in these columns, too, and all that the chains have seen. */
static int rests(const task *t, const double *close, int64_t count)
{
    static const syi_chain_state none[CHAINS];
    syi_vector_mask moves = {0};
    for (int64_t i = 0; i < count; i += SYI_WIDTH)
        moves |= SYI_LOAD(close + i) != SYI_LOAD(close + i - 1);
    return memcmp(t->state, none, sizeof none) == 0 && !syi_any((const syi_vector *)&moves);
}

/* From column *i on, which becomes the one behind what has been done: all of them, but `past` the
 * cache no more than until something is faint. Marking takes a tenth of the time, so it is done
 * where there is something to mark: again, then, and in what follows, which as a rule has more of
 * it. */
SYI_INLINE int64_t run_held(task *t, int64_t at, int64_t *i, int64_t count, const double *close,
                            syi_results *out, int past)
{
    for (int64_t some, met; *i < count && !(past && t->faint); *i += some) {
        const int marks = t->faint || t->seeding, most = t->seeding ? SYI_STEP : LOOK;
        double *const first = out->y;
        some = marks && count - *i > most ? most : count - *i;
        if (t->faint && !t->seeding && rests(t, close + *i, some)) {
            syi_results_end(out);
            fill(t, at + *i, first, t->block > at + *i ? t->block - at - *i : 0, some);
            *out = syi_results_at(first + some, past);
            continue;
        }
        some = marks ? steps(t, at + *i, some, close + *i, out, 1, past)
                     : steps(t, at + *i, some, close + *i, out, 0, past);
        met = some > 0 ? first_strange(t->state, at + *i, close + *i, some) : 0;
        if (marks || met < some) {
            syi_results_end(out);
            hold(t, at + *i, first, met);
            *out = syi_results_at(first + some, past);
        } else if (some > 0 && at + *i + some > t->block) {
            keep(t, past ? out->held[SYI_WIDTH - 1] : out->y[-1]);
        }
        if (met < some || (marks && some == 0))
            return *i + met;
    }
    return count;
}

/* Not past the cache. A function, since it is called from several places: most of this file's code.
 */
static __attribute__((noinline)) int64_t run_near(task *t, int64_t at, int64_t *i, int64_t count,
                                                  const double *close, syi_results *out)
{
    return run_held(t, at, i, count, close, out, 0);
}

/* What is faint has to be filled before it goes past the cache, and so has all in a burst. */
SYI_INLINE int64_t run_apart(task *t, int64_t at, int64_t *i, int64_t count, const double *close,
                             syi_results *out)
{
    const int64_t most = t->bursts ? BURST : APART;
    double room[BURST];
    for (int64_t some; *i < count && (t->bursts || t->faint); *i += some) {
        syi_results y = syi_results_at(room, 0);
        int64_t done = 0, met;
        some = count - *i < most ? count - *i : most;
        met = run_near(t, at + *i, &done, some, close + *i, &y);
        for (int64_t k = 0; k < some; k += SYI_WIDTH)
            syi_results_put(out, SYI_LOAD(room + k), 1);
        if (met < some)
            return *i + met;
    }
    return count;
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       syi_distance ahead, syi_results *out, int past)
{
    task *t = argument;
    int64_t i = 0, reached = count;
    t->ahead = ahead;
    while (i < count && reached == count)
        reached = !past                   ? run_near(t, at, &i, count, in[0], out)
                  : t->bursts || t->faint ? run_apart(t, at, &i, count, in[0], out)
                                          : run_held(t, at, &i, count, in[0], out, past);
    return reached;
}

sy_status SYI_ISA_NAME(syi_rsi_fast_run)(const syi_piece *piece)
{
    static const syi_walk_form form = {start, gather, met, is_dead, run};
    const double period = piece->segment.params[0];
    syi_walk_rows rows;
    const sy_segment *const segment = &rows.piece.segment;
    syi_walk walk = {&rows, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 1, 1};
    task t = {.rows = &rows,
              .seed = walk.seed,
              .decay = walk.cut.decay,
              .forgets = period == 1.0,
              .bursts = !piece->in_floats && syi_in_bursts(piece),
              .chain = syi_chain_of(1.0, period)};
    syi_walk_begin(&rows, piece, 1, 1);
    do {
        t.known = piece->start != NULL || period == 1.0;
        t.relied = 0;
        t.value = piece->start && period > 1.0 ? piece->start->word[2] : SYI_RSI_STILL;
        if (!syi_beside_did(&walk, syi_rsi_beside, &t.chain))
            syi_walk_run(&walk, &form, &t);
    } while (syi_walk_next_row(&rows, 1, 1));
    if (piece->assumed)
        syi_rsi_tell(piece->assumed, SYI_RSI_STILL, t.relied);
    if (piece->end)
        syi_rsi_tell(
            piece->end,
            segment->first + segment->count > walk.shown ? syi_walk_last(&rows) : SYI_RSI_STILL, 0);
    return SY_OK;
}
