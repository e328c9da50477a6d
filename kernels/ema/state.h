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

#endif
