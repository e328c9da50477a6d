/*
 * Ties of an exponential moving average. With a period of 3, 7, 15 ... its factors have few bits,
 * and prices that stand still for long and then move leave averages of few bits but for what is
 * left of long ago. One of them, as a rule, lies in the middle between two doubles, if it were not
 * for that rest, which is far below what a block of a slab loses. So where columns are unsure with
 * such a period the block is run once more as a tied one, and those after it at once. There
 *
 *     y = pivot + high + low + rest,
 *
 * the stage's low parts lose nothing that is not taken up by the rest, and only what that loses is
 * an error: while high and low hold all bits, it is far smaller than the rest, whose sign then says
 * on which side of the middle the average lies.
 *
 * Where prices stand still until no number holds what is left, its sign alone is kept, the `side`,
 * until the block behind that in which the price moves.
 */
#ifndef SYI_KERNELS_EMA_TIED_H
#define SYI_KERNELS_EMA_TIED_H

#include "ema/slab.h"

#if SYI_HAVE_VECTORS

/* Blocks that are tied behind one that had to be; and those that are not behind one to which that
 * was no help. */
enum { EMA_TIED = 4, EMA_UNTIED = 2 };

/* Of a price at least so large SYI_LOSSY is nothing. */
#define EMA_WEIGHTY 0x1p-500
/* Parts of an average that are smaller count for nothing, and an error is at least as large, so
 * that nothing becomes subnormal in a block. */
#define EMA_LIGHT 0x1p-850
/* How near to the middle between two doubles a number is taken for it and a rest, per distance from
 * that of them which is nearer. */
#define EMA_NEAR 0x1p-40

/* Takes a + b up in the rest. */
SYI_INLINE void ema_rest_add(ema_rest *r, syi_vec a, syi_vec b)
{
    const syi_vec sizes = syi_vec_abs(a) + syi_vec_abs(b);
    r->low += a + b;
    r->error += (sizes + syi_vec_abs(r->low)) * syi_vec_of(4.0 * SYI_STAGE_LOSS);
}

/* What is run next begins with an ordinary block, of no known side. */
SYI_INLINE void ema_untie(ema_slab *s)
{
    s->tied = 0;
    s->rest.side = (syi_vec){0};
    s->side[EMA_LANES] = 0.0;
}

/* Whether nothing moves in a short lane. */
SYI_INLINE int ema_is_still(const ema_slab *s, int lane)
{
    int is_still = 1;
    for (int64_t block = 0; block * EMA_BLOCK < s->length; block++)
        is_still &= s->least[block][lane] == s->most[block][lane] &&
                    s->least[block][lane] == ema_before(s, lane);
    return is_still;
}

/* The sides with which short lanes begin, that of the first being as the last one ended. */
SYI_INLINE void ema_find_sides(ema_slab *s)
{
    s->side[0] = s->side[EMA_LANES];
    for (int lane = 0; lane < EMA_LANES; lane++) {
        const double left = s->start[lane + 1].value.high, size = fabs(left);
        const int is_hardly = size < SYI_LOSSY;
        s->side[lane + 1] = 0.0;
        if (is_hardly && size * (0.5 * SYI_PER_FINE) > s->start[lane + 1].error &&
            fabs(ema_before(s, lane + 1)) >= EMA_WEIGHTY)
            s->side[lane + 1] = left > 0.0 ? 1.0 : -1.0;
        else if (is_hardly && s->side[lane] != 0.0 && ema_is_still(s, lane))
            s->side[lane + 1] = s->side[lane];
    }
}

/* Lets go what is too small, of which the error then knows. */
SYI_INLINE syi_vec ema_drop_light(syi_vec part, syi_vec *error)
{
    const syi_vec size = syi_vec_abs(part);
    const syi_bits_vec kept = (syi_bits_vec)(size >= EMA_LIGHT);
    *error += (syi_vec)((syi_bits_vec)size & ~kept) * syi_vec_of(2.0 * SYI_PER_FINE);
    return (syi_vec)((syi_bits_vec)part & kept);
}

/* After a block: the sign of what is hardly there any more, while the price, which is far from 0,
 * stands still. */
