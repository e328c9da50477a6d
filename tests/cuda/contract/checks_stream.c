/* Contract: streams, events, host functions. */
#include "contract.h"

const char *stream_flags(void)
{
    CUstream stream;
    DO(use_device(0));
    EXPECT(cu.cuStreamCreate(&stream, 0x100), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

const char *stream_query(void)
{
    gate g;
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu.cuStreamQuery(stream));
    DO(gate_close(&g, stream));
    for (int i = 0; i < 10; i++)
        EXPECT(cu.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    gate_open(&g);
    DO(cu.cuStreamSynchronize(stream));
    DO(cu.cuStreamQuery(stream));
    return NULL;
}

/* Is work in `second` held up by a gate in `first`? */
static const char *holds_up(CUstream first, CUstream second, int expected)
{
    gate g;
    CUdeviceptr memory;
    DO(cu.cuMemAlloc(&memory, 16));
    DO(gate_close(&g, first));
    DO(cu.cuMemsetD8Async(memory, 1, 16, second));
    if (expected) {
        for (int i = 0; i < 10; i++)
            EXPECT(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    } else {
        DO(cu.cuStreamSynchronize(second));
    }
    gate_open(&g);
    DO(cu.cuStreamSynchronize(first));
    DO(cu.cuStreamSynchronize(second));
    return NULL;
}

const char *stream_null_after(void)
{
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    return holds_up(stream, NULL, 1);
}

const char *stream_null_apart(void)
{
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return holds_up(stream, NULL, 0);
}

const char *stream_null_before(void)
{
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    return holds_up(NULL, stream, 1);
}

const char *stream_wait(void)
{
    gate g;
    CUstream first, second;
    CUevent event;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    DO(cu.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    DO(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DO(gate_close(&g, first));
    DO(cu.cuEventRecord(event, first));
    EXPECT(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
    DO(cu.cuStreamWaitEvent(second, event, 0));
    DO(cu.cuEventDestroy(event)); /* the wait stays */
    for (int i = 0; i < 10; i++)
        EXPECT(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    gate_open(&g);
    DO(cu.cuStreamSynchronize(second));
    return NULL;
}

const char *stream_wait_never(void)
{
    CUevent event;
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DO(cu.cuStreamWaitEvent(stream, event, 0));
    DO(cu.cuStreamSynchronize(stream));
    return NULL;
}

const char *stream_wait_which(void)
{
    gate g;
    CUevent event;
    CUstream first, second;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    DO(cu.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    DO(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DO(cu.cuEventRecord(event, first));
    DO(cu.cuStreamWaitEvent(second, event, 0));
    DO(gate_close(&g, first));
    DO(cu.cuEventRecord(event, first));
    DO(cu.cuStreamSynchronize(second));
    gate_open(&g);
    DO(cu.cuStreamSynchronize(first));
    return NULL;
}

const char *stream_destroy(void)
{
    gate g;
    CUstream stream;
    CUdeviceptr memory;
    CUevent event;
    char host = 0;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DO(cu.cuMemAlloc(&memory, 16));
    DO(gate_close(&g, stream));
    DO(cu.cuMemsetD8Async(memory, 5, 16, stream));
    DO(cu.cuEventRecord(event, stream));
    DO(cu.cuStreamDestroy(stream));
    EXPECT(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&g);
    DO(cu.cuEventSynchronize(event));
    DO(cu.cuMemcpyDtoH(&host, memory, 1));
    HOLDS(host == 5);
    return NULL;
}

const char *event_query_never(void)
{
    CUevent event;
    DO(use_device(0));
    DO(cu.cuEventCreate(&event, CU_EVENT_DEFAULT));
    DO(cu.cuEventQuery(event));
    DO(cu.cuEventSynchronize(event));
    return NULL;
}

static const char *elapsed(unsigned int flags, int record, CUresult expected)
{
    CUevent event;
    float time = -1;
    DO(use_device(0));
    DO(cu.cuEventCreate(&event, flags));
    if (record)
        DO(cu.cuEventRecord(event, NULL));
    DO(cu.cuCtxSynchronize());
    EXPECT(cu.cuEventElapsedTime(&time, event, event), expected);
    HOLDS(expected != CUDA_SUCCESS || time == 0);
    return NULL;
}

const char *event_elapsed_never(void)
{
    return elapsed(CU_EVENT_DEFAULT, 0, CUDA_ERROR_INVALID_HANDLE);
}

const char *event_elapsed_untimed(void)
{
    return elapsed(CU_EVENT_DISABLE_TIMING, 1, CUDA_ERROR_INVALID_HANDLE);
}

const char *event_elapsed_early(void)
{
    gate g;
    CUevent first, second;
    CUstream stream;
    float time;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu.cuEventCreate(&first, CU_EVENT_DEFAULT));
    DO(cu.cuEventCreate(&second, CU_EVENT_DEFAULT));
    DO(cu.cuEventRecord(first, stream));
    DO(gate_close(&g, stream));
    DO(cu.cuEventRecord(second, stream));
    EXPECT(cu.cuEventElapsedTime(&time, first, second), CUDA_ERROR_NOT_READY);
    gate_open(&g);
    DO(cu.cuStreamSynchronize(stream));
    return NULL;
}

const char *event_elapsed(void)
{
    CUevent first, second;
    CUdeviceptr memory;
    float time = -1;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 1 << 20));
    DO(cu.cuEventCreate(&first, CU_EVENT_DEFAULT));
    DO(cu.cuEventCreate(&second, CU_EVENT_DEFAULT));
    DO(cu.cuEventRecord(first, NULL));
    DO(cu.cuMemsetD8Async(memory, 1, 1 << 20, NULL));
    DO(cu.cuEventRecord(second, NULL));
    DO(cu.cuEventSynchronize(second));
    DO(cu.cuEventElapsedTime(&time, first, second));
    HOLDS(time >= 0);
    return NULL;
}

const char *event_other_device(void)
{
    CUevent event;
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuEventCreate(&event, CU_EVENT_DEFAULT));
    DO(use_device(1));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT(cu.cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
    return NULL;
}

typedef struct note {
    char *memory; /* pinned */
    char seen;
    CUresult call;
} note;

static void CUDA_CB take_note(void *user)
{
    note *n = user;
    size_t free_bytes, total;
    n->seen = *n->memory;
    n->call = cu.cuMemGetInfo(&free_bytes, &total);
}

static const char *with_note(note *n)
{
    void *host;
    CUdeviceptr memory;
    DO(use_device(0));
    if (!cu.cuLaunchHostFunc)
        return SKIPPED;
    DO(cu.cuMemHostAlloc(&host, 16, 0));
    DO(cu.cuMemAlloc(&memory, 16));
    n->memory = host;
    *n->memory = 1;
    DO(cu.cuMemsetD8Async(memory, 2, 16, NULL));
    DO(cu.cuMemcpyDtoHAsync(host, memory, 16, NULL));
    DO(cu.cuLaunchHostFunc(NULL, take_note, n));
    DO(cu.cuMemsetD8Async(memory, 3, 16, NULL));
    DO(cu.cuMemcpyDtoHAsync(host, memory, 16, NULL));
    DO(cu.cuCtxSynchronize());
    HOLDS(*n->memory == 3);
    return NULL;
}

const char *host_order(void)
{
    note n = {0};
    const char *found = with_note(&n);
    if (found)
        return found;
    HOLDS(n.seen == 2);
    return NULL;
}

const char *host_no_calls(void)
{
    note n = {0};
    const char *found = with_note(&n);
    if (found)
        return found;
    EXPECT(n.call, CUDA_ERROR_NOT_PERMITTED);
    return NULL;
}
