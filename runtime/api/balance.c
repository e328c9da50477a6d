/* Stored ratios and thresholds: the two files, seen from a context. */
#include "api/context.h"

#include "base/mem.h"
#include "base/text.h"
#include "costs.h"
#include "model/share.h"

#include <math.h>
#include <string.h>

sy_status sy_balance_set(sy_context *context, const char *tag, const sy_ratio *ratios, int n_ratios)
{
    double *values;
    sy_ratio *named;
    sy_status status;
    int n = 0;
    if (!context || !tag)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_set: context or tag is NULL");
    values = syi_alloc((size_t)context->devices.count, sizeof *values);
    named = syi_alloc((size_t)context->devices.count, sizeof *named);
    status = values && named ? syi_ratios_check(&context->devices, ratios, n_ratios, values)
                             : syi_no_memory((uint64_t)context->devices.count * sizeof *named);
    for (int i = 0; status == SY_OK && i < context->devices.count; i++)
        if (values[i] > 0)
            named[n++] = (sy_ratio){context->devices.list[i]->info.name, values[i]};
    if (status == SY_OK)
        status = syi_multigpu_set(&context->multigpu, tag, named, n, NULL, NULL);
    syi_free(values);
    syi_free(named);
    return status;
}

sy_status sy_balance_get(sy_context *context, const char *tag, sy_balance *out)
{
    syi_stored_balance stored;
    const char *workload, *accuracy, *dtype;
    if (!context || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_get: context or out is NULL");
    SYI_TRY(syi_struct_check(out->struct_size, SYI_UP_TO(sy_balance, ratios), "sy_balance"));
    SYI_TRY(syi_multigpu_get(&context->multigpu, tag, &stored));
    for (int i = 0; i < stored.balance.n_ratios; i++) {
        const json_t *cost = json_object_get(stored.costs, stored.balance.ratios[i].device);
        stored.balance.ratios[i].drift = cost ? syi_cost_drift(cost) : NAN;
    }
    dtype = json_string_value(json_object_get(stored.fingerprint, "dtype"));
    if (dtype && !strcmp(dtype, "f32"))
        stored.balance.dtype = SY_F32;
    workload = json_string_value(json_object_get(stored.fingerprint, "workload"));
    if (workload)
        syi_copy_text(stored.balance.workload, sizeof stored.balance.workload, workload);
    accuracy = json_string_value(json_object_get(stored.fingerprint, "accuracy"));
    if (accuracy && !strcmp(accuracy, "fast"))
        stored.balance.accuracy = SY_ACCURACY_FAST;
    SYI_GIVE(out, stored.balance);
    stored.balance.ratios = NULL; /* the caller's now */
    syi_stored_balance_clear(&stored);
    return SY_OK;
}

sy_status sy_balance_forget(sy_context *context, const char *tag)
{
    if (!context)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_forget: context is NULL");
    return syi_multigpu_forget(&context->multigpu, tag);
}

sy_status sy_balance_tag(sy_context *context, int index, char tag[64])
{
    if (!context || !tag)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_tag: context or tag is NULL");
    return syi_multigpu_tag(&context->multigpu, index, tag);
}

void sy_balance_clear(sy_balance *balance)
{
    if (!balance)
        return;
    syi_free(balance->ratios);
    balance->ratios = NULL;
    balance->n_ratios = 0;
}

/* The stored ratios of those who may take part; false: nobody who can has one. */
static bool weigh_stored(sy_context *context, const syi_job *job, const syi_known *known,
                         const syi_choice *choice, double *ratios)
{
    bool found = false;
    for (int i = 0; i < known->count; i++) {
        syi_device *device = context->devices.list[i];
        ratios[i] = syi_side_allows(choice, device) ? known->devices[i].ratio : 0;
        found = found || (ratios[i] > 0 && !syi_plan_obstacle(device, job->workload));
    }
    return found;
}

static syi_source weigh_nominal(sy_context *context, const syi_choice *choice, double *ratios)
{
    for (int i = 0; i < context->devices.count; i++) {
        const syi_device *device = context->devices.list[i];
        ratios[i] = syi_side_allows(choice, device) ? device->nominal_rate : 0;
    }
    return SYI_SOURCE_NOMINAL;
}

/* A device of which little is known may have a part to show how fast it is. */
static bool may_try(const sy_context *context, const syi_job *job)
{
    return !context->frozen && syi_job_tiles(job) > SYI_SMALL_TILES;
}

/* From what is known: by costs where they are known of a device, else by ratios. Ratios without
 * costs are somebody's order. */
static sy_status plan_by_known(sy_context *context, const syi_job *job, const syi_known *known,
                               const syi_experience *experience, const syi_choice *choice,
                               bool trials, double *ratios, syi_plan *out)
{
    syi_source source = !known->ratios    ? SYI_SOURCE_NOMINAL
                        : known->borrowed ? SYI_SOURCE_OTHER
                                          : SYI_SOURCE_PROFILE;
    if (known->costs &&
        syi_plan_balance(&context->devices, job, experience, trials, out) == SY_OK) {
        out->source = source;
        return SY_OK;
    }
    if (!weigh_stored(context, job, known, choice, ratios))
        source = weigh_nominal(context, choice, ratios);
    SYI_TRY(syi_plan_make(&context->devices, job, ratios, source, out));
    out->exact = source == SYI_SOURCE_PROFILE && !known->measured;
    if (!out->exact) /* who has no tile cannot show that the guess is wrong */
        syi_share_with_all(out->ratios, out->count, out->shares);
    return SY_OK;
}

/* Where a profile knows only some of the devices: a large work finds out how fast the others are,
 * with whom the one that it knows is compared by nominal speed; a small one is for those it knows.
 * Gives whether something is assumed. */
static bool assume(sy_context *context, const syi_job *job, bool trials, syi_known *known)
{
    bool assumed = false;
    int other = 0;
    while (!known->devices[other].has_cost || known->devices[other].learned)
        other++;
    for (int i = 0; i < known->count; i++) {
        syi_known_device *device = &known->devices[i];
        const double nominal = context->devices.list[i]->nominal_rate;
        if (device->learned && !trials)
            device->has_cost = 0;
        if (device->has_cost || !trials ||
            syi_plan_obstacle(context->devices.list[i], job->workload))
            continue;
        device->cost = known->devices[other].cost;
        device->drift.slower = known->devices[other].drift.slower;
        syi_cost_scale(&device->cost, context->devices.list[other]->nominal_rate / nominal);
        device->has_cost = device->guess = 1;
        assumed = true;
    }
    return assumed;
}

/* What is known of those who may take part, as it is by now. */
static sy_status gather(sy_context *context, const syi_job *job, syi_known *known,
                        const syi_choice *choice, syi_experience *out)
{
    syi_cost *costs;
    for (int i = 0; i < known->count; i++)
        if (known->devices[i].has_cost)
            syi_cost_scale(&known->devices[i].cost, known->devices[i].drift.slower.value);
    SYI_TRY(syi_known_costs(&context->devices, job, known, &costs));
    for (int i = 0; i < known->count; i++) {
        const syi_known_device *device = &known->devices[i];
        const syi_cost *cost = costs ? &costs[i] : &device->cost;
        if (syi_side_allows(choice, context->devices.list[i]))
            out[i] =
                (syi_experience){device->has_cost ? cost : NULL, device->guess, known->start_ns};
    }
    return SY_OK;
}

static sy_status plan_with(sy_context *context, const syi_job *job, const sy_options *options,
                           syi_known *known, const syi_choice *choice, bool forecast, syi_plan *out)
{
    const size_t count = (size_t)context->devices.count;
    const bool is_forced = options->ratios || options->n_ratios;
    const bool trials = !is_forced && may_try(context, job);
    bool assumed = false;
    syi_experience *experience = syi_arena_alloc(job->memory, count, sizeof *experience);
    double *ratios = syi_arena_alloc(job->memory, count, sizeof *ratios);
    if (!experience || !ratios)
        return syi_no_memory(count * sizeof *experience);
    if (known->scale < 0)
        assumed = assume(context, job, trials, known);
    SYI_TRY(gather(context, job, known, choice, experience));
    if (!is_forced) {
        SYI_TRY(plan_by_known(context, job, known, experience, choice, trials, ratios, out));
        out->assumed = assumed;
    } else {
        SYI_TRY(syi_ratios_check(&context->devices, options->ratios, options->n_ratios, ratios));
        SYI_TRY(syi_plan_make(&context->devices, job, ratios, SYI_SOURCE_CALL, out));
    }
    return forecast ? syi_plan_predict(&context->devices, job, experience, out) : SY_OK;
}

const char *syi_tag_for(const syi_job *job, const sy_options *options, char own[SYI_TAG])
{
    if (options->tag)
        return options->tag;
    syi_default_tag(job->workload, job->dtype, own);
    return own;
}

sy_status syi_context_plan(sy_context *context, const syi_job *job, const sy_options *options,
                           bool forecast, syi_plan *out)
{
    syi_known known;
    syi_choice choice;
    char own[SYI_TAG];
    SYI_TRY(syi_known_get(context, job, syi_tag_for(job, options, own), &known));
    SYI_TRY(syi_side_choose(context, job, options, &known, &choice));
    SYI_TRY(plan_with(context, job, options, &known, &choice, forecast, out));
    out->choice = choice;
    for (int i = 0; syi_context_learns(context, out) && i < known.count; i++)
        out->cold = out->cold ||
                    (out->shares[i] > 0 && known.devices[i].has_cost && !known.devices[i].warm);
    return SY_OK;
}
