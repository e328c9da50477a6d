/* A slab's long lanes (recurrence/long.h). */
#ifndef SYI_KERNELS_EMA_LONG_H
#define SYI_KERNELS_EMA_LONG_H

#include "ema/slab.h"
#include "recurrence/long.h"

#if SYI_HAVE_VECTORS

/* The block of each lane at column `at` of it; y is NULL where nothing is written, `before` the
 * value before x[0]. */
SYI_INLINE void ema_go_to(ema_slab *s, const double *x, double *y, double before, int64_t at)
{
    s->first = at;
    s->x = x + at;
    s->y = y ? y + at : NULL;
    s->before = at ? s->x[-1] : before;
    s->length = EMA_BLOCK;
}

/* Whether a value has been out of range: a NaN, of which the extremes may know nothing, is still in
 * the state behind it. */
SYI_INLINE int ema_is_lost(const ema_slab *s)
{
    return syi_vec_any(s->outside | ~(syi_bits_vec)(syi_vec_abs(s->stage.high) <= SYI_HUGE));
}

/* Whether among zeros so little is left of a lane that it soon is too small for lanes. */
SYI_INLINE int ema_is_faint(const ema_slab *s)
{
    const syi_vec size = syi_vec_abs(s->stage.high);
    return syi_vec_any((syi_bits_vec)(size < SYI_LOSSY) &
                       (syi_bits_vec)(size + s->stage.error > 0.0) &
                       (syi_bits_vec)(s->least[0] == 0.0) & (syi_bits_vec)(s->most[0] == 0.0));
}

/* How large the values of a block are, and the average before it. */
SYI_INLINE syi_vec ema_size(const ema_slab *s)
{
    const syi_vec pivot = s->pivot, least = s->least[0] - pivot, most = s->most[0] - pivot;
    return syi_vec_max(syi_vec_max(syi_vec_abs(least), syi_vec_abs(most)),
                       syi_vec_abs(s->stage.high));
}

/* A block at the beginning of the run-ins, in plain doubles. */
SYI_INLINE void ema_guess(ema_slab *s, syi_vec size)
{
    const syi_vec pivot = s->pivot;
    syi_vec average = s->stage.high;
    for (int i = 0; i < EMA_BLOCK; i++)
        average = syi_long_guess(s->terms, average, s->tile[i] - pivot);
    s->stage.error = syi_long_error(s->terms, s->stage.error, size, (syi_vec){0}, EMA_BLOCK);
    s->stage.high = average;
}

/* The run-ins of x's lanes, and how far values in them are apart. Returns 0 when values stand still
 * as long as it is plain: they may do so to its end. `left`: of what is before them, at theirs. */
SYI_INLINE int ema_run_in(ema_slab *s, const double *x, int64_t columns, int64_t exact, double left,
                          syi_vec *apart)
{
    const int64_t first = s->stride - columns;
    int is_rough = 0; /* too much for plain doubles */
    for (int64_t at = first; at < s->stride; at += EMA_BLOCK, left /= s->terms->decay) {
        const int is_plain = at < s->stride - exact;
        ema_go_to(s, x, NULL, x[0], at);
        ema_read(s, 0, EMA_BLOCK);
        if (at == first) {
            s->pivot = syi_long_pivot(s->least[0], s->most[0]);
            s->stage = (syi_stage){{0}, {0}, {0}};
            *apart = syi_vec_of(SYI_LONG_STILL);
        }
        *apart = syi_long_apart(*apart, s->least[0], s->most[0]);
        const syi_vec size = ema_size(s), average = syi_vec_abs(s->pivot + s->stage.high);
        const syi_vec usual = at == first || syi_long_is_still(*apart) ? *apart : average;
        is_rough |= is_plain && !syi_long_is_forgotten(s->terms, size, usual, left);
        if (is_plain && !is_rough)
            ema_guess(s, size);
        else if (syi_long_is_still(*apart))
            return 0;
        else
            ema_try(s, 0, EMA_BLOCK);
    }
    return 1;
}

/* Claims the starts of all lanes but the first. Returns 0 when prices are out of range, or stand
 * still: then less is left of a run-in than any claim. */
SYI_INLINE int ema_claim(ema_slab *s, const double *x, int64_t run_in, int64_t exact)
{
    const double left = syi_factor_power(s->factor, run_in).above;
    syi_vec apart;
    s->outside = (syi_bits_vec){0};
    if (!ema_run_in(s, x, run_in, exact, left, &apart))
        return 0;
    for (int lane = 0; lane < EMA_LANES; lane++)
        s->start[lane + 1] = syi_long_claim(ema_end(s, lane), left, apart[lane]);
    return !ema_is_lost(s);
}

/* Puts a block off that is not sure, if only its lane's start has been claimed: when that is known
 * as its neighbour's end it has to be wrong by far less. */
SYI_INLINE int ema_put_off(ema_slab *s, int64_t at, int lane)
{
    const int64_t block = at / EMA_BLOCK;
    if (!s->may_put_off || lane == 0 || s->n_later == EMA_LATER)
        return 0;
    s->later[s->n_later++] = (ema_later){.at = s->first + at,
                                         .lane = lane,
                                         .pivot = s->begun_pivot[block][lane],
                                         .high = s->begun[block].high[lane],
                                         .low = s->begun[block].low[lane],
                                         .error = s->begun[block].error[lane]};
    return 1;
}

/* What such a block began with, as its distance from x, for what its lane's start has been. */
SYI_INLINE syi_deviation ema_corrected(const ema_slab *s, const ema_later *later,
                                       const syi_deviation *start, double x)
{
    const syi_deviation *claimed = &s->start[later->lane];
    if (later->at == 0)
        return *start;
    const syi_factor_dd left = syi_factor_power(s->factor, later->at);
    const syi_dd wrong = syi_dd_subtract(start->value, claimed->value);
    const syi_dd end =
        syi_dd_add(syi_dd_of_sum(later->pivot, -x), syi_dd_of_sum(later->high, later->low));
    /* But for what is left of the claim's, each time rounded up. */
    double own = later->error - claimed->error * left.b.high * (1.0 - 0x1p-30);
    own = own > 0.0 ? own : later->error;
    return syi_deviation_carried(
        (syi_deviation){end, own + SYI_DD_ERROR * fabs(end.high)},
        (syi_deviation){wrong, start->error + SYI_DD_ERROR * fabs(wrong.high)}, &left);
}

#endif
#endif