SYI_INLINE void ema_keep_side(ema_slab *s, int64_t block)
{
    const syi_vec left = s->stage.high + s->stage.low, size = syi_vec_abs(left), none = {0};
    if (!syi_vec_any((syi_bits_vec)(size < SYI_LOSSY))) {
        s->rest.side = none;
        return;
    }
    const syi_bits_vec still = (syi_bits_vec)(s->least[block] == s->most[block]) &
                               (syi_bits_vec)(s->least[block] == s->begun_pivot[block]);
    const syi_bits_vec known = (syi_bits_vec)(size < SYI_LOSSY) & (syi_bits_vec)(size > none) &
                               (syi_bits_vec)(size * (0.5 * SYI_PER_FINE) > s->stage.error) &
                               (syi_bits_vec)(syi_vec_abs(s->pivot) >= EMA_WEIGHTY);
    const syi_bits_vec sign = (syi_bits_vec)left & ((syi_bits_vec){0} + (UINT64_C(1) << 63));
    const syi_vec side = (syi_vec)((syi_bits_vec)syi_vec_of(1.0) | sign);
    s->rest.side = syi_vec_pick(known, side, (syi_vec)((syi_bits_vec)s->rest.side & still));
}

/* Leaves out what has a side. */
SYI_INLINE void ema_leave_out(ema_slab *s)
{
    const syi_bits_vec kept = (syi_bits_vec)(s->rest.side == 0.0);
    s->stage.high = (syi_vec)((syi_bits_vec)s->stage.high & kept);
    s->stage.low = (syi_vec)((syi_bits_vec)s->stage.low & kept);
    s->rest.low = (syi_vec)((syi_bits_vec)s->rest.low & kept);
    s->rest.error = (syi_vec)((syi_bits_vec)s->rest.error & kept);
}

/* Begins with what an ordinary block did. */
SYI_INLINE void ema_tie(ema_slab *s, int64_t block)
{
    s->pivot = s->begun_pivot[block];
    s->stage = s->begun[block];
    s->rest.low = (syi_vec){0};
    s->rest.error = syi_vec_max(s->stage.error, syi_vec_of(EMA_LIGHT * SYI_PER_FINE));
    ema_leave_out(s);
}

/* On to a pivot, the parts in the order of their sizes. */
SYI_INLINE void ema_tied_move(ema_slab *s, syi_vec pivot)
{
    syi_stage *stage = &s->stage;
    ema_rest *r = &s->rest;
    syi_vec by, by_low, high, low, lost, further;
    syi_vec_two_sum(pivot, -s->pivot, &by, &by_low);
    syi_vec_two_sum(stage->high, -by, &high, &low);
    syi_vec_two_sum(low, -by_low, &low, &lost);
    syi_vec_two_sum(stage->low, low, &low, &further);
    ema_rest_add(r, lost, further);
    syi_vec_two_sum(high, low, &high, &low);
    syi_vec_two_sum(low, r->low, &low, &r->low);
    syi_vec_two_sum(high, low, &stage->high, &stage->low);
    s->pivot = pivot;
    stage->low = ema_drop_light(stage->low, &r->error);
    r->low = ema_drop_light(r->low, &r->error);
    const syi_vec least = syi_vec_of(EMA_LIGHT * SYI_PER_FINE);
    const syi_bits_vec errs = (syi_bits_vec)(r->error > 0.0);
    r->error = syi_vec_max(r->error, (syi_vec)((syi_bits_vec)least & errs));
}

/* What the stage says of its error without the rest. */
SYI_INLINE syi_vec ema_tied_error(const ema_rest *r)
{
    const syi_vec side = syi_vec_abs(r->side) * SYI_LOSSY;
    return r->error + (syi_vec_abs(r->low) + side) * syi_vec_of(2.0 * SYI_PER_FINE);
}

SYI_INLINE syi_stage_grid ema_tied_enter(ema_slab *s, int64_t at)
{
    syi_stage *stage = &s->stage;
    syi_vec lost;
    ema_tied_move(s, ema_pivot(s, at));
    const syi_stage_grid grid = ema_grid(s, at, s->pivot);
    const syi_vec shifted = stage->high + grid.shift;
    syi_vec_two_sum(stage->low, stage->high - (shifted - grid.shift), &stage->low, &lost);
    ema_rest_add(&s->rest, lost, (syi_vec){0});
    stage->high = shifted;
    stage->error = ema_tied_error(&s->rest);
    return grid;
}

