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
    int64_t seed;       /* the column of the row's seeds */
    int seeding;        /* they are in the next step */
    int begins;         /* a block does, of whose chains nothing is known */
    int known, relied;  /* `value` comes from the row; the piece shows one that does not, */
    int shows;          /* of the columns that are run */
    int forgets;        /* at once, with a period of 1: a price that stands still is a new one */
    double nearly;      /* less than that may be faint a look later, */
    int faint;          /* and some of the last columns have less */
    int bursts;         /* results go past the cache by many */
    syi_distance ahead; /* how many columns ahead closes are asked for */
    double value;       /* the last one, or what stands for it */
    syi_chain chain;    /* of both */
    syi_chain_state state[CHAINS];
} task;

SYI_INLINE void start(void *argument, int64_t at, int seeded)
{
    task *t = argument;
    (void)at;
    t->seeding = seeded;
    t->begins = 1;
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

/* A value that comes from the row. */
static void keep(task *t, double value)
{
    if (t->forgets)
        return;
    t->value = value;
    t->known = 1;
}

/* What a column without a value gets, the value before it. */
SYI_INLINE double held(task *t)
{
    t->relied |= !t->known && t->shows;
    return t->value;
}

/* Gives the columns of y that have no value the one before them. Not inline, for it keeps y in
 * memory. */
static __attribute__((noinline)) void hold_some(task *t, syi_vector *y)
{
    for (int i = 0; i < SYI_WIDTH; i++)
        if ((*y)[i] == (*y)[i])
            keep(t, (*y)[i]);
        else
            (*y)[i] = held(t);
}

/* The same where as a rule all columns have one, or none. */
SYI_INLINE syi_vector hold(task *t, syi_vector y)
{
    const unsigned values = syi_equal(y, y);
    if (values == 0)
        return (syi_vector){0} + held(t);
    if (values != SYI_ALL) {
        syi_vector some = y;
        hold_some(t, &some);
        return some;
    }
    keep(t, y[SYI_WIDTH - 1]);
    return y;
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
SYI_INLINE void put(task *t, const syi_pairs *z, syi_results *to, syi_vector *least, int marks,
                    int past)
{
    for (int k = 0; k < SYI_PARTS; k++) {
        syi_vector even, odd;
        divide(z[GAINS].even[k], z[LOSSES].even[k], &even, least, marks);
        divide(z[GAINS].odd[k], z[LOSSES].odd[k], &odd, least, marks);
        const syi_vector first = SYI_LOWER(even, odd), second = SYI_UPPER(even, odd);
        syi_results_put(to, marks ? hold(t, first) : first, past);
        syi_results_put(to, marks ? hold(t, second) : second, past);
    }
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

/* Columns between two looks at whether something is faint; those that are marked at once; those
 * that go past the cache in a burst. */
enum { LOOK = 512, FEW = 64, BURST = 512 };

/* More than what fades so by a half in each column. */
#define SYI_RSI_NEARLY 0x1p-300

/* Whole steps until something may be faint in the next look, or is in this one, which is left then;
 * with `marks` all, LOOK at most. A step's values are put while the averages of the next one are
 * made: each waits for itself. Gives how many columns; 0 with `marks` when the seeds are not
 * finite. */
SYI_INLINE int64_t steps(task *t, int64_t at, int64_t count, const double *close, syi_results *out,
                         int marks, int past)
{
    const syi_chain chain[CHAINS] = {t->chain, t->chain};
    syi_chain_state state[CHAINS] = {t->state[GAINS], t->state[LOSSES]};
    syi_results y = *out;
    syi_pairs x[CHAINS], z[CHAINS];
    syi_chain_sums sums[CHAINS];
    const syi_vector faint = (syi_vector){0} + SYI_RSI_FAINT, most = (syi_vector){0} + t->nearly;
    int64_t i = 0, done = 0;
    for (t->faint = 0; done < count && !t->faint; done = i) {
        const int64_t end = count - done < LOOK ? count : done + LOOK;
        syi_vector least = most;
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
                put(t, z, &y, &least, marks, past);
                average(chain, state, x, sums, z);
                moves(&close, i, x);
                open_step(chain, state, x, sums);
            }
            put(t, z, &y, &least, marks, past);
            average(chain, state, x, sums, z);
        }
        put(t, z, &y, &least, marks, past);
        t->faint = syi_not_ordered(most, least) != 0;
        if (t->faint && !marks && syi_not_ordered(faint, least))
            break;
        memcpy(t->state, state, sizeof state);
        *out = y;
    }
    return done;
}

/* Whether the chains have seen nothing but a price that stands still. */
static int is_still(const task *t)
{
    static const syi_chain_state none[CHAINS];
    return memcmp(t->state, none, sizeof none) == 0;
}

/* Then, whole steps as long as it does so. */
SYI_INLINE int64_t rest(task *t, int64_t count, const double *close, syi_results *out, int past)
{
    const syi_vector value = (syi_vector){0} + t->value;
    syi_results y = *out;
    int64_t i = 0;
    for (; i < count; i += SYI_STEP) {
        unsigned still = SYI_ALL;
        for (int k = 0; k < SYI_STEP; k += SYI_WIDTH)
            still &= syi_equal(SYI_LOAD(close + i + k), SYI_LOAD(close + i + k - 1));
        if (still != SYI_ALL)
            break;
        syi_ask_at(close + i, t->ahead, SYI_STEP);
        for (int k = 0; k < SYI_STEP; k += SYI_WIDTH)
            syi_results_put(&y, value, past);
    }
    if (i > 0)
        (void)held(t);
    *out = y;
    return i;
}

/* As many whole steps as end without anything faint, or FEW columns. Marking takes time, so it is
 * done where there is something to mark, and in what follows, which as a rule has more of it. */
SYI_INLINE int64_t some_steps(task *t, int64_t at, int64_t count, const double *close,
                              syi_results *out, int past)
{
    const int64_t most = t->seeding ? SYI_STEP : FEW;
    int64_t done;
    if (t->faint || t->seeding)
        return steps(t, at, count < most ? count : most, close, out, 1, past);
    done = steps(t, at, count, close, out, 0, past);
    if (done > 0)
        keep(t, past ? out->held[SYI_WIDTH - 1] : out->y[-1]);
    return done;
}

/* From column `at` on, all of them; gives the first whose close, or seed, is not finite. */
SYI_INLINE int64_t run_all(task *t, int64_t at, int64_t count, const double *close,
                           syi_results *out, int past)
{
    for (int64_t i = 0, some, met; i < count; i += some) {
        const int seeds = t->seeding, may_rest = !seeds && (t->faint || t->begins);
        t->begins = 0;
        some = may_rest && is_still(t) ? rest(t, count - i, close + i, out, past) : 0;
        if (some > 0)
            continue;
        some = some_steps(t, at + i, count - i, close + i, out, past);
        met = some > 0 ? first_strange(t->state, at + i, close + i, some) : 0;
        if (met < some || (some == 0 && seeds))
            return i + met;
    }
    return count;
}

/* Not past the cache. A function, since it is called from several places: most of this file's code.
 */
static __attribute__((noinline)) int64_t run_near(task *t, int64_t at, int64_t count,
                                                  const double *close, syi_results *out)
{
    return run_all(t, at, count, close, out, 0);
}

/* Past the cache in bursts. */
SYI_INLINE int64_t run_in_bursts(task *t, int64_t at, int64_t count, const double *close,
                                 syi_results *out)
{
    double room[BURST];
    for (int64_t i = 0, some; i < count; i += some) {
        syi_results y = syi_results_at(room, 0);
        some = count - i < BURST ? count - i : BURST;
        const int64_t met = run_near(t, at + i, some, close + i, &y);
        for (int64_t k = 0; k < some; k += SYI_WIDTH)
            syi_results_put(out, SYI_LOAD(room + k), 1);
        if (met < some)
            return i + met;
    }
    return count;
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       syi_distance ahead, syi_results *out, int past)
{
    task *t = argument;
    t->ahead = ahead;
    t->shows = at + count > t->rows->piece.segment.first;
    return !past       ? run_near(t, at, count, in[0], out)
           : t->bursts ? run_in_bursts(t, at, count, in[0], out)
                       : run_all(t, at, count, in[0], out, 1);
}

/* What fades to SYI_RSI_FAINT within a look, but for a period of 1, which forgets at once. */
static double nearly_faint(const syi_chain *chain)
{
    double fades = SYI_RSI_FAINT;
    for (int i = 0; i < LOOK && fades < SYI_RSI_NEARLY; i += SYI_STEP)
        fades /= chain->b16;
    return fades < SYI_RSI_NEARLY ? fades : SYI_RSI_NEARLY;
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
              .forgets = period == 1.0,
              .bursts = !piece->in_floats && syi_in_bursts(piece),
              .chain = syi_chain_of(1.0, period)};
    t.nearly = nearly_faint(&t.chain);
    syi_walk_begin(&rows, piece, 1, 1);
    do {
        t.known = piece->start != NULL || period == 1.0;
        t.relied = 0;
        t.value = piece->start && period > 1.0 ? piece->start->word[2] : SYI_RSI_STILL;
        if (!syi_beside_did(&walk, SYI_BESIDE_QUOTIENTS, syi_rsi_beside, &t.chain))
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
