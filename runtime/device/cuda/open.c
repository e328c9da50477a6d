/* GPUs as devices: finding them, what they are, opening them whole or in parts, closing them. */
#include "device/cuda/open.h"

#include "base/mem.h"
#include "base/text.h"
#include "device/cuda/ending.h"
#include "device/cuda/gather.h"
#include "device/cuda/green.h"
#include "device/cuda/image.h"
#include "device/cuda/memory.h"
#include "device/cuda/slot.h"
#include "device/cuda/user.h"
#include "device/registry.h"

#include <stdio.h>
#include <string.h>

/* Elements per second of a multiprocessor, a first guess until a profile says better: an exact
 * kernel's rate grows with the chip. */
#define NOMINAL_RATE 5e7

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

/* As nvidia-smi writes it, which calls an instance of a GPU (MIG) otherwise. */
static void describe_uuid(const CUuuid *uuid, const char *model, char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    const char *kind = strstr(model, " MIG ") ? "MIG" : "GPU";
    snprintf(text, size, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             kind, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
             b[13], b[14], b[15]);
}

static sy_status describe(cuda_device *cuda)
{
    sy_device_info *info = &cuda->base.info;
    size_t total = 0;
    CUuuid uuid;
    SYI_TRY(
        CU(cuda, cuDeviceGetName(info->description, (int)sizeof info->description, cuda->device)));
    short_name(info->description, info->name, sizeof info->name);
    SYI_TRY(CU(cuda, cuDeviceGetUuid(&uuid, cuda->device)));
    describe_uuid(&uuid, info->description, info->uuid, sizeof info->uuid);
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
    cuda->base.bars_managed = !attribute(cuda, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    cuda->base.nominal_rate = NOMINAL_RATE * info->units;
    info->usable = 1;
    return SY_OK;
}

void syi_cuda_refresh(syi_device *device, sy_device_info *info)
{
    cuda_device *cuda = (cuda_device *)device;
    const syi_cuda_api *api = &cuda->driver->api;
    size_t available = 0, total = 0;
    syi_nvml_refresh(cuda->nvml, cuda->management, info);
    if (cuda->hung || !cuda->context || syi_cuda_enter(cuda, cuda->primary) != CUDA_SUCCESS)
        return;
    if (api->cuMemGetInfo(&available, &total) == CUDA_SUCCESS)
        info->memory_free = available;
    syi_cuda_leave(cuda);
}

/* ---- opening and closing ---- */

void syi_cuda_close(syi_device *device)
{
    cuda_device *cuda = (cuda_device *)device;
    const syi_cuda_api *api = &cuda->driver->api;
    if (cuda->context && !cuda->left) {
        if (syi_cuda_enter(cuda, cuda->context) == CUDA_SUCCESS) {
            for (int i = 0; i < CUDA_SLOTS; i++)
                syi_cuda_slot_clear(cuda, &cuda->slots[i]);
            syi_cuda_port_close(cuda);
            syi_cuda_user_clear(cuda);
            if (cuda->module)
                api->cuModuleUnload(cuda->module);
            syi_cuda_leave(cuda);
        }
        if (!cuda->kept)
            syi_cuda_context_close(cuda);
    }
    cuda->context = NULL;
    syi_cuda_user_clear(cuda); /* what is left of it */
    pthread_mutex_destroy(&cuda->images);
    pthread_mutex_destroy(&cuda->peering);
    pthread_mutex_destroy(&cuda->running);
    pthread_mutex_destroy(&cuda->port.lock);
    pthread_mutex_destroy(&cuda->ending.lock);
    syi_free(cuda);
}

static sy_status load_module(cuda_device *cuda)
{
    sy_status status;
    SYI_TRY(CU_ENTER(cuda, cuda->context));
    status = CU(cuda, cuModuleLoadData(&cuda->module, syi_cuda_image()));
    syi_cuda_leave(cuda);
    return status;
}

/* Makes the whole GPU one part of it, named after what that got: RTX5090/96. */
static sy_status become_part(cuda_device *cuda, const cuda_parts *parts, int index, syi_log *log)
{
    sy_device_info *info = &cuda->base.info;
    int wanted = parts->part[index].wanted;
    char text[sizeof info->description];
    SYI_TRY(syi_cuda_part_open(cuda->driver, cuda->device, parts, index, info->id, &cuda->green,
                               &cuda->context, &info->units));
    cuda->base.nominal_rate = NOMINAL_RATE * info->units;
    snprintf(text, sizeof text, "%.40s/%d", info->name, info->units);
    syi_copy_text(info->name, sizeof info->name, text);
    snprintf(text, sizeof text, "%.90s (%d of %d units)", info->description, info->units,
             parts->units);
    syi_copy_text(info->description, sizeof info->description, text);
    snprintf(text, sizeof text, "%.40s/%d", info->uuid, index);
    syi_copy_text(info->uuid, sizeof info->uuid, text);
    if (info->units != wanted)
        syi_log_line(log, SY_LOG_INFO,
                     "device %s has %d multiprocessors, not the %d asked for: the GPU divides its "
                     "%d in groups of %d",
                     info->name, info->units, wanted, parts->units, parts->group_units);
    return SY_OK;
}

/* `parts` may be NULL: the whole GPU. */
static sy_status start(cuda_device *cuda, int ordinal, const cuda_parts *parts, int index,
                       syi_log *log)
{
    SYI_TRY(CU(cuda, cuDeviceGet(&cuda->device, ordinal)));
    cuda->base.home = 1 + cuda->device;
    SYI_TRY(describe(cuda));
    /* The primary context is the one that NCCL and the program's own CUDA code use too. */
    SYI_TRY(CU(cuda, cuDevicePrimaryCtxRetain(&cuda->primary, cuda->device)));
    cuda->context = cuda->primary;
    if (parts)
        SYI_TRY(become_part(cuda, parts, index, log));
    SYI_TRY(syi_cuda_port_open(cuda));
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

/* What it is called, also if it turns out to be of no use. */
static void give_name(sy_device_info *info, int ordinal, const cuda_parts *parts, int index)
{
    info->type = SY_DEVICE_CUDA;
    snprintf(info->id, sizeof info->id, parts ? "cuda:%d.%d" : "cuda:%d", ordinal, index);
    syi_copy_text(info->name, sizeof info->name, info->id);
}

/* What one of `parts` may take of a GPU's budget; 0: there is none. */
static size_t budget_of(size_t all, int parts)
{
    const size_t each = all / (size_t)parts;
    return all && !each ? 1 : each;
}

static sy_status open_one(syi_devices *devices, int ordinal, const cuda_parts *parts, int index)
{
    cuda_device *cuda = syi_alloc(1, sizeof *cuda);
    sy_status status;
    if (!cuda)
        return syi_no_memory(sizeof *cuda);
    pthread_mutex_init(&cuda->running, NULL);
    pthread_mutex_init(&cuda->images, NULL);
    pthread_mutex_init(&cuda->peering, NULL);
    pthread_mutex_init(&cuda->port.lock, NULL);
    pthread_mutex_init(&cuda->ending.lock, NULL);
    cuda->base.backend = &syi_backend_cuda;
    cuda->driver = devices->cuda;
    cuda->nvml = devices->nvml;
    cuda->devices = devices;
    cuda->gather = devices->gather;
    cuda->log = devices->log;
    cuda->parts = parts ? parts->count : 1;
    cuda->budget = budget_of((size_t)devices->config->memory_budget, cuda->parts);
    cuda->watchdog_ns = devices->watchdog_ns;
    give_name(&cuda->base.info, ordinal, parts, index);
    syi_cuda_relax(&cuda->driver->api);
    status = start(cuda, ordinal, parts, index, devices->log);
    syi_cuda_restore(&cuda->driver->api);
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
        return syi_fail(SY_ERR_NO_DEVICE,
                        "this build has no GPU kernels; build it again where nvcc or "
                        "clang is installed");
    if (!devices->gather)
        SYI_TRY(syi_cuda_gather_open(devices, devices->config, devices->log, &devices->gather));
    if (devices->cuda)
        return SY_OK;
    SYI_TRY(syi_cuda_driver_open(devices->config->cuda_driver, &devices->cuda));
    /* The system's NVML knows nothing of the devices of a driver that is not the system's. */
    if (devices->config->nvml || !devices->config->cuda_driver)
        devices->nvml = syi_nvml_open(devices->config->nvml, devices->log);
    return SY_OK;
}

/* A GPU, or parts of it, is in a list once: it would count twice. */
static sy_status check_new(const syi_devices *devices, int ordinal)
{
    char id[sizeof devices->list[0]->info.id];
    const size_t length = (size_t)snprintf(id, sizeof id, "cuda:%d", ordinal);
    for (int i = 0; i < devices->count; i++) {
        const char *other = devices->list[i]->info.id;
        if (!strncmp(other, id, length) && (other[length] == '\0' || other[length] == '.'))
            return syi_fail(SY_ERR_ARGUMENT, "the device list names %s twice; name it once", id);
    }
    return SY_OK;
}

sy_status syi_cuda_open_all(syi_devices *devices)
{
    int usable = 0;
    SYI_TRY(need_driver(devices));
    for (int i = 0; i < devices->cuda->devices; i++) {
        SYI_TRY(check_new(devices, i));
        SYI_TRY(open_one(devices, i, NULL, 0));
        usable += devices->list[devices->count - 1]->info.usable;
    }
    if (usable == 0)
        return syi_fail(SY_ERR_NO_DEVICE, "%s", devices->list[devices->count - 1]->info.reason);
    return SY_OK;
}

/* A device of the list, which must be usable. */
static sy_status open_named(syi_devices *devices, const char *item, int ordinal,
                            const cuda_parts *parts, int index)
{
    SYI_TRY(open_one(devices, ordinal, parts, index));
    if (!devices->list[devices->count - 1]->info.usable)
        return syi_fail(SY_ERR_NO_DEVICE, "device '%s' cannot be used: %s", item,
                        devices->list[devices->count - 1]->info.reason);
    return SY_OK;
}

static sy_status open_parts(syi_devices *devices, const char *item, int ordinal, const char *text)
{
    cuda_parts *parts = syi_alloc(1, sizeof *parts);
    CUdevice device;
    sy_status status =
        parts ? syi_cuda_parts_parse(text, item, parts) : syi_no_memory(sizeof *parts);
    if (status == SY_OK)
        status =
            syi_cuda_check(&devices->cuda->api, devices->cuda->api.cuDeviceGet(&device, ordinal),
                           item, "cuDeviceGet");
    if (status == SY_OK)
        status = syi_cuda_parts_share(devices->cuda, device, item, parts);
    for (int i = 0; status == SY_OK && i < parts->count; i++)
        status = open_named(devices, item, ordinal, parts, i);
    syi_free(parts);
    return status;
}

/* `cuda`, `cuda:N` or `cuda:N/A+B`. */
sy_status syi_cuda_open(const char *item, syi_devices *devices)
{
    char number[16] = "";
    const char *slash = strchr(item, '/');
    size_t length = slash ? (size_t)(slash - item) : strlen(item);
    int64_t ordinal;
    sy_status status = need_driver(devices);
    if (status == SY_ERR_NO_DEVICE) {
        sy_error why = *sy_last_error();
        return syi_fail_device(status, -1, why.native_code,
                               "device '%s' is not there (%.300s); there is: cpu", item, why.text);
    }
    SYI_TRY(status);
    if (!strcmp(item, "cuda"))
        return syi_cuda_open_all(devices);
    if (length > strlen("cuda:") && length - strlen("cuda:") < sizeof number)
        snprintf(number, sizeof number, "%.*s", (int)(length - strlen("cuda:")),
                 item + strlen("cuda:"));
    if (!syi_parse_integer(number, 0, devices->cuda->devices - 1, &ordinal))
        return syi_fail(SY_ERR_NO_DEVICE,
                        "device '%s' is not there; there is: cuda:0 to cuda:%d, cpu", item,
                        devices->cuda->devices - 1);
    SYI_TRY(check_new(devices, (int)ordinal));
    return slash ? open_parts(devices, item, (int)ordinal, slash + 1)
                 : open_named(devices, item, (int)ordinal, NULL, 0);
}
