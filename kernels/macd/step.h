/* The arithmetic of a MACD's column, the same on every device. */
#ifndef SYI_KERNELS_MACD_STEP_H
#define SYI_KERNELS_MACD_STEP_H

#include "macd/state.h"

/*
 * On a straight line of prices an average of period p trails by c = (p - 1) / 2 steps, and what the
 * histogram is made of vanishes. So the averages are kept as g = (y - x) + c * (x' - x), for which
 *
 *     g' = b * (g + c * (change of slope)),   macd = g_fast - g_slow + (c_slow - c_fast) * slope
 *
 * and straight or flat stretches decay to the last bit. With a long period c only enlarges the
 * noise; then the plain deviations are better.
 */
#define LONGEST_TILTED 512.0

typedef struct syi_macd_terms {
    syi_factor_dd fast, slow, signal;
    double tilted; /* 1 or 0 */
    double fast_tilt, slow_tilt, gap_tilt;
} syi_macd_terms;

SYI_INLINE syi_macd_terms syi_macd_terms_with(const syi_macd *macd, double tilted)
{
    syi_macd_terms k;
    k.fast = syi_smoothing_factor(macd->fast);
    k.slow = syi_smoothing_factor(macd->slow);
    k.signal = syi_smoothing_factor(macd->signal);
    k.tilted = tilted;
    k.fast_tilt = k.tilted != 0.0 ? 0.5 * (macd->fast - 1.0) : 1.0;
    k.slow_tilt = k.tilted != 0.0 ? 0.5 * (macd->slow - 1.0) : 1.0;
    k.gap_tilt = k.tilted != 0.0 ? 0.5 * (macd->slow - macd->fast) : 0.0;
    return k;
}

SYI_INLINE syi_macd_terms syi_macd_terms_of(const syi_macd *macd)
{
    return syi_macd_terms_with(macd, macd->slow <= LONGEST_TILTED ? 1.0 : 0.0);
}

SYI_INLINE syi_deviation syi_deviation_plus(syi_deviation a, syi_dd b, double b_error)
{
    syi_dd sum = syi_dd_add(a.value, b);
    return (syi_deviation){sum, a.error + b_error + SYI_DD_ERROR * fabs(sum.high)};
}

SYI_INLINE syi_deviation syi_deviation_less(syi_deviation a, syi_deviation b)
{
    return syi_deviation_plus(a, syi_dd_negative(b.value), b.error);
}

/* The macd: the gap and what the slope adds. */
SYI_INLINE syi_deviation syi_macd_value(const syi_macd_terms *k, const syi_macd_state *s)
{
    syi_dd tilt = syi_dd_scale(s->slope, k->gap_tilt);
    return syi_deviation_plus(s->gap, tilt, SYI_DD_ERROR * fabs(tilt.high));
}

/* Moves the averages on to x; returns the macd's change. */
SYI_INLINE syi_deviation syi_macd_advance(const syi_macd_terms *k, syi_macd_state *s, double x)
{
    syi_dd slope = syi_dd_of_sum(x, -s->x), bend = syi_dd_subtract(slope, s->slope);
    syi_dd tilt = syi_dd_scale(bend, k->gap_tilt);
    /* The bend, or -slope: exactly, and without a branch. */
    syi_dd moved = {k->tilted * bend.high + (k->tilted - 1.0) * slope.high,
                    k->tilted * bend.low + (k->tilted - 1.0) * slope.low};
    syi_dd fast = syi_dd_scale(moved, k->fast_tilt), slow = syi_dd_scale(moved, k->slow_tilt);
    syi_deviation gap = s->gap, change;
    s->fast = syi_deviation_step(s->fast, fast, 2.0 * SYI_DD_ERROR * fabs(fast.high), &k->fast);
    s->slow = syi_deviation_step(s->slow, slow, 2.0 * SYI_DD_ERROR * fabs(slow.high), &k->slow);
    s->gap = syi_deviation_less(s->fast, s->slow);
    s->slope = slope;
    s->x = x;
    change = syi_deviation_less(s->gap, gap);
    return syi_deviation_plus(change, tilt, 2.0 * SYI_DD_ERROR * fabs(tilt.high));
}

SYI_INLINE void syi_macd_smooth_signal(const syi_macd_terms *k, syi_macd_state *s,
                                       syi_deviation change)
{
    s->signal =
        syi_deviation_step(s->signal, syi_dd_negative(change.value), change.error, &k->signal);
}

