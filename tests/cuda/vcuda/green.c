/* Green contexts: a part of a GPU's multiprocessors with its own compute engine. Splits follow the
 * rules of compute capability 9: groups of at least 8 and a multiple of 8, equal, and a remainder.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE = 8 };

typedef struct vc_green {
    vc_object object; /* belongs to the primary context */
    vc_context *own;
} vc_green;

typedef struct vc_partition {
    vc_object object;
    unsigned int sms;
    int device;
} vc_partition;

static void describe(CUdevResource *resource, unsigned int sms, const vc_gpu *gpu)
{
    *resource = (CUdevResource){.type = CU_DEV_RESOURCE_TYPE_SM};
    resource->sm.smCount = sms;
    resource->sm.minSmPartitionSize = GRANULE;
    resource->sm.smCoscheduledAlignment = GRANULE;
    /* Whose it is travels in the part that callers do not look at. */
    memcpy((unsigned char *)resource + 4, &gpu->index, sizeof gpu->index);
}

static vc_gpu *owner(const CUdevResource *resource)
{
    int index;
    memcpy(&index, (const unsigned char *)resource + 4, sizeof index);
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
        describe(resource, vc.gpus[device].sms, &vc.gpus[device]);
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
    unsigned int size = least ? (least + GRANULE - 1) / GRANULE * GRANULE : GRANULE;
    unsigned int most = input->sm.smCount / size, made = parts && *count < most ? *count : most;
    if (!most)
        return vci_leave(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    const vc_gpu *gpu = owner(input);
    unsigned int total = input->sm.smCount;
    for (unsigned int i = 0; parts && i < made; i++)
        describe(&parts[i], size, gpu);
    if (parts && remaining) {
        describe(remaining, total - made * size, gpu);
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
        if (!gpu || owner(&resources[i]) != gpu)
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
        describe(resource, green->own->sms, green->own->gpu);
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
