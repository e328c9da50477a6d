#include "device/cuda/ending.h"

#include "device/registry.h"

/* ---- what is remembered ------------------------------------------------------------------- */

/* Its place in the list, which is locked; CUDA_MOST_ENDING when there is no room. */
static int place_of(cuda_ending *ending, CUstream stream)
{
    int k = 0;
    while (k < ending->count && ending->streams[k].stream != stream)
        k++;
    if (k == CUDA_MOST_ENDING)
        ending->overflows = 1;
    else if (k == ending->count)
        ending->streams[ending->count++] = (cuda_ending_stream){stream, 0};
    return k;
}

void syi_cuda_end_unseen(cuda_device *cuda, CUstream stream, uint64_t homes)
{
    pthread_mutex_lock(&cuda->ending.lock);
    cuda->ending.homes |= homes;
    place_of(&cuda->ending, stream);
    pthread_mutex_unlock(&cuda->ending.lock);
}

void syi_cuda_end(cuda_device *cuda, CUstream stream, uint64_t homes)
{
    const int times = 2; /* an error may be an earlier call's */
    for (int i = 0; i < times && !cuda->hung; i++)
        if (syi_cuda_wait(cuda, stream) == SY_OK)
            return;
    syi_cuda_end_unseen(cuda, stream, homes);
}

void syi_cuda_stream_drop(cuda_device *cuda, CUstream stream)
{
    cuda_ending *ending = &cuda->ending;
    int k = 0;
    pthread_mutex_lock(&ending->lock);
    while (k < ending->count && ending->streams[k].stream != stream)
        k++;
    if (k == ending->count && !cuda->hung)
        cuda->driver->api.cuStreamDestroy(stream);
    else if ((k = place_of(ending, stream)) < CUDA_MOST_ENDING)
        ending->streams[k].dropped = 1;
    pthread_mutex_unlock(&ending->lock);
}

/* ---- what has ended after all ------------------------------------------------------------- */

static void ask_again(const syi_cuda_api *api, cuda_ending *ending)
{
    int left = 0;
    for (int k = 0; k < ending->count; k++) {
        const cuda_ending_stream *at = &ending->streams[k];
        if (api->cuStreamQuery(at->stream) != CUDA_SUCCESS)
            ending->streams[left++] = *at;
        else if (at->dropped)
            api->cuStreamDestroy(at->stream);
    }
    ending->count = left;
}

int syi_cuda_is_settled(cuda_device *cuda)
{
    cuda_ending *ending = &cuda->ending;
    int settled;
    pthread_mutex_lock(&ending->lock);
    if (ending->count && cuda->context && syi_cuda_enter(cuda, cuda->primary) == CUDA_SUCCESS) {
        ask_again(&cuda->driver->api, ending);
        syi_cuda_leave(cuda);
    }
    settled = !ending->count && !ending->overflows;
    if (settled)
        ending->homes = 0;
    pthread_mutex_unlock(&ending->lock);
    return settled;
}

sy_status syi_cuda_need_settled(cuda_device *cuda)
{
    return syi_cuda_is_settled(cuda)
               ? SY_OK
               : syi_fail(SY_ERR_DEVICE, "device %s has not ended its last work",
                          cuda->base.info.name);
}

int syi_cuda_gpu_is_settled(const cuda_device *cuda)
{
    for (int i = 0; i < cuda->devices->count; i++) {
        cuda_device *part = syi_cuda_of_home(cuda->devices, i, cuda->base.home);
        if (part && !syi_cuda_is_settled(part))
            return 0;
    }
    return 1;
}

/* Whether its work ends with the contexts of `but`'s GPU. */
static int ends_with(const cuda_device *cuda, const cuda_device *but)
{
    return but && cuda->base.home == but->base.home && !cuda->hung && !cuda->disowned;
}

uint64_t syi_cuda_homes_in_use(const syi_devices *devices, const cuda_device *but)
{
    uint64_t homes = 0;
    for (int i = 0; i < devices->count; i++) {
        cuda_device *cuda = (cuda_device *)devices->list[i];
        if (cuda->base.info.type != SY_DEVICE_CUDA || ends_with(cuda, but) ||
            syi_cuda_is_settled(cuda))
            continue;
        pthread_mutex_lock(&cuda->ending.lock);
        homes |= cuda->ending.homes | cuda_home_bit(cuda);
        pthread_mutex_unlock(&cuda->ending.lock);
    }
    return homes;
}

/* ---- the end of a context ----------------------------------------------------------------- */

void syi_cuda_context_close(cuda_device *cuda)
{
    const syi_cuda_api *api = &cuda->driver->api;
    if (cuda->disowned)
        return;
    syi_cuda_relax(api);
    if (cuda->green)
        api->cuGreenCtxDestroy(cuda->green);
    api->cuDevicePrimaryCtxRelease(cuda->device);
    syi_cuda_restore(api);
    cuda->context = NULL;
}

/* Somebody else may hold the context still, and then nothing has ended. */
static int is_gone(const cuda_device *cuda)
{
    const syi_cuda_api *api = &cuda->driver->api;
    unsigned int flags;
    int active = 1;
    return !cuda->context && api->cuDevicePrimaryCtxGetState &&
           api->cuDevicePrimaryCtxGetState(cuda->device, &flags, &active) == CUDA_SUCCESS &&
           !active;
}

/* Whether its work ends with its context. */
static int is_closable(const cuda_device *cuda)
{
    return cuda->context && !cuda->hung && !cuda->disowned;
}

/* Closes what can be of a GPU's parts: what was under way in any is over when the last is closed.
 */
static void close_gpu(const syi_devices *devices, int home)
{
    cuda_device *part;
    for (int i = 0; i < devices->count; i++)
        if ((part = syi_cuda_of_home(devices, i, home)) && is_closable(part))
            syi_cuda_context_close(part);
    for (int i = 0; i < devices->count; i++)
        if ((part = syi_cuda_of_home(devices, i, home)) && is_gone(part)) {
            pthread_mutex_lock(&part->ending.lock);
            part->ending.count = 0;
            part->ending.overflows = 0;
            pthread_mutex_unlock(&part->ending.lock);
        }
}

/* The homes of what is in its parts' contexts. */
static uint64_t holdings_of(const syi_devices *devices, int home)
{
    uint64_t homes = 0;
    for (int i = 0; i < devices->count; i++) {
        const cuda_device *part = syi_cuda_of_home(devices, i, home);
        homes |= part ? cuda_holdings(part) : 0;
    }
    return homes;
}

/* Whether there was one to be closed. */
static int end_one(const syi_devices *devices)
{
    for (int i = 0; i < devices->count; i++) {
        cuda_device *cuda = (cuda_device *)devices->list[i];
        if (cuda->base.info.type != SY_DEVICE_CUDA || !is_closable(cuda) ||
            syi_cuda_is_settled(cuda) ||
            syi_cuda_homes_in_use(devices, cuda) & holdings_of(devices, cuda->base.home))
            continue;
        close_gpu(devices, cuda->base.home);
        return 1;
    }
    return 0;
}

void syi_cuda_end_refusing(const syi_devices *devices)
{
    while (end_one(devices))
        ;
}
