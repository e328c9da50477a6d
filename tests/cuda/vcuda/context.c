/* Primary contexts, the stack of current ones, and peer access. When the last holder releases a
 * primary context, what was not destroyed goes with it and is counted as leaked. */
#include "internal.h"

#include <stdlib.h>

vc_context *vci_context_open(vc_gpu *gpu, unsigned int sms)
{
    vc_context *context = vci_alloc(1, sizeof *context);
    context->gpu = gpu;
    context->sms = sms;
    context->next = vc.contexts;
    vc.contexts = context;
    vci_handle_make(&context->object, VC_CONTEXT, context);
    context->null_stream = vci_stream_open(context, true);
    gpu->counts.live_streams--; /* the null stream is nobody's to destroy */
    gpu->counts.live_contexts++;
    return context;
}

static void close_regions(vc_context *context)
{
    for (vc_region *region = vc.regions, *next; region; region = next) {
        next = region->next;
        if (region->context != context || region->freed)
            continue;
        context->gpu->counts.leaked_allocations++;
        vci_region_drop(region);
    }
}

void vci_context_close(vc_context *context)
{
    vcuda_counts *counts = &context->gpu->counts;
    void *object;
    while ((object = vci_handle_of(VC_GREEN, context)))
        vci_green_close(object);
    while ((object = vci_handle_of(VC_PARTITION, context))) {
        vci_handle_drop(object);
        free(object);
    }
    vci_stream_close(context->null_stream);
    counts->live_streams++;
    for (; (object = vci_handle_of(VC_STREAM, context)); counts->leaked_streams++)
        vci_stream_close(object);
    for (; (object = vci_handle_of(VC_EVENT, context)); counts->leaked_events++)
        vci_event_close(object);
    for (; (object = vci_handle_of(VC_MODULE, context)); counts->leaked_modules++)
        vci_module_close(object);
    close_regions(context);
    vci_handle_drop(&context->object);
    counts->live_contexts--;
}

void vci_contexts_clear(void)
{
    for (vc_context *context = vc.contexts, *next; context; context = next) {
        next = context->next;
        free(context);
    }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = vci_enter(VC_cuDevicePrimaryCtxRetain, vci_who(device));
    if (result == CUDA_SUCCESS && !context)
        result = CUDA_ERROR_INVALID_VALUE;
    /* A failed device stays failed in this process; a new primary context does not heal it. */
    if (result == CUDA_SUCCESS)
        result = vc.gpus[device].failed;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    vc_gpu *gpu = &vc.gpus[device];
    if (gpu->retained++ == 0)
        gpu->primary = vci_context_open(gpu, gpu->sms);
    *context = gpu->primary->object.handle;
    return vci_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult result = vci_enter(VC_cuDevicePrimaryCtxRelease_v2, vci_who(device));
    if (vc.refused)
        return vci_leave(result);
    vc_gpu *gpu = &vc.gpus[device];
    if (!gpu->retained)
        return vci_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (--gpu->retained == 0) {
        if (gpu->failed == CUDA_SUCCESS)
            result = vci_wait_gpu(gpu);
        vci_context_close(gpu->primary);
        gpu->peers = 0;
        gpu->primary = NULL;
    }
    return vci_leave(result);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    CUresult result = vci_enter(VC_cuDevicePrimaryCtxGetState, vci_who(device));
    if (result == CUDA_SUCCESS && (!flags || !active))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        *flags = 0;
        *active = vc.gpus[device].retained > 0;
    }
    return vci_leave(result);
}

/* A green context is current to one thread at a time. Those below the top of a thread's stack count
 * as well: it comes back to them without another look. */
static CUresult usable(CUcontext handle)
{
    const vc_context *context = vci_handle_find(VC_CONTEXT, handle);
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->holds || context->holder == vci_thread())
        return CUDA_SUCCESS;
    context->gpu->counts.diagnoses++;
    vci_say("device %d: a green context that another thread has current", context->gpu->index);
    return CUDA_ERROR_INVALID_CONTEXT;
}

/* `change` of how often it is in the thread's stack. */
static void hold(CUcontext handle, int change)
{
    vc_context *context = vci_handle_find(VC_CONTEXT, handle);
    if (!context || !context->green)
        return;
    context->holder = vci_thread();
    context->holds += change;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult result = vci_enter(VC_cuCtxSetCurrent, VC_NOBODY);
    vc_thread *self = vci_thread();
    if (result == CUDA_SUCCESS && context)
        result = usable(context);
    if (result == CUDA_SUCCESS) {
        if (self->depth)
            hold(self->stack[--self->depth], -1);
        if (context) {
            self->stack[self->depth++] = context;
            hold(context, 1);
        }
    }
    return vci_leave(result);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUresult result = vci_enter(VC_cuCtxGetCurrent, VC_NOBODY);
    vc_thread *self = vci_thread();
    if (result == CUDA_SUCCESS && !context)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *context = self->depth ? self->stack[self->depth - 1] : NULL;
    return vci_leave(result);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult result = vci_enter(VC_cuCtxPushCurrent_v2, VC_NOBODY);
    vc_thread *self = vci_thread();
    if (result == CUDA_SUCCESS)
        result = usable(context);
    if (result == CUDA_SUCCESS && self->depth == VC_STACK)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        self->stack[self->depth++] = context;
        hold(context, 1);
    }
    return vci_leave(result);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult result = vci_enter(VC_cuCtxPopCurrent_v2, VC_NOBODY);
    vc_thread *self = vci_thread();
    if (vc.refused) /* any other error is an earlier call's: it is popped all the same */
        return vci_leave(result);
    if (!self->depth)
        return vci_leave(result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_CONTEXT);
    CUcontext top = self->stack[--self->depth];
    hold(top, -1);
    if (context)
        *context = top;
    return vci_leave(result);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    CUresult result = vci_enter(VC_cuCtxGetDevice, VC_CURRENT);
    if (result == CUDA_SUCCESS && !device)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = vci_current()->gpu->index;
    return vci_leave(result);
}

CUresult cuCtxSynchronize(void)
{
    CUresult result = vci_enter(VC_cuCtxSynchronize, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_wait_gpu(vci_current()->gpu);
    return vci_leave(result);
}

static CUresult enable_peer(CUcontext handle)
{
    vc_context *other = vci_handle_find(VC_CONTEXT, handle);
    vc_gpu *gpu = vci_current()->gpu;
    if (!other || other == vci_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    unsigned int bit = 1u << other->gpu->index;
    if (other->gpu == gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!gpu->peer || !other->gpu->peer)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (vci_current()->green || other->green)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (gpu->peers & bit)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    gpu->peers |= bit;
    gpu->counts.peers++;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext other, unsigned int flags)
{
    CUresult result = vci_enter(VC_cuCtxEnablePeerAccess, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = flags ? CUDA_ERROR_INVALID_VALUE : enable_peer(other);
    return vci_leave(result);
}
