/* What an EMA's piece hands to its right neighbour, and the arithmetic of a column: the same on
 * every device. */
#ifndef SYI_KERNELS_EMA_STATE_H
#define SYI_KERNELS_EMA_STATE_H

#include "ema/ema.h"
#include "recurrence/phase.h"

typedef struct syi_ema_state {
    double phase;      /* a syi_phase */
    double from_start; /* non-zero: computed from the row's beginning */
    double x;          /* the last value */
    syi_deviation deviation;
} syi_ema_state;

_Static_assert(sizeof(syi_ema_state) <= sizeof(syi_carry), "a state fits its carry");

/* Columns that a piece wants to see on its left. */
SYI_INLINE int64_t syi_ema_halo(const syi_ema *ema)
{
    return syi_recurrence_halo(ema->seeded, syi_decay_columns(ema->period, SYI_HALO_BITS));
}

/* Rounds the value; not 0.0 when it is in doubt. */
SYI_INLINE double syi_ema_settle(const syi_ema_state *state, double *y)
{
    /* The low parts' sum loses 2^-106 of x and of y. */
    syi_dd sum = syi_dd_of_sum(state->x, state->deviation.value.high);
    double error = fma(0.0625, fabs(state->x), state->deviation.error);
    sum.low += state->deviation.value.low;
    return syi_dd_settle(sum, error, y);
}

SYI_INLINE void syi_ema_advance(syi_ema_state *s, double x, const syi_factor_dd *factor)
{
    s->deviation = syi_deviation_step(s->deviation, syi_dd_of_sum(s->x, -x), 0.0, factor);
    s->x = x;
}

/* The state before x[0] of a piece that does not see the row's beginning, and what it claims of it
 * at the end of the columns that let it decay. */
SYI_INLINE syi_ema_state syi_ema_assume(const double *x, int64_t count)
{
    syi_ema_state state = {.phase = SYI_PHASE_RUNNING, .from_start = 0.0, .x = x[0]};
    state.deviation.error = syi_assumed_error(x, count);
    return state;
}

SYI_INLINE void syi_ema_claim(syi_ema_state *state)
{
    state->deviation.error = syi_claimed_error(state->deviation.error);
}

/* Whether an assumed state holds the one that its left neighbour ended with. */
static inline int syi_ema_agrees(const syi_carry *assumed_carry, const syi_carry *end)
{
    syi_ema_state assumed, known;
    memcpy(&assumed, assumed_carry, sizeof assumed);
    memcpy(&known, end, sizeof known);
    int answer = syi_phase_agrees(assumed.from_start, assumed.phase, known.phase);
    return answer >= 0 ? answer : syi_deviation_agrees(&assumed.deviation, &known.deviation);
}

#endif
