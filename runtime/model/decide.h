/*
 * CPU or GPU, from the times that both took before: for the same size, else for the sizes around
 * it, else a probe. Pure.
 */
#ifndef SYI_MODEL_DECIDE_H
#define SYI_MODEL_DECIDE_H

#include "model/track.h"

#include <stdint.h>

typedef enum syi_side { SYI_SIDE_CPU, SYI_SIDE_GPU, SYI_SIDE_NONE } syi_side;

typedef struct syi_timing {
    int64_t size;
    syi_track ms[2]; /* by side; no samples: not measured */
} syi_timing;

typedef struct syi_verdict {
    syi_side side;
    bool probe;   /* taken to learn its time, not because it is known to be faster */
    double ms[2]; /* what is expected; NaN: nothing known */
} syi_verdict;

/* `known`: timings of one signature, by ascending size. `last`: what was chosen the last time for
 * this size, NONE: not yet; it stays while the other is only a little faster. */
syi_verdict syi_decide(const syi_timing *known, int count, int64_t size, syi_side last);

/* The known size that stands for this one; -1: there is none so near. Its times count in
 * proportion: then they differ less than by what is taken for a disturbance. */
int syi_timing_alike(const syi_timing *known, int count, int64_t size);

/* Adds a measured time. */
void syi_timing_add(syi_timing *timing, syi_side side, double ms);

#endif
