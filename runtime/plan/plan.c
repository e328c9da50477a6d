#include "plan/plan.h"

#include "base/mem.h"
#include "model/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sy_status check_one(const syi_devices *devices, const sy_ratio *ratio, double *ratios)
{
    char names[256];
    int index;
    if (!ratio->device || !*ratio->device)
        return syi_fail(SY_ERR_ARGUMENT, "a ratio has no device name; write it like a=0.75");
    if (!(ratio->ratio > 0) || !isfinite(ratio->ratio))
        return syi_fail(SY_ERR_ARGUMENT, "ratio %s=%g: must be a finite number above 0",
                        ratio->device, ratio->ratio);
    index = syi_devices_find(devices, ratio->device);
    if (index < 0) {
        syi_devices_names(devices, names, sizeof names);
        return syi_fail(SY_ERR_ARGUMENT, "ratio for unknown device '%s'; the devices are: %s",
                        ratio->device, names);
    }
    if (ratios[index] != 0)
        return syi_fail(SY_ERR_ARGUMENT, "device '%s' has two ratios; give it one", ratio->device);
    ratios[index] = ratio->ratio;
    return SY_OK;
}

sy_status syi_ratios_check(const syi_devices *devices, const sy_ratio *list, int n, double *ratios)
{
    if (n < 1 || !list)
        return syi_fail(SY_ERR_ARGUMENT,
                        "the list of ratios is empty; write it like a=0.75,b=0.25");
    memset(ratios, 0, (size_t)devices->count * sizeof *ratios);
    for (int i = 0; i < n; i++)
        SYI_TRY(check_one(devices, &list[i], ratios));
    return SY_OK;
}

int syi_ratios_match(const syi_devices *devices, const sy_balance *stored, double *ratios,
                     char *absent, size_t absent_size)
{
    size_t used = 0;
    int found = 0;
    memset(ratios, 0, (size_t)devices->count * sizeof *ratios);
    *absent = '\0';
    for (int i = 0; i < stored->n_ratios; i++) {
        int index = syi_devices_find(devices, stored->ratios[i].device);
        if (index >= 0 && ratios[index] == 0) {
            ratios[index] = stored->ratios[i].ratio;
            found++;
        } else if (used < absent_size) {
            used += (size_t)snprintf(absent + used, absent_size - used, "%s%s", used ? ", " : "",
                                     stored->ratios[i].device);
        }
    }
    return found;
}

const char *syi_plan_obstacle(syi_device *device, const syi_workload *workload)
{
    if (device->failed)
        return "failed earlier in this context";
    if (!device->info.usable)
        return device->info.reason;
    return device->backend->obstacle ? device->backend->obstacle(device, workload) : NULL;
}

/* Fills plan->ratios, normalised; gives their sum before. */
static double weigh(const syi_devices *devices, const syi_workload *workload, const double *ratios,
                    syi_plan *plan)
{
    double sum = 0, largest = 0;
    for (int i = 0; i < plan->count; i++) {
        syi_device *device = devices->list[i];
        int usable = !syi_plan_obstacle(device, workload);
        double wanted = ratios ? ratios[i] : device->nominal_rate;
        plan->ratios[i] = usable ? wanted : 0;
        if (plan->ratios[i] > largest)
            largest = plan->ratios[i];
    }
    /* Scaled by the largest first: the sum of huge ratios must not overflow. */
    for (int i = 0; i < plan->count && largest > 0; i++)
        sum += plan->ratios[i] /= largest;
    for (int i = 0; i < plan->count && sum > 0; i++)
        plan->ratios[i] /= sum;
    return sum;
}

/* Ratios say how fast the devices are beside each other; their nominal rates must do for the rest,
 * so all of it is a guess. */
static void believe(const syi_devices *devices, syi_plan *plan)
{
    const double least_ratio = 1e-9;
    double rate = 0; /* elements per second of all */
    for (int i = 0; i < plan->count; i++)
        rate += plan->ratios[i] > 0 ? devices->list[i]->nominal_rate : 0;
    for (int i = 0; i < plan->count; i++)
        plan->beliefs[i] = (syi_belief){.ns_per_tile = SYI_TILE * 1e9 /
                                                       (rate * fmax(plan->ratios[i], least_ratio)),
                                        .spread = 1};
}

/* Whether a device that the call's own ratios name has failed since. */
static bool has_lost(const syi_devices *devices, const double *order)
{
    for (int i = 0; order && i < devices->count; i++)
        if (order[i] > 0 && devices->list[i]->failed)
            return true;
    return false;
}

/* The first device that should work, and has something against the workload, says what. */
static sy_status fail_without_device(const syi_devices *devices, const syi_workload *workload,
                                     const double *order)
{
    const char *obstacle = NULL;
    int i = 0;
    for (; i < devices->count; i++)
        if ((!order || order[i] > 0) && (obstacle = syi_plan_obstacle(devices->list[i], workload)))
            break;
    if (!obstacle)
        return syi_fail(SY_ERR_NO_DEVICE, "%s: no device has a ratio above 0", workload->name);
    return syi_fail(SY_ERR_NO_DEVICE,
                    "%s: no device %s (%s: %s); open a new context, or name another device such "
                    "as cpu",
                    workload->name, order ? "with a ratio can be used" : "is left that can be used",
                    devices->list[i]->info.name, obstacle);
}

sy_status syi_plan_reserve(const syi_job *job, syi_plan *plan)
{
    const size_t count = (size_t)plan->count;
    plan->tiles = syi_job_tiles(job);
    plan->ratios = syi_arena_alloc(job->memory, count, sizeof *plan->ratios);
    plan->shares = syi_arena_alloc(job->memory, count, sizeof *plan->shares);
    plan->beliefs = syi_arena_alloc(job->memory, count, sizeof *plan->beliefs);
    return plan->ratios && plan->shares && plan->beliefs
               ? SY_OK
               : syi_no_memory((uint64_t)count * sizeof *plan->beliefs);
}

sy_status syi_plan_make(const syi_devices *devices, const syi_job *job, const double *ratios,
                        syi_source source, syi_plan *out)
{
    syi_plan plan = {.count = devices->count, .source = source};
    SYI_TRY(syi_plan_reserve(job, &plan));
    if (!(weigh(devices, job->workload, ratios, &plan) > 0)) {
        const double *const order = source == SYI_SOURCE_CALL ? ratios : NULL;
        if (!has_lost(devices, order) || !(weigh(devices, job->workload, NULL, &plan) > 0))
            return fail_without_device(devices, job->workload, order);
        plan.source = SYI_SOURCE_NOMINAL;
    }
    plan.exact = plan.source == SYI_SOURCE_CALL;
    SYI_TRY(syi_share_tiles(plan.ratios, plan.count, plan.tiles, plan.shares));
    believe(devices, &plan);
    *out = plan;
    return SY_OK;
}

double syi_plan_ms(const syi_plan *plan)
{
    double ms = plan->choice.made ? plan->choice.ms[plan->choice.side] : NAN;
    return plan->parts ? plan->makespan_ns / 1e6 : isnan(ms) ? -1 : ms;
}
