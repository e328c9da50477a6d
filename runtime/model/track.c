#include "model/track.h"

#include <math.h>

/* More of them change no weight, and a program may run for years. */
enum { MOST_SAMPLES = 1000000 };

static bool agree(double a, double b, double band)
{
    return a <= b * (1 + band) && b <= a * (1 + band);
}

bool syi_track_add(syi_track *track, const syi_tracking *how, double sample)
{
    double weight = 1.0 / (track->samples + 1);
    if (!(sample > 0) || !isfinite(sample))
        return false;
    if (track->samples == 0 || agree(sample, track->value, how->band)) {
        weight = weight > how->weight ? weight : how->weight;
        track->value += (sample - track->value) * weight;
        track->samples += track->samples < MOST_SAMPLES;
        track->strange = 0;
        return false;
    }
    if (track->strange && agree(sample, track->strange_value, how->band)) {
        track->strange++;
        track->strange_value += (sample - track->strange_value) / track->strange;
    } else {
        track->strange = 1;
        track->strange_value = sample;
    }
    if (track->strange < how->persist)
        return false;
    *track = (syi_track){.value = track->strange_value, .samples = track->strange};
    return true;
}
