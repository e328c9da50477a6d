/* Deciding a stretch of a recurrence with wide arithmetic. */
#ifndef SYI_KERNELS_RECURRENCE_REPAIR_H
#define SYI_KERNELS_RECURRENCE_REPAIR_H

#include "element/inputs.h"
#include "recurrence/number.h"

/* From where and with how many bits a stretch is computed. */
typedef struct syi_attempt {
    int64_t start, first, last; /* begins at `start`; columns [first, last) are wanted */
    int from_seed;              /* `start` is the row's beginning: nothing is assumed */
    int limbs;                  /* 0: in pairs of doubles */
    const syi_inputs *in;       /* of the row */
    double peak; /* not from_seed: a bound of every weighted mean of |x| up to `start` */
    const struct syi_decision *decision;
    int64_t back;                   /* about how far from `first` the start is */
    int64_t unsure_from, unsure_to; /* told of last, and not yet decided */
} syi_attempt;

typedef struct syi_repairer {
    /* Writes the wanted columns, and tells of each in turn whether it is certain. */
    void (*compute)(const sy_segment *row, syi_attempt *attempt);
    /* The same in pairs of doubles, many times as fast, where what is not certain need not be
     * written. It comes first. */
    void (*compute_in_pairs)(const sy_segment *row, syi_attempt *attempt);
    int outputs;
    int64_t warmup; /* the first column with a value */
    int64_t decay;  /* columns until nothing is left of an assumed start */
    int late;       /* inputs before the last that counts, read from column 1 on */
} syi_repairer;

/* What `compute` tells; what is not certain is begun farther away, and written again, once some
 * columns after it have been, or at the end. */
void syi_attempt_tell(syi_attempt *attempt, int64_t column, int is_certain);

/* Bits of decay after which a start is assumed away. A third of them is tried first, half for a
 * small result, in pairs of doubles, which hold no more and nearly always decide, then with half as
 * many bits of the numbers. */
#define SYI_REPAIR_BITS 330.0

/* Moves a state, known with a bound at the attempt's start, on to where it has still to fade by as
 * much as a kernel loses: by the kernel, in vectors, without outputs. Gives the column that it is
 * of then, which is the start where there is little to gain, or where the kernel has failed. */
int64_t syi_attempt_approach(const sy_segment *row, const syi_attempt *attempt,
                             const syi_workload *workload, void *state, size_t size);

sy_status syi_recurrence_repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past,
                                const syi_repairer *how);

/* One step of smoothing: deviation = factor * (deviation - change). */
static inline void syi_number_smooth(syi_number *deviation, const syi_number *change,
                                     const syi_factor *factor)
{
    syi_number_subtract(deviation, deviation, change);
    syi_number_scale(deviation, deviation, factor);
}

/* The mean of `count` values of the first input up to column `last`, less that one's. */
void syi_number_seed(syi_number *out, const syi_inputs *in, int64_t last, int64_t count, int limbs);

/* syi_number_round() of a value, which becomes a float where the inputs are floats. */
static inline int syi_attempt_round(const syi_attempt *attempt, const syi_number *value,
                                    double *out)
{
    return syi_number_round(value, attempt->in->floats != NULL, out);
}

#endif
