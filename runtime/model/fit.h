/*
 * From timed samples to a cost curve. The samples come from machines that others use too: up to a
 * third of them may be several times too long, and the fit must not notice.
 */
#ifndef SYI_MODEL_FIT_H
#define SYI_MODEL_FIT_H

#include "base/error.h"
#include "model/cost.h"

enum { SYI_FIT_SIZES = 32 }; /* different sizes at most */

typedef struct syi_sample {
    double elements, ns;
} syi_sample;

/* Fits one phase. Samples may come in any order, with any number of repeats of each size; one
 * size gives a slope alone. SY_ERR_ARGUMENT when there are none, when one is not finite or not
 * positive, or when there are too many sizes. */
sy_status syi_fit(const syi_sample *samples, int count, syi_curve *out);

/* Sizes from `min` to `max`, both included, each `factor` (> 1) times the one before; gives how
 * many. Where there would be more than `capacity` (>= 2), the steps are longer. */
int syi_ladder(int64_t min, int64_t max, double factor, int64_t *sizes, int capacity);

#endif
