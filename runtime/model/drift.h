/*
 * Feedback from one call to the next: how much slower a device is than its profile says, when to
 * tell, and when the file should follow. Pure.
 */
#ifndef SYI_MODEL_DRIFT_H
#define SYI_MODEL_DRIFT_H

#include "model/track.h"

typedef struct syi_drift {
    syi_track slower; /* the profile's times are to be multiplied by its value */
    double spread;
    double saved;   /* the factor that the file's profile already contains */
    int off, worth; /* runs in a row in which it was far from that; far enough to be saved */
    int idle;       /* runs that have made it fade since it was saved */
    bool said;
} syi_drift;

/* What runs have found and the file's times do not contain yet: what a context that ends hands on
 * to the next one. Zeros: nothing. */
typedef struct syi_pending {
    int runs;      /* strange ones in a row that agree; fewer than make a new value */
    double slower; /* what they say */
    int idle;
} syi_pending;

enum { SYI_DRIFT_SAY = 1, SYI_DRIFT_SAVE = 2 };

/* `spread`: the profile's (syi_cost_spread); `slower`: what the file says of earlier runs (1:
 * nothing). */
syi_drift syi_drift_start(double spread, double slower);

syi_pending syi_drift_pending(const syi_drift *drift);
bool syi_pending_sound(syi_pending pending);
bool syi_pending_equal(syi_pending a, syi_pending b);
/* Goes on where another context has ended. */
void syi_drift_resume(syi_drift *drift, syi_pending pending);

/* Whether a run is a strange one that took too long. */
bool syi_drift_is_slow(const syi_drift *drift, double profile_ns, double measured_ns);

/* One run: what the device should have taken by the profile, and what it took. Gives, or-ed, SAY
 * once when the device has been off by more than `limit` for some runs, and SAVE as long as the
 * file is worth a new profile. */
unsigned syi_drift_add(syi_drift *drift, double profile_ns, double measured_ns, double limit);

/* A run in which the device had no part, perhaps because it seemed too slow: nothing was measured,
 * and what was is a little less believed, until it gets a part again. */
void syi_drift_fade(syi_drift *drift);

/* The file now contains slower.value. The factor stays relative to the profile of the start. */
void syi_drift_saved(syi_drift *drift);

#endif
