/* Copies and fills. An asynchronous copy reads or writes pinned memory when it runs, and plain
 * memory as the hardware does: to the device through a copy made at the call, from the device by
 * waiting for the end. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* How fast the host itself copies plain memory: 10 bytes a nanosecond. */
enum { STAGING_BYTES_PER_NS = 10 };

static bool on_device(uint64_t address, uint64_t bytes, vc_gpu **gpu)
{
    const vc_region *region = vci_region(address, bytes);
    if (region && gpu)
        *gpu = region->gpu;
    return region && region->gpu;
}

static CUresult copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream handle, bool wait)
{
    vc_stream *stream;
    CUresult result = vci_stream_of(handle, &stream);
    if (result != CUDA_SUCCESS || !bytes)
        return result;
    int pinned = from ? vci_is_pinned(from, bytes) : -1;
    if (!on_device(to, bytes, NULL) || pinned < 0)
        return CUDA_ERROR_INVALID_VALUE;
    vc_op *op = vci_op_make(stream, VC_COPY_IN);
    op->to = to;
    op->bytes = bytes;
    op->host = (void *)(uintptr_t)from;
    op->pinned = pinned && !wait;
    if (!pinned && !wait) {
        op->host = op->staged = malloc(bytes);
        if (!op->staged) {
            vci_op_release(op);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(op->staged, from, bytes);
        vci_thread()->now += (int64_t)(bytes / STAGING_BYTES_PER_NS);
    }
    op->references += wait;
    result = vci_submit(op);
    if (!wait)
        return result;
    if (result == CUDA_SUCCESS)
        result = vci_wait(op);
    vci_op_release(op);
    return result;
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream handle, bool wait)
{
    vc_stream *stream;
    CUresult result = vci_stream_of(handle, &stream);
    if (result != CUDA_SUCCESS || !bytes)
        return result;
    int pinned = to ? vci_is_pinned(to, bytes) : -1;
    if (!on_device(from, bytes, NULL) || pinned < 0)
        return CUDA_ERROR_INVALID_VALUE;
    wait = wait || !pinned;
    vc_op *op = vci_op_make(stream, VC_COPY_OUT);
    op->from = from;
    op->bytes = bytes;
    op->host = to;
    op->pinned = !wait;
    op->references += wait;
    result = vci_submit(op);
    if (!wait)
        return result;
    if (result == CUDA_SUCCESS)
        result = vci_wait(op);
    vci_op_release(op);
    return result;
}

static CUresult copy_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle,
                            bool wait)
{
    vc_stream *stream;
    vc_gpu *target = NULL, *source = NULL;
    CUresult result = vci_stream_of(handle, &stream);
    if (result != CUDA_SUCCESS || !bytes)
        return result;
    if (!on_device(to, bytes, &target) || !on_device(from, bytes, &source))
        return CUDA_ERROR_INVALID_VALUE;
    vc_op *op = vci_op_make(stream, target == source ? VC_COPY_DEVICE : VC_COPY_PEER);
    op->to = to;
    op->from = from;
    op->bytes = bytes;
    op->gpu = target;
    op->peer = source;
    op->references += wait;
    result = vci_submit(op);
    if (!wait)
        return result;
    if (result == CUDA_SUCCESS)
        result = vci_wait(op);
    vci_op_release(op);
    return result;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    CUresult result = vci_enter(VC_cuMemcpyHtoD_v2, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? copy_in(to, from, bytes, NULL, true) : result);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    CUresult result = vci_enter(VC_cuMemcpyHtoDAsync_v2, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? copy_in(to, from, bytes, stream, false) : result);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    CUresult result = vci_enter(VC_cuMemcpyDtoH_v2, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? copy_out(to, from, bytes, NULL, true) : result);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUresult result = vci_enter(VC_cuMemcpyDtoHAsync_v2, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? copy_out(to, from, bytes, stream, false) : result);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult result = vci_enter(VC_cuMemcpyDtoD_v2, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? copy_device(to, from, bytes, NULL, true) : result);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUresult result = vci_enter(VC_cuMemcpyDtoDAsync_v2, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? copy_device(to, from, bytes, stream, false) : result);
}

static bool lies_in(CUdeviceptr address, size_t bytes, const vc_context *context)
{
    vc_gpu *gpu;
    return context && on_device(address, bytes, &gpu) && gpu == context->gpu;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream)
{
    CUresult result = vci_enter(VC_cuMemcpyPeerAsync, VC_CURRENT);
    const vc_context *target = vci_handle_find(VC_CONTEXT, to_context);
    const vc_context *source = vci_handle_find(VC_CONTEXT, from_context);
    if (result == CUDA_SUCCESS && (!target || !source))
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && bytes &&
        (!lies_in(to, bytes, target) || !lies_in(from, bytes, source)))
        result = CUDA_ERROR_INVALID_VALUE;
    return vci_leave(result == CUDA_SUCCESS ? copy_device(to, from, bytes, stream, false) : result);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream handle)
{
    vc_stream *stream;
    CUresult result = vci_enter(VC_cuMemsetD8Async, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(handle, &stream);
    if (result != CUDA_SUCCESS || !bytes)
        return vci_leave(result);
    if (!on_device(to, bytes, NULL))
        return vci_leave(CUDA_ERROR_INVALID_VALUE);
    vc_op *op = vci_op_make(stream, VC_FILL);
    op->to = to;
    op->bytes = bytes;
    op->value = value;
    return vci_leave(vci_submit(op));
}
