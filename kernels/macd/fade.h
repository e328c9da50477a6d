/* A MACD while the price stands still (recurrence/fade.h). */
#ifndef SYI_KERNELS_MACD_FADE_H
#define SYI_KERNELS_MACD_FADE_H

#include "exact/vector.h"
#include "macd/step.h"
#include "recurrence/fade.h"

/* What the deviations of the averages from the price, and that of the signal from the macd, become;
 * the signal's takes up what the averages lose. */
typedef struct macd_fade {
    int is_known;
    syi_fade fast, slow, signal, from_fast, from_slow;
} macd_fade;

/* What the signal takes up of an average of so many columns: what it loses in each column, and what
 * is left of what was taken up before. */
static inline void macd_fade_take(syi_fade *taken, const syi_fade *average, double period,
                                  syi_dd signal)
{
    const syi_dd loss = syi_dd_divide((syi_dd){2.0, 0.0}, period + 1.0);
    const syi_dd first = syi_dd_multiply(signal, loss);
    syi_dd sum = first;
    for (int k = 0; k < SYI_FADE; k++) {
        syi_fade_set(taken, k, sum);
        sum = syi_dd_add(syi_dd_multiply(signal, sum),
                         syi_dd_multiply(first, syi_fade_at(average, k)));
    }
}

static inline void macd_fade_set(macd_fade *fade, const syi_macd *macd, const syi_macd_terms *k)
{
    if (fade->is_known)
        return;
    fade->is_known = 1;
    syi_fade_powers(&fade->fast, &k->fast);
    syi_fade_powers(&fade->slow, &k->slow);
    syi_fade_powers(&fade->signal, &k->signal);
    macd_fade_take(&fade->from_fast, &fade->fast, macd->fast, k->signal.b);
    macd_fade_take(&fade->from_slow, &fade->slow, macd->slow, k->signal.b);
}

/* The outputs of a block, and what is below the histogram: the signal's deviation. */
typedef struct macd_faded {
    syi_faded macd, signal, deviation;
} macd_faded;

/* Moves the averages, lifted, past the block's first `count` columns. */
SYI_INLINE void macd_fade_block(macd_faded *out, const macd_fade *fade, syi_macd_state *lifted,
                                int count)
{
    syi_faded fast, slow, a, b;
    syi_fade_block(&fast, &fade->fast, lifted->fast);
    syi_fade_block(&slow, &fade->slow, lifted->slow);
    syi_faded_add(&out->macd, &fast, -1.0, &slow);
    syi_fade_block(&a, &fade->from_fast, lifted->fast);
    syi_fade_block(&b, &fade->from_slow, lifted->slow);
    syi_faded_add(&a, &a, -1.0, &b);
    syi_fade_block(&b, &fade->signal, lifted->signal);
    syi_faded_add(&out->deviation, &a, 1.0, &b);
    syi_faded_add(&out->signal, &out->macd, 1.0, &out->deviation);
    lifted->fast = syi_faded_at(&fast, count - 1);
    lifted->slow = syi_faded_at(&slow, count - 1);
    lifted->gap = syi_faded_at(&out->macd, count - 1);
    lifted->signal = syi_faded_at(&out->deviation, count - 1);
}

/* With vectors a block takes as long as two columns, else as long as it has: so it has to be long
 * that nothing moved. */
#if SYI_HAVE_VECTORS
#define MACD_FADE_BELOW 0x1p+300
#else
#define MACD_FADE_BELOW SYI_LIFT_BELOW
#endif

/* Whether the averages may be lifted, with room for their errors. */
SYI_INLINE int macd_is_liftable(const syi_macd_state *s)
{
    const double error = fmax(fmax(s->fast.error, s->slow.error), s->signal.error);
    const double size = syi_macd_size(&s->fast, &s->slow, &s->signal);
    return size > 0.0 && size < MACD_FADE_BELOW && error < 0x1p+400;
}

SYI_INLINE syi_macd_state macd_lifted(syi_macd_state s)
{
    s.fast = syi_lifted(s.fast);
    s.slow = syi_lifted(s.slow);
    s.gap = syi_lifted(s.gap);
    s.signal = syi_lifted(s.signal);
    return s;
}

SYI_INLINE syi_macd_state macd_unlifted(syi_macd_state s)
{
    s.fast = syi_unlifted(s.fast);
    s.slow = syi_unlifted(s.slow);
    s.gap = syi_unlifted(s.gap);
    s.signal = syi_unlifted(s.signal);
    return s;
}

/* Whether there will never be more than zeros. */
SYI_INLINE int macd_is_gone(const syi_macd_state *lifted)
{
    const syi_deviation all[] = {lifted->fast, lifted->slow, lifted->gap, lifted->signal};
    return syi_is_gone(all, 4);
}

#endif
