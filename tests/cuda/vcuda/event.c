/* Events. An event is the operation that recorded it last; a wait refers to the record that was the
 * last one at the time of the call. */
#include "internal.h"

#include <stdlib.h>

CUresult cuEventCreate(CUevent *out, unsigned int flags)
{
    CUresult result = vci_enter(VC_cuEventCreate, VC_CURRENT);
    if (result == CUDA_SUCCESS && (!out || flags & ~3u)) /* bit 0: a blocking wait */
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        vc_context *context = vci_current();
        vc_event *event = vci_alloc(1, sizeof *event);
        event->timed = !(flags & CU_EVENT_DISABLE_TIMING);
        vci_handle_make(&event->object, VC_EVENT, context);
        context->gpu->counts.live_events++;
        *out = event->object.handle;
    }
    return vci_leave(result);
}

void vci_event_close(vc_event *event)
{
    event->object.context->gpu->counts.live_events--;
    vci_handle_drop(&event->object);
    vci_op_release(event->recorded);
    free(event);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    CUresult result = vci_enter(VC_cuEventDestroy_v2, VC_RELEASE);
    vc_event *event = vci_handle_find(VC_EVENT, handle);
    if (vc.refused)
        return vci_leave(result);
    if (!event)
        return vci_leave(CUDA_ERROR_INVALID_HANDLE);
    vci_event_close(event);
    return vci_leave(result);
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle)
{
    vc_stream *stream;
    CUresult result = vci_enter(VC_cuEventRecord, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(stream_handle, &stream);
    vc_event *event = vci_handle_find(VC_EVENT, handle);
    if (result == CUDA_SUCCESS && (!event || event->object.context != stream->object.context))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    vc_op *op = vci_op_make(stream, VC_MARK);
    op->references++;
    vci_op_release(event->recorded);
    event->recorded = op;
    return vci_leave(vci_submit(op));
}

static CUresult find(CUevent handle, vc_event **out)
{
    *out = vci_handle_find(VC_EVENT, handle);
    return *out ? (*out)->object.context->gpu->failed : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventSynchronize(CUevent handle)
{
    vc_event *event;
    CUresult result = vci_enter(VC_cuEventSynchronize, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = find(handle, &event);
    if (result == CUDA_SUCCESS)
        result = vci_wait(event->recorded);
    return vci_leave(result);
}

CUresult cuEventQuery(CUevent handle)
{
    vc_event *event;
    CUresult result = vci_enter(VC_cuEventQuery, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = find(handle, &event);
    if (result == CUDA_SUCCESS)
        result = vci_poll(event->recorded);
    return vci_leave(result);
}

static bool reached(const vc_op *op)
{
    return op->state == VC_DONE && (vc.mode != VC_TIME || op->end <= vci_thread()->now);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start_handle, CUevent end_handle)
{
    vc_event *start, *end;
    CUresult result = vci_enter(VC_cuEventElapsedTime_v2, VC_CURRENT);
    if (result == CUDA_SUCCESS)
        result = find(start_handle, &start);
    if (result == CUDA_SUCCESS)
        result = find(end_handle, &end);
    if (result == CUDA_SUCCESS && !milliseconds)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS &&
        (!start->timed || !end->timed || !start->recorded || !end->recorded ||
         start->object.context->gpu != end->object.context->gpu))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (!reached(start->recorded) || !reached(end->recorded)))
        result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS)
        *milliseconds = (float)((double)(end->recorded->end - start->recorded->end) * 1e-6);
    return vci_leave(result);
}
