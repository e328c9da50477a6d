#include "device/cuda/driver.h"

#include "base/mem.h"
#include "device/library.h"

#include <dlfcn.h>
#include <string.h>

/* The system's, where none is named. */
static const char system_driver[] = "libcuda.so.1";

/* CUDA 11.0: the oldest driver whose functions have the signatures we call. */
enum { OLDEST_DRIVER = 11000 };

static const syi_symbol functions[] = {
#define SYI_CU(need, name, symbol, fallback, arguments)                                            \
    {#symbol, #fallback, offsetof(syi_cuda_api, name), SYI_SYMBOL_##need},
#include "device/cuda/api.def"
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

/* The toolkit's stub of a driver does not even know its own errors' names. */
const char *syi_cuda_error_name(const syi_cuda_api *api, CUresult result)
{
    static const struct {
        CUresult value;
        const char *name;
    } known[] = {
#define SYI_CU_RESULT(name, value) {name, #name},
#include "device/cuda/types.def"
    };
    const char *name = NULL;
    if (api->cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
        return name;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].value == result)
            return known[i].name;
    return "unknown error";
}

static sy_status start(syi_cuda_driver *driver, const char *path)
{
    CUresult result = driver->api.cuInit(0);
    if (result != CUDA_SUCCESS)
        return syi_fail_device(SY_ERR_NO_DEVICE, -1, (int)result,
                               "CUDA driver %s does not start: %s", path,
                               syi_cuda_error_name(&driver->api, result));
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
    const char *file = path && *path ? path : system_driver;
    sy_status status;
    if (!driver)
        return syi_no_memory(sizeof *driver);
    /* It stays: its own threads run on where a GPU hangs or its context was left. */
    driver->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
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

/* The loader's message begins with the bare name where it has found no such file. */
int syi_cuda_driver_is_there(const char *path)
{
    void *library = path && *path ? NULL : dlopen(system_driver, RTLD_LAZY | RTLD_LOCAL);
    const char *why;
    if (library)
        dlclose(library);
    if (library || (path && *path))
        return 1;
    why = dlerror();
    return !why || strncmp(why, system_driver, strlen(system_driver)) != 0;
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
    sy_status status = result == CUDA_ERROR_OUT_OF_MEMORY ? SY_ERR_MEMORY : SY_ERR_DEVICE;
    if (result == CUDA_SUCCESS)
        return SY_OK;
    return syi_fail_device(status, -1, (int)result, "device %s: %s: %s", device, what,
                           syi_cuda_error_name(api, result));
}
