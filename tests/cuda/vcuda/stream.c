/* Streams: creation, destruction, waiting, and what may be put into one beside copies and kernels.
 */
#include "internal.h"

#include <stdlib.h>

/* The life of a stream's thread (order "threads"): run what is ready, until closed and empty. */
static void *serve(void *user)
{
    vc_stream *stream = user;
    pthread_mutex_lock(&vc.lock);
    while (stream->head || !stream->closed) {
        vc_op *op = stream->head;
        if (op && vci_ready(op))
            vci_run(op);
        else
            vci_pause();
    }
    stream->idle = true;
    pthread_mutex_unlock(&vc.lock);
    return NULL;
}

vc_stream *vci_stream_open(vc_context *context, bool blocking)
{
    vci_streams_reap();
    vc_stream *stream = vci_alloc(1, sizeof *stream);
    stream->blocking = blocking;
    stream->next = vc.streams;
    vc.streams = stream;
    vci_handle_make(&stream->object, VC_STREAM, context);
    context->gpu->counts.live_streams++;
    if (vc.mode == VC_THREADS) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, stream))
            abort();
        pthread_detach(thread); /* who would wait for one that hangs? */
        stream->threaded = true;
    }
    return stream;
}

/* What was submitted still runs; the handle is void at once. */
void vci_stream_close(vc_stream *stream)
{
    vci_handle_drop(&stream->object);
    stream->object.context->gpu->counts.live_streams--;
    stream->closed = true;
    stream->capturer = NULL;
    pthread_cond_broadcast(&vc.changed);
}

/* Forgets the closed streams that have run empty. */
void vci_streams_reap(void)
{
    for (vc_stream **at = &vc.streams; *at;) {
        vc_stream *stream = *at;
        if (!stream->closed || stream->head || (stream->threaded && !stream->idle)) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        vci_op_release(stream->last);
        free(stream);
    }
}

CUresult vci_stream_of(CUstream handle, vc_stream **out)
{
    vc_context *context = vci_current();
    *out = handle ? vci_handle_find(VC_STREAM, handle) : context->null_stream;
    if (!*out)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult failed = (*out)->object.context->gpu->failed;
    return failed != CUDA_SUCCESS ? failed : vci_capture_meet(*out);
}

static CUresult create(enum vc_call call, CUstream *out, unsigned int flags)
{
    CUresult result = vci_enter(call, VC_CURRENT);
    if (result == CUDA_SUCCESS && (!out || flags & ~(unsigned int)CU_STREAM_NON_BLOCKING))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        vc_context *context = vci_current();
        bool blocking = !(flags & CU_STREAM_NON_BLOCKING) && !context->green;
        *out = vci_stream_open(context, blocking)->object.handle;
    }
    return vci_leave(result);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return create(VC_cuStreamCreate, stream, flags);
}

/* Priorities are accepted, as the driver does with any number, and change nothing here. */
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    (void)priority;
    return create(VC_cuStreamCreateWithPriority, stream, flags);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
    CUresult result = vci_enter(VC_cuStreamDestroy_v2, VC_RELEASE);
    vc_stream *stream = vci_handle_find(VC_STREAM, handle);
    if (vc.refused)
        return vci_leave(result);
    if (!stream || stream == stream->object.context->null_stream)
        return vci_leave(CUDA_ERROR_INVALID_HANDLE);
    vci_stream_close(stream);
    vci_streams_reap();
    return vci_leave(result);
}

CUresult cuStreamSynchronize(CUstream handle)
{
    vc_stream *stream;
    CUresult result = vci_enter(VC_cuStreamSynchronize, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = vci_wait(stream->last);
    return vci_leave(result);
}

CUresult cuStreamQuery(CUstream handle)
{
    vc_stream *stream;
    CUresult result = vci_enter(VC_cuStreamQuery, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = vci_poll(stream->last);
    return vci_leave(result);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags)
{
    vc_stream *stream;
    CUresult result = vci_enter(VC_cuStreamWaitEvent, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(handle, &stream);
    vc_event *event = vci_handle_find(VC_EVENT, event_handle);
    if (result == CUDA_SUCCESS && !event)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && flags)
        result = CUDA_ERROR_INVALID_VALUE;
    /* An event that was never recorded is nothing to wait for. */
    if (result != CUDA_SUCCESS || !event->recorded)
        return vci_leave(result);
    vc_op *op = vci_op_make(stream, VC_MARK);
    vci_op_after(op, event->recorded);
    return vci_leave(vci_submit(op));
}

static CUresult call_host(CUstream handle, CUhostFn function, CUstreamCallback callback, void *user)
{
    vc_stream *stream;
    CUresult result = vci_stream_of(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!function && !callback)
        return CUDA_ERROR_INVALID_VALUE;
    vc_op *op = vci_op_make(stream, VC_HOST_CALL);
    op->function = function;
    op->callback = callback;
    op->user = user;
    return vci_submit(op);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user)
{
    CUresult result = vci_enter(VC_cuLaunchHostFunc, VC_CURRENT);
    return vci_leave(result == CUDA_SUCCESS ? call_host(stream, function, NULL, user) : result);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user,
                             unsigned int flags)
{
    CUresult result = vci_enter(VC_cuStreamAddCallback, VC_CURRENT);
    if (result == CUDA_SUCCESS && flags)
        result = CUDA_ERROR_INVALID_VALUE;
    return vci_leave(result == CUDA_SUCCESS ? call_host(stream, NULL, callback, user) : result);
}

static CUresult value_op(enum vc_call call, enum vc_op_kind kind, CUstream handle,
                         CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    vc_stream *stream;
    CUresult result = vci_enter(call, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(handle, &stream);
    unsigned int last = kind == VC_WAIT_VALUE ? CU_STREAM_WAIT_VALUE_EQ : 0;
    if (result == CUDA_SUCCESS && (flags > last || address % 4 || !vci_region(address, 4)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    vc_op *op = vci_op_make(stream, kind);
    op->to = address;
    op->value = value;
    op->flags = flags;
    return vci_leave(vci_submit(op));
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned int flags)
{
    return value_op(VC_cuStreamWaitValue32_v2, VC_WAIT_VALUE, stream, address, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags)
{
    return value_op(VC_cuStreamWriteValue32_v2, VC_WRITE_VALUE, stream, address, value, flags);
}
