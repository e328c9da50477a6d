/* The public face of thresholds.json. */
#include "api/context.h"

sy_status sy_threshold_update(sy_context *context, const char *key, double cpu_ms, double gpu_ms)
{
    if (!context || !key)
        return syi_fail(SY_ERR_ARGUMENT, "sy_threshold_update: context or key is NULL");
    return syi_threshold_add(&context->thresholds, key, cpu_ms, gpu_ms);
}

sy_status sy_threshold_get(sy_context *context, const char *key, sy_threshold *out)
{
    if (!context || !key || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_threshold_get: context, key or out is NULL");
    return syi_threshold_find(&context->thresholds, key, out);
}

sy_status sy_threshold_list(sy_context *context,
                            int (*each)(void *user, const char *key, const sy_threshold *t),
                            void *user)
{
    if (!context || !each)
        return syi_fail(SY_ERR_ARGUMENT, "sy_threshold_list: context or each is NULL");
    return syi_threshold_each(&context->thresholds, each, user);
}

sy_status sy_threshold_forget(sy_context *context, const char *key)
{
    if (!context)
        return syi_fail(SY_ERR_ARGUMENT, "sy_threshold_forget: context is NULL");
    return syi_threshold_drop(&context->thresholds, key);
}
