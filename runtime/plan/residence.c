#include "plan/residence.h"

#include "device/place.h"

/* The arrays of one direction. */
typedef struct arrays {
    const syi_place *place;
    syi_curve way[SYI_MAX_ARRAYS]; /* between the owner and the host; no pieces: it is the host's */
    int count;
} arrays;

/* One array's part of the owner's copies in, as far as the first bend. */
static syi_curve way_of(const syi_place *place, const syi_cost *costs, int inputs)
{
    const syi_curve *copy;
    if (place->kind != SYI_ON_DEVICE)
        return (syi_curve){0};
    copy = &costs[place->owner->index].phase[SYI_COPY_IN];
    return copy->pieces ? syi_curve_line(copy->fixed_ns / inputs, copy->per_element_ns[0] / inputs)
                        : (syi_curve){0};
}

static arrays arrays_of(const syi_place *places, int count, const syi_cost *costs, int inputs)
{
    arrays all = {.place = places, .count = count};
    for (int k = 0; k < count; k++)
        all.way[k] = way_of(&places[k], costs, inputs);
    return all;
}

static void add_line(syi_curve *curve, const syi_curve *line)
{
    if (!line->pieces)
        return;
    if (!curve->pieces)
        *curve = (syi_curve){.pieces = 1, .spread = curve->spread};
    curve->fixed_ns += line->fixed_ns;
    for (int i = 0; i < curve->pieces; i++)
        curve->per_element_ns[i] += line->per_element_ns[0];
}

static void adapt(syi_curve *copy, const syi_device *device, const arrays *all)
{
    int travelling = 0;
    for (int k = 0; k < all->count; k++)
        travelling += all->place[k].kind != SYI_ON_DEVICE || all->place[k].home != device->home;
    for (int i = 0; i < copy->pieces; i++)
        copy->per_element_ns[i] *= (double)travelling / all->count;
    if (!travelling)
        copy->pieces = 0;
    for (int k = 0; k < all->count; k++)
        if (!device->home)
            add_line(copy, &all->way[k]);
}

void syi_residence_apply(const syi_devices *devices, const syi_job *job, syi_cost *costs)
{
    const syi_workload *workload = job->workload;
    arrays in, out;
    if (syi_job_addressable(job))
        return;
    in = arrays_of(job->places->in, workload->n_inputs, costs, workload->n_inputs);
    out = arrays_of(job->places->out, workload->n_outputs, costs, workload->n_inputs);
    for (int i = 0; i < devices->count; i++) {
        adapt(&costs[i].phase[SYI_COPY_IN], devices->list[i], &in);
        if (workload->pattern != SY_PATTERN_REDUCE) /* a reduction's outputs are the merge's */
            adapt(&costs[i].phase[SYI_COPY_OUT], devices->list[i], &out);
    }
}
