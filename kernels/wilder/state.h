/*
 * Wilder's averages: sums of terms that are never negative, kept as period times the average,
 *
 *     s' = (period - 1) / period * s + term,
 *
 * so that nothing ever cancels and the error stays relative. rsi keeps two of them (of the gains
 * and of all moves), atr one (of the ranges). What a piece hands to its right neighbour, and a
 * column's arithmetic.
 */
#ifndef SYI_KERNELS_WILDER_STATE_H
#define SYI_KERNELS_WILDER_STATE_H

#include "recurrence/lift.h"
#include "recurrence/phase.h"

typedef struct syi_wilder_state {
    double phase;      /* a syi_phase */
    double from_start; /* non-zero: computed from the row's beginning */
    double period;
    double close;  /* the last close */
    double still;  /* columns without a move for which the sums have yet to shrink */
    double lifted; /* not 0.0: `up` had become too small, and is lifted (recurrence/lift.h) */
    syi_deviation total, up;
} syi_wilder_state;

_Static_assert(sizeof(syi_wilder_state) <= sizeof(syi_carry), "a state fits its carry");

/* The smoothing is that of an exponential average of 2 * period - 1. */
SYI_INLINE int64_t syi_wilder_decay(double period, double bits)
{
    return syi_decay_columns(2.0 * period - 1.0, bits);
}

SYI_INLINE int64_t syi_wilder_halo(double period)
{
    return syi_recurrence_halo((int64_t)period + 1, syi_wilder_decay(period, SYI_HALO_BITS));
}

SYI_INLINE syi_factor_dd syi_wilder_factor(double period)
{
    syi_dd b = syi_dd_divide((syi_dd){period - 1.0, 0.0}, period);
    return (syi_factor_dd){b, b.high * (1.0 + 0x1p-48)};
}

/* factor * a, where the factor's relative error is `loose` (in units of SYI_FINE) above a constant
 * one's. A faint product is given up. */
SYI_INLINE syi_deviation syi_wilder_shrink(syi_deviation a, const syi_factor_dd *factor,
                                           double loose)
{
    if (factor->above == 0.0) /* a period of 1 forgets */
        return (syi_deviation){{0.0, 0.0}, 0.0};
    syi_dd product = syi_dd_multiply(factor->b, a.value);
    double size = product.high, lost = SYI_DD_ERROR + loose;
    if (size < SYI_FAINT || factor->b.high < SYI_FAINT) {
        product = (syi_dd){0.0, 0.0};
        lost = SYI_PER_FINE * 1.0001;
        /* The same, rounded otherwise, and not to less than it is. */
        size = a.value.high != 0.0 ? fma(factor->above, a.value.high, 0x1p-1074) : 0.0;
    }
    lost = fma(factor->above, a.error, lost * size);
    /* An error that once was there does not vanish by underflow: only exact zeros have none. */
    return (syi_deviation){
        product, lost == 0.0 && a.error == 0.0 && a.value.high == 0.0 ? 0.0 : lost + 0x1p-1010};
}

SYI_INLINE syi_deviation syi_wilder_plus(syi_deviation a, syi_dd term)
{
    syi_dd sum = syi_dd_add(a.value, term);
    return (syi_deviation){sum, fma(SYI_DD_ERROR, sum.high, a.error)};
}

/* The factor's power by squaring, which must not be faint: every factor brings its own error and at
 * most one rounding, so that it is off by less than 4 * SYI_DD_ERROR * n. */
SYI_INLINE syi_dd syi_wilder_power(const syi_factor_dd *factor, int64_t n)
{
    syi_dd power = {1.0, 0.0}, square = factor->b;
    for (; n; n >>= 1) {
        if (n & 1)
            power = syi_dd_multiply(power, square);
        square = n > 1 ? syi_dd_multiply(square, square) : square;
    }
    return power;
}

/* After a long time without a gain rsi goes through the least of doubles to 0: the sum of the gains
 * is lifted when less than RSI_LIFT_BELOW is left of it. */
#define RSI_LIFT_BELOW 0x1p-700

SYI_INLINE void syi_wilder_lift(syi_wilder_state *s)
{
    if (s->lifted == 0.0 && s->up.value.high >= SYI_FAINT && s->up.value.high < RSI_LIFT_BELOW) {
        s->up = syi_lifted(s->up);
        s->lifted = 1.0;
    }
}

