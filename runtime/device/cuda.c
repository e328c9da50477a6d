/*
 * GPUs through the CUDA driver API. A span streams through three slots, so that copies in, kernels
 * and copies out overlap and an array of any size fits: out of memory halves the parts, down to one
 * tile at a time.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/cuda_image.h"
#include "device/cuda_slot.h"
#include "device/cuda_trace.h"
#include "device/registry.h"

#include <stdio.h>
#include <string.h>

/* Tiles of a slab: 8 MiB an array keep a PCIe link busy; a big GPU wants millions of columns; and
 * a span is cut into so many slabs that copies and kernels overlap. */
enum { LEAST_TILES = 256, MOST_TILES = 4096, LEAST_SLABS = 8 };

#define CU(cuda, call) cuda_check(cuda, (cuda)->driver->api.call, #call)

/* ---- what a GPU is ---- */

/* "NVIDIA GeForce RTX 3090" is written RTX3090: no vendor words, no blanks. */
static void short_name(const char *model, char *name, size_t size)
{
    static const char *const vendor[] = {"NVIDIA", "GeForce", "Tesla", "Quadro", "Graphics", "GPU"};
    size_t used = 0, length;
    name[0] = '\0';
    for (; *(model += strspn(model, " ")); model += length) {
        int skip = 0;
        length = strcspn(model, " ");
        for (size_t i = 0; i < sizeof vendor / sizeof vendor[0]; i++)
            skip |= strlen(vendor[i]) == length && !strncmp(model, vendor[i], length);
        if (!skip && used < size)
            used += (size_t)snprintf(name + used, size - used, "%.*s", (int)length, model);
    }
}

static int attribute(const cuda_device *cuda, CUdevice_attribute which)
{
    int value = 0;
    cuda->driver->api.cuDeviceGetAttribute(&value, which, cuda->device);
    return value;
}

