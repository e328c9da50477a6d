/* sy_decide(): CPU, one GPU, several or all, with the times that lead there. */
#include "api/context.h"

#include "base/arithmetic.h"
#include "base/text.h"

#include <string.h>

/* What device `index` would take alone; < 0: nothing known, or it cannot. */
static sy_status alone_ms(sy_context *context, const sy_work *work, const sy_options *options,
                          int index, double *out)
{
    sy_ratio alone = {context->devices.list[index]->info.name, 1};
    sy_options forced = *options;
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_status status;
    forced.device = NULL;
    forced.ratios = &alone;
    forced.n_ratios = 1;
    *out = -1;
    if (context->devices.list[index]->failed) /* others would take its part over */
        return SY_OK;
    status = sy_plan_explain(context, work, &forced, &plan);
    if (status == SY_ERR_NO_DEVICE)
        return SY_OK;
    SYI_TRY(status);
    *out = plan.predicted_ms;
    sy_plan_info_clear(&plan);
    return SY_OK;
}

/* Without costs: what such works took before. */
static sy_status recall(sy_context *context, const sy_work *work, const sy_options *options,
                        sy_decision *out)
{
    double params[SYI_MAX_PARAMS], ms[2];
    syi_job job;
    int other = 0;
    while (other < context->devices.count &&
           context->devices.list[other]->info.type == SY_DEVICE_CPU)
        other++;
    if (other == context->devices.count || (out->cpu_ms >= 0 && out->one_ms >= 0))
        return SY_OK;
    SYI_TRY(syi_work_check(context, work, options, params, &job));
    SYI_TRY(syi_side_recall(context, &job, ms));
    if (out->cpu_ms < 0 && ms[SYI_SIDE_CPU] > 0 &&
        syi_devices_of_type(&context->devices, SY_DEVICE_CPU))
        out->cpu_ms = ms[SYI_SIDE_CPU];
    if (out->one_ms < 0 && ms[SYI_SIDE_GPU] > 0) {
        out->one_ms = ms[SYI_SIDE_GPU];
        syi_copy_text(out->one_device, sizeof out->one_device,
                      context->devices.list[other]->info.name);
    }
    return SY_OK;
}

static sy_status compare(sy_context *context, const sy_work *work, const sy_options *options,
                         sy_decision *out)
{
    for (int i = 0; i < context->devices.count; i++) {
        const sy_device_info *info = &context->devices.list[i]->info;
        double ms;
        SYI_TRY(alone_ms(context, work, options, i, &ms));
        if (info->type == SY_DEVICE_CPU) {
            out->cpu_ms = ms;
        } else if (ms >= 0 && (out->one_ms < 0 || ms < out->one_ms)) {
            out->one_ms = ms;
            syi_copy_text(out->one_device, sizeof out->one_device, info->name);
        }
    }
    return SY_OK;
}

sy_status sy_decide(sy_context *context, const sy_work *work, const sy_options *options,
                    sy_decision *out)
{
    sy_options copy;
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_decision result = {.cpu_ms = -1, .one_ms = -1};
    syi_arithmetic saved;
    sy_status status;
    if (!context || !work || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_decide: context, work or out is NULL");
    if (options)
        SYI_TRY(syi_struct_check(options->struct_size, SYI_ANY_STRUCT, "sy_options"));
    SYI_TRY(syi_struct_check(out->struct_size, SYI_ANY_STRUCT, "sy_decision"));
    SYI_ADOPT(copy, options);
    copy.struct_size = sizeof copy;
    SYI_TRY(sy_plan_explain(context, work, &copy, &plan));
    syi_copy_text(result.decision, sizeof result.decision, plan.decision);
    syi_copy_text(result.reason, sizeof result.reason, plan.reason);
    result.split_ms = plan.predicted_ms;
    sy_plan_info_clear(&plan);
    saved = syi_arithmetic_enter();
    status = compare(context, work, &copy, &result);
    if (status == SY_OK)
        status = recall(context, work, &copy, &result);
    syi_arithmetic_leave(saved);
    if (status == SY_OK)
        SYI_GIVE(out, result);
    return status;
}
