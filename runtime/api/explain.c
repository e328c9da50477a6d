/* sy_plan_explain(): the split of a work without running it. */
#include "api/context.h"

#include "base/arithmetic.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/place.h"

#include <stdio.h>
#include <string.h>

static const char *why_left_out(syi_limit limit)
{
    switch (limit) {
    case SYI_LIMIT_LATENCY:
        return "its fixed costs alone take longer than the others need for everything";
    case SYI_LIMIT_SPEED:
        return "it would finish one tile after the others finish everything";
    case SYI_LIMIT_MEMORY:
        return "not one tile fits into its memory";
    case SYI_LIMIT_NO_WORK:
        return "others finish the few tiles sooner";
    default:
        return "it is not in the profile; run 'profile'";
    }
}

static const char *why_other_side(const syi_choice *choice)
{
    if (choice->forced)
        return "the caller has asked for other devices";
    if (choice->resident)
        return "the arrays live on a GPU; so small a work is not divided";
    return choice->probe ? "it is the other devices' turn to be timed at this size"
                         : "it was slower at this size; so small a work is not divided";
}

/* Why the work goes to one side, in words. */
static void explain_choice(const syi_choice *choice, char *text, size_t size)
{
    const char *names[] = {"the CPU", "the GPU"};
    if (choice->forced)
        snprintf(text, size, "the caller has asked for %s", names[choice->side]);
    else if (choice->resident)
        snprintf(text, size, "no costs are known, and the arrays live on a GPU");
    else if (choice->probe)
        snprintf(text, size, "no costs are known: %s is timed at this size, to compare",
                 names[choice->side]);
    else
        syi_format(text, size, "the times of earlier calls: CPU %.3g ms, GPU %.3g ms",
                   choice->ms[SYI_SIDE_CPU], choice->ms[SYI_SIDE_GPU]);
}

static void explain_device(const syi_job *job, const syi_plan *plan, syi_device *device, int i,
                           int64_t first, sy_planned_device *out)
{
    syi_copy_text(out->name, sizeof out->name, device->info.name);
    syi_copy_text(out->id, sizeof out->id, device->info.id);
    out->ratio = plan->ratios[i];
    out->tiles = plan->shares[i];
    out->elements = syi_tiles_elements(job, (syi_tiles){first, plan->shares[i]});
    out->predicted_ms = out->copy_in_ms = out->compute_ms = out->copy_out_ms = -1;
    if (plan->parts && out->tiles) {
        const double *phase_ns = plan->parts[i].phase_ns;
        out->predicted_ms = plan->parts[i].total_ns / 1e6;
        out->copy_in_ms = phase_ns[SYI_COPY_IN] / 1e6;
        out->compute_ms = phase_ns[SYI_COMPUTE] / 1e6;
        out->copy_out_ms = phase_ns[SYI_COPY_OUT] / 1e6;
        syi_copy_text(out->limited_by, sizeof out->limited_by,
                      syi_limit_word(plan->parts[i].limit));
    }
    const char *obstacle = syi_plan_obstacle(device, job->workload);
    if (plan->ratios[i] == 0)
        syi_copy_text(out->left_out, sizeof out->left_out,
                      obstacle                                  ? obstacle
                      : !syi_side_allows(&plan->choice, device) ? why_other_side(&plan->choice)
                      : plan->parts && !plan->exact             ? why_left_out(plan->parts[i].limit)
                                                                : "has no ratio");
    else if (out->tiles == 0)
        syi_copy_text(out->left_out, sizeof out->left_out, "its ratio comes to less than a tile");
}

static const char *decision_of(const syi_devices *devices, const syi_job *job, const syi_plan *plan)
{
    /* Rows of no columns have a result only where they are reduced. */
    const bool is_work = job->columns > 0 || job->workload->pattern == SY_PATTERN_REDUCE;
    int used = 0, cpus = 0, usable = 0;
    for (int i = 0; i < plan->count; i++) {
        syi_device *device = devices->list[i];
        const bool is_used = is_work && plan->shares[i] > 0;
        usable += !syi_plan_obstacle(device, job->workload);
        used += is_used;
        cpus += is_used && device->info.type == SY_DEVICE_CPU;
    }
    return syi_extent_word(syi_extent_of(used, cpus, usable));
}

