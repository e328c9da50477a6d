/* Green contexts: a part of a GPU's multiprocessors with its own compute engine. A split makes
 * equal groups and a remainder; their least size and what it is a multiple of depend on the compute
 * capability. Only groups of one split may be joined, and a group cannot be split again. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The least size of a group, and what sizes are multiples of. */
static unsigned int least_group(const vc_gpu *gpu)
{
    return gpu->major >= 9 ? 8 : gpu->major == 8 ? 4 : gpu->major == 7 ? 2 : 1;
}

static unsigned int alignment(const vc_gpu *gpu)
{
    return gpu->major >= 9 ? 8 : gpu->major >= 7 ? 2 : 1;
}

/* In the part of a resource that callers do not look at. */
typedef struct vc_hidden {
    int gpu;
    unsigned int split; /* which call made it; 0: the whole GPU */
} vc_hidden;

typedef struct vc_green {
    vc_object object; /* belongs to the primary context */
    vc_context *own;
} vc_green;

typedef struct vc_partition {
    vc_object object;
    unsigned int sms;
    int device;
} vc_partition;

static void describe(CUdevResource *resource, unsigned int sms, const vc_gpu *gpu,
                     unsigned int split)
{
    vc_hidden hidden = {gpu->index, split};
    *resource = (CUdevResource){.type = CU_DEV_RESOURCE_TYPE_SM};
    resource->sm.smCount = sms;
    resource->sm.minSmPartitionSize = least_group(gpu);
    resource->sm.smCoscheduledAlignment = alignment(gpu);
    memcpy((unsigned char *)resource + 4, &hidden, sizeof hidden);
}

static vc_hidden hidden_of(const CUdevResource *resource)
{
    vc_hidden hidden;
    memcpy(&hidden, (const unsigned char *)resource + 4, sizeof hidden);
    return hidden;
}

static vc_gpu *owner(const CUdevResource *resource)
{
    int index = hidden_of(resource).gpu;
    bool valid = resource->type == CU_DEV_RESOURCE_TYPE_SM && index >= 0 && index < vc.gpu_count;
    return valid ? &vc.gpus[index] : NULL;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = vci_enter(VC_cuDeviceGetDevResource, vci_who(device));
    if (result == CUDA_SUCCESS && !resource)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && type != CU_DEV_RESOURCE_TYPE_SM)
        result = CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (result == CUDA_SUCCESS)
        describe(resource, vc.gpus[device].sms, &vc.gpus[device], 0);
    return vci_leave(result);
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *parts, unsigned int *count,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int least)
{
    CUresult result = vci_enter(VC_cuDevSmResourceSplitByCount, VC_NOBODY);
    if (result == CUDA_SUCCESS && (!count || !input || !owner(input) || flags))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    static unsigned int splits;
    const vc_gpu *gpu = owner(input);
    unsigned int step = alignment(gpu), size = (least + step - 1) / step * step;
    size = size < least_group(gpu) ? least_group(gpu) : size;
    unsigned int most = input->sm.smCount / size, made = parts && *count < most ? *count : most;
    if (!most || hidden_of(input).split)
        return vci_leave(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    splits++;
    unsigned int total = input->sm.smCount;
    for (unsigned int i = 0; parts && i < made; i++)
        describe(&parts[i], size, gpu, splits);
    if (parts && remaining) {
        describe(remaining, total - made * size, gpu, splits);
        if (made * size == total)
            remaining->type = CU_DEV_RESOURCE_TYPE_INVALID;
    }
    *count = made;
    return vci_leave(CUDA_SUCCESS);
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *out, CUdevResource *resources,
                                   unsigned int count)
{
    CUresult result = vci_enter(VC_cuDevResourceGenerateDesc, VC_NOBODY);
    if (result == CUDA_SUCCESS && (!out || !resources || !count))
        result = CUDA_ERROR_INVALID_VALUE;
    vc_gpu *gpu = result == CUDA_SUCCESS ? owner(&resources[0]) : NULL;
    unsigned int sms = 0;
    for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++) {
        if (!gpu || owner(&resources[i]) != gpu ||
            hidden_of(&resources[i]).split != hidden_of(&resources[0]).split)
            result = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        else
            sms += resources[i].sm.smCount;
    }
    if (result == CUDA_SUCCESS && sms > gpu->sms)
        result = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (result == CUDA_SUCCESS) {
        vc_partition *partition = vci_alloc(1, sizeof *partition);
        partition->sms = sms;
        partition->device = gpu->index;
        vci_handle_make(&partition->object, VC_PARTITION, gpu->primary);
        *out = partition->object.handle;
    }
    return vci_leave(result);
}

