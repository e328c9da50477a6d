/* Memory for the caller's arrays: on the devices and pinned, kept in a list of the context. */
#include "api/context.h"

#include "base/mem.h"

#include <string.h>

struct syi_block {
    void *memory;
    syi_device *device; /* NULL: plain memory */
    syi_place_kind kind;
    struct syi_block *next;
};

static syi_device *any_with_ram(const syi_devices *devices)
{
    for (int i = 0; i < devices->count; i++)
        if (devices->list[i]->backend->ram && devices->list[i]->info.usable &&
            !devices->list[i]->lost)
            return devices->list[i];
    return NULL;
}

static sy_status find_source(sy_context *context, int index, syi_block *block)
{
    const syi_devices *devices = &context->devices;
    if (index != SY_MEMORY_PINNED && (index < 0 || index >= devices->count))
        return syi_fail(SY_ERR_ARGUMENT,
                        "sy_memory_alloc: device index %d: there are %d devices; or use "
                        "SY_MEMORY_PINNED",
                        index, devices->count);
    if (index == SY_MEMORY_PINNED) {
        block->device = any_with_ram(devices);
        block->kind = block->device ? SYI_PINNED : SYI_PLAIN;
    } else if (devices->list[index]->backend->ram) {
        block->device = devices->list[index];
        block->kind = SYI_ON_DEVICE;
        if (!block->device->info.usable)
            return syi_fail(SY_ERR_NO_DEVICE, "sy_memory_alloc: %s cannot be used: %s",
                            block->device->info.name, block->device->info.reason);
    }
    return SY_OK;
}

static sy_status get(syi_block *block, size_t bytes)
{
    if (block->kind != SYI_PLAIN)
        return block->device->backend->ram->allocate(block->device, bytes, block->kind,
                                                     &block->memory);
    block->memory = syi_alloc(bytes, 1);
    return block->memory ? SY_OK : syi_no_memory(bytes);
}

static void give_back(syi_block *block)
{
    if (block->kind == SYI_PLAIN)
        syi_free(block->memory);
    else
        block->device->backend->ram->release(block->device, block->kind, block->memory);
    syi_free(block);
}

sy_status sy_memory_alloc(sy_context *context, int device, size_t bytes, void **out)
{
    syi_block *block;
    sy_status status;
    if (!context || !out || !bytes)
        return syi_fail(SY_ERR_ARGUMENT, "sy_memory_alloc: context or out is NULL, or bytes is 0");
    block = syi_alloc(1, sizeof *block);
    if (!block)
        return syi_no_memory(sizeof *block);
    status = find_source(context, device, block);
    if (status == SY_OK)
        status = get(block, bytes);
    if (status != SY_OK) {
        syi_free(block);
        return status;
    }
    pthread_mutex_lock(&context->lock);
    block->next = context->blocks;
    context->blocks = block;
    pthread_mutex_unlock(&context->lock);
    *out = block->memory;
    return SY_OK;
}

sy_status sy_memory_free(sy_context *context, void **memory)
{
    syi_block **at, *block;
    if (!context || !memory)
        return syi_fail(SY_ERR_ARGUMENT, "sy_memory_free: context or memory is NULL");
    if (!*memory)
        return SY_OK;
    pthread_mutex_lock(&context->lock);
    at = &context->blocks;
    while (*at && (*at)->memory != *memory)
        at = &(*at)->next;
    block = *at;
    if (block)
        *at = block->next;
    pthread_mutex_unlock(&context->lock);
    if (!block)
        return syi_fail(SY_ERR_ARGUMENT,
                        "sy_memory_free: %p is not from sy_memory_alloc of this "
                        "context",
                        *memory);
    give_back(block);
    *memory = NULL;
    return SY_OK;
}

void syi_blocks_clear(sy_context *context)
{
    while (context->blocks) {
        syi_block *next = context->blocks->next;
        give_back(context->blocks);
        context->blocks = next;
    }
}

static sy_status copy(const syi_place *to_place, char *to, const syi_place *from_place,
                      const char *from, size_t bytes)
{
    if (to_place->kind == SYI_ON_DEVICE)
        return to_place->owner->backend->ram->write(to_place->owner, to, bytes, from);
    if (from_place->kind == SYI_ON_DEVICE)
        return from_place->owner->backend->ram->read(from_place->owner, from, bytes, to);
    memcpy(to, from, bytes);
    return SY_OK;
}

/* From one device's memory to another's, or within one, by way of the host. */
static sy_status copy_by_parts(const syi_place *to_place, char *to, const syi_place *from_place,
                               const char *from, size_t bytes)
{
    const size_t most = (size_t)1 << 20;
    const syi_place host = {.kind = SYI_PLAIN};
    sy_status status = SY_OK;
    char *buffer = syi_alloc(bytes < most ? bytes : most, 1);
    if (!buffer)
        return syi_no_memory(most);
    for (size_t at = 0, part; at < bytes && status == SY_OK; at += part) {
        part = bytes - at < most ? bytes - at : most;
        status = copy(&host, buffer, from_place, from + at, part);
        if (status == SY_OK)
            status = copy(to_place, to + at, &host, buffer, part);
    }
    syi_free(buffer);
    return status;
}

sy_status sy_memory_copy(sy_context *context, void *to, const void *from, size_t bytes)
{
    syi_place to_place, from_place;
    if (!context || (bytes && (!to || !from)))
        return syi_fail(SY_ERR_ARGUMENT, "sy_memory_copy: context, to or from is NULL");
    if (!bytes)
        return SY_OK;
    SYI_TRY(syi_place_find(&context->devices, to, bytes, "sy_memory_copy: to", &to_place));
    SYI_TRY(syi_place_find(&context->devices, from, bytes, "sy_memory_copy: from", &from_place));
    if (to_place.kind == SYI_ON_DEVICE && from_place.kind == SYI_ON_DEVICE)
        return copy_by_parts(&to_place, to, &from_place, from, bytes);
    return copy(&to_place, to, &from_place, from, bytes);
}