/* Lets the sums shrink by the columns that stood still, at most so many at a time that 2^-185 is
 * left. */
SYI_INLINE void syi_wilder_catch_up(syi_wilder_state *s, const syi_factor_dd *factor)
{
    const double most = 128.0 * (s->period - 1.0);
    while (s->still > 0.0 && s->total.value.high + s->up.value.high > 0.0) {
        double n = s->still < most ? s->still : most, loose = 4.0 * SYI_DD_ERROR * n;
        syi_factor_dd power = {syi_wilder_power(factor, (int64_t)n), 0.0};
        power.above = power.b.high * (1.0 + 0x1p-40);
        s->total = syi_wilder_shrink(s->total, &power, loose);
        s->up = syi_wilder_shrink(s->up, &power, loose);
        s->still -= n;
        syi_wilder_lift(s);
    }
    s->still = 0.0; /* of a sum of 0 there is but an error, which may stay as it is */
}

SYI_INLINE void syi_wilder_unlift(syi_wilder_state *s)
{
    if (s->lifted != 0.0)
        s->up = syi_unlifted(s->up);
    s->lifted = 0.0;
}

SYI_INLINE syi_dd syi_dd_larger(syi_dd a, syi_dd b)
{
    int is_less = a.high < b.high || (a.high == b.high && a.low < b.low);
    return (syi_dd){is_less ? b.high : a.high, is_less ? b.low : a.low};
}

/* |a - b|, exactly. */
SYI_INLINE syi_dd syi_dd_distance(double a, double b)
{
    syi_dd d = syi_dd_of_sum(a, -b);
    return (syi_dd){fabs(d.high), d.high < 0.0 ? -d.low : d.low};
}

/* A change of price, and how much of it is a gain: all or nothing. */
SYI_INLINE void syi_wilder_move(double from, double to, syi_dd *move, syi_dd *gain)
{
    int is_gain = to > from;
    *move = syi_dd_distance(to, from);
    *gain = (syi_dd){is_gain ? move->high : 0.0, is_gain ? move->low : 0.0};
}

/* The true range: the greatest of high - low, |high - close| and |low - close|. */
SYI_INLINE syi_dd syi_wilder_range(double high, double low, double close)
{
    syi_dd most = syi_dd_larger(syi_dd_distance(high, close), syi_dd_distance(low, close));
    return syi_dd_larger(most, syi_dd_of_sum(high, -low));
}

/* 100 * up / total, 50 when nothing has moved; not 0.0 when it is in doubt. */
SYI_INLINE double syi_rsi_settle(const syi_wilder_state *s, double *y)
{
    const syi_deviation total = s->total, up = s->up;
    syi_dd part = syi_dd_scale(up.value, 100.0), rest;
    double first, error, size = total.value.high;
    *y = 50.0;
    if (size < 0x1p-700)
        return size == 0.0 && total.error == 0.0 ? 0.0 : 1.0;
    if (s->lifted != 0.0 && fma(up.error, SYI_FINE, up.value.high) < 0x1p-600 * size &&
        total.error < 0x1p+90 * size) { /* less than any double */
        *y = 0.0;
        return 0.0;
    }
    first = part.high / size;
    rest = syi_dd_subtract(part, syi_dd_scale(total.value, first));
    error = (100.0 * (up.error / size) + first * (total.error / size)) * (1.0 + 0x1p-40);
    error = fma(8.0 * SYI_DD_ERROR, first, error);
    if (total.error > 0x1p+60 * size) /* too loose for the bound above */
        error = SYI_PER_FINE * 200.0;
    if (up.value.high != 0.0 && (up.value.high < 0x1p-800 || first < 0x1p-800))
        error = SYI_PER_FINE;
    rest = syi_dd_of_ordered(first, rest.high / size);
    return s->lifted != 0.0 ? syi_settle_lifted(rest, error, y) : syi_dd_settle(rest, error, y);
}

