#include "model/lane.h"

#include <math.h>

void syi_lane_set(const syi_split_device *device, const syi_split_work *work, syi_lane *out)
{
    double fit = INFINITY;
    *out = (syi_lane){.cost = device->cost,
                      .start_ns = device->start_ns,
                      .slower = {1, 1, 1},
                      .assumed = {1, 1, 1}};
    if (!device->cost)
        return;
    if (device->memory > 0 && work->bytes_per_tile > 0)
        fit = device->memory / work->bytes_per_tile;
    out->usable = fit >= 1;
    out->chunk = isfinite(fit) ? floor(fit) * work->elements_per_tile : 0;
}

/* NULL: the phase does not take place. */
static const syi_curve *curve_of(const syi_lane *lane, int phase)
{
    const syi_curve *curve = &lane->cost->phase[phase];
    return curve->pieces ? curve : NULL;
}

/* One chunk of a phase: a slow-down leaves the fixed part as it is. */
static double chunk_ns(const syi_lane *lane, int phase, double elements)
{
    const syi_curve *curve = curve_of(lane, phase);
    double ns = curve ? syi_curve_ns(curve, elements) : 0;
    return lane->slower[phase] == 1 || ns == 0
               ? ns
               : curve->fixed_ns + (ns - curve->fixed_ns) * lane->slower[phase];
}

static double first_chunk(const syi_lane *lane, double elements)
{
    double chunk = lane->chunk;
    return chunk > 0 && elements > chunk ? chunk : elements;
}

double syi_lane_phase_ns(const syi_lane *lane, syi_phase phase, double elements)
{
    double first = first_chunk(lane, elements), ns = chunk_ns(lane, phase, first);
    return first == elements ? ns : ns * (elements / first);
}

double syi_lane_ns(const syi_lane *lane, double elements)
{
    double first = first_chunk(lane, elements), sum = 0;
    for (int p = 0; p < SYI_PHASES; p++)
        sum += chunk_ns(lane, p, first);
    return lane->start_ns + (first == elements ? sum : sum * (elements / first));
}

double syi_lane_fixed_ns(const syi_lane *lane)
{
    double sum = lane->start_ns;
    for (int p = 0; p < SYI_PHASES; p++) {
        const syi_curve *curve = curve_of(lane, p);
        sum += curve ? curve->fixed_ns : 0;
    }
    return sum;
}

/* The nearest bend after `from` elements, and the slope up to it, of all phases together. */
static double next_bend(const syi_lane *lane, double from, double *slope)
{
    double bend = INFINITY;
    *slope = 0;
    for (int p = 0; p < SYI_PHASES; p++) {
        const syi_curve *curve = curve_of(lane, p);
        int i = 0;
        if (!curve)
            continue;
        while (i < curve->pieces - 1 && curve->until[i] <= from)
            i++;
        *slope += curve->per_element_ns[i] * lane->slower[p];
        if (i < curve->pieces - 1 && curve->until[i] < bend)
            bend = curve->until[i];
    }
    return bend;
}

int syi_lane_steps(const syi_lane *lane, const syi_split_work *work, syi_step *steps)
{
    double per_tile = work->elements_per_tile, at = 0, ns = syi_lane_fixed_ns(lane);
    double end = lane->chunk > 0 ? lane->chunk : INFINITY;
    int count = 0;
    while (at < end) {
        double slope, bend = next_bend(lane, at, &slope);
        bend = bend < end ? bend : end;
        /* A device for which nothing remains to be done is still not infinitely fast. */
        slope = slope > 1e-9 ? slope : 1e-9;
        steps[count++] = (syi_step){at / per_tile, ns, slope * per_tile};
        ns += (bend - at) * slope;
        at = bend;
    }
    if (isfinite(end)) {
        double more = syi_lane_ns(lane, 2 * end) - ns;
        more = more > 1e-9 * end ? more : 1e-9 * end;
        steps[count++] = (syi_step){end / per_tile, ns, more / end * per_tile};
    }
    return count;
}

double syi_lane_link_ns(const syi_lane *lane, syi_phase phase, double elements)
{
    const syi_curve *curve = curve_of(lane, phase);
    double chunks = lane->chunk > 0 ? elements / lane->chunk : 1, ns;
    if (!curve)
        return 0;
    ns = syi_curve_ns(curve, first_chunk(lane, elements)) * (chunks > 1 ? chunks : 1);
    ns -= curve->fixed_ns * (chunks > 1 ? chunks : 1);
    return ns > 0 ? ns : 0;
}
