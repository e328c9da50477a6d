/* A slab's long lanes (recurrence/long.h). */
#ifndef SYI_KERNELS_MACD_LONG_H
#define SYI_KERNELS_MACD_LONG_H

#include "macd/block.h"
#include "recurrence/long.h"

#if SYI_HAVE_VECTORS

/* How much longer than for the slowest of its averages: the signal still takes up what that one has
 * not forgotten, and n b^n decays later than b^n. */
#define MACD_LATER 1.125

SYI_INLINE syi_long_plan macd_long_plan(const syi_macd *macd, int64_t from)
{
    double longest = macd->slow > macd->fast ? macd->slow : macd->fast;
    longest = longest > macd->signal ? longest : macd->signal;
    return syi_long_plan_of(MACD_LATER * longest, MACD_LANES, MACD_BLOCK, from);
}

/* The block of each lane at column `at` of it; y is NULL where nothing is written, `before` the
 * value before x[0]. */
SYI_INLINE void macd_go_to(macd_slab *s, const double *x, double *const *y, double before,
                           int64_t at)
{
    s->x = x + at;
    for (int k = 0; k < 3; k++)
        s->y[k] = y ? y[k] + at : NULL;
    s->before = at ? s->x[-1] : before;
    s->first = at;
    s->length = macd_block_columns(at, s->columns_each);
}

/* While the price stands still, what is claimed of a lane's start stays as large beside the
 * averages as it was, and so leaves columns in doubt. At most so many of a lane are run again, when
 * its neighbour's end is known. */
#define MACD_MOST_VAGUE 4096

/* Whether columns of a block, at column `at` of those that are run, may be put off so. */
SYI_INLINE int macd_make_vague(macd_slab *s, int lane, int64_t at, int columns)
{
    const int64_t end = s->first + at + columns;
    if (lane == 0 || !s->may_be_vague || end > MACD_MOST_VAGUE)
        return 0;
    s->vague[lane] = end;
    return 1;
}

/* Whether they have been, with all before them in their lane. */
SYI_INLINE int macd_is_vague(macd_slab *s, int lane, int64_t at, int columns)
{
    return s->vague[lane] == s->first + at && macd_make_vague(s, lane, at, columns);
}

/* Whether a value has been out of range: a NaN, of which the extremes may know nothing, is still in
 * the state behind it. */
SYI_INLINE int macd_is_lost(const macd_slab *s)
{
    return syi_vec_any(s->outside |
                       ~(syi_bits_vec)(syi_vec_abs(s->lanes.stage[SIGNAL].high) <= SYI_HUGE));
}

/* How large the values of a block are, and the averages before it. */
SYI_INLINE syi_vec macd_size(const macd_slab *s)
{
    const syi_stage *stage = s->lanes.stage;
    const syi_vec pivot = s->lanes.pivot;
    syi_vec size = syi_vec_max(syi_vec_abs(s->least[0] - pivot), syi_vec_abs(s->most[0] - pivot));
    size = syi_vec_max(size,
                       syi_vec_max(syi_vec_abs(stage[FAST].high), syi_vec_abs(stage[SLOW].high)));
    return syi_vec_max(size, syi_vec_abs(stage[SIGNAL].high) * 0.5);
}

/* A block at the beginning of the run-ins, in plain doubles. */
SYI_INLINE void macd_guess(macd_slab *s, syi_vec size)
{
    macd_lanes *l = &s->lanes;
    const syi_vec pivot = l->pivot, none = {0};
    syi_stage *fast = &l->stage[FAST], *slow = &l->stage[SLOW], *signal = &l->stage[SIGNAL];
    syi_vec average[STAGES] = {fast->high, slow->high, signal->high};
    for (int i = 0; i < MACD_BLOCK; i++) {
        const syi_vec x = s->tile[i] - pivot;
        average[FAST] = syi_long_guess(&s->terms[FAST], average[FAST], x);
        average[SLOW] = syi_long_guess(&s->terms[SLOW], average[SLOW], x);
        average[SIGNAL] =
            syi_long_guess(&s->terms[SIGNAL], average[SIGNAL], average[FAST] - average[SLOW]);
    }
    signal->error = syi_long_error(&s->terms[SIGNAL], signal->error, size + size,
                                   fast->error + slow->error, MACD_BLOCK);
    fast->error = syi_long_error(&s->terms[FAST], fast->error, size, none, MACD_BLOCK);
    slow->error = syi_long_error(&s->terms[SLOW], slow->error, size, none, MACD_BLOCK);
    for (int k = 0; k < STAGES; k++)
        l->stage[k].high = average[k];
}

