/* What NVML tells about GPUs. Each function may be missing or fail, and then its field stays. */
#include "device/cuda/nvml.h"

#include "base/mem.h"
#include "base/text.h"
#include "device/cuda/nvml_api.h"
#include "device/library.h"

#include <dlfcn.h>
#include <limits.h>

struct syi_nvml {
    void *library;
    syi_nvml_api api;
};

static const syi_symbol functions[] = {
#define SYI_NVML(need, name, symbol, arguments)                                                    \
    {#symbol, #symbol, offsetof(syi_nvml_api, name), SYI_SYMBOL_##need},
#include "device/cuda/nvml_api.def"
#undef SYI_NVML
};

/* Why it cannot be used; NULL: it is initialised. */
static const char *start(syi_nvml *nvml, const char *path)
{
    const char *missing;
    nvml->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return dlerror();
    missing = syi_symbols_find(nvml->library, functions, sizeof functions / sizeof *functions,
                               &nvml->api);
    if (missing)
        return missing;
    return nvml->api.init() == NVML_SUCCESS ? NULL : "it does not start";
}

syi_nvml *syi_nvml_open(const char *path, syi_log *log)
{
    syi_nvml *nvml = syi_alloc(1, sizeof *nvml);
    const char *why = nvml ? start(nvml, path ? path : "libnvidia-ml.so.1") : "no memory";
    if (!why)
        return nvml;
    syi_log_line(log, path ? SY_LOG_WARNING : SY_LOG_INFO,
                 "no NVML (%s): the load of the GPUs is not known", why);
    if (nvml && nvml->library)
        dlclose(nvml->library);
    syi_free(nvml);
    return NULL;
}

void syi_nvml_close(syi_nvml **nvml)
{
    if (*nvml) {
        (*nvml)->api.shutdown();
        dlclose((*nvml)->library);
    }
    syi_free(*nvml);
    *nvml = NULL;
}

/* ---- asking ---- */

/* One number; what is not told, or is no plausible number, leaves it as it is. */
#define ASK(nvml, name, to, ...)                                                                   \
    do {                                                                                           \
        unsigned int told_ = 0;                                                                    \
        if ((nvml)->api.name && (nvml)->api.name(__VA_ARGS__, &told_) == NVML_SUCCESS &&           \
            told_ <= INT_MAX)                                                                      \
            (to) = (int)told_;                                                                     \
    } while (0)

syi_nvml_device syi_nvml_find(const syi_nvml *nvml, sy_device_info *info)
{
    syi_nvml_device device = NULL;
    char version[80] = "";
    if (!nvml || nvml->api.by_pci(info->pci, &device) != NVML_SUCCESS || !device)
        return NULL;
    if (nvml->api.driver_version &&
        nvml->api.driver_version(version, sizeof version) == NVML_SUCCESS && *version)
        syi_copy_text(info->driver, sizeof info->driver, version);
    ASK(nvml, power_limit, info->power_limit_mw, device);
    ASK(nvml, pcie_generation, info->pcie_generation, device);
    ASK(nvml, pcie_lanes, info->pcie_lanes, device);
    return device;
}

void syi_nvml_refresh(const syi_nvml *nvml, syi_nvml_device device, sy_device_info *info)
{
    nvmlUtilization_t utilization = {0, 0};
    if (!nvml || !device)
        return;
    if (nvml->api.utilization && nvml->api.utilization(device, &utilization) == NVML_SUCCESS &&
        utilization.gpu <= 100)
        info->utilization_percent = (int)utilization.gpu;
    ASK(nvml, temperature, info->temperature_c, device, NVML_TEMPERATURE_GPU);
    ASK(nvml, power, info->power_mw, device);
    ASK(nvml, power_limit, info->power_limit_mw, device);
    ASK(nvml, clock, info->clock_mhz, device, NVML_CLOCK_SM);
    ASK(nvml, clock, info->memory_clock_mhz, device, NVML_CLOCK_MEM);
}

int syi_nvml_share_link(const syi_nvml *nvml, syi_nvml_device a, syi_nvml_device b)
{
    nvmlGpuTopologyLevel_t level = NVML_TOPOLOGY_HOSTBRIDGE;
    if (!nvml || !a || !b || !nvml->api.common_ancestor ||
        nvml->api.common_ancestor(a, b, &level) != NVML_SUCCESS)
        return 0;
    return level < NVML_TOPOLOGY_HOSTBRIDGE;
}
