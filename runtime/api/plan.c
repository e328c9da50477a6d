/* The plan of a work: by the ratios of the call, else by what is known. */
#include "api/context.h"

#include "api/known_file.h"
#include "base/text.h"
#include "model/share.h"

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

/* Whether a device of which little is known may have a part to show how fast it is: in a large
 * work, that is not a context's first of its kind, which may be its only one. */
static bool may_try(const sy_context *context, const syi_job *job, const syi_known *known)
{
    const double small = (double)SYI_SMALL_TILES,
                 elements = (double)job->rows * (double)job->columns;
    bool is_first = true;
    for (int i = 0; i < known->count; i++)
        is_first = is_first && !known->devices[i].warm;
    return !context->frozen && !is_first && (double)syi_job_tiles(job) > small &&
           elements > small * SYI_TILE;
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
    if (source == SYI_SOURCE_OTHER)
        syi_copy_text(out->lender, sizeof out->lender, known->lender);
    out->exact = source == SYI_SOURCE_PROFILE && !known->measured;
    if (!out->exact) /* who has no tile cannot show that the guess is wrong */
        syi_share_with_all(out->ratios, out->count, out->shares);
    return SY_OK;
}

/* Whom the profile does not know is compared by nominal speed with one whom it knows. Gives whether
 * there is such a device. */
static bool assume(sy_context *context, const syi_job *job, syi_known *known)
{
    bool assumed = false;
    int other = 0;
    while (!known->devices[other].has_cost || known->devices[other].learned)
        other++;
    for (int i = 0; i < known->count; i++) {
        syi_known_device *device = &known->devices[i];
        const double nominal = context->devices.list[i]->nominal_rate;
        if (device->has_cost || device->gave_up ||
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

/* What a large work has told of a device is not for small ones. */
static void leave_to_profile(syi_known *known)
{
    for (int i = 0; i < known->count; i++)
        known->devices[i].has_cost &= !known->devices[i].learned;
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
    /* A call for one side teaches nothing. */
    const bool trials = !is_forced && !choice->made && may_try(context, job, known);
    bool assumed = false;
    syi_experience *experience = syi_arena_alloc(job->memory, count, sizeof *experience);
    double *ratios = syi_arena_alloc(job->memory, count, sizeof *ratios);
    if (!experience || !ratios)
        return syi_no_memory(count * sizeof *experience);
    if (known->scale < 0 && trials)
        assumed = assume(context, job, known);
    else if (known->scale < 0 && !is_forced)
        leave_to_profile(known);
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
