/* What an EMA's piece hands to its right neighbour. */
#ifndef SYI_KERNELS_EMA_STATE_H
#define SYI_KERNELS_EMA_STATE_H

#include "recurrence/phase.h"

typedef struct syi_ema_state {
    double phase;      /* a syi_phase */
    double from_start; /* non-zero: computed from the row's beginning */
    double x;          /* the last value */
    syi_deviation deviation;
} syi_ema_state;

_Static_assert(sizeof(syi_ema_state) <= sizeof(syi_carry), "a state fits its carry");

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
