/*
 * How one device takes its share: which phases it pays, in which chunks, what slows its copies
 * down; and its whole time as a polyline in tiles. Small, since there may be very many. Pure.
 */
#ifndef SYI_MODEL_LANE_H
#define SYI_MODEL_LANE_H

#include "model/split.h"
#include "model/water.h"

typedef struct syi_lane {
    const syi_cost *cost; /* alone on its link; NULL: not to be used */
    double chunk;         /* elements at a time; 0: all at once */
    double start_ns;
    bool usable;               /* there is a cost, and memory for a tile */
    double slower[SYI_PHASES]; /* how many times longer copies take that share a link */
    /* For the search: the same as last assumed, and the best share so far. */
    double assumed[SYI_PHASES];
    int64_t kept;
} syi_lane;

void syi_lane_set(const syi_split_device *device, const syi_split_work *work, syi_lane *out);

/* What a share of `elements` takes with the slow-downs, and each phase of it (syi_cost_ns). */
double syi_lane_ns(const syi_lane *lane, double elements);
double syi_lane_phase_ns(const syi_lane *lane, syi_phase phase, double elements);
/* The fixed part of it. */
double syi_lane_fixed_ns(const syi_lane *lane);

/* Steps of a lane at most, and one for each bend of its phases. */
enum { SYI_LANE_STEPS = 2 };
int syi_lane_steps(const syi_lane *lane, const syi_split_work *work, syi_step *steps);

/* What of a phase's time, alone on the link, goes over the link: all but the fixed part of each
 * chunk. */
double syi_lane_link_ns(const syi_lane *lane, syi_phase phase, double elements);

#endif