/* The three outputs; not 0.0 when one of them is in doubt. */
SYI_INLINE double syi_macd_settle(const syi_macd_terms *k, const syi_macd_state *s,
                                  double *macd_out, double *signal_out, double *histogram_out)
{
    syi_deviation macd = syi_macd_value(k, s);
    syi_deviation signal = syi_deviation_plus(macd, s->signal.value, s->signal.error);
    syi_dd histogram = syi_dd_negative(s->signal.value);
    double doubt = syi_dd_settle(macd.value, macd.error, macd_out);
    doubt += syi_dd_settle(signal.value, signal.error, signal_out);
    return doubt + syi_dd_settle(histogram, s->signal.error, histogram_out);
}

SYI_INLINE double syi_macd_size(const syi_deviation *fast, const syi_deviation *slow,
                                const syi_deviation *signal)
{
    double size = fmax(fabs(fast->value.high), fabs(slow->value.high));
    return fmax(size, fabs(signal->value.high));
}

/* Non-zero when x is out of range, which ends the present phase. */
SYI_INLINE int syi_macd_leaves_range(syi_macd_state *s, double x)
{
    if (fabs(x) <= SYI_HUGE)
        return 0;
    s->phase = syi_phase_after(x);
    return 1;
}

/* One of the columns that the signal begins with the mean of, the macd being there for `before` of
 * them; of the first one the averages are, too. The sum is of distances from the last macd, of
 * which there are none on a line. */
SYI_INLINE void syi_macd_seed_column(const syi_macd_terms *k, syi_macd_state *s, double x,
                                     double before)
{
    if (before == 0.0)
        return;
    const syi_deviation change = syi_macd_advance(k, s, x);
    const syi_dd further = syi_dd_scale(change.value, -before);
    const double error = fma(before, change.error, 2.0 * SYI_DD_ERROR * fabs(further.high));
    s->sum = syi_deviation_plus(s->sum, further, error);
}

/* The signal's first deviation, once the macd has come so far. */
SYI_INLINE void syi_macd_seed_signal(const syi_macd *macd, syi_macd_state *s)
{
    const double count = (double)macd->seeded_signal;
    const syi_dd mean = syi_dd_divide(s->sum.value, count);
    s->signal = (syi_deviation){mean, s->sum.error / count + SYI_DD_ERROR * fabs(mean.high)};
    s->phase = SYI_PHASE_RUNNING;
}

/* The last step of the `count` values up to x[0] if it is a double and the ones before it are
 * nearly the same; else 0. */
SYI_INLINE double syi_macd_seed_step(const double *x, int64_t count)
{
    const int64_t most = count < 5 ? count : 5;
    syi_dd step = {0.0, 0.0};
    if (count > 1)
        step = syi_dd_of_sum(x[0], -x[-1]);
    for (int64_t i = 2; i < most; i++)
        if (!(fabs((x[1 - i] - x[-i]) - step.high) <= 0x1p-20 * fabs(step.high)))
            return 0.0;
    return step.low == 0.0 ? step.high : 0.0;
}

/* The averages' first values, at x[0]. */
SYI_INLINE void syi_macd_begin(const syi_macd_terms *k, syi_macd_state *s, const double *x,
                               const syi_macd *macd)
{
    s->x = x[0];
    s->slope.high = k->tilted != 0.0 ? syi_macd_seed_step(x, macd->seeded_slow) : 0.0;
    s->fast = syi_deviation_seed(x, macd->seeded_fast, s->slope.high);
    s->slow = syi_deviation_seed(x, macd->seeded_slow, s->slope.high);
    s->gap = syi_deviation_less(s->fast, s->slow);
}

/* The state before x[0] of a piece that does not see the row's beginning, and what it claims of it
 * at the end of the columns that let it decay. */
SYI_INLINE syi_macd_state syi_macd_assume(const double *x, int64_t count)
{
    double slope = count > 1 ? x[1] - x[0] : 0.0, error = syi_assumed_error(x, count);
    syi_macd_state s = {
        .phase = SYI_PHASE_RUNNING, .from_start = 0.0, .x = x[0] - slope, .slope = {slope, 0.0}};
    if (syi_is_straight(x, count))
        error = 0.0;
    s.fast.error = s.slow.error = s.signal.error = error;
    s.gap.error = 2.0 * error;
    return s;
}

SYI_INLINE void syi_macd_claim(syi_macd_state *s)
{
    s->fast.error = syi_claimed_error(s->fast.error);
    s->slow.error = syi_claimed_error(s->slow.error);
    s->signal.error = syi_claimed_error(s->signal.error);
    s->gap.error = 2.0 * syi_claimed_error(s->gap.error);
}

#endif
