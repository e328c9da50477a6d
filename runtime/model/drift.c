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

static double band_of(const syi_drift *drift)
{
    return fmax(spreads_in_band * drift->spread, least_band);
}

syi_pending syi_drift_pending(const syi_drift *drift)
{
    const syi_track *slower = &drift->slower;
    syi_pending pending = {.idle = drift->idle};
    if (slower->strange) {
        pending.runs = slower->strange;
        pending.slower = slower->strange_value;
    } else if (drift->worth && fabs(slower->value / drift->saved - 1) > band_of(drift)) {
        pending.runs = drift->worth < RUNS ? drift->worth : RUNS - 1;
        pending.slower = slower->value;
    }
    return pending;
}

bool syi_pending_sound(syi_pending pending)
{
    bool says = pending.slower > 0 && isfinite(pending.slower);
    return pending.idle >= 0 &&
           (pending.runs ? pending.runs > 0 && pending.runs < RUNS && says : pending.slower == 0);
}

bool syi_pending_equal(syi_pending a, syi_pending b)
{
    return a.runs == b.runs && a.slower == b.slower && a.idle == b.idle;
}

void syi_drift_resume(syi_drift *drift, syi_pending pending)
{
    syi_track *slower = &drift->slower;
    for (int run = 0; run < pending.idle && slower->value > 1 + worth_saving; run++)
        syi_drift_fade(drift);
    if (!pending.runs)
        return;
    if (fabs(pending.slower / slower->value - 1) <= band_of(drift)) {
        drift->worth = pending.runs;
    } else {
        slower->strange = pending.runs;
        slower->strange_value = pending.slower;
    }
}

bool syi_drift_is_slow(const syi_drift *drift, double profile_ns, double measured_ns)
{
    return measured_ns > profile_ns * drift->slower.value * (1 + band_of(drift));
}

/* More say no more. */
static int at_most_runs(int runs)
{
    return runs < RUNS ? runs : RUNS;
}

unsigned syi_drift_add(syi_drift *drift, double profile_ns, double measured_ns, double limit)
{
    const syi_tracking how = {band_of(drift), RUNS, weight};
    unsigned signal = 0;
    /* A new value is what so many runs in a row have said. */
    int runs = syi_track_add(&drift->slower, &how, measured_ns / profile_ns) ? RUNS : 1;
    double away = fabs(drift->slower.value / drift->saved - 1);
    drift->off = away > limit ? at_most_runs(drift->off + runs) : 0;
    drift->worth = away > worth_saving ? at_most_runs(drift->worth + runs) : 0;
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
    if (drift->slower.value > 1 + worth_saving)
        drift->idle++;
    if (drift->slower.value > 1)
        drift->slower.value -= (drift->slower.value - 1) * faded;
}

void syi_drift_saved(syi_drift *drift)
{
    drift->saved = drift->slower.value;
    drift->off = drift->worth = drift->idle = 0;
}
