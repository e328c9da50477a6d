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

/* The run-ins of x's lanes, and how far values in them are apart. Gives the room for claims; 0.0
 * when values stand still as long as it is plain: they may do so to its end. `left`: of what is
 * before them, at theirs. */
SYI_INLINE double ema_run_in(ema_slab *s, const double *x, int64_t columns, int64_t exact,
                             double left, syi_vec *apart)
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
        const syi_vec size = ema_size(s), usual = syi_vec_max(syi_vec_abs(s->pivot), *apart);
        is_rough |= is_plain && !syi_long_is_forgotten(s->terms, size, usual, left);
        if (is_plain && !is_rough)
            ema_guess(s, size);
        else if (syi_long_is_still(*apart))
            return 0.0;
        else
            ema_try(s, 0, EMA_BLOCK);
    }
    return syi_long_room(s->terms, is_rough);
}

/* Claims the starts of all lanes but the first. Returns 0 when prices are out of range, or stand
 * still: then less is left of a run-in than any claim. */
SYI_INLINE int ema_claim(ema_slab *s, const double *x, int64_t run_in, int64_t exact)
{
    const double left = syi_factor_power(s->factor, run_in).above;
    syi_vec apart;
    s->outside = (syi_bits_vec){0};
    const double room = ema_run_in(s, x, run_in, exact, left, &apart);
    if (room == 0.0)
        return 0;
    for (int lane = 0; lane < EMA_LANES; lane++)
        s->start[lane + 1] = syi_long_claim(ema_end(s, lane), room, left, apart[lane]);
    return !ema_is_lost(s);
}

#endif
#endif