SYI_INLINE syi_deviation syi_atr_value(const syi_wilder_state *s)
{
    syi_dd mean = syi_dd_divide(s->total.value, s->period);
    double error = fma(SYI_DD_ERROR, mean.high, s->total.error / s->period * (1.0 + 0x1p-40));
    if (s->total.value.high != 0.0 && mean.high < SYI_FAINT)
        error += SYI_PER_FINE * (mean.high + 0x1p-1074);
    /* The least of an error may have been lost to underflow. */
    return (syi_deviation){mean, s->total.error != 0.0 ? error + 0x1p-1000 : error};
}

/* A lifted sum's average, and back. */
SYI_INLINE syi_deviation syi_wilder_mean(syi_deviation total, double period)
{
    syi_dd mean = syi_dd_divide(total.value, period);
    double error = total.error / period * (1.0 + 0x1p-40);
    return (syi_deviation){mean, fma(SYI_DD_ERROR, fabs(mean.high), error)};
}

SYI_INLINE syi_deviation syi_wilder_total(syi_deviation mean, double period)
{
    syi_dd total = syi_dd_scale(mean.value, period);
    double error = mean.error * period * (1.0 + 0x1p-40);
    return (syi_deviation){total, fma(SYI_DD_ERROR, fabs(total.high), error)};
}

/* The row's columns, counted from any one of them; rsi has closes alone. */
typedef struct syi_wilder_prices {
    const double *high, *low, *close;
} syi_wilder_prices;

/* What tells whether a column is in range; of the row's first one the close alone counts. */
SYI_INLINE double syi_wilder_largest(const syi_wilder_prices *x, int64_t i, int has_range)
{
    double size = fabs(x->close[i]);
    if (!has_range)
        return size;
    /* A NaN anywhere has to be the answer. */
    size = fabs(x->high[i]) > size || x->high[i] != x->high[i] ? fabs(x->high[i]) : size;
    return fabs(x->low[i]) > size || x->low[i] != x->low[i] ? fabs(x->low[i]) : size;
}

SYI_INLINE void syi_wilder_terms(const syi_wilder_prices *x, double close, int64_t i, int is_range,
                                 syi_dd *term, syi_dd *gain)
{
    *gain = (syi_dd){0.0, 0.0};
    if (is_range)
        *term = syi_wilder_range(x->high[i], x->low[i], close);
    else
        syi_wilder_move(close, x->close[i], term, gain);
}

/* Moves on to column i, which is in range. */
SYI_INLINE void syi_wilder_advance(syi_wilder_state *s, const syi_wilder_prices *x, int64_t i,
                                   int is_range, const syi_factor_dd *factor)
{
    syi_dd term, gain;
    syi_wilder_terms(x, s->close, i, is_range, &term, &gain);
    s->close = x->close[i];
    if (!is_range && term.high == 0.0 && s->period > 1.0) {
        s->still += 1.0;
        return;
    }
    syi_wilder_catch_up(s, factor);
    if (gain.high > 0.0)
        syi_wilder_unlift(s);
    s->total = syi_wilder_plus(syi_wilder_shrink(s->total, factor, 0.0), term);
    if (!is_range)
        s->up = syi_wilder_plus(syi_wilder_shrink(s->up, factor, 0.0), gain);
    if (gain.high == 0.0)
        syi_wilder_lift(s);
}

SYI_INLINE double syi_wilder_settle(const syi_wilder_state *s, int is_range, double *y)
{
    const syi_deviation average = syi_atr_value(s);
    return is_range ? syi_dd_settle(average.value, average.error, y) : syi_rsi_settle(s, y);
}

/* The state at column i of the row, column `period`, from which on there are values. */
SYI_INLINE void syi_wilder_seed(syi_wilder_state *s, const syi_wilder_prices *x, int64_t i,
                                int is_range)
{
    const int64_t start = i - (int64_t)s->period;
    s->phase = SYI_PHASE_RUNNING;
    for (int64_t k = start; k <= i && s->phase != SYI_PHASE_POISONED; k++) {
        double size = syi_wilder_largest(x, k, is_range && k > start);
        if (!(size <= SYI_HUGE))
            s->phase = syi_phase_after(size);
    }
    if (s->phase != SYI_PHASE_RUNNING)
        return;
    for (int64_t k = start + 1; k <= i;) {
        const int64_t end = k + SYI_TALLY_MOST <= i ? k + SYI_TALLY_MOST : i + 1;
        syi_tally total = {0.0, 0.0, 0.0}, up = {0.0, 0.0, 0.0};
        for (; k < end; k++) {
            syi_dd term, gain;
            syi_wilder_terms(x, x->close[k - 1], k, is_range, &term, &gain);
            syi_tally_add(&total, term);
            syi_tally_add(&up, gain);
        }
        s->total = syi_tally_end(&total, s->total);
        s->up = syi_tally_end(&up, s->up);
    }
    s->close = x->close[i];
}

