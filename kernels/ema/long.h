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

/* A block at the beginning of the run-ins, in plain doubles. */
SYI_INLINE void ema_guess(ema_slab *s)
{
    syi_vec average[EMA_GROUPS], pivot[EMA_GROUPS];
    for (int q = 0; q < EMA_GROUPS; q++) {
        pivot[q] = s->pivot[q];
        average[q] = s->stage[q].high;
    }
    for (int i = 0; i < EMA_BLOCK; i++)
        for (int q = 0; q < EMA_GROUPS; q++)
            average[q] =
                syi_long_guess(s->terms, average[q], s->tile[i * EMA_GROUPS + q] - pivot[q]);
    for (int q = 0; q < EMA_GROUPS; q++) {
        syi_vec size =
            syi_vec_max(syi_vec_abs(s->least[q] - pivot[q]), syi_vec_abs(s->most[q] - pivot[q]));
        size = syi_vec_max(size, syi_vec_abs(s->stage[q].high));
        s->stage[q].error = syi_long_error(s->terms, s->stage[q].error, size, (syi_vec){0});
        s->stage[q].high = average[q];
    }
}

/* The run-ins of x's lanes, and how far values in them are apart. Returns 0 when these stand still
 * as long as it is plain: they may do so to its end. */
SYI_INLINE int ema_run_in(ema_slab *s, const double *x, int64_t columns, int64_t exact,
                          syi_vec *apart)
{
    const int64_t first = s->stride - columns;
    for (int64_t at = first; at < s->stride; at += EMA_BLOCK) {
        int still = 0;
        ema_go_to(s, x, NULL, x[0], at);
        ema_read(s, 0, EMA_BLOCK);
        for (int q = 0; q < EMA_GROUPS; q++) {
            if (at == first) {
                s->pivot[q] = syi_long_pivot(s->least[q], s->most[q]);
                s->stage[q] = (syi_stage){{0}, {0}, {0}};
                apart[q] = syi_vec_of(SYI_LONG_STILL);
            }
            apart[q] = syi_long_apart(apart[q], s->least[q], s->most[q]);
            still |= syi_long_is_still(apart[q]);
        }
        if (at < s->stride - exact)
            ema_guess(s);
        else if (still)
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
    syi_vec apart[EMA_GROUPS];
    s->outside = (syi_bits_vec){0};
    if (!ema_run_in(s, x, run_in, exact, apart))
        return 0;
    for (int lane = 0; lane < EMA_LANES; lane++)
        s->start[lane + 1] =
            syi_long_claim(ema_end(s, lane), left, apart[lane / SYI_VECTOR][lane % SYI_VECTOR]);
    return !ema_is_lost(s);
}

#endif
#endif
