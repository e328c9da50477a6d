/* Operations: submission, running, waiting, polling. */
#include "internal.h"

#include <stdlib.h>
#include <time.h>

enum { PAUSE_MS = 5 };
enum { POLL_NS = 1000, POLL_DOUBLINGS = 10, POLLS_BEFORE_RUN = 3 };

vc_op *vci_op_make(vc_stream *stream, enum vc_op_kind kind)
{
    vc_op *op = vci_alloc(1, sizeof *op);
    op->kind = kind;
    op->references = 1;
    op->stream = stream;
    op->context = stream->object.context;
    op->gpu = op->context->gpu;
    return op;
}

void vci_op_after(vc_op *op, vc_op *earlier)
{
    if (!earlier || earlier->state == VC_DONE) {
        if (earlier && earlier->end > op->submitted)
            op->submitted = earlier->end;
        return;
    }
    op->after = vci_grow(op->after, (size_t)op->after_count + 1, sizeof(vc_op *));
    op->after[op->after_count++] = earlier;
    earlier->references++;
}

void vci_op_release(vc_op *op)
{
    if (!op || --op->references)
        return;
    for (int i = 0; i < op->after_count; i++)
        vci_op_release(op->after[i]);
    if (op->launch)
        free(op->launch->parameters);
    free(op->launch);
    free(op->after);
    free(op->staged);
    free(op);
}

/* The null stream runs after all blocking streams of its context, and they after it. */
static void order_by_null_stream(vc_op *op)
{
    vc_stream *null_stream = op->context->null_stream;
    if (op->stream != null_stream) {
        if (op->stream->blocking)
            vci_op_after(op, null_stream->last);
        return;
    }
    for (vc_stream *other = vc.streams; other; other = other->next)
        if (other != null_stream && other->blocking && other->object.context == op->context)
            vci_op_after(op, other->last);
}

CUresult vci_submit(vc_op *op)
{
    vc_stream *stream = op->stream;
    int64_t now = vci_thread()->now;
    order_by_null_stream(op);
    vci_fault_mark(op);
    if (op->submitted < now)
        op->submitted = now;
    op->number = ++vc.operations;
    if (stream->head) {
        stream->last->next = op;
    } else {
        stream->head = op;
    }
    op->references++; /* the queue's and, as `last`, the stream's */
    vci_op_release(stream->last);
    stream->last = op;
    pthread_cond_broadcast(&vc.changed);
    return CUDA_SUCCESS;
}

static bool value_reached(const vc_op *op)
{
    const vc_region *region = vci_region(op->to, 4);
    if (!region)
        return true; /* fails when it runs */
    const uint32_t *at = (const void *)(region->window.host + (op->to - region->window.base));
    uint32_t value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    return op->flags == CU_STREAM_WAIT_VALUE_EQ ? value == op->value
                                                : (int32_t)(value - op->value) >= 0;
}

bool vci_ready(const vc_op *op)
{
    if (op->state != VC_QUEUED || op != op->stream->head)
        return false;
    if (op->context->gpu->failed != CUDA_SUCCESS)
        return true;
    for (int i = 0; i < op->after_count; i++)
        if (op->after[i]->state != VC_DONE)
            return false;
    return !op->hangs && (op->kind != VC_WAIT_VALUE || value_reached(op));
}

static void free_engines(vc_op *op)
{
    if (op->kind == VC_COPY_IN || op->kind == VC_COPY_PEER)
        op->gpu->in_free = op->end;
    if (op->kind == VC_COPY_OUT)
        op->gpu->out_free = op->end;
    if (op->kind == VC_COPY_PEER)
        op->peer->out_free = op->end;
    if (op->kind == VC_KERNEL || op->kind == VC_FILL || op->kind == VC_COPY_DEVICE)
        op->context->compute_free = op->end;
}

void vci_run(vc_op *op)
{
    vc_gpu *gpu = op->context->gpu;
    int64_t duration = 0;
    op->state = VC_RUNNING;
    CUresult result = op->fault;
    if (gpu->failed == CUDA_SUCCESS && result == CUDA_SUCCESS)
        result = vci_execute(op, &duration);
    if (gpu->failed == CUDA_SUCCESS && result != CUDA_SUCCESS)
        vci_fail(gpu, result);
    op->start = vci_start_of(op);
    op->end = op->start + duration;
    free_engines(op);
    op->state = VC_DONE;
    vc.activity++;
    op->stream->tail = op->end;
    op->stream->head = op->next;
    op->next = NULL;
    vci_op_release(op);
    pthread_cond_broadcast(&vc.changed);
}

