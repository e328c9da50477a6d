#include "device/cuda/trace.h"

#include "base/clock.h"

/* The mark is on an idle device, so it is passed at once, or something is wrong. */
static int passed(const syi_cuda_api *api, CUevent mark)
{
    const int64_t began = syi_now_ns(), patience_ns = 10000000;
    CUresult result;
    while ((result = api->cuEventQuery(mark)) == CUDA_ERROR_NOT_READY)
        if (syi_now_ns() - began > patience_ns)
            return 0;
    return result == CUDA_SUCCESS;
}

/* On a stream of its own: the null stream waits for the program's. */
void syi_cuda_trace_begin(cuda_device *cuda, const syi_job *job)
{
    const syi_cuda_api *api = &cuda->driver->api;
    CUevent mark;
    CUstream stream;
    if (!job->trace || api->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        return;
    if (api->cuEventCreate(&mark, CU_EVENT_DEFAULT) == CUDA_SUCCESS) {
        if (api->cuEventRecord(mark, stream) == CUDA_SUCCESS && passed(api, mark))
            cuda->origin = (cuda_origin){mark, (double)syi_now_ns()};
        else
            api->cuEventDestroy(mark);
    }
    api->cuStreamDestroy(stream);
}

void syi_cuda_trace_slab(const cuda_device *cuda, const cuda_slot *slot, const syi_job *job)
{
    static const char *const phases[] = {"copy in", "compute", "copy out"};
    const syi_tiles span = {slot->slab.tile, slot->slab.tiles};
    const int stream = (int)(slot - cuda->slots);
    double at[CUDA_MARKS];
    if (!cuda->origin.mark)
        return;
    for (int i = 0; i < CUDA_MARKS; i++) {
        float ms;
        if (cuda->driver->api.cuEventElapsedTime(&ms, cuda->origin.mark, slot->marks[i]) !=
            CUDA_SUCCESS)
            return;
        at[i] = cuda->origin.at_ns + ms * 1e6;
    }
    for (int i = 0; i + 1 < CUDA_MARKS; i++)
        syi_trace_tell(job->trace, cuda->base.index, stream, phases[i], at[i], at[i + 1], span);
}

void syi_cuda_trace_end(cuda_device *cuda)
{
    if (cuda->origin.mark && !cuda->hung)
        cuda->driver->api.cuEventDestroy(cuda->origin.mark);
    cuda->origin = (cuda_origin){0};
}
