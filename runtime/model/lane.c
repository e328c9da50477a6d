#include "model/lane.h"

#include <math.h>

void syi_lane_set(const syi_split_device *device, const syi_split_work *work, syi_lane *out)
{
    double fit = INFINITY;
    *out = (syi_lane){.slower = {1, 1, 1}, .assumed = {1, 1, 1}};
    if (!device->cost)
        return;
    out->cost = *device->cost;
    for (int p = 0; p < SYI_PHASES; p++)
        if (device->without & 1u << p)
            out->cost.phase[p].pieces = 0;
    if (device->memory > 0 && work->bytes_per_tile > 0)
        fit = device->memory / work->bytes_per_tile / (device->way == SYI_WAY_PIPELINE ? 2 : 1);
    if (fit < 1)
        return;
    out->most = work->tiles;
    if (device->way == SYI_WAY_WHOLE) {
        out->most = fit < (double)work->tiles ? (int64_t)fit : work->tiles;
    } else {
        double chunk = device->chunk_tiles > 0 ? (double)device->chunk_tiles : INFINITY;
        chunk = fit < chunk ? floor(fit) : chunk;
        out->passage.chunk = isfinite(chunk) ? chunk * work->elements_per_tile : 0;
        out->passage.overlap = device->way == SYI_WAY_PIPELINE;
    }
}

syi_cost syi_lane_cost(const syi_lane *lane)
{
    syi_cost cost = lane->cost;
    for (int p = 0; p < SYI_PHASES; p++)
        for (int i = 0; i < cost.phase[p].pieces; i++)
            cost.phase[p].per_element_ns[i] *= lane->slower[p];
    return cost;
}

/* The nearest bend after `from` elements, and the slope up to it, of all phases together. */
static double next_bend(const syi_cost *cost, double from, double *slope)
{
    double bend = INFINITY;
    *slope = 0;
    for (int p = 0; p < SYI_PHASES; p++) {
        const syi_curve *curve = &cost->phase[p];
        int i = 0;
        if (curve->pieces == 0)
            continue;
        while (i < curve->pieces - 1 && curve->until[i] <= from)
            i++;
        *slope += curve->per_element_ns[i];
        if (i < curve->pieces - 1 && curve->until[i] < bend)
            bend = curve->until[i];
    }
    return bend;
}

int syi_lane_steps(const syi_lane *lane, const syi_split_work *work, syi_step *steps)
{
    syi_cost cost = syi_lane_cost(lane);
    double per_tile = work->elements_per_tile, at = 0, ns = syi_cost_fixed_ns(&cost);
    double end = lane->passage.chunk > 0 ? lane->passage.chunk : INFINITY;
    int count = 0;
    while (at < end) {
        double slope, bend = next_bend(&cost, at, &slope);
        bend = bend < end ? bend : end;
        /* A device for which nothing remains to be done is still not infinitely fast. */
        slope = slope > 1e-9 ? slope : 1e-9;
        steps[count++] = (syi_step){at / per_tile, ns, slope * per_tile};
        ns += (bend - at) * slope;
        at = bend;
    }
    if (isfinite(end)) {
        double more = syi_cost_ns(&cost, lane->passage, 2 * end) - ns;
        more = more > 1e-9 * end ? more : 1e-9 * end;
        steps[count++] = (syi_step){end / per_tile, ns, more / end * per_tile};
    }
    return count;
}

double syi_lane_link_ns(const syi_lane *lane, syi_phase phase, double elements)
{
    double chunks = lane->passage.chunk > 0 ? elements / lane->passage.chunk : 1;
    double fixed = lane->cost.phase[phase].pieces ? lane->cost.phase[phase].fixed_ns : 0;
    double ns = syi_cost_phase_ns(&lane->cost, phase, lane->passage, elements);
    ns -= fixed * (chunks > 1 ? chunks : 1);
    return ns > 0 ? ns : 0;
}
