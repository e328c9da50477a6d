#include "device/cuda_driver.h"

#include "base/mem.h"
#include "device/library.h"

#include <dlfcn.h>

/* CUDA 11.0: the oldest driver whose functions have the signatures we call. */
enum { OLDEST_DRIVER = 11000 };

static const syi_symbol functions[] = {
#define SYI_CU(need, name, symbol, fallback, arguments)                                            \
    {#symbol, #fallback, offsetof(syi_cuda_api, name), SYI_SYMBOL_##need},
#include "device/cuda_api.def"
#undef SYI_CU
};

static sy_status look_up(syi_cuda_driver *driver, const char *path)
{
    const char *missing = syi_symbols_find(driver->library, functions,
                                           sizeof functions / sizeof *functions, &driver->api);
    return missing ? syi_fail(SY_ERR_NO_DEVICE,
                              "CUDA driver %s has no %s: too old, or not a driver", path, missing)
                   : SY_OK;
}

static sy_status start(syi_cuda_driver *driver, const char *path)
{
    const char *name = NULL;
    CUresult result = driver->api.cuInit(0);
    if (result != CUDA_SUCCESS) {
        driver->api.cuGetErrorName(result, &name);
        return syi_fail_device(SY_ERR_NO_DEVICE, -1, (int)result,
                               "CUDA driver %s does not start: %s", path,
                               name ? name : "unknown error");
    }
    if (driver->api.cuDriverGetVersion(&driver->version) != CUDA_SUCCESS ||
        driver->version < OLDEST_DRIVER)
        return syi_fail(SY_ERR_NO_DEVICE, "CUDA driver %s is for CUDA %d.%d; 11.0 is needed", path,
                        driver->version / 1000, driver->version % 1000 / 10);
    if (driver->api.cuDeviceGetCount(&driver->devices) != CUDA_SUCCESS || driver->devices < 1)
        return syi_fail(SY_ERR_NO_DEVICE, "CUDA driver %s finds no GPU", path);
    return SY_OK;
}

sy_status syi_cuda_driver_open(const char *path, syi_cuda_driver **out)
{
    syi_cuda_driver *driver = syi_alloc(1, sizeof *driver);
    const char *file = path && *path ? path : "libcuda.so.1";
    sy_status status;
    if (!driver)
        return syi_no_memory(sizeof *driver);
    driver->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!driver->library)
        status = syi_fail(SY_ERR_NO_DEVICE, "no CUDA driver: %s", dlerror());
    else
        status = look_up(driver, file);
    if (status == SY_OK)
        status = start(driver, file);
    if (status != SY_OK) {
        syi_cuda_driver_close(&driver);
        return status;
    }
    *out = driver;
    return SY_OK;
}

void syi_cuda_driver_close(syi_cuda_driver **driver)
{
    if (*driver && (*driver)->library)
        dlclose((*driver)->library);
    syi_free(*driver);
    *driver = NULL;
}

sy_status syi_cuda_check(const syi_cuda_api *api, CUresult result, const char *device,
                         const char *what)
{
    const char *name = NULL;
    sy_status status = result == CUDA_ERROR_OUT_OF_MEMORY ? SY_ERR_MEMORY : SY_ERR_DEVICE;
    if (result == CUDA_SUCCESS)
        return SY_OK;
    api->cuGetErrorName(result, &name);
    return syi_fail_device(status, -1, (int)result, "device %s: %s: %s", device, what,
                           name ? name : "unknown error");
}
