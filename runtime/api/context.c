#include "api/context.h"

#include "base/mem.h"
#include "base/text.h"
#include "paths.h"

#include <string.h>

#define SYI_TEXT(x)    #x
#define SYI_TEXT_OF(x) SYI_TEXT(x)
#define SYI_VERSION_TEXT                                                                           \
    SYI_TEXT_OF(SY_VERSION_MAJOR)                                                                  \
    "." SYI_TEXT_OF(SY_VERSION_MINOR) "." SYI_TEXT_OF(SY_VERSION_PATCH)

const char *sy_version(void)
{
    return SYI_VERSION_TEXT;
}

sy_status syi_struct_check(size_t struct_size, size_t least, const char *what)
{
    if (struct_size < least)
        return syi_fail(SY_ERR_ARGUMENT, "%s.struct_size is %zu; set it to sizeof(%s)", what,
                        struct_size, what);
    return SY_OK;
}

static sy_status open_context(const sy_config *config, sy_context *context)
{
    context->log.write = config->log;
    context->log.user = config->log_user;
    context->frozen = config->frozen;
    SYI_TRY(syi_profile_path(SYI_FILE_MULTIGPU, config->multigpu_path, &context->multigpu_path));
    SYI_TRY(
        syi_profile_path(SYI_FILE_THRESHOLDS, config->thresholds_path, &context->thresholds_path));
    context->multigpu = syi_multigpu_store(context->multigpu_path, &context->log);
    context->thresholds = syi_threshold_store(context->thresholds_path, &context->log);
    return syi_devices_open(config, &context->log, &context->devices);
}

sy_status sy_context_create(const sy_config *config, sy_context **out)
{
    sy_config copy;
    sy_context *context;
    sy_status status;
    if (!out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_context_create: out is NULL");
    if (config)
        SYI_TRY(syi_struct_check(config->struct_size, SYI_ANY_STRUCT, "sy_config"));
    SYI_ADOPT(copy, config);
    if ((unsigned)copy.gather > SY_GATHER_HOST)
        return syi_fail(SY_ERR_ARGUMENT, "gather %d is unknown; use SY_GATHER_AUTO",
                        (int)copy.gather);
    context = syi_alloc(1, sizeof *context);
    if (!context)
        return syi_no_memory(sizeof *context);
    syi_log_init(&context->log);
    pthread_mutex_init(&context->lock, NULL);
    syi_memory_init(&context->memory);
    syi_sides_init(&context->sides);
    status = open_context(&copy, context);
    if (status != SY_OK) {
        sy_context_destroy(&context);
        return status;
    }
    *out = context;
    return SY_OK;
}

void sy_context_destroy(sy_context **context)
{
    sy_context *old = context ? *context : NULL;
    if (!old)
        return;
    *context = NULL;
    syi_context_hand_on(old);
    syi_devices_end(&old->devices);
    syi_blocks_clear(old);
    syi_devices_close(&old->devices);
    syi_memory_destroy(&old->memory);
    syi_sides_destroy(&old->sides);
    syi_registered_clear(old);
    syi_free(old->multigpu_path);
    syi_free(old->thresholds_path);
    pthread_mutex_destroy(&old->lock);
    pthread_mutex_destroy(&old->log.lock);
    syi_free(old);
}

void syi_context_look(sy_context *context)
{
    pthread_mutex_lock(&context->memory.lock);
    context->memory.look.tick = 0;
    pthread_mutex_unlock(&context->memory.lock);
    pthread_mutex_lock(&context->sides.lock);
    context->sides.look.tick = 0;
    pthread_mutex_unlock(&context->sides.lock);
}

void sy_trim(sy_context *context)
{
    for (int i = 0; context && i < context->devices.count; i++)
        if (context->devices.list[i]->backend->trim)
            context->devices.list[i]->backend->trim(context->devices.list[i]);
    if (context)
        syi_blocks_sweep(context);
}

int sy_device_count(const sy_context *context)
{
    return context ? context->devices.count : 0;
}

sy_status sy_device_query(sy_context *context, int index, sy_device_info *out)
{
    syi_device *device;
    if (!context || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_device_query: context or out is NULL");
    if (index < 0 || index >= context->devices.count)
        return syi_fail(SY_ERR_ARGUMENT, "device index %d: there are %d devices", index,
                        context->devices.count);
    device = context->devices.list[index];
    *out = device->info;
    device->backend->refresh(device, out);
    if (device->failed) {
        out->usable = 0;
        syi_copy_text(out->reason, sizeof out->reason, "failed earlier in this context");
    }
    return SY_OK;
}

const char *sy_multigpu_path(const sy_context *context)
{
    return context ? context->multigpu_path : NULL;
}

const char *sy_thresholds_path(const sy_context *context)
{
    return context ? context->thresholds_path : NULL;
}
