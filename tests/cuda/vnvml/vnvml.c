/* A simulated NVML: the functions of nvml_api.def for virtual GPUs, as a setup string has them. */
#include "vnvml.h"

#include "device/cuda/nvml_api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYI_NVML(need, name, symbol, arguments) nvmlReturn_t symbol arguments;
#include "device/cuda/nvml_api.def"
#undef SYI_NVML

enum { GPUS = 16 };

struct nvmlDevice_st {
    unsigned int util, temp, power, limit, clock, memclock, gen, lanes, peer_switch;
};

static struct nvmlDevice_st gpus[GPUS];
static char driver[80], failing[64];
static int gpu_count, live, failing_with;
static bool described;

static bool set_gpu(struct nvmlDevice_st *gpu, const char *pair)
{
    static const char *const keys[] = {"util",     "temp", "power", "limit", "clock",
                                       "memclock", "gen",  "lanes", "switch"};
    unsigned int *values = &gpu->util; /* in the order of the keys */
    const char *equals = strchr(pair, '=');
    for (size_t i = 0; equals && i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == (size_t)(equals - pair) &&
            !strncmp(keys[i], pair, strlen(keys[i]))) {
            values[i] = (unsigned int)strtoul(equals + 1, NULL, 10);
            return true;
        }
    return false;
}

static bool set_item(char *item)
{
    char *rest = strchr(item, ':');
    int first = atoi(item), last = first;
    if (sscanf(item, "gpus=%d", &gpu_count) == 1)
        return gpu_count >= 0 && gpu_count <= GPUS;
    if (sscanf(item, "driver=%79[^;]", driver) == 1)
        return true;
    if (!rest || first < 0 || first >= GPUS)
        return false;
    if (*item == '*')
        last = GPUS - 1;
    rest++;
    for (char *pair; (pair = strtok_r(rest, ",", &rest));)
        for (int i = first; i <= last; i++)
            if (!set_gpu(&gpus[i], pair))
                return false;
    return true;
}

int vnvml_setup(const char *description)
{
    char text[1024], *rest = text;
    bool ok = snprintf(text, sizeof text, "%s", description) < (int)sizeof text;
    memset(gpus, 0, sizeof gpus);
    snprintf(driver, sizeof driver, "580.65.06");
    gpu_count = GPUS;
    failing_with = 0;
    described = true;
    for (char *item; ok && (item = strtok_r(rest, ";", &rest));)
        ok = set_item(item);
    return ok ? 0 : -1;
}

void vnvml_fail(const char *function, int error)
{
    snprintf(failing, sizeof failing, "%s", function ? function : "");
    failing_with = function ? error : 0;
}

int vnvml_live(void)
{
    return live;
}

/* What every function begins with. */
static nvmlReturn_t enter(const char *function)
{
    if (failing_with && !strcmp(failing, function))
        return (nvmlReturn_t)failing_with;
    return live ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

static nvmlReturn_t enter_device(const char *function, nvmlDevice_t device, const void *to)
{
    nvmlReturn_t result = enter(function);
    if (result == NVML_SUCCESS && (!to || device < gpus || device >= gpus + gpu_count))
        result = NVML_ERROR_INVALID_ARGUMENT;
    return result;
}

nvmlReturn_t nvmlInit_v2(void)
{
    const char *setup = getenv("VNVML_SETUP");
    if (!described)
        vnvml_setup(setup ? setup : "");
    if (failing_with && !strcmp(failing, __func__))
        return (nvmlReturn_t)failing_with;
    live++;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
    nvmlReturn_t result = enter(__func__);
    live -= live > 0;
    return result;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device)
{
    nvmlReturn_t result = enter(__func__);
    if (result == NVML_SUCCESS && (!id || !device))
        result = NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; result == NVML_SUCCESS && i < gpu_count; i++) {
        char own[16];
        snprintf(own, sizeof own, "0000:%02X:00.0", 16 * (i + 1) & 0xff);
        if (!strcmp(own, id)) {
            *device = &gpus[i];
            return NVML_SUCCESS;
        }
    }
    return result == NVML_SUCCESS ? NVML_ERROR_NOT_FOUND : result;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    nvmlReturn_t result = enter(__func__);
    if (result == NVML_SUCCESS && strlen(driver) >= length)
        result = NVML_ERROR_INSUFFICIENT_SIZE;
    if (result == NVML_SUCCESS)
        snprintf(version, length, "%s", driver);
    return result;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
    nvmlReturn_t result = enter_device(__func__, device, rates);
    if (result == NVML_SUCCESS)
        *rates = (nvmlUtilization_t){device->util, 0};
    return result;
}

/* One number, of which 0 means that this GPU does not tell. */
static nvmlReturn_t tell(const char *function, nvmlDevice_t device, unsigned int number,
                         unsigned int *to)
{
    nvmlReturn_t result = enter_device(function, device, to);
    if (result == NVML_SUCCESS && !number)
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS)
        *to = number;
    return result;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                      unsigned int *to)
{
    return sensor == NVML_TEMPERATURE_GPU ? tell(__func__, device, device->temp, to)
                                          : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *to)
{
    return tell(__func__, device, device->power, to);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *to)
{
    return tell(__func__, device, device->limit, to);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t which, unsigned int *to)
{
    return which == NVML_CLOCK_SM    ? tell(__func__, device, device->clock, to)
           : which == NVML_CLOCK_MEM ? tell(__func__, device, device->memclock, to)
                                     : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *to)
{
    return tell(__func__, device, device->gen, to);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *to)
{
    return tell(__func__, device, device->lanes, to);
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t a, nvmlDevice_t b,
                                                 nvmlGpuTopologyLevel_t *level)
{
    nvmlReturn_t result = enter_device(__func__, a, level);
    if (result == NVML_SUCCESS && (b < gpus || b >= gpus + gpu_count))
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *level = a == b                                               ? NVML_TOPOLOGY_INTERNAL
                 : a->peer_switch && a->peer_switch == b->peer_switch ? NVML_TOPOLOGY_SINGLE
                                                                      : NVML_TOPOLOGY_HOSTBRIDGE;
    return result;
}
