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
    syi_bits_vec lost = s->outside;
    for (int q = 0; q < EMA_GROUPS; q++)
        lost |= ~(syi_bits_vec)(syi_vec_abs(s->stage[q].high) <= SYI_HUGE);
    return syi_vec_any(lost);
}

/* Whether among zeros so little is left of a lane that it soon is too small for lanes. */
SYI_INLINE int ema_is_faint(const ema_slab *s)
{
    syi_bits_vec faint = {0};
    for (int q = 0; q < EMA_GROUPS; q++) {
        const syi_vec size = syi_vec_abs(s->stage[q].high);
        faint |= (syi_bits_vec)(size < SYI_LOSSY) & (syi_bits_vec)(size + s->stage[q].error > 0.0) &
                 (syi_bits_vec)(s->least[q] == 0.0) & (syi_bits_vec)(s->most[q] == 0.0);
    }
    return syi_vec_any(faint);
}

/* The run-ins, of x's lanes; `range` is that of the values in them. */
SYI_INLINE void ema_run_in(ema_slab *s, const double *x, int64_t columns, syi_long_range *range)
{
    const syi_deviation nothing = {{0.0, 0.0}, 0.0};
    const int64_t first = s->stride - columns;
    ema_go_to(s, x, NULL, x[0], first);
    for (int lane = 0; lane < EMA_LANES; lane++)
        ema_set(s, lane, &nothing);
    for (int64_t at = first; at < s->stride; at += EMA_BLOCK) {
        ema_go_to(s, x, NULL, x[0], at);
        ema_read(s, 0, EMA_BLOCK);
        ema_try(s, 0, EMA_BLOCK);
        for (int q = 0; q < EMA_GROUPS; q++)
            range[q] = at == first ? (syi_long_range){s->least[q], s->most[q]}
                                   : syi_long_widen(&range[q], s->least[q], s->most[q]);
    }
}

/* Claims the starts of all lanes but the first. Returns 0 when prices are out of range, or stand
 * still through a run-in: then less is left of it than any claim. */
SYI_INLINE int ema_claim(ema_slab *s, const double *x, int64_t run_in)
{
    const double left = syi_factor_power(s->factor, run_in).above;
    syi_long_range range[EMA_GROUPS];
    s->outside = (syi_bits_vec){0};
    ema_run_in(s, x, run_in, range);
    for (int lane = 0; lane < EMA_LANES; lane++) {
        const syi_long_range *own = &range[lane / SYI_VECTOR];
        double apart = own->most[lane % SYI_VECTOR] - own->least[lane % SYI_VECTOR];
        if (!(apart > 0.0))
            return 0;
        s->start[lane + 1] = syi_long_claim(ema_end(s, lane), left, apart);
    }
    return !ema_is_lost(s);
}

#endif
#endif
