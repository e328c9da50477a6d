/* The average true range in fast accuracy. Compiled for several instruction sets. */
#include "atr/fast.h"
#include "fast/beside.h"
#include "isa.h"

/* syi_atr_range of a vector of columns where no high is below a low; else *strange becomes other
 * than 0. Rounded differences are in the order of the true ones, so the largest one is the largest
 * one's. What is not finite in a close shows in the column behind it. */
SYI_INLINE syi_vector range_of(syi_vector high, syi_vector low, syi_vector before,
                               unsigned *strange)
{
    *strange |= syi_not_ordered(low, high);
    return syi_larger(high, before) - syi_smaller(low, before);
}

SYI_INLINE void ranges(const double *const *in, int64_t i, syi_pairs *x)
{
    syi_vector range[2 * SYI_PARTS];
    unsigned strange = 0;
    for (int k = 0; k < 2 * SYI_PARTS; k++)
        range[k] =
            range_of(SYI_LOAD(in[0] + i + k * SYI_WIDTH), SYI_LOAD(in[1] + i + k * SYI_WIDTH),
                     SYI_LOAD(in[2] + i + k * SYI_WIDTH - 1), &strange);
    if (__builtin_expect(strange != 0, 0)) {
        double defined[SYI_STEP];
        SYI_ROLLED
        for (int k = 0; k < SYI_STEP; k++)
            defined[k] = syi_atr_range(in[0][i + k], in[1][i + k], in[2][i + k], in[2][i + k - 1]);
        for (int k = 0; k < 2 * SYI_PARTS; k++)
            range[k] = SYI_LOAD(defined + k * SYI_WIDTH);
    }
    for (int k = 0; k < SYI_PARTS; k++) {
        x->even[k] = SYI_LOWER(range[2 * k], range[2 * k + 1]);
        x->odd[k] = SYI_UPPER(range[2 * k], range[2 * k + 1]);
    }
}

/* The sum of the ranges of `count` columns. */
SYI_INLINE double sum_ranges(const double *const *in, int64_t count)
{
    const double *high = in[0], *low = in[1], *close = in[2];
    double range[SYI_CHUNK];
    unsigned strange = !syi_is_finite(close[count - 1]);
    int64_t i = 0;
    for (; i < count; i += SYI_WIDTH)
        SYI_STORE(range + i,
                  range_of(syi_load_some(high + i, count - i), syi_load_some(low + i, count - i),
                           syi_load_some(close + i - 1, count - i), &strange));
    for (int64_t k = 0; k < count && strange; k++)
        range[k] = syi_atr_range(high[k], low[k], close[k], close[k - 1]);
    return syi_fast_sum(range, i); /* with what is +0 at its end */
}

/* The mean of the ranges of columns 1 .. seed. */
static double seed_value(const syi_walk_one *t)
{
    double room[SYI_WALK_ARRAYS][SYI_WALK_ROOM(SYI_CHUNK)];
    const double *in[SYI_WALK_ARRAYS];
    double sum = syi_atr_nothing(*syi_walk_columns(t->rows, 2, 0, 1, 0, room[2]));
    for (int64_t at = 1; at <= t->seed; at += SYI_CHUNK) {
        const int64_t left = t->seed + 1 - at, count = left < SYI_CHUNK ? left : SYI_CHUNK;
        for (int k = 0; k < SYI_WALK_ARRAYS; k++)
            in[k] = syi_walk_columns(t->rows, k, at, count, 0, room[k]);
        sum += sum_ranges(in, count);
    }
    return sum / (double)t->seed;
}

/* The first of the columns from i on that is not finite, if the chain has met one or the last close
 * is none; else `count`. */
SYI_INLINE int64_t first_strange(const syi_walk_one *t, const double *const *in, int64_t i,
                                 int64_t count)
{
    if (!syi_chain_is_dead(&t->state) && syi_is_finite(in[2][count - 1]))
        return count;
    while (i < count && syi_is_finite(syi_atr_range(in[0][i], in[1][i], in[2][i], in[2][i - 1])))
        i++;
    return i;
}

SYI_INLINE void gather(void *argument, syi_chain_gathered *past, int64_t count,
                       const double *const *in, int end)
{
    syi_walk_one *t = argument;
    syi_walk_gather(1, &t->chain, &t->state, ranges, past, count, in, end);
}

SYI_INLINE int64_t met(void *argument, int64_t at, int64_t count, const double *const *in)
{
    (void)at;
    return first_strange(argument, in, 0, count);
}

SYI_INLINE int is_dead(const void *argument)
{
    return syi_chain_is_dead(&((const syi_walk_one *)argument)->state);
}

