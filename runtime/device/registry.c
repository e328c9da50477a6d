#define _POSIX_C_SOURCE 200809L
#include "device/registry.h"

#include "base/mem.h"
#include "base/text.h"
#include "device/cuda/driver.h"
#include "device/cuda/gather.h"
#include "device/cuda/nvml.h"

#include <stdio.h>
#include <string.h>

static const syi_backend *const backends[] = {
#define SYI_BACKEND(name) &syi_backend_##name,
#include "device/backends.def"
#undef SYI_BACKEND
};

enum { BACKENDS = sizeof backends / sizeof backends[0] };

static const syi_backend *find_backend(const char *item)
{
    size_t length = strcspn(item, ":");
    for (int i = 0; i < BACKENDS; i++)
        if (strlen(backends[i]->prefix) == length && !strncmp(backends[i]->prefix, item, length))
            return backends[i];
    return NULL;
}

static int name_taken(const syi_devices *devices, const char *name)
{
    for (int i = 0; i < devices->count; i++)
        if (!strcmp(devices->list[i]->info.name, name))
            return 1;
    return 0;
}

/* The second device of a name becomes NAME#2. */
static void make_name_unique(const syi_devices *devices, sy_device_info *info)
{
    char base[48];
    syi_copy_text(base, sizeof base, info->name);
    for (int n = 2; name_taken(devices, info->name); n++)
        snprintf(info->name, sizeof info->name, "%s#%d", base, n);
}

sy_status syi_devices_add(syi_devices *devices, syi_device *device)
{
    syi_device **grown =
        syi_realloc(devices->list, (size_t)devices->count + 1, sizeof *devices->list);
    if (!grown) {
        device->backend->close(device);
        return syi_no_memory(sizeof *grown);
    }
    devices->list = grown;
    device->info.utilization_percent = device->info.temperature_c = -1; /* until it is asked */
    make_name_unique(devices, &device->info);
    device->index = devices->count;
    devices->list[devices->count++] = device;
    return SY_OK;
}

int syi_devices_of_type(const syi_devices *devices, sy_device_type type)
{
    int count = 0;
    for (int i = 0; i < devices->count; i++)
        count += devices->list[i]->info.type == type;
    return count;
}

int syi_devices_threads(const syi_devices *devices)
{
    for (int i = 0; i < devices->count; i++)
        if (devices->list[i]->info.type == SY_DEVICE_CPU)
            return devices->list[i]->info.units;
    return 0;
}

static sy_status open_item(const char *item, syi_devices *devices)
{
    const syi_backend *backend = find_backend(item);
    if (!backend)
        return syi_fail(SY_ERR_NO_DEVICE,
                        "unknown device '%s'; write auto, cpu, cuda, cuda:N or sim:NAME", item);
    return backend->open(item, devices);
}

/* Every kind's devices; without a GPU that is the CPU alone, and worth a line: a warning where
 * there should be one. */
static sy_status open_auto(syi_log *log, syi_devices *devices)
{
    devices->is_auto = 1;
    for (int i = 0; i < BACKENDS; i++) {
        sy_status status = backends[i]->open_all ? backends[i]->open_all(devices) : SY_OK;
        if (status == SY_ERR_NO_DEVICE)
            syi_log_line(log,
                         syi_cuda_driver_is_there(devices->config->cuda_driver) ? SY_LOG_WARNING
                                                                                : SY_LOG_INFO,
                         "no usable GPU (%s); using the CPU alone", sy_last_error()->text);
        else if (status != SY_OK)
            return status;
    }
    return SY_OK;
}

static char *without_blanks(char *text)
{
    size_t length;
    text += strspn(text, " ");
    for (length = strlen(text); length && text[length - 1] == ' '; length--)
        text[length - 1] = '\0';
    return text;
}

static sy_status open_list(char *list, syi_log *log, syi_devices *devices)
{
    char *item = list, *comma;
    do {
        comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        item = without_blanks(item);
        if (!*item)
            return syi_fail(SY_ERR_ARGUMENT, "device list has an empty item; write it like "
                                             "'cuda:0,cpu'");
        if (!strcmp(item, "auto"))
            SYI_TRY(open_auto(log, devices));
        else
            SYI_TRY(open_item(item, devices));
        item = comma ? comma + 1 : NULL;
    } while (item);
    return SY_OK;
}

/* Infinite, for one, is as long as can be counted. */
static int64_t patience_of(const sy_config *config)
{
    const double ms = config->watchdog_ms > 0 ? config->watchdog_ms : 30000;
    return ms < 4e12 ? (int64_t)(ms * 1e6) : INT64_MAX / 2;
}

sy_status syi_devices_open(const sy_config *config, syi_log *log, syi_devices *out)
{
    const char *list = config->devices;
    char *copy = syi_strdup(list && *list ? list : "auto");
    sy_status status;
    *out = (syi_devices){.config = config, .log = log, .watchdog_ns = patience_of(config)};
    if (!copy)
        return syi_no_memory(strlen(list ? list : "auto") + 1);
    status = open_list(copy, log, out);
    syi_free(copy);
    out->config = NULL;
    if (status != SY_OK)
        syi_devices_close(out);
    return status;
}

void syi_devices_end(syi_devices *devices)
{
    syi_cuda_gather_end(devices->gather);
}

void syi_devices_close(syi_devices *devices)
{
    syi_cuda_gather_close(&devices->gather);
    for (int i = 0; i < devices->count; i++)
        devices->list[i]->backend->close(devices->list[i]);
    syi_free(devices->list);
    syi_nvml_close(&devices->nvml);
    syi_cuda_driver_close(&devices->cuda);
    *devices = (syi_devices){0};
}

int syi_devices_find(const syi_devices *devices, const char *word)
{
    for (int i = 0; i < devices->count; i++) {
        const sy_device_info *info = &devices->list[i]->info;
        if (!strcmp(info->name, word) || !strcmp(info->id, word) ||
            (*info->uuid && !strcmp(info->uuid, word)))
            return i;
    }
    return -1;
}

void syi_devices_names(const syi_devices *devices, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < devices->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 devices->list[i]->info.name);
}
