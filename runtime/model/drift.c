#include "model/drift.h"

#include <math.h>

enum { RUNS = 3 };
/* The profile that was measured on purpose outweighs a few runs. */
enum { PROFILE_SAMPLES = 8 };
static const double weight = 0.3, least_band = 0.1, spreads_in_band = 4, worth_saving = 0.05;
static const double faded = 0.03; /* of the excess in a run: half of it in 23 */

syi_drift syi_drift_start(double spread, double slower)
{
    return (syi_drift){
        .slower = {.value = slower, .samples = PROFILE_SAMPLES}, .spread = spread, .saved = slower};
}

unsigned syi_drift_add(syi_drift *drift, double profile_ns, double measured_ns, double limit)
{
    double band = spreads_in_band * drift->spread, away;
    syi_tracking how = {band > least_band ? band : least_band, RUNS, weight};
    unsigned signal = 0;
    syi_track_add(&drift->slower, &how, measured_ns / profile_ns);
    away = fabs(drift->slower.value / drift->saved - 1);
    drift->off = away > limit ? drift->off + 1 : 0;
    drift->worth = away > worth_saving ? drift->worth + 1 : 0;
    if (drift->off >= RUNS && !drift->said) {
        drift->said = true;
        signal |= SYI_DRIFT_SAY;
    }
    if (away < limit / 2)
        drift->said = false;
    return drift->worth >= RUNS ? signal | SYI_DRIFT_SAVE : signal;
}

void syi_drift_fade(syi_drift *drift)
{
    if (drift->slower.value > 1)
        drift->slower.value -= (drift->slower.value - 1) * faded;
}

void syi_drift_saved(syi_drift *drift)
{
    drift->saved = drift->slower.value;
    drift->off = drift->worth = 0;
}
