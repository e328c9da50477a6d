/* A MACD while the price stands still (recurrence/fade.h) or goes on in equal steps, which but for
 * the tilt (macd/step.h) is the same. */
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

/* What of a fast average, after hundreds of columns, is nothing beside the slow one. */
#define MACD_NOTHING 0x1p-120

SYI_INLINE int macd_is_slow_alone(const syi_macd_state *lifted)
{
    return fma(lifted->fast.error, SYI_FINE, fabs(lifted->fast.value.high)) <
           MACD_NOTHING * fabs(lifted->slow.value.high);
}

/* What the signal's deviation becomes with what it takes up. */
SYI_INLINE void macd_fade_signal(macd_faded *out, const macd_fade *fade, const syi_faded *taken,
                                 syi_macd_state *lifted, int count)
{
    syi_faded own;
    syi_fade_block(&own, &fade->signal, lifted->signal);
    syi_faded_add(&out->deviation, taken, 1.0, &own);
    syi_faded_add(&out->signal, &out->macd, 1.0, &out->deviation);
    lifted->gap = syi_faded_at(&out->macd, count - 1);
    lifted->signal = syi_faded_at(&out->deviation, count - 1);
}

/* Moves the averages, lifted, past the block's first `count` columns. */
SYI_INLINE void macd_fade_both(macd_faded *out, const macd_fade *fade, syi_macd_state *lifted,
                               int count)
{
    syi_faded fast, slow, a, b;
    syi_fade_block(&fast, &fade->fast, lifted->fast);
    syi_fade_block(&slow, &fade->slow, lifted->slow);
    syi_faded_add(&out->macd, &fast, -1.0, &slow);
    syi_fade_block(&a, &fade->from_fast, lifted->fast);
    syi_fade_block(&b, &fade->from_slow, lifted->slow);
    syi_faded_add(&a, &a, -1.0, &b);
    lifted->fast = syi_faded_at(&fast, count - 1);
    lifted->slow = syi_faded_at(&slow, count - 1);
    macd_fade_signal(out, fade, &a, lifted, count);
}

/* The same where the fast one is nothing but an error. The signal takes up no more of that than
 * there is. */
SYI_INLINE void macd_fade_slow(macd_faded *out, const macd_fade *fade, syi_macd_state *lifted,
                               int count)
{
    const double fast =
        1.0001 * fma(fabs(lifted->fast.value.high), SYI_PER_FINE, lifted->fast.error);
    const double least = fast > 0.0 ? 0x1p-960 : 0.0; /* a subnormal one gets lost, and is slow */
    const syi_deviation negative = {{-lifted->slow.value.high, -lifted->slow.value.low},
                                    lifted->slow.error + fast};
    syi_faded taken;
    lifted->signal.error += fast;
    syi_fade_block(&out->macd, &fade->slow, negative);
    syi_fade_block(&taken, &fade->from_slow, negative);
    lifted->fast = (syi_deviation){{0.0, 0.0}, fma(fade->fast.high[count - 1], fast, least)};
    lifted->slow = syi_faded_at(&out->macd, count - 1);
    lifted->slow.value = (syi_dd){-lifted->slow.value.high, -lifted->slow.value.low};
    macd_fade_signal(out, fade, &taken, lifted, count);
}

SYI_INLINE void macd_fade_block(macd_faded *out, const macd_fade *fade, syi_macd_state *lifted,
                                int count)
{
    if (macd_is_slow_alone(lifted))
        macd_fade_slow(out, fade, lifted, count);
    else
        macd_fade_both(out, fade, lifted, count);
}

/* With vectors a block takes as long as two columns, else as long as it has: so it has to be long
 * that nothing moved, but something has to be left. */
#if SYI_HAVE_VECTORS
#define MACD_FADE_LEAST 0.0
#define MACD_FADE_BELOW 0x1p+300
#else
#define MACD_FADE_LEAST 0x1p-1074
#define MACD_FADE_BELOW SYI_LIFT_BELOW
#endif

/* Whether the averages may be lifted, with room for their errors, and steps like the last one only
 * tilt the macd. */
SYI_INLINE int macd_is_liftable(const syi_macd_terms *k, const syi_macd_state *s)
{
    const double error = fmax(fmax(s->fast.error, s->slow.error), s->signal.error);
    const double size = syi_macd_size(&s->fast, &s->slow, &s->signal);
    const double most = k->tilted * 0x1p+300;
    return size >= MACD_FADE_LEAST && size < MACD_FADE_BELOW && error < 0x1p+400 &&
           fabs(s->slope.high) <= most;
}

/* What the steps make of the macd, lifted: of a step that is a double all bits. */
SYI_INLINE syi_deviation macd_lifted_tilt(const syi_macd_terms *k, const syi_macd_state *s)
{
    const syi_dd slope = syi_lifted((syi_deviation){s->slope, 0.0}).value;
    const syi_dd tilt = syi_dd_scale(slope, k->gap_tilt);
    return (syi_deviation){tilt, slope.low == 0.0 ? 0.0 : SYI_DD_ERROR * fabs(tilt.high)};
}

SYI_INLINE void macd_fade_tilt(macd_faded *out, syi_deviation tilt)
{
    if (tilt.value.high == 0.0)
        return;
    syi_faded_raise(&out->macd, tilt);
    syi_faded_raise(&out->signal, tilt);
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
