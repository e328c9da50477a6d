/* Contract: what the capture of a stream by one thread means to another one. */
#include "contract.h"

#include <pthread.h>

typedef struct other {
    CUcontext context;
    const char *(*check)(void);
    const char *found;
} other;

static void *run(void *user)
{
    other *o = user;
    o->found = cu.cuCtxSetCurrent(o->context) == CUDA_SUCCESS ? o->check() : "no context";
    return NULL;
}

/* The check, by another thread, while this one captures a stream. `end` is how the capture ends. */
static const char *beside_capture(unsigned int flags, const char *(*check)(void), CUresult end)
{
    other o = {.check = check};
    pthread_t thread;
    CUstream stream;
    CUgraph graph = NULL;
    DO(use_device(0));
    DO(cu.cuCtxGetCurrent(&o.context));
    DO(cu.cuStreamCreate(&stream, flags));
    DO(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    HOLDS(pthread_create(&thread, NULL, run, &o) == 0);
    pthread_join(thread, NULL);
    if (o.found)
        return o.found;
    EXPECT(cu.cuStreamEndCapture(stream, &graph), end);
    if (graph)
        DO(cu.cuGraphDestroy(graph));
    return NULL;
}

static const char *relax(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    DO(cu.cuThreadExchangeStreamCaptureMode(&mode));
    HOLDS(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    return NULL;
}

static const char *allocate(void)
{
    CUdeviceptr memory;
    EXPECT(cu.cuMemAlloc(&memory, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return NULL;
}

const char *capture_forbids(void)
{
    return beside_capture(CU_STREAM_NON_BLOCKING, allocate, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static const char *work_relaxed(void)
{
    const char *found = relax();
    CUdeviceptr memory;
    CUstream stream;
    void *host;
    if (found)
        return found;
    DO(cu.cuMemAlloc(&memory, 16));
    DO(cu.cuMemHostAlloc(&host, 16, 0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu.cuMemsetD8Async(memory, 5, 16, stream));
    DO(cu.cuMemcpyDtoHAsync(host, memory, 16, stream));
    DO(cu.cuStreamSynchronize(stream));
    DO(cu.cuStreamQuery(stream));
    HOLDS(*(const char *)host == 5);
    DO(cu.cuStreamDestroy(stream));
    DO(cu.cuMemFree(memory));
    DO(cu.cuMemFreeHost(host));
    return NULL;
}

const char *capture_relaxed(void)
{
    const char *found = beside_capture(CU_STREAM_DEFAULT, work_relaxed, CUDA_SUCCESS);
    return found ? found : beside_capture(CU_STREAM_NON_BLOCKING, work_relaxed, CUDA_SUCCESS);
}

static const char *ask_null(void)
{
    const char *found = relax();
    if (found)
        return found;
    EXPECT(cu.cuStreamQuery(NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    return NULL;
}

const char *capture_null(void)
{
    return beside_capture(CU_STREAM_DEFAULT, ask_null, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
