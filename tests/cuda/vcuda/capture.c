/* The capture of streams into graphs, for those who do not capture: what it forbids them, and what
 * becomes of it when they try. What is captured is always nothing: a stream that is captured takes
 * no work. */
#include "internal.h"

/* Of calls that are "potentially unsafe" the documentation names cuMemAlloc and cuEventQuery. Here
 * it is all that wait, ask whether something has ended, make memory, code or contexts, or give them
 * back. */
static bool is_unsafe(enum vc_call call)
{
    static const enum vc_call unsafe[] = {
        VC_cuDevicePrimaryCtxRetain,
        VC_cuDevicePrimaryCtxRelease_v2,
        VC_cuCtxSynchronize,
        VC_cuCtxEnablePeerAccess,
        VC_cuMemAlloc_v2,
        VC_cuMemFree_v2,
        VC_cuMemAllocManaged,
        VC_cuMemHostAlloc,
        VC_cuMemFreeHost,
        VC_cuMemHostRegister_v2,
        VC_cuMemHostUnregister,
        VC_cuMemcpyHtoD_v2,
        VC_cuMemcpyDtoH_v2,
        VC_cuMemcpyDtoD_v2,
        VC_cuStreamSynchronize,
        VC_cuStreamQuery,
        VC_cuStreamDestroy_v2,
        VC_cuEventSynchronize,
        VC_cuEventQuery,
        VC_cuModuleLoadData,
        VC_cuModuleLoadDataEx,
        VC_cuModuleUnload,
        VC_cuGreenCtxCreate,
        VC_cuGreenCtxDestroy,
    };
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        if (unsafe[i] == call)
            return true;
    return false;
}

static bool forbids(const vc_stream *stream)
{
    const vc_thread *self = vci_thread();
    if (!stream->capturer || self->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (stream->capturer == self)
        return stream->capture != CU_STREAM_CAPTURE_MODE_RELAXED;
    return self->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           stream->capture == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult vci_capture_check(enum vc_call call)
{
    CUresult result = CUDA_SUCCESS;
    if (!is_unsafe(call))
        return CUDA_SUCCESS;
    for (vc_stream *stream = vc.streams; stream; stream = stream->next)
        if (forbids(stream)) {
            stream->spoiled = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

/* The null stream stands for all blocking ones of its context. */
CUresult vci_capture_meet(vc_stream *stream)
{
    const vc_context *context = stream->object.context;
    CUresult result = CUDA_SUCCESS;
    if (stream->capturer) {
        stream->spoiled = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    for (vc_stream *other = vc.streams; other && stream == context->null_stream;
         other = other->next)
        if (other->capturer && other->blocking && other->object.context == context) {
            other->spoiled = true;
            result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return result;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    CUresult result = vci_enter(VC_cuStreamBeginCapture_v2, VC_CURRENT);
    vc_stream *stream = vci_handle_find(VC_STREAM, handle);
    if (result == CUDA_SUCCESS && (!stream || stream->capturer || mode > 2))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        stream->capturer = vci_thread();
        stream->capture = mode;
        stream->spoiled = false;
    }
    return vci_leave(result);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    CUresult result = vci_enter(VC_cuStreamEndCapture, VC_CURRENT);
    vc_stream *stream = vci_handle_find(VC_STREAM, handle);
    if (result == CUDA_SUCCESS && (!stream || !graph))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !stream->capturer)
        result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (result == CUDA_SUCCESS && stream->capturer != vci_thread() &&
        stream->capture != CU_STREAM_CAPTURE_MODE_RELAXED)
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    stream->capturer = NULL;
    *graph = stream->spoiled ? NULL : (CUgraph)&vc; /* of nothing: one is like another */
    return vci_leave(stream->spoiled ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph graph)
{
    CUresult result = vci_enter(VC_cuGraphDestroy, VC_NOBODY);
    if (result == CUDA_SUCCESS && graph != (CUgraph)&vc)
        result = CUDA_ERROR_INVALID_VALUE;
    return vci_leave(result);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult result = vci_enter(VC_cuThreadExchangeStreamCaptureMode, VC_NOBODY);
    vc_thread *self = vci_thread();
    if (result == CUDA_SUCCESS && (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        const CUstreamCaptureMode before = self->mode;
        self->mode = *mode;
        *mode = before;
    }
    return vci_leave(result);
}