/* How large a column's term is, rounded, and how large its gain. */
SYI_INLINE double syi_wilder_size(const syi_wilder_prices *x, int64_t i, int is_range, double *gain)
{
    const double close = x->close[i - 1];
    double rise, fall, width;
    *gain = 0.0;
    if (!is_range) {
        *gain = x->close[i] - close;
        return fabs(*gain);
    }
    rise = fabs(x->high[i] - close);
    fall = fabs(x->low[i] - close);
    width = x->high[i] - x->low[i];
    rise = rise > fall ? rise : fall;
    return rise > width ? rise : width;
}

/* The largest term and the largest gain of some columns, rounded. */
typedef struct syi_wilder_most {
    double term, gain;
} syi_wilder_most;

/* Adds columns [from, to). */
SYI_INLINE void syi_wilder_look(syi_wilder_most *most, const syi_wilder_prices *x, int64_t from,
                                int64_t to, int is_range)
{
    for (int64_t i = from; i < to; i++) {
        double gain, size = syi_wilder_size(x, i, is_range, &gain);
        most->term = size > most->term ? size : most->term;
        most->gain = gain > most->gain ? gain : most->gain;
    }
}

/* The state at column i, the first one that is seen; the terms of the columns behind it suggest how
 * large the sums before may be, and the chain of states checks it. */
SYI_INLINE syi_wilder_state syi_wilder_assume(const syi_wilder_prices *x, int64_t i, double period,
                                              int is_range, const syi_wilder_most *behind)
{
    syi_wilder_state s = {.phase = SYI_PHASE_RUNNING, .period = period, .close = x->close[i]};
    const double largest = syi_wilder_largest(x, i, is_range), scale = 8.0 * SYI_PER_FINE * period;
    if (!(largest <= SYI_HUGE))
        s.phase = syi_phase_after(largest);
    s.total.error = behind->term <= SYI_HUGE ? scale * behind->term : 0.0;
    s.up.error = behind->gain <= SYI_HUGE ? scale * behind->gain : 0.0;
    return s;
}

/* Room for the left neighbour's own error: after quick tiles (quick.h) it is 2^-76 as a rule. What
 * is claimed here decays with the columns, and so do the doubts that it makes. */
SYI_INLINE void syi_wilder_claim(syi_wilder_state *s)
{
    const double room = 0x1p+27 + 0x1p+6 * s->period;
    s->total.error = fma(room, s->total.value.high, 4.0 * s->total.error);
    s->up.error = fma(room, s->up.value.high, 4.0 * s->up.error);
}

/* Whether an assumed sum holds the true one. What is exactly zero must be known to be. */
static inline int syi_wilder_sum_agrees(const syi_deviation *assumed, const syi_deviation *known)
{
    if (known->value.high == 0.0 && known->error == 0.0)
        return assumed->value.high == 0.0 && assumed->error == 0.0;
    return syi_deviation_agrees(assumed, known);
}

static inline int syi_wilder_agrees(const syi_carry *assumed_carry, const syi_carry *end)
{
    syi_wilder_state assumed, known;
    syi_factor_dd factor;
    double both;
    memcpy(&assumed, assumed_carry, sizeof assumed);
    memcpy(&known, end, sizeof known);
    int answer = syi_phase_agrees(assumed.from_start, assumed.phase, known.phase);
    if (answer >= 0)
        return answer;
    both = assumed.still < known.still ? assumed.still : known.still;
    factor = syi_wilder_factor(known.period);
    assumed.still -= both;
    known.still -= both;
    syi_wilder_catch_up(&assumed, &factor);
    syi_wilder_catch_up(&known, &factor);
    return assumed.lifted == known.lifted && syi_wilder_sum_agrees(&assumed.total, &known.total) &&
           syi_wilder_sum_agrees(&assumed.up, &known.up);
}

#endif