static void describe_uuid(const CUuuid *uuid, char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

static sy_status describe(cuda_device *cuda, int ordinal)
{
    sy_device_info *info = &cuda->base.info;
    size_t total = 0;
    CUuuid uuid;
    info->type = SY_DEVICE_CUDA;
    snprintf(info->id, sizeof info->id, "cuda:%d", ordinal);
    syi_copy_text(info->name, sizeof info->name, info->id);
    SYI_TRY(
        CU(cuda, cuDeviceGetName(info->description, (int)sizeof info->description, cuda->device)));
    short_name(info->description, info->name, sizeof info->name);
    SYI_TRY(CU(cuda, cuDeviceGetUuid(&uuid, cuda->device)));
    describe_uuid(&uuid, info->uuid, sizeof info->uuid);
    SYI_TRY(CU(cuda, cuDeviceTotalMem(&total, cuda->device)));
    info->memory_total = total;
    info->compute_major = attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    info->compute_minor = attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    info->units = attribute(cuda, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->clock_max_mhz = attribute(cuda, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", cuda->driver->version / 1000,
             cuda->driver->version % 1000 / 10);
    cuda->driver->api.cuDeviceGetPCIBusId(info->pci, (int)sizeof info->pci, cuda->device);
    cuda->management = syi_nvml_find(cuda->nvml, info);
    /* A first guess until a profile says better: an exact kernel's rate grows with the chip. */
    cuda->base.nominal_rate = 5e7 * info->units;
    info->usable = 1;
    return SY_OK;
}

static void cuda_refresh(syi_device *device, sy_device_info *info)
{
    cuda_device *cuda = (cuda_device *)device;
    const syi_cuda_api *api = &cuda->driver->api;
    size_t available = 0, total = 0;
    syi_nvml_refresh(cuda->nvml, cuda->management, info);
    if (cuda->hung || api->cuCtxPushCurrent(cuda->context) != CUDA_SUCCESS)
        return;
    if (api->cuMemGetInfo(&available, &total) == CUDA_SUCCESS)
        info->memory_free = available;
    api->cuCtxPopCurrent(NULL);
}

/* ---- opening and closing ---- */

static void cuda_close(syi_device *device)
{
    cuda_device *cuda = (cuda_device *)device;
    const syi_cuda_api *api = &cuda->driver->api;
    /* Whatever is asked of a device that hangs would hang too: its memory is left to the driver. */
    if (cuda->context && !cuda->hung) {
        if (api->cuCtxPushCurrent(cuda->context) == CUDA_SUCCESS) {
            for (int i = 0; i < CUDA_SLOTS; i++)
                cuda_slot_clear(cuda, &cuda->slots[i]);
            if (cuda->module)
                api->cuModuleUnload(cuda->module);
            api->cuCtxPopCurrent(NULL);
        }
        api->cuDevicePrimaryCtxRelease(cuda->device);
    }
    pthread_mutex_destroy(&cuda->running);
    syi_free(cuda);
}

static sy_status load_module(cuda_device *cuda)
{
    sy_status status;
    SYI_TRY(CU(cuda, cuCtxPushCurrent(cuda->context)));
    status = CU(cuda, cuModuleLoadData(&cuda->module, syi_cuda_image()));
    cuda->driver->api.cuCtxPopCurrent(NULL);
    return status;
}

static sy_status start(cuda_device *cuda, int ordinal)
{
    SYI_TRY(CU(cuda, cuDeviceGet(&cuda->device, ordinal)));
    SYI_TRY(describe(cuda, ordinal));
    /* The primary context is the one that NCCL and the program's own CUDA code use too. */
    SYI_TRY(CU(cuda, cuDevicePrimaryCtxRetain(&cuda->context, cuda->device)));
    return load_module(cuda);
}

/* Numbers the way to the host that it shares with a device opened before it: a part of the same
 * GPU, or one below the same PCIe switch. */
static void find_link(const syi_devices *devices, cuda_device *cuda)
{
    for (int i = 0; i < devices->count && !cuda->base.info.link; i++) {
        cuda_device *other = (cuda_device *)devices->list[i];
        sy_device_info *info = &other->base.info;
        if (info->type != SY_DEVICE_CUDA ||
            ((!*info->pci || strcmp(info->pci, cuda->base.info.pci) != 0) &&
             !syi_nvml_share_link(cuda->nvml, other->management, cuda->management)))
            continue;
        if (!info->link)
            info->link = i + 1; /* nobody else's number */
        cuda->base.info.link = info->link;
    }
}

static sy_status open_one(syi_devices *devices, int ordinal)
{
    cuda_device *cuda = syi_alloc(1, sizeof *cuda);
    sy_status status;
    if (!cuda)
        return syi_no_memory(sizeof *cuda);
    pthread_mutex_init(&cuda->running, NULL);
    cuda->base.backend = &syi_backend_cuda;
    cuda->driver = devices->cuda;
    cuda->nvml = devices->nvml;
    cuda->budget = (size_t)devices->memory_budget;
    cuda->watchdog_ns = (int64_t)(devices->watchdog_ms * 1e6);
    status = start(cuda, ordinal);
    /* A GPU that cannot be used is listed with the reason; the others may do. */
    if (status != SY_OK) {
        cuda->base.info.usable = 0;
        syi_copy_text(cuda->base.info.reason, sizeof cuda->base.info.reason, sy_last_error()->text);
    }
    find_link(devices, cuda);
    return syi_devices_add(devices, &cuda->base);
}

static sy_status need_driver(syi_devices *devices)
{
    if (!syi_cuda_image())
        return syi_fail(SY_ERR_NO_DEVICE, "this build has no GPU kernels");
    if (devices->cuda)
        return SY_OK;
    SYI_TRY(syi_cuda_driver_open(devices->cuda_path, &devices->cuda));
    /* The system's NVML knows nothing of the devices of a driver that is not the system's. */
    if (devices->nvml_path || !devices->cuda_path)
        devices->nvml = syi_nvml_open(devices->nvml_path, devices->log);
    return SY_OK;
}

static sy_status cuda_open_all(syi_devices *devices)
{
    int usable = 0;
    SYI_TRY(need_driver(devices));
    for (int i = 0; i < devices->cuda->devices; i++) {
        SYI_TRY(open_one(devices, i));
        usable += devices->list[devices->count - 1]->info.usable;
    }
    if (usable == 0)
        return syi_fail(SY_ERR_NO_DEVICE, "%s", devices->list[devices->count - 1]->info.reason);
    return SY_OK;
}

/* `cuda` or `cuda:N`. */
static sy_status cuda_open(const char *item, syi_devices *devices)
{
    int64_t ordinal;
    sy_status status = need_driver(devices);
    if (status == SY_ERR_NO_DEVICE) {
        sy_error why = *sy_last_error();
        return syi_fail_device(status, -1, why.native_code,
                               "device '%s' is not there (%.300s); there is: cpu", item, why.text);
    }
    SYI_TRY(status);
    if (!strcmp(item, "cuda"))
        return cuda_open_all(devices);
    if (!syi_parse_integer(item + strlen("cuda:"), 0, devices->cuda->devices - 1, &ordinal))
        return syi_fail(SY_ERR_NO_DEVICE,
                        "device '%s' is not there; there is: cuda:0 to cuda:%d, cpu", item,
                        devices->cuda->devices - 1);
    SYI_TRY(open_one(devices, (int)ordinal));
    if (!devices->list[devices->count - 1]->info.usable)
        return syi_fail(SY_ERR_NO_DEVICE, "device '%s' cannot be used: %s", item,
                        devices->list[devices->count - 1]->info.reason);
    return SY_OK;
}

/* ---- running ---- */

static void abandon_all(cuda_device *cuda)
{
    for (int i = 0; i < CUDA_SLOTS; i++)
        cuda_slot_abandon(cuda, &cuda->slots[i]);
}

/* Slabs of all slots together take at most an eighth of the memory, or the budget. */
static int64_t slab_tiles_of(const cuda_device *cuda, const syi_job *job, syi_tiles span)
{
    syi_tiles one = {span.first, span.count};
    syi_slab slab = syi_slab_take(job, &one, 1);
    int64_t tile_bytes = (int64_t)cuda_layout_of(job, &slab).end;
    int64_t room = (int64_t)(cuda->budget ? cuda->budget : cuda->base.info.memory_total / 8);
    int64_t tiles = span.count / LEAST_SLABS;
    if (tiles < LEAST_TILES)
        tiles = LEAST_TILES;
    if (tiles > MOST_TILES)
        tiles = MOST_TILES;
    if (tiles > room / CUDA_SLOTS / tile_bytes)
        tiles = room / CUDA_SLOTS / tile_bytes;
    return tiles > 1 ? tiles : 1;
}

/* How a span goes through the device. */
typedef struct pace {
    int64_t tiles; /* of a slab at most */
    int slots;     /* in use */
    int next;      /* the slot to be used next, which holds the oldest slab */
} pace;

/* Out of memory: smaller slabs, then one at a time; 0: there is nothing less. */
static int pace_down(pace *pace)
{
    if (pace->tiles == 1 && pace->slots == 1)
        return 0;
    if (pace->tiles == 1)
        pace->slots = 1;
    else
        pace->tiles /= 2;
    pace->next = 0;
    return 1;
}

/* Finishes the slabs under way in the order they were started. */
static sy_status finish_all(cuda_device *cuda, int next, const syi_job *job, syi_outcome *outcome)
{
    for (int i = 0; i < CUDA_SLOTS; i++) {
        cuda_slot *slot = &cuda->slots[(next + i) % CUDA_SLOTS];
        if (slot->busy)
            SYI_TRY(cuda_slot_finish(cuda, slot, job, outcome));
    }
    return SY_OK;
}

/* Makes room for the next slab of the span. Slabs under way end before memory is given back: the
 * driver would wait for them, and for ever when they hang. */
static sy_status make_room(cuda_device *cuda, const syi_job *job, syi_tiles span, pace *pace,
                           syi_outcome *outcome)
{
    for (;;) {
        syi_tiles rest = span;
        syi_slab slab = syi_slab_take(job, &rest, pace->tiles);
        size_t bytes = cuda_layout_of(job, &slab).end;
        int next = pace->next;
        sy_status status;
        if (cuda->slots[next].bytes && cuda->slots[next].bytes < bytes)
            SYI_TRY(finish_all(cuda, next, job, outcome));
        status = cuda_slot_reserve(cuda, &cuda->slots[next], bytes, pace->slots);
        if (status != SY_ERR_MEMORY || !pace_down(pace))
            return status;
        SYI_TRY(finish_all(cuda, next, job, outcome));
        for (int i = 0; i < CUDA_SLOTS; i++)
            cuda_slot_clear(cuda, &cuda->slots[i]);
        outcome->retries++;
    }
}

static sy_status stream_span(cuda_device *cuda, CUfunction kernel, const syi_job *job,
                             syi_tiles span, syi_outcome *outcome)
{
    pace pace = {.tiles = slab_tiles_of(cuda, job, span), .slots = CUDA_SLOTS};
    while (span.count) {
        syi_slab slab;
        if (cuda->slots[pace.next].busy)
            SYI_TRY(cuda_slot_finish(cuda, &cuda->slots[pace.next], job, outcome));
        SYI_TRY(make_room(cuda, job, span, &pace, outcome));
        slab = syi_slab_take(job, &span, pace.tiles);
        SYI_TRY(syi_gate_pass(job->gate, slab.tiles));
        SYI_TRY(cuda_slot_start(cuda, &cuda->slots[pace.next], kernel, job, &slab));
        pace.next = (pace.next + 1) % pace.slots;
    }
    return finish_all(cuda, pace.next, job, outcome);
}

static sy_status run_in_context(cuda_device *cuda, const syi_job *job, syi_tiles span,
                                syi_outcome *outcome)
{
    CUfunction kernel;
    sy_status status;
    SYI_TRY(CU(cuda, cuCtxPushCurrent(cuda->context)));
    status = CU(cuda, cuModuleGetFunction(&kernel, cuda->module, job->workload->gpu->entry));
    if (status == SY_OK) {
        cuda_trace_begin(cuda, job);
        status = stream_span(cuda, kernel, job, span, outcome);
    }
    if (status != SY_OK)
        abandon_all(cuda);
    cuda_trace_end(cuda);
    if (!cuda->hung)
        cuda->driver->api.cuCtxPopCurrent(NULL);
    return status;
}

static sy_status cuda_run(syi_device *device, const syi_job *job, syi_tiles span,
                          syi_outcome *outcome)
{
    cuda_device *cuda = (cuda_device *)device;
    int64_t began = syi_now_ns();
    sy_status status;
    pthread_mutex_lock(&cuda->running);
    if (cuda->hung || device->failed)
        status = syi_fail(SY_ERR_DEVICE, "device %s failed earlier", device->info.name);
    else
        status = run_in_context(cuda, job, span, outcome);
    pthread_mutex_unlock(&cuda->running);
    outcome->busy_ms = (double)(syi_now_ns() - began) / 1e6;
    return status;
}

static void cuda_trim(syi_device *device)
{
    cuda_device *cuda = (cuda_device *)device;
    const syi_cuda_api *api = &cuda->driver->api;
    pthread_mutex_lock(&cuda->running);
    if (cuda->context && !cuda->hung && api->cuCtxPushCurrent(cuda->context) == CUDA_SUCCESS) {
        for (int i = 0; i < CUDA_SLOTS; i++)
            cuda_slot_clear(cuda, &cuda->slots[i]);
        api->cuCtxPopCurrent(NULL);
    }
    pthread_mutex_unlock(&cuda->running);
}

static int cuda_can_run(const syi_workload *workload)
{
    return workload->gpu != NULL;
}

const syi_backend syi_backend_cuda = {
    .prefix = "cuda",
    .type = SY_DEVICE_CUDA,
    .open = cuda_open,
    .open_all = cuda_open_all,
    .close = cuda_close,
    .refresh = cuda_refresh,
    .trim = cuda_trim,
    .can_run = cuda_can_run,
    .run = cuda_run,
};
