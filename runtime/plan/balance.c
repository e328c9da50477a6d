/* Plans from costs: the split of the model, and what the queue should believe at the beginning. */
#include "plan/plan.h"

#include "base/mem.h"
#include "model/lane.h"
#include "model/share.h"

static syi_split_work work_of(const syi_job *job)
{
    int64_t tiles = syi_job_tiles(job);
    /* A row of no columns still takes as long as one of a value: it has a result. */
    double elements = (double)job->rows * (double)(job->columns ? job->columns : 1);
    double per_tile = tiles ? elements / (double)tiles : 0;
    return (syi_split_work){tiles, per_tile,
                            (double)syi_element_size(job->dtype) * per_tile *
                                (job->workload->n_inputs + job->workload->n_outputs)};
}

static void describe(const syi_devices *devices, const syi_job *job, const syi_experience *known,
                     syi_split_device *out)
{
    for (int i = 0; i < devices->count; i++) {
        const sy_device_info *info = &devices->list[i]->info;
        out[i] = (syi_split_device){
            .cost = syi_plan_obstacle(devices->list[i], job->workload) ? NULL : known[i].cost,
            .link = info->link - 1,
            /* What a GPU takes at a time is in what it was measured with. */
            .memory = info->type == SY_DEVICE_SIMULATED ? (double)info->memory_free : 0,
            .start_ns = known[i].start_ns};
    }
}

/* A packet pays the fixed costs, its tiles the rest. */
static syi_belief belief_of(const syi_experience *known, const syi_split_work *work, int64_t tiles)
{
    const double least_spread = 0.01;
    double count = tiles > 0 ? (double)tiles : 1, spread = syi_cost_spread(known->cost);
    double fixed = syi_cost_fixed_ns(known->cost);
    double all = syi_cost_ns(known->cost, 0, count * work->elements_per_tile);
    return (syi_belief){.ns_per_tile = all > fixed ? (all - fixed) / count : 1e-3,
                        .packet_ns = fixed,
                        .spread = known->guess            ? 1
                                  : spread > least_spread ? spread
                                                          : least_spread};
}

static sy_status described(const syi_devices *devices, const syi_job *job,
                           const syi_experience *known, syi_split_device **out)
{
    *out = syi_arena_alloc(job->memory, (size_t)devices->count, sizeof **out);
    if (!*out)
        return syi_no_memory((uint64_t)devices->count * sizeof **out);
    describe(devices, job, known, *out);
    return SY_OK;
}

static void share_with_guesses(const syi_split_device *devices, const syi_split_work *work,
                               const syi_experience *known, syi_plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        syi_lane lane;
        syi_lane_set(&devices[i], work, &lane);
        plan->ratios[i] = plan->shares[i] > 0 || (known[i].guess && lane.usable);
    }
    syi_share_with_all(plan->ratios, plan->count, plan->shares);
}

sy_status syi_plan_balance(const syi_devices *devices, const syi_job *job,
                           const syi_experience *known, bool trials, syi_plan *out)
{
    syi_plan plan = {.count = devices->count, .source = SYI_SOURCE_PROFILE};
    syi_split_work work = work_of(job);
    syi_split_device *all;
    SYI_TRY(syi_plan_reserve(job, &plan));
    SYI_TRY(described(devices, job, known, &all));
    SYI_TRY(syi_split_make(all, plan.count, &work, plan.shares));
    if (trials)
        share_with_guesses(all, &work, known, &plan);
    for (int i = 0; i < plan.count; i++) {
        plan.ratios[i] = plan.tiles ? (double)plan.shares[i] / (double)plan.tiles : 0;
        plan.beliefs[i] = known[i].cost ? belief_of(&known[i], &work, plan.shares[i])
                                        : (syi_belief){.ns_per_tile = 1e9, .spread = 1};
    }
    *out = plan;
    return SY_OK;
}

sy_status syi_plan_predict(const syi_devices *devices, const syi_job *job,
                           const syi_experience *known, syi_plan *plan)
{
    syi_split_work work = work_of(job);
    syi_split_device *all;
    for (int i = 0; i < plan->count; i++)
        if (plan->shares[i] && !known[i].cost)
            return SY_OK;
    SYI_TRY(described(devices, job, known, &all));
    plan->parts = syi_arena_alloc(job->memory, (size_t)plan->count, sizeof *plan->parts);
    if (!plan->parts)
        return syi_no_memory((uint64_t)plan->count * sizeof *plan->parts);
    for (int i = 0; i < plan->count; i++)
        plan->parts[i].tiles = plan->shares[i];
    if (syi_split_predict(all, plan->count, &work, plan->parts, &plan->makespan_ns) != SY_OK)
        plan->parts = NULL; /* a forecast is a help, not a condition */
    return SY_OK;
}
