#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device.h"

#include "base/clock.h"
#include "device/registry.h"

#include <time.h>

sy_status syi_cuda_device_check(const cuda_device *cuda, CUresult result, const char *what)
{
    return syi_cuda_check(&cuda->driver->api, result, cuda->base.info.name, what);
}

/* Of the thread: how often it is relaxed, and how it was before. */
static _Thread_local struct {
    int depth;
    CUstreamCaptureMode before;
} visit;

void syi_cuda_relax(const syi_cuda_api *api)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (visit.depth++)
        return;
    visit.before = CU_STREAM_CAPTURE_MODE_RELAXED; /* if it fails: nothing to go back to */
    if (api->cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS)
        visit.before = mode;
}

void syi_cuda_restore(const syi_cuda_api *api)
{
    if (--visit.depth == 0 && visit.before != CU_STREAM_CAPTURE_MODE_RELAXED)
        api->cuThreadExchangeStreamCaptureMode(&visit.before);
}

CUresult syi_cuda_enter(const cuda_device *cuda, CUcontext context)
{
    const syi_cuda_api *api = &cuda->driver->api;
    CUresult result;
    syi_cuda_relax(api);
    result = api->cuCtxPushCurrent(context);
    if (result != CUDA_SUCCESS)
        syi_cuda_restore(api);
    return result;
}

void syi_cuda_leave(const cuda_device *cuda)
{
    const syi_cuda_api *api = &cuda->driver->api;
    api->cuCtxPopCurrent(NULL);
    syi_cuda_restore(api);
}

cuda_device *syi_cuda_of_home(const syi_devices *devices, int i, int home)
{
    syi_device *device = devices->list[i];
    return device->info.type == SY_DEVICE_CUDA && device->home == home ? (cuda_device *)device
                                                                       : NULL;
}

/* The GPU hangs, with all parts of it. */
static void give_up(cuda_device *cuda)
{
    for (int i = 0; i < cuda->devices->count; i++) {
        cuda_device *part = syi_cuda_of_home(cuda->devices, i, cuda->base.home);
        if (part)
            part->hung = 1;
    }
    cuda->hung = 1;
}

/* Waits by asking: a blocking call would never come back from a device that hangs. All of the
 * stream is asked for, because a slab that failed on its way has no mark at its end. A process that
 * was stopped for long is no device that hangs: that takes many answers as well. */
sy_status syi_cuda_wait(cuda_device *cuda, CUstream stream)
{
    const struct timespec nap = {0, 20000};
    const int64_t began = syi_now_ns(), patience_ns = 100000;
    const int least_answers = 100;
    CUresult result;
    for (int answers = 1;
         (result = cuda->driver->api.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY;
         answers += answers < least_answers) {
        int64_t waited = syi_now_ns() - began;
        if (cuda->hung)
            return syi_fail(SY_ERR_DEVICE, "device %s: its GPU hangs", cuda->base.info.name);
        if (waited > cuda->watchdog_ns && answers == least_answers) {
            give_up(cuda);
            return syi_fail(SY_ERR_DEVICE, "device %s has not answered for %.1f s",
                            cuda->base.info.name, (double)waited / 1e9);
        }
        if (waited > patience_ns)
            nanosleep(&nap, NULL);
    }
    return syi_cuda_device_check(cuda, result, "cuStreamQuery");
}
