/*
 * The timed samples that a cost is fitted to: from small sizes to large ones, as far as the time
 * goes, each sample repeated until the clock can tell how long it took. The calls and the clock are
 * the caller's, so that both may be virtual.
 */
#ifndef SYI_MODEL_MEASURE_H
#define SYI_MODEL_MEASURE_H

#include "base/error.h"
#include "model/cost.h"

#include <stdint.h>

typedef struct syi_times {
    double whole_ns, phase_ns[SYI_PHASES];
} syi_times;

typedef struct syi_meter {
    void *user;
    /* Makes ready what calls of so many elements need, once for each size. Takes time, too. */
    sy_status (*ready)(void *user, int64_t elements);
    /* Makes one call of so many elements, and tells what it took. */
    sy_status (*call)(void *user, int64_t elements, syi_times *out);
    double (*now_ns)(void *user);
    /* After each run, for warm-up or timed; what is not SY_OK ends the measurement. */
    sy_status (*ran)(void *user);
    int warmup, runs; /* of each size: calls that do not count, and samples (>= 1) */
    double floor_ns;  /* a sample's calls are doubled until they have taken so long together */
    double until_ns;  /* the time is up; infinite: never */
} syi_meter;

typedef struct syi_measured {
    syi_cost cost;
    int64_t size;     /* the largest that was finished */
    double median_ns; /* the whole of a call of that size */
} syi_measured;

/* The floor for a clock that makes such steps. */
double syi_measure_floor(double step_ns);

/* `sizes` ascend; those that the time suffices for count, and the first in any case. Once the time
 * is up no call is repeated, and a size that is not finished does not count. */
sy_status syi_measure_sizes(const syi_meter *meter, const int64_t *sizes, int n_sizes,
                            syi_measured *out);

#endif
