/* What devices are profiled with: seeded prices, in as many arrays as a workload reads, and room
 * for its results. Made as far as it is used, for most of it takes time and memory for nothing
 * where the time for a profile is short. */
#ifndef SYI_API_SAMPLE_H
#define SYI_API_SAMPLE_H

#include "api/context.h"

typedef struct syi_sample_arrays {
    sy_work work; /* of all columns, with the arrays below */
    const void *in[SYI_MAX_ARRAYS];
    void *out[SYI_MAX_ARRAYS];
    uint64_t seed;
    int64_t filled;                /* so many columns have their values */
    int64_t ticks[SYI_MAX_ARRAYS]; /* where each walk is there */
} syi_sample_arrays;

/* To be cleared also when it fails. */
sy_status syi_sample_make(const syi_workload *workload, const sy_profile_options *options,
                          syi_sample_arrays *out);
void syi_sample_clear(syi_sample_arrays *sample);

/* The first `columns` have their values then, unless `meanwhile`, which is called now and then, is
 * not SY_OK: then so is this, and what has been made stays. */
sy_status syi_sample_fill(syi_sample_arrays *sample, int64_t columns,
                          sy_status (*meanwhile)(void *user), void *user);

#endif
