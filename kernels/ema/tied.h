/*
 * Ties of an exponential moving average (recurrence/tie.h). With a period of 3, 7, 15 ... its
 * factors have few bits. So where prices stand still for long and then move it is, in one of the
 * next columns, as a rule in the middle between two doubles but for what is left of long ago, which
 * is far less than a kernel loses. On which side that is, the outputs before show.
 *
 * A block that is unsure with such a period is run once more, and what is put for its columns kept,
 * and with the next ones that is done at once.
 */
#ifndef SYI_KERNELS_EMA_TIED_H
#define SYI_KERNELS_EMA_TIED_H

#include "ema/early.h"
#include "ema/slab.h"
#include "recurrence/tie.h"

#if SYI_HAVE_VECTORS

/* Blocks of which columns are kept behind one that was unsure. */
enum { EMA_KEEP = 4 };

/* Of the stage between two blocks, for what is known then: `price` is the last one, `side` that on
 * which averages stay if a number can't tell it. */
SYI_INLINE ema_last ema_last_of(const ema_slab *s, syi_vec price, syi_vec side)
{
    syi_vec by, by_low, high, low;
    syi_vec_two_sum(s->pivot, -price, &by, &by_low);
    syi_vec_two_sum(s->stage.high, by, &high, &low);
    const syi_vec rest = low + (by_low + s->stage.low), left = high + rest;
    const syi_vec lost = (syi_vec_abs(by_low) + syi_vec_abs(s->stage.low)) * 0x1p-50;
    const syi_vec error = s->stage.error * (2.0 * SYI_FINE) + lost;
    const syi_bits_vec sign = (syi_bits_vec)left & ((syi_bits_vec){0} + (UINT64_C(1) << 63));
    const syi_vec told = (syi_vec)((syi_bits_vec)syi_vec_of(INFINITY) | sign);
    side = syi_vec_pick((syi_bits_vec)(syi_vec_abs(left) > error), told, side);
    return (ema_last){price, price + left, side};
}

/* After a block of so many columns: while the price stands still averages stay on their side. */
SYI_INLINE void ema_go_on(ema_slab *s, int64_t at, int count)
{
    const syi_vec least = s->least[at / EMA_BLOCK], most = s->most[at / EMA_BLOCK];
    const syi_bits_vec still =
        (syi_bits_vec)(least == most) & (syi_bits_vec)(least == s->last.price);
    const syi_vec side = (syi_vec)((syi_bits_vec)s->last.side & still);
    s->last = ema_last_of(s, s->tile[at + count - 1], side);
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

/* Before the first block of lanes; of short ones, `side` is that of the first. */
SYI_INLINE void ema_go_from(ema_slab *s, double side)
{
    s->end_side = 0.0;
    if (s->tie_shift == 0)
        return;
    s->last = ema_last_of(s, s->pivot, (syi_vec){0});
    for (int lane = 0; lane < EMA_LANES && !s->is_long; lane++)
        if (s->last.side[lane] == 0.0 && (lane == 0 || ema_is_still(s, lane - 1)))
            s->last.side[lane] = lane ? s->last.side[lane - 1] : side;
}

/* Column `at` of a lane that is a row, if it is among the first. */
SYI_INLINE int ema_settle_first(const ema_slab *s, int lane, int64_t at, double *y)
{
    const int64_t column = s->ema.seeded + s->first + at;
    return ema_settle_early(s->x + lane * s->stride + at - column, column, &s->ema, y);
}

/* Settles the ties of a block; the lanes that have other columns in doubt stay unsure. */
static void ema_settle_ties(ema_slab *s, int64_t at, int count, ema_kept *kept)
{
    syi_bits_vec *const unsure = &s->unsure[at / EMA_BLOCK];
    *unsure = (syi_bits_vec){0};
    kept->x[0] = kept->x[1] = s->last.price;
    kept->y[0] = s->last.price + s->last.side;
    kept->y[1] = s->last.put;
    for (int k = 0; k < count; k++)
        for (uint64_t lanes = kept->unsure[k]; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctzll(lanes);
            const syi_tie_past past = {(const double *)kept->x + lane,
                                       (const double *)kept->y + lane, EMA_LANES, 0, 0};
            double *const y = &s->y[lane * s->stride + at + k];
            if (!syi_tie_settle(&past, k + EMA_KEPT, s->tie_shift, y) &&
                !(s->are_rows && ema_settle_first(s, lane, at + k, y)))
                (*unsure)[lane] = 1;
        }
}

/* A block with outputs, of which columns are kept. */
static __attribute__((noinline)) void ema_write_kept(ema_slab *s, int64_t at, int count)
{
    ema_kept kept;
    ema_write(s, at, count, &kept);
    s->keep--;
    if (syi_vec_any(s->unsure[at / EMA_BLOCK])) {
        ema_settle_ties(s, at, count, &kept);
        s->keep = EMA_KEEP;
    }
}

/* A block with outputs whose ties are settled. */
SYI_INLINE void ema_write_settled(ema_slab *s, int64_t at, int count)
{
    const int64_t block = at / EMA_BLOCK;
    if (s->keep == 0) {
        ema_write(s, at, count, NULL);
        if (s->tie_shift == 0)
            return;
        if (syi_vec_any(s->unsure[block])) {
            s->keep = 1;
            s->pivot = s->begun_pivot[block];
            s->stage = s->begun[block];
        }
    }
    if (s->keep > 0)
        ema_write_kept(s, at, count);
    ema_go_on(s, at, count);
}

/* Short lanes that have been chained. */
SYI_INLINE void ema_fill(ema_slab *s)
{
    for (int lane = 0; lane < EMA_LANES; lane++)
        ema_set(s, lane, &s->start[lane]);
    ema_go_from(s, s->end_side);
    for (int64_t at = 0; at < s->length; at += EMA_BLOCK) {
        const int64_t rest = s->length - at;
        ema_write_settled(s, at, rest < EMA_BLOCK ? (int)rest : EMA_BLOCK);
    }
    if (s->tie_shift)
        s->end_side = s->last.side[EMA_LANES - 1];
}

#endif
#endif