CUresult cuGreenCtxCreate(CUgreenCtx *out, CUdevResourceDesc desc, CUdevice device,
                          unsigned int flags)
{
    CUresult result = vci_enter(VC_cuGreenCtxCreate, vci_who(device));
    const vc_partition *partition = vci_handle_find(VC_PARTITION, desc);
    if (result == CUDA_SUCCESS &&
        (!out || !partition || partition->device != device || flags != CU_GREEN_CTX_DEFAULT_STREAM))
        result = CUDA_ERROR_INVALID_VALUE;
    vc_gpu *gpu = result == CUDA_SUCCESS ? &vc.gpus[device] : NULL;
    if (gpu && gpu->failed != CUDA_SUCCESS)
        result = gpu->failed;
    if (gpu && !gpu->primary) /* it would retain the primary one; ours must be there already */
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        vc_green *green = vci_alloc(1, sizeof *green);
        green->own = vci_context_open(gpu, partition->sms);
        green->own->green = true;
        vci_handle_make(&green->object, VC_GREEN, gpu->primary);
        *out = green->object.handle;
    }
    return vci_leave(result);
}

void vci_green_close(void *object)
{
    vc_green *green = object;
    vci_context_close(green->own);
    vci_handle_drop(&green->object);
    free(green);
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle)
{
    CUresult result = vci_enter(VC_cuGreenCtxDestroy, VC_NOBODY);
    vc_green *green = vci_handle_find(VC_GREEN, handle);
    if (vc.refused)
        return vci_leave(result);
    if (!green)
        return vci_leave(CUDA_ERROR_INVALID_HANDLE);
    if (result == CUDA_SUCCESS)
        result = vci_wait_gpu(green->own->gpu);
    vci_green_close(green);
    return vci_leave(result);
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx handle)
{
    CUresult result = vci_enter(VC_cuCtxFromGreenCtx, VC_NOBODY);
    const vc_green *green = vci_handle_find(VC_GREEN, handle);
    if (result == CUDA_SUCCESS && !green)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && !context)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *context = green->own->object.handle;
    return vci_leave(result);
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource *resource,
                                  CUdevResourceType type)
{
    CUresult result = vci_enter(VC_cuGreenCtxGetDevResource, VC_NOBODY);
    const vc_green *green = vci_handle_find(VC_GREEN, handle);
    if (result == CUDA_SUCCESS && !green)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (!resource || type != CU_DEV_RESOURCE_TYPE_SM))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        describe(resource, green->own->sms, green->own->gpu, 0);
    return vci_leave(result);
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx handle, unsigned int flags,
                                int priority)
{
    CUresult result = vci_enter(VC_cuGreenCtxStreamCreate, VC_NOBODY);
    vc_green *green = vci_handle_find(VC_GREEN, handle);
    (void)priority;
    if (result == CUDA_SUCCESS && !green)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (!stream || flags != CU_STREAM_NON_BLOCKING))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = green->own->gpu->failed;
    if (result == CUDA_SUCCESS)
        *stream = vci_stream_open(green->own, false)->object.handle;
    return vci_leave(result);
}
