/* Memory for the caller's arrays: on the devices and pinned, kept in a list of the context. */
#include "api/context.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

struct syi_block {
    void *memory;
    syi_device *device; /* NULL: plain memory */
    syi_place_kind kind;
    int freed; /* by the caller, but it may be in use */
    struct syi_block *next;
};

static syi_device *any_with_ram(const syi_devices *devices)
{
    for (int i = 0; i < devices->count; i++) {
        syi_device *device = devices->list[i];
        if (device->backend->ram && device->info.usable && !device->failed &&
            device->backend->ram->check(device) == SY_OK)
            return device;
    }
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

/* Whether it could be; then the block is gone too. */
static int give_back(syi_block *block)
{
    if (block->kind == SYI_PLAIN)
        syi_free(block->memory);
    else if (!block->device->backend->ram->release(block->device, block->kind, block->memory))
        return 0;
    syi_free(block);
    return 1;
}

static void add(sy_context *context, syi_block *block)
{
    pthread_mutex_lock(&context->lock);
    block->next = context->blocks;
    context->blocks = block;
    pthread_mutex_unlock(&context->lock);
}

/* The freed ones, which are in no list any more. */
static syi_block *take_freed(sy_context *context)
{
    syi_block **at = &context->blocks, *freed = NULL, *block;
    pthread_mutex_lock(&context->lock);
    while ((block = *at)) {
        if (!block->freed) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        block->next = freed;
        freed = block;
    }
    pthread_mutex_unlock(&context->lock);
    return freed;
}

void syi_blocks_sweep(sy_context *context)
{
    for (syi_block *block = take_freed(context), *next; block; block = next) {
        next = block->next;
        if (!give_back(block))
            add(context, block);
    }
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
    add(context, block);
    *out = block->memory;
    return SY_OK;
}

sy_status sy_memory_free(sy_context *context, void **memory)
{
    syi_block *block;
    if (!context || !memory)
        return syi_fail(SY_ERR_ARGUMENT, "sy_memory_free: context or memory is NULL");
    if (!*memory)
        return SY_OK;
    pthread_mutex_lock(&context->lock);
    block = context->blocks;
    while (block && (block->freed || block->memory != *memory))
        block = block->next;
    if (block)
        block->freed = 1;
    pthread_mutex_unlock(&context->lock);
    if (!block)
        return syi_fail(SY_ERR_ARGUMENT,
                        "sy_memory_free: %p is not from sy_memory_alloc of this "
                        "context",
                        *memory);
    syi_blocks_sweep(context);
    *memory = NULL;
    return SY_OK;
}

void syi_blocks_clear(sy_context *context)
{
    for (syi_block *block = context->blocks, *next; block; block = next) {
        next = block->next;
        if (!give_back(block))
            syi_free(block);
    }
    context->blocks = NULL;
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

/* Between any two places. */
static sy_status transfer(const syi_place *to_place, char *to, const syi_place *from_place,
                          const char *from, size_t bytes)
{
    if (to_place->kind == SYI_ON_DEVICE && from_place->kind == SYI_ON_DEVICE)
        return copy_by_parts(to_place, to, from_place, from, bytes);
    return copy(to_place, to, from_place, from, bytes);
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
    return transfer(&to_place, to, &from_place, from, bytes);
}

/* ---- the same bytes at many places -------------------------------------------------------- */

/* An array that bytes are spread to. */
typedef struct target {
    char *array;
    syi_place place;
    int gathers; /* it is the one on its GPU that gathers the others' parts */
} target;

typedef struct spread {
    const char *from;
    syi_place place; /* of `from` */
    size_t bytes;
    target *targets;
    int count;
    /* Of those that gather, in the order of the devices. */
    syi_device **devices;
    void **arrays;
    int members;
} spread;

static sy_status find_targets(sy_context *context, void *const *to, spread *s)
{
    for (int i = 0; i < s->count; i++) {
        char what[64];
        snprintf(what, sizeof what, "sy_memory_spread: array %d", i);
        if (!to[i])
            return syi_fail(SY_ERR_ARGUMENT, "%s is NULL", what);
        s->targets[i].array = to[i];
        SYI_TRY(syi_place_find(&context->devices, to[i], s->bytes, what, &s->targets[i].place));
    }
    return SY_OK;
}

/* One array on each GPU. */
static void find_members(const syi_devices *devices, spread *s)
{
    for (int i = 0; i < devices->count; i++)
        for (int k = 0; k < s->count; k++)
            if (s->targets[k].place.owner == devices->list[i]) {
                s->targets[k].gathers = 1;
                s->devices[s->members] = devices->list[i];
                s->arrays[s->members++] = s->targets[k].array;
                break;
            }
}

/* Where there are several, each gets its part, and what the parts leave over. */
static sy_status spread_parts(const spread *s, size_t part)
{
    const size_t rest = (size_t)s->members * part;
    const syi_ram *ram = s->devices[0]->backend->ram;
    for (int i = 0; i < s->members; i++) {
        const syi_place to = {.kind = SYI_ON_DEVICE, .owner = s->devices[i]};
        const size_t at = (size_t)i * part;
        char *array = s->arrays[i];
        SYI_TRY(transfer(&to, array + at, &s->place, s->from + at, part));
        SYI_TRY(transfer(&to, array + rest, &s->place, s->from + rest, s->bytes - rest));
    }
    return ram->exchange(s->devices, s->arrays, s->members, part);
}

static sy_status spread_all(const spread *s)
{
    const size_t line = 16; /* parts begin on whole lines: copies of those are fast */
    const size_t part = s->members > 1 ? s->bytes / (size_t)s->members / line * line : 0;
    if (part)
        SYI_TRY(spread_parts(s, part));
    for (int i = 0; i < s->count; i++) {
        const target *t = &s->targets[i];
        if (!part || !t->gathers)
            SYI_TRY(transfer(&t->place, t->array, &s->place, s->from, s->bytes));
    }
    return SY_OK;
}

static sy_status spread_with_memory(sy_context *context, void *const *to, spread *s)
{
    size_t devices = (size_t)context->devices.count, count = (size_t)s->count;
    sy_status status;
    s->targets = syi_alloc(count, sizeof *s->targets);
    s->devices = syi_alloc(devices, sizeof *s->devices);
    s->arrays = syi_alloc(devices, sizeof *s->arrays);
    status =
        s->targets && s->devices && s->arrays ? SY_OK : syi_no_memory(count * sizeof *s->targets);
    if (status == SY_OK)
        status = find_targets(context, to, s);
    if (status == SY_OK) {
        find_members(&context->devices, s);
        status = spread_all(s);
    }
    syi_free(s->targets);
    syi_free(s->devices);
    syi_free(s->arrays);
    return status;
}

sy_status sy_memory_spread(sy_context *context, void *const *to, int count, const void *from,
                           size_t bytes)
{
    spread s = {.from = from, .bytes = bytes, .count = count};
    if (!context || count < 0 || (count && bytes && (!to || !from)))
        return syi_fail(SY_ERR_ARGUMENT,
                        "sy_memory_spread: context, to or from is NULL, or count %d is negative",
                        count);
    if (!count || !bytes)
        return SY_OK;
    SYI_TRY(syi_place_find(&context->devices, from, bytes, "sy_memory_spread: from", &s.place));
    return spread_with_memory(context, to, &s);
}
