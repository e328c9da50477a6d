/* What a MACD's piece hands to its right neighbour. */
#ifndef SYI_KERNELS_MACD_STATE_H
#define SYI_KERNELS_MACD_STATE_H

#include "recurrence/phase.h"

typedef struct syi_macd_state {
    double phase;      /* a syi_phase */
    double from_start; /* non-zero: computed from the row's beginning */
    double x;          /* the last value */
    syi_dd slope;      /* its distance from the one before */
    /* Of the averages from the price, but for what a constant slope adds; of the signal from the
     * macd. */
    syi_deviation fast, slow, signal;
    syi_deviation gap; /* fast - slow */
    syi_deviation sum; /* of the macd so far, while seeding */
} syi_macd_state;

_Static_assert(sizeof(syi_macd_state) <= sizeof(syi_carry), "a state fits its carry");

#endif
