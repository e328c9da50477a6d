/* The CUDA driver, opened at run time: the library starts on machines without one. */
#ifndef SYI_DEVICE_CUDA_DRIVER_H
#define SYI_DEVICE_CUDA_DRIVER_H

#include "base/error.h"
#include "device/cuda/api.h"

typedef struct syi_cuda_driver {
    void *library;
    syi_cuda_api api;
    int version; /* 13000 = CUDA 13.0 */
    int devices;
} syi_cuda_driver;

/* Opens the driver library at `path` (NULL: libcuda.so.1) and initialises it. SY_ERR_NO_DEVICE with
 * the reason when there is none, it is a stub, it is too old, or it finds no device. */
sy_status syi_cuda_driver_open(const char *path, syi_cuda_driver **out);
/* Whether one is to be expected: it is named, or the system has one, be it a broken one. */
int syi_cuda_driver_is_there(const char *path);
/* Takes the address, accepts a NULL inside, leaves NULL. */
void syi_cuda_driver_close(syi_cuda_driver **driver);

/* "CUDA_ERROR_...". Constant. */
const char *syi_cuda_error_name(const syi_cuda_api *api, CUresult result);
/* SY_OK, SY_ERR_MEMORY or SY_ERR_DEVICE for a driver's result; `what` names the call. */
sy_status syi_cuda_check(const syi_cuda_api *api, CUresult result, const char *device,
                         const char *what);

#endif
