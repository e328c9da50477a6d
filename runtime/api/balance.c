/* Stored ratios and thresholds: the two files, seen from a context. */
#include "api/context.h"

#include "base/mem.h"
#include "base/text.h"

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
    if (!context || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_get: context or out is NULL");
    SYI_TRY(syi_struct_check(out->struct_size, "sy_balance"));
    SYI_TRY(syi_multigpu_get(&context->multigpu, tag, &stored));
    stored.balance.struct_size = out->struct_size;
    memcpy(out, &stored.balance,
           out->struct_size < sizeof *out ? out->struct_size : sizeof stored.balance);
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

/* The stored ratios of a tag, matched to the devices that are there; *found = 0: none. */
static sy_status stored_ratios(sy_context *context, const char *tag, double *ratios, int *found)
{
    syi_stored_balance stored;
    char absent[256];
    sy_status status = syi_multigpu_get(&context->multigpu, tag, &stored);
    *found = 0;
    /* What another workload measured is a better guess than the devices' nominal speeds. */
    if (status == SY_ERR_NOT_FOUND)
        status = syi_multigpu_get(&context->multigpu, NULL, &stored);
    if (status == SY_ERR_NOT_FOUND)
        return SY_OK;
    if (status == SY_ERR_IO) { /* a profile is a help, not a condition */
        syi_log_line(&context->log, SY_LOG_WARNING, "%s; going on without stored ratios",
                     sy_last_error()->text);
        return SY_OK;
    }
    if (status != SY_OK)
        return status;
    *found = syi_ratios_match(&context->devices, &stored.balance, ratios, absent, sizeof absent);
    if (*absent && !context->warned_absent) {
        context->warned_absent = 1;
        syi_log_line(&context->log, SY_LOG_WARNING,
                     "%s has ratios for devices that are not here, ignored: %s",
                     context->multigpu_path, absent);
    }
    syi_stored_balance_clear(&stored);
    return SY_OK;
}

sy_status syi_context_plan(sy_context *context, const syi_workload *workload,
                           const sy_options *options, int64_t tiles, syi_plan *out)
{
    double *ratios = syi_alloc((size_t)context->devices.count, sizeof *ratios);
    syi_source source = SYI_SOURCE_NOMINAL;
    sy_status status = SY_OK;
    int found = 0;
    if (!ratios)
        return syi_no_memory((uint64_t)context->devices.count * sizeof *ratios);
    if (options->ratios || options->n_ratios) {
        status = syi_ratios_check(&context->devices, options->ratios, options->n_ratios, ratios);
        source = SYI_SOURCE_CALL;
    } else if (context->devices.count > 1) {
        status =
            stored_ratios(context, options->tag ? options->tag : workload->name, ratios, &found);
        source = found ? SYI_SOURCE_PROFILE : SYI_SOURCE_NOMINAL;
    }
    if (status == SY_OK)
        status = syi_plan_make(&context->devices, workload,
                               source == SYI_SOURCE_NOMINAL ? NULL : ratios, source, tiles, out);
    if (status == SY_OK && source == SYI_SOURCE_PROFILE)
        out->exact = 1;
    syi_free(ratios);
    return status;
}
