/* What a MACD's piece hands to its right neighbour. */
#ifndef SYI_KERNELS_MACD_STATE_H
#define SYI_KERNELS_MACD_STATE_H

#include "macd/macd.h"
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
    syi_deviation sum; /* of the macd so far, as distances from the last, while seeding */
} syi_macd_state;

_Static_assert(sizeof(syi_macd_state) <= sizeof(syi_carry), "a state fits its carry");

/* Columns until a wrong start of all three averages has lost `bits` bits. */
SYI_INLINE int64_t syi_macd_decay(const syi_macd *macd, double bits)
{
    return syi_decay_columns(macd->slow, bits) + syi_decay_columns(macd->signal, bits);
}

/* Columns that a piece wants to see on its left. */
SYI_INLINE int64_t syi_macd_halo(const syi_macd *macd)
{
    return syi_recurrence_halo(syi_macd_warmup(macd) + 1, syi_macd_decay(macd, SYI_HALO_BITS));
}

/* Whether an assumed state holds the one that its left neighbour ended with. */
static inline int syi_macd_agrees(const syi_carry *assumed_carry, const syi_carry *end)
{
    syi_macd_state assumed, known;
    memcpy(&assumed, assumed_carry, sizeof assumed);
    memcpy(&known, end, sizeof known);
    int answer = syi_phase_agrees(assumed.from_start, assumed.phase, known.phase);
    if (answer >= 0)
        return answer;
    return syi_deviation_agrees(&assumed.fast, &known.fast) &&
           syi_deviation_agrees(&assumed.slow, &known.slow) &&
           syi_deviation_agrees(&assumed.signal, &known.signal);
}

#endif