/* The terms of what forgets last. */
SYI_INLINE const syi_stage_terms *macd_slowest(const macd_slab *s)
{
    const syi_stage_terms *slowest = &s->terms[FAST];
    for (int k = SLOW; k < STAGES; k++)
        slowest = s->terms[k].decay > slowest->decay ? &s->terms[k] : slowest;
    return slowest;
}

/* The run-ins of x's lanes, and how far values in them are apart. Returns 0 when values stand still
 * as long as it is plain: they may do so to its end. `left`: of what is before them, at theirs. */
SYI_INLINE int macd_run_in(macd_slab *s, const double *x, int64_t columns, int64_t exact,
                           double left, syi_vec *apart)
{
    const int64_t first = s->stride - columns;
    const syi_stage_terms *slowest = macd_slowest(s);
    int is_rough = 0; /* too much for plain doubles */
    for (int64_t at = first; at < s->stride; at += MACD_BLOCK, left /= slowest->decay) {
        const int is_plain = at < s->stride - exact;
        macd_go_to(s, x, NULL, x[0], at);
        macd_load(s, 0, MACD_BLOCK);
        if (at == first) {
            s->lanes = (macd_lanes){.pivot = syi_long_pivot(s->least[0], s->most[0])};
            *apart = syi_vec_of(SYI_LONG_STILL);
        }
        *apart = syi_long_apart(*apart, s->least[0], s->most[0]);
        const syi_vec size = macd_size(s);
        is_rough |= is_plain && !syi_long_is_forgotten(slowest, size, *apart, left);
        if (is_plain && !is_rough)
            macd_guess(s, size);
        else if (syi_long_is_still(*apart))
            return 0;
        else
            macd_try(s, 0, MACD_BLOCK, 0);
    }
    return 1;
}

/* Claims the starts of all lanes but the first. Returns 0 when prices are out of range. */
SYI_INLINE int macd_claim(macd_slab *s, const double *x, int64_t run_in, int64_t exact)
{
    const syi_macd_map *left = &s->map; /* of run_in columns */
    const double signal =
        left->signal.above + fabs(left->from_fast.high) + fabs(left->from_slow.high);
    syi_vec apart;
    s->outside = (syi_bits_vec){0};
    memset(s->vague, 0, sizeof s->vague);
    if (!macd_run_in(s, x, run_in, exact, signal, &apart))
        return 0;
    for (int lane = 0; lane < MACD_LANES; lane++) {
        const double own = apart[lane];
        syi_macd_triple *start = &s->start[lane + 1];
        *start = macd_end(s, lane);
        start->fast = syi_long_claim(start->fast, left->fast.above, own);
        start->slow = syi_long_claim(start->slow, left->slow.above, own);
        start->signal = syi_long_claim(start->signal, signal, own);
    }
    return !macd_is_lost(s);
}

/* The block at the beginning, which has been read. */
SYI_INLINE void macd_fill_block(macd_slab *s, int late)
{
    const int count = (int)s->length;
    if (macd_is_rough(s) || macd_is_bent(s, 0))
        macd_write_parts(s, 0, count, late, 0);
    else
        macd_write(s, 0, count, late, 0);
}

/* Not inline: of what is around them the compiler makes slower ones. */
static __attribute__((noinline)) void macd_fill_late(macd_slab *s)
{
    macd_fill_block(s, 1);
}

static __attribute__((noinline)) void macd_fill_at_once(macd_slab *s)
{
    macd_fill_block(s, 0);
}

/* Whether what was claimed of a lane's start was true, its left neighbour having ended so. */
SYI_INLINE int macd_agrees(const syi_macd_triple *claimed, const syi_macd_triple *end)
{
    return syi_deviation_agrees(&claimed->fast, &end->fast) &&
           syi_deviation_agrees(&claimed->slow, &end->slow) &&
           syi_deviation_agrees(&claimed->signal, &end->signal);
}

#endif
#endif