/* A column, of factors that are held exactly. */
SYI_INLINE void ema_tied_step(syi_stage *stage, ema_rest *r, const syi_stage_terms *k,
                              const syi_stage_grid *grid, syi_vec x, int even)
{
    syi_vec x_low, of_x = {0}, from_low, lost;
    const syi_vec e = syi_stage_high(grid, x, even, &x_low) - stage->high;
    const syi_vec next = syi_vec_fma(k->a, e, stage->high);
    syi_vec by = syi_vec_fma(k->a, e, stage->high - next);
    if (!even)
        syi_vec_two_sum(by, k->a * x_low, &by, &of_x);
    from_low = k->b * stage->low;
    of_x += syi_vec_fma(k->b, stage->low, -from_low);
    syi_vec_two_sum(from_low, by, &stage->low, &lost);
    stage->high = next;
    r->low *= k->b;
    r->error *= k->b * syi_vec_of(1.0 + 0x1p-40);
    ema_rest_add(r, of_x, lost);
}

/* The value of a column that is not sure: if it is the middle between two doubles but for the rest,
 * that of them on whose side the rest is. Else `near`; *unsure takes up where it is. */
SYI_INLINE syi_vec ema_tied_round(const syi_stage *stage, const ema_rest *r,
                                  const syi_stage_grid *grid, syi_vec near, syi_bits_vec doubt,
                                  syi_bits_vec *unsure)
{
    const syi_vec part = stage->high - grid->shift, sum = grid->pivot + part, none = {0};
    syi_vec low, lost;
    syi_vec_two_sum(part - (sum - grid->pivot), stage->low, &low, &lost);
    const syi_vec place = syi_vec_abs(low) * EMA_NEAR;
    const syi_vec above = sum + (low + place), below = sum + (low - place);
    const syi_vec tie = 0.5 * ((above - sum) + (below - sum));
    const syi_vec left = (low - tie) + (lost + r->low), size = syi_vec_abs(left);
    const syi_vec sizes = size + (syi_vec_abs(lost) + syi_vec_abs(r->low));
    const syi_vec error = r->error * SYI_FINE + sizes * 0x1p-51;
    const syi_vec margin = syi_vec_abs(r->side) * SYI_LOSSY;
    const syi_bits_vec is_tie = (syi_bits_vec)(above - below > syi_vec_abs(low)) &
                                (syi_bits_vec)(size + (error + margin) < 0.25 * (above - below));
    const syi_bits_vec is_told = (syi_bits_vec)(size > error + margin);
    const syi_bits_vec is_none = (syi_bits_vec)(size + error == none);
    const syi_vec side = syi_vec_pick(is_told, left, (syi_vec)((syi_bits_vec)r->side & is_none));
    const syi_vec value = syi_vec_pick((syi_bits_vec)(side > none), above, below);
    const syi_bits_vec settled = doubt & is_tie & (syi_bits_vec)(side != none);
    *unsure |= doubt & ~settled;
    return syi_vec_pick(settled, value, near);
}

/* After a block, what was left out of an average that has moved since is an error of it. */
SYI_INLINE void ema_tied_leave(ema_slab *s, int64_t block)
{
    const syi_vec side = s->rest.side;
    ema_keep_side(s, block);
    const syi_bits_vec moved = (syi_bits_vec)(side != 0.0) & (syi_bits_vec)(s->rest.side == 0.0);
    const syi_vec most = syi_vec_of(SYI_LOSSY * SYI_PER_FINE);
    s->rest.error += (syi_vec)(moved & (syi_bits_vec)most);
    ema_leave_out(s);
}

/* `count` columns of a block, at most a line's; *any takes up where they were unsure before what
 * the rest says. */
SYI_INLINE void ema_tied_some(ema_slab *s, int64_t at, int count, int even, syi_stage *stage,
                              const syi_stage_grid *grid, syi_vec error, syi_bits_vec *any)
{
    syi_vec out[SYI_LINE] = {{0}};
    syi_stage held[SYI_LINE];
    ema_rest rest[SYI_LINE];
    syi_bits_vec doubt = {0};
    for (int k = 0; k < count; k++) {
        ema_tied_step(stage, &s->rest, s->terms, grid, s->tile[at + k], even);
        out[k] = ema_round(stage, grid, error, &doubt);
        held[k] = *stage;
        rest[k] = s->rest;
    }
    for (int k = 0; k < count && syi_vec_any(doubt); k++) {
        syi_bits_vec own = {0};
        const syi_vec near = ema_round(&held[k], grid, error, &own);
        own = (syi_bits_vec)(own != 0);
        out[k] = ema_tied_round(&held[k], &rest[k], grid, near, own, &s->unsure[at / EMA_BLOCK]);
    }
    *any |= doubt;
    ema_put(s, at, count, out);
}