/* What the shares go by, in words; not where the ratios are another tag's. */
static const char *reason_of(const syi_job *job, const syi_plan *plan)
{
    static const char *const reasons[] = {
        [SYI_SOURCE_CALL] = "the ratios of this call",
        [SYI_SOURCE_PROFILE] = "the ratios stored in multigpu.json",
        [SYI_SOURCE_NOMINAL] =
            "no stored ratios of these devices: their nominal speeds; run 'profile'",
    };
    const bool by_costs = plan->parts && !plan->exact;
    if (by_costs && plan->assumed)
        return "the measured costs, and nominal speeds beside them where there are none; run "
               "'profile'";
    if (by_costs && !syi_job_addressable(job))
        return "the measured costs, where the arrays live: the split that is finished first";
    if (by_costs)
        return "the measured costs: the split that is finished first";
    if (plan->source == SYI_SOURCE_PROFILE && !plan->exact)
        return "a guess, the ratios of a profile that is not believed; run 'profile'";
    return reasons[plan->source];
}

static void explain_reason(const syi_job *job, const syi_plan *plan, char *text, size_t size)
{
    if (plan->choice.made)
        explain_choice(&plan->choice, text, size);
    else if (plan->source == SYI_SOURCE_OTHER && !plan->parts)
        snprintf(text, size,
                 "a guess, the ratios that multigpu.json has for another tag, '%s'; run 'profile'",
                 plan->lender);
    else
        syi_copy_text(text, size, reason_of(job, plan));
}

static sy_status fill_plan(sy_context *context, const syi_job *job, const syi_plan *plan,
                           sy_plan_info *out)
{
    sy_planned_device *devices = syi_alloc((size_t)plan->count, sizeof *devices);
    int64_t first = 0;
    if (!devices)
        return syi_no_memory((uint64_t)plan->count * sizeof *devices);
    for (int i = 0; i < plan->count; first += plan->shares[i++])
        explain_device(job, plan, context->devices.list[i], i, first, &devices[i]);
    *out = (sy_plan_info){.rows = job->rows,
                          .columns = job->columns,
                          .tiles = plan->tiles,
                          .predicted_ms = syi_plan_ms(plan),
                          .n_devices = plan->count,
                          .devices = devices};
    syi_copy_text(out->decision, sizeof out->decision, decision_of(&context->devices, job, plan));
    explain_reason(job, plan, out->reason, sizeof out->reason);
    return SY_OK;
}

static sy_status explain(sy_context *context, const sy_work *work, const sy_options *options,
                         sy_plan_info *out)
{
    double params[SYI_MAX_PARAMS];
    syi_places places;
    syi_arena memory;
    syi_plan plan;
    syi_job job;
    sy_status status;
    SYI_TRY(syi_work_check(context, work, options, params, &job));
    SYI_TRY(syi_places_find(&context->devices, &job, &places));
    syi_context_look(context);
    syi_arena_open(&memory);
    job.memory = &memory;
    status = syi_context_plan(context, &job, options, true, &plan);
    if (status == SY_OK)
        status = fill_plan(context, &job, &plan, out);
    syi_arena_close(&memory);
    return status;
}

sy_status sy_plan_explain(sy_context *context, const sy_work *work, const sy_options *options,
                          sy_plan_info *out)
{
    sy_options copy;
    sy_plan_info result;
    syi_arithmetic saved;
    sy_status status;
    if (!context || !work || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_plan_explain: context, work or out is NULL");
    if (options)
        SYI_TRY(syi_struct_check(options->struct_size, SYI_ANY_STRUCT, "sy_options"));
    SYI_TRY(syi_struct_check(out->struct_size, SYI_UP_TO(sy_plan_info, devices), "sy_plan_info"));
    SYI_ADOPT(copy, options);
    SYI_TRY(syi_options_check(&copy));
    saved = syi_arithmetic_enter();
    status = explain(context, work, &copy, &result);
    syi_arithmetic_leave(saved);
    if (status == SY_OK)
        SYI_GIVE(out, result);
    return status;
}

void sy_plan_info_clear(sy_plan_info *info)
{
    if (!info)
        return;
    syi_free(info->devices);
    info->devices = NULL;
    info->n_devices = 0;
}
