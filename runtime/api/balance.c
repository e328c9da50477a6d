/* The public face of multigpu.json. */
#include "api/context.h"

#include "base/mem.h"
#include "base/text.h"
#include "costs.h"

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

/* What the file says of its costs and of what was measured. */
static void complete(syi_stored_balance *stored)
{
    sy_balance *balance = &stored->balance;
    const char *workload = json_string_value(json_object_get(stored->fingerprint, "workload"));
    const char *accuracy = json_string_value(json_object_get(stored->fingerprint, "accuracy"));
    const char *dtype = json_string_value(json_object_get(stored->fingerprint, "dtype"));
    for (int i = 0; i < balance->n_ratios; i++) {
        const json_t *cost = json_object_get(stored->costs, balance->ratios[i].device);
        balance->ratios[i].drift = cost ? syi_cost_drift(cost) : NAN;
    }
    if (dtype && !strcmp(dtype, "f32"))
        balance->dtype = SY_F32;
    if (workload)
        syi_copy_text(balance->workload, sizeof balance->workload, workload);
    if (accuracy && !strcmp(accuracy, "fast"))
        balance->accuracy = SY_ACCURACY_FAST;
}

sy_status sy_balance_get(sy_context *context, const char *tag, sy_balance *out)
{
    syi_stored_balance stored;
    if (!context || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_get: context or out is NULL");
    SYI_TRY(syi_struct_check(out->struct_size, SYI_UP_TO(sy_balance, ratios), "sy_balance"));
    SYI_TRY(syi_multigpu_get(&context->multigpu, tag, &stored));
    complete(&stored);
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

typedef struct listing {
    int (*each)(void *user, const sy_balance *balance);
    void *user;
} listing;

static int list_one(void *user, syi_stored_balance *stored)
{
    const listing *to = user;
    complete(stored);
    return to->each(to->user, &stored->balance);
}

sy_status sy_balance_list(sy_context *context, int (*each)(void *user, const sy_balance *balance),
                          void *user)
{
    listing to = {each, user};
    if (!context || !each)
        return syi_fail(SY_ERR_ARGUMENT, "sy_balance_list: context or each is NULL");
    return syi_multigpu_each(&context->multigpu, list_one, &to);
}

void sy_balance_clear(sy_balance *balance)
{
    if (!balance)
        return;
    syi_free(balance->ratios);
    balance->ratios = NULL;
    balance->n_ratios = 0;
}