void vci_pause(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PAUSE_MS * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&vc.changed, &vc.lock, &until);
}

/* The operation that nothing can run before: hung, waiting for a value, or running just now. */
static vc_op *blocker(vc_op *op)
{
    for (;;) {
        vc_op *earlier = NULL;
        op = op->stream->head;
        for (int i = 0; i < op->after_count && !earlier; i++)
            if (op->after[i]->state != VC_DONE)
                earlier = op->after[i];
        if (!earlier || op->state != VC_QUEUED)
            return op;
        op = earlier;
    }
}

/* Nothing can run and the target is not done. Waits for other threads, or ends the wait. */
static void be_stuck(const vc_op *blocked_by, uint64_t *activity, int *pauses)
{
    vc_thread *self = vci_thread();
    vc_gpu *gpu = blocked_by->context->gpu;
    if (*activity != vc.activity) {
        *activity = vc.activity;
        *pauses = 0;
    }
    if (blocked_by->hangs && blocked_by->hang_limit > 0) {
        gpu->counts.hang_waits++;
        self->now += blocked_by->hang_limit;
        vci_fail(gpu, CUDA_ERROR_LAUNCH_TIMEOUT);
    } else if (blocked_by->kind == VC_WAIT_VALUE && ++*pauses * PAUSE_MS > vc.stall_ms) {
        gpu->counts.hang_waits++;
        vci_say("deadlock: device %d waits for a value that nobody is going to write", gpu->index);
        vci_fail(gpu, CUDA_ERROR_LAUNCH_TIMEOUT);
    } else {
        vci_pause();
    }
}

static void join(const vc_op *op)
{
    vc_thread *self = vci_thread();
    if (op->end > self->now)
        self->now = op->end;
}

CUresult vci_wait(vc_op *op)
{
    uint64_t activity = vc.activity;
    int pauses = 0;
    if (!op)
        return CUDA_SUCCESS;
    op->references++;
    while (op->state != VC_DONE) {
        vc_op *next = vc.mode == VC_THREADS ? NULL : vci_choose(op, INT64_MAX);
        if (next)
            vci_run(next);
        else
            be_stuck(blocker(op), &activity, &pauses);
    }
    join(op);
    CUresult result = op->context->gpu->failed;
    vci_op_release(op);
    return result;
}

/* Each poll in a row costs the thread twice as much virtual time as the one before, up to a
 * millisecond: one that polls is taken to sleep in between, and a watchdog's patience ends. */
CUresult vci_poll(vc_op *op)
{
    vc_thread *self = vci_thread();
    int doublings = self->polls < POLL_DOUBLINGS ? self->polls : POLL_DOUBLINGS;
    if (!op)
        return CUDA_SUCCESS;
    self->polls++;
    self->now += (int64_t)POLL_NS << doublings;
    op->references++;
    bool may_run = vc.mode == VC_TIME || (vc.mode != VC_THREADS && op->polls++ > POLLS_BEFORE_RUN);
    vc_op *next;
    while (may_run && op->state != VC_DONE &&
           (next = vci_choose(op, vc.mode == VC_TIME ? self->now : INT64_MAX)))
        vci_run(next);
    CUresult result = op->context->gpu->failed;
    if (result == CUDA_SUCCESS &&
        (op->state != VC_DONE || (vc.mode == VC_TIME && op->end > self->now)))
        result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS) {
        join(op);
        self->polls = 0;
    }
    vci_op_release(op);
    return result;
}

CUresult vci_wait_gpu(vc_gpu *gpu)
{
    CUresult result = gpu->failed;
    for (vc_stream *stream = vc.streams; stream && result == CUDA_SUCCESS;) {
        vc_op *last = stream->object.context->gpu == gpu ? stream->last : NULL;
        if (last && last->state != VC_DONE) {
            result = vci_wait(last);
            stream = vc.streams; /* the list may have changed meanwhile */
            continue;
        }
        if (last)
            join(last);
        stream = stream->next;
    }
    return result;
}