/* How the next blocks are run: `doubt` tells of the lanes of a tied one that were unsure before
 * what the rest says, `unsure` of those that still are. */
SYI_INLINE void ema_go_on(ema_slab *s, syi_bits_vec doubt, syi_bits_vec unsure)
{
    if (!syi_vec_any(doubt)) {
        s->tied--;
    } else if (syi_vec_any((syi_bits_vec)(doubt != 0) & (syi_bits_vec)(unsure == 0))) {
        s->tied = EMA_TIED;
    } else {
        s->tied = 0;
        s->untied = EMA_UNTIED;
    }
}

/* A tied block. */
static __attribute__((noinline)) void ema_write_tied(ema_slab *s, int64_t at, int count)
{
    const int whole = count / SYI_LINE * SYI_LINE;
    syi_bits_vec any = {0};
    int i = 0;
    s->unsure[at / EMA_BLOCK] = any;
    s->may_put_off = 0;
    s->stage.error = ema_tied_error(&s->rest);
    ema_begin(s, at);
    const syi_stage_grid grid = ema_tied_enter(s, at);
    const syi_vec error = ema_error(s, &grid, ema_noise(s, &grid));
    syi_stage stage = syi_stage_copy(&s->stage);
    for (int even = syi_stage_is_even(&grid); even && i < whole; i += SYI_LINE)
        ema_tied_some(s, at + i, SYI_LINE, 1, &stage, &grid, error, &any);
    for (; i < whole; i += SYI_LINE)
        ema_tied_some(s, at + i, SYI_LINE, 0, &stage, &grid, error, &any);
    if (whole < count)
        ema_tied_some(s, at + whole, count - whole, 0, &stage, &grid, error, &any);
    s->stage = (syi_stage){stage.high - grid.shift, stage.low, ema_tied_error(&s->rest)};
    ema_tied_leave(s, at / EMA_BLOCK);
    ema_go_on(s, any, s->unsure[at / EMA_BLOCK]);
}

/* Whether an ordinary block has a lane that is unsure, and in which the price stands still for the
 * most part. */
SYI_INLINE int ema_may_be_tied(const ema_slab *s, int64_t at, int count)
{
    const syi_bits_vec unsure = s->unsure[at / EMA_BLOCK];
    syi_bits_vec still = {0};
    if (!s->may_tie || !syi_vec_any(unsure))
        return 0;
    for (int64_t i = at + 1; i < at + count; i++)
        still -= (syi_bits_vec)(s->tile[i] == s->tile[i - 1]);
    return syi_vec_any((syi_bits_vec)(unsure != 0) & (syi_bits_vec)(still > (uint64_t)count / 2));
}

/* A block with outputs, tied where that may help. */
SYI_INLINE void ema_write_any(ema_slab *s, int64_t at, int count)
{
    const int64_t block = at / EMA_BLOCK;
    if (s->tied == 0) {
        const syi_vec side = s->rest.side;
        ema_write(s, at, count);
        if (s->may_tie)
            ema_keep_side(s, block);
        s->untied -= s->untied > 0;
        if (s->untied > 0 || !ema_may_be_tied(s, at, count))
            return;
        s->tied = 1;
        s->rest.side = side;
        ema_tie(s, block);
    }
    ema_write_tied(s, at, count);
}

/* Short lanes that have been chained. */
SYI_INLINE void ema_fill(ema_slab *s)
{
    s->tied = 0;
    ema_find_sides(s);
    for (int lane = 0; lane < EMA_LANES; lane++) {
        ema_set(s, lane, &s->start[lane]);
        s->rest.side[lane] = s->side[lane];
    }
    for (int64_t at = 0; at < s->length; at += EMA_BLOCK) {
        int64_t rest = s->length - at;
        ema_write_any(s, at, rest < EMA_BLOCK ? (int)rest : EMA_BLOCK);
    }
}

#endif
#endif
