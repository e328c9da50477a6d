/*
 * A running value of something that is measured again and again on a machine that others use too:
 * single strange samples are passed over, a change that persists is taken at once. Pure.
 */
#ifndef SYI_MODEL_TRACK_H
#define SYI_MODEL_TRACK_H

#include <stdbool.h>

typedef struct syi_track {
    double value;
    int samples; /* behind the value, a million at most, those passed over not counted */
    int strange; /* in a row, up to now */
    double strange_value;
} syi_track;

typedef struct syi_tracking {
    double band;   /* strange is what is off by more than this factor less 1 */
    int persist;   /* so many strange ones in a row that agree are the new value */
    double weight; /* of a new sample at least; at first it is one of the mean's */
} syi_tracking;

/* Adds a sample (> 0, finite; others are dropped). True when the value was replaced. */
bool syi_track_add(syi_track *track, const syi_tracking *how, double sample);

#endif