SYI_INLINE int64_t run(void *argument, int64_t at, int64_t count, const double *const *in,
                       syi_distance ahead, syi_results *out, int past)
{
    syi_walk_one *t = argument;
    int64_t i = 0, begun = 0;
    if (t->seeding) {
        const double seed = seed_value(t);
        syi_pairs x;
        if (!syi_is_finite(seed))
            return 0;
        ranges(in, 0, &x);
        syi_chain_begin(&x, t->seed - at, syi_chain_seed(&t->chain, seed));
        syi_chain_put(&t->chain, &t->state, &x, out, past);
        t->seeding = 0;
        begun = t->seed + 1 - at; /* what is before is in the seed, or does not count */
        i = SYI_STEP;
    }
    syi_walk_one_run(t, 3, ranges, in, i, count, ahead, out, past);
    return first_strange(t, in, begun, count);
}

/* A function of its own: three inputs need all registers there are. */
static __attribute__((noinline)) void run_row(const syi_walk *walk, syi_walk_one *t)
{
    static const syi_walk_form form = {syi_walk_one_start, gather, met, is_dead, run};
    syi_walk_run(walk, &form, t);
}

#if SYI_HAVE_VECTORS

/* range_of() of a column of each row; `wrong` becomes not 0 where a high is below a low. */
SYI_INLINE syi_vector range_beside(syi_vector high, syi_vector low, syi_vector before,
                                   syi_vector_mask *wrong)
{
    *wrong |= ~(low <= high);
    return syi_larger(high, before) - syi_smaller(low, before);
}

/* The means of the ranges of columns 1 .. seed. */
SYI_INLINE syi_vector seeds_beside(const syi_walk *walk, syi_vector_mask *wrong)
{
    const int count = (int)walk->seed + 1;
    syi_vector high[SYI_BESIDE_SEED], low[SYI_BESIDE_SEED], close[SYI_BESIDE_SEED];
    syi_beside_first(walk, 0, count, high);
    syi_beside_first(walk, 1, count, low);
    syi_beside_first(walk, 2, count, close);
    for (int i = 1; i < count; i++)
        high[i] = range_beside(high[i], low[i], close[i - 1], wrong);
    return (close[0] * 0.0 + syi_beside_sum(high + 1, walk->seed)) / (double)walk->seed;
}

static uint8_t run_beside(const void *argument, const syi_walk *walk)
{
    const syi_chain chain = ((const syi_walk_one *)argument)->chain;
    const int64_t columns = syi_beside_columns(walk);
    const int64_t first = walk->seed / SYI_STEP * SYI_STEP;
    syi_beside_chain state = {0};
    syi_vector_mask wrong = {0};
    const syi_vector seed = seeds_beside(walk, &wrong);
    syi_vector before = {0};
    for (int l = 0; l < SYI_VECTOR && first > 0; l++)
        before[l] = walk->rows->in[2][l * columns + first - 1];
    for (int64_t at = first; at < columns; at += SYI_STEP) {
        syi_vector high[SYI_STEP], low[SYI_STEP], close[SYI_STEP];
        syi_beside_load(walk, 0, at, high);
        syi_beside_load(walk, 1, at, low);
        syi_beside_load(walk, 2, at, close);
        for (int i = 0; i < SYI_STEP; i++) {
            high[i] = range_beside(high[i], low[i], before, &wrong);
            before = at + i < columns ? close[i] : before;
        }
        if (at == first)
            syi_beside_begin(high, walk->seed - at, seed / chain.a);
        syi_beside_step(&chain, &state, high);
        syi_beside_scale(&chain, high);
        syi_beside_store(walk, 0, at, high);
    }
    /* No close is in a range of its own column. */
    before = (syi_vector)((syi_vector_mask)before | wrong);
    return syi_beside_sound(&state, seed + before);
}

#endif

sy_status SYI_ISA_NAME(syi_atr_fast_run)(const syi_piece *piece)
{
    double period = piece->segment.params[0];
    syi_walk_rows rows;
    syi_walk walk = {&rows, (int64_t)period, (int64_t)period, syi_wilder_cut(period), 3, 1};
    syi_walk_one t = {.rows = &rows, .seed = walk.seed, .chain = syi_chain_of(1.0, period)};
    syi_walk_begin(&rows, piece, 3, 1);
    do
        if (!syi_beside_did(&walk, SYI_BESIDE_LONGEST, run_beside, &t))
            run_row(&walk, &t);
    while (syi_walk_next_row(&rows, 3, 1));
    return SY_OK;
}
