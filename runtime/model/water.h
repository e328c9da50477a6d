/*
 * Water-filling: tiles over devices whose times are polylines. The devices are vessels, time is
 * the level, and the level at which they hold all the tiles is the makespan. Pure.
 */
#ifndef SYI_MODEL_WATER_H
#define SYI_MODEL_WATER_H

#include "base/error.h"

/* From `tiles` tiles on, at `ns`, each one takes `per_tile_ns` (> 0). */
typedef struct syi_step {
    double tiles, ns, per_tile_ns;
} syi_step;

typedef struct syi_vessel {
    const syi_step *steps; /* the first one at 0 tiles; ascending */
    int count;             /* 0: takes nothing */
    int64_t most;          /* tiles */
} syi_vessel;

/* The next tile of a vessel, and when it would be finished. */
typedef struct syi_offer {
    double ns;
    int vessel;
} syi_offer;

double syi_vessel_ns(const syi_vessel *vessel, int64_t tiles);

/* The shares with the least makespan, exactly: each tile that is left over when all are filled to
 * the same level goes where it is finished first, the lower index on ties. SY_ERR_MEMORY when the
 * vessels hold fewer than `tiles`. `level`: where to begin to look (0: nowhere in particular; it
 * does not change the makespan); gets the level found. `offers` is room for the search. */
sy_status syi_water_fill(const syi_vessel *vessels, int count, int64_t tiles, int64_t *shares,
                         syi_offer *offers, double *level);

#endif
