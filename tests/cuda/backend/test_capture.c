/*
 * Somebody in the program captures a CUDA graph while the library is at work: by the same thread or
 * by another one, on a stream of its own that waits for the null stream. Neither knows of the
 * other. Nor does NCCL, which the library uses, change what is current on the program's thread.
 *
 * test_capture DRIVER --nccl LIBRARY: the simulated NCCL.
 */
#define _POSIX_C_SOURCE 200809L
#include "resident.h"

#include "device/cuda/api.h"
#include "support/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The simulated driver's own functions, as a program would call the real one's. */
#define SYI_CU(need, name, symbol, fallback, arguments) CUresult symbol arguments;
#include "device/cuda/api.def"
#undef SYI_CU
CUresult cuCtxGetCurrent(CUcontext *);

/* ---- the program's capture ---- */

enum { PROGRAMS_GPU = 1, GPUS = 3 };

typedef struct capture {
    CUcontext context;
    CUstream stream;
    pthread_t thread;
    pthread_barrier_t begun, over;
    CUresult end;
} capture;

static void begin(capture *c)
{
    CUdevice device = PROGRAMS_GPU;
    GPU_CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, device) == CUDA_SUCCESS &&
                  cuDevicePrimaryCtxRetain(&c->context, device) == CUDA_SUCCESS &&
                  cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS &&
                  cuStreamCreate(&c->stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS &&
                  cuStreamBeginCapture_v2(c->stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS,
              "no capture");
}

static void end(capture *c)
{
    CUgraph graph = NULL;
    c->end = cuStreamEndCapture(c->stream, &graph);
    if (graph)
        cuGraphDestroy(graph);
    cuStreamDestroy_v2(c->stream);
    cuCtxPopCurrent_v2(NULL);
    cuDevicePrimaryCtxRelease_v2(PROGRAMS_GPU);
}

static void *capture_apart(void *user)
{
    capture *c = user;
    begin(c);
    pthread_barrier_wait(&c->begun);
    pthread_barrier_wait(&c->over);
    end(c);
    return NULL;
}

/* ---- the library's work ---- */

static const char *devices; /* to be opened */
static const char *nccl;
static lab_trace trace;

static void compute(sy_context *context)
{
    static const struct {
        const char *workload;
        sy_dtype dtype;
        resident_place in, out;
    } jobs[] = {{"sma", SY_F64, ON_HOST, ON_HOST},
                {"ema", SY_F32, ON_PINNED, ON_PINNED},
                {"variance", SY_F64, ON_GPU, ON_HOST},
                {"bollinger", SY_F64, MIXED, MIXED},
                {"sma", SY_F64, ON_HOST, ON_GPU}};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        lab_case c = gpu_case(jobs[i].workload, 9000);
        sy_status status;
        c.dtype = jobs[i].dtype;
        if (c.dtype == SY_F32)
            lab_round_to_floats(gpu_x, 9000);
        status = resident_compare(context, &c, jobs[i].in, jobs[i].out, NULL, NULL, devices);
        GPU_CHECK(status == SY_OK || status == SY_ERR_NO_DEVICE, "%s on %s: %s", jobs[i].workload,
                  devices, sy_last_error()->text);
    }
}

/* To a copy on each GPU. */
static void spread(sy_context *context)
{
    static const char bytes[6000];
    void *copies[GPUS] = {0};
    int count = 0;
    while (count < GPUS && sy_memory_alloc(context, count, sizeof bytes, &copies[count]) == SY_OK)
        count++;
    GPU_CHECK(sy_memory_spread(context, copies, count, bytes, sizeof bytes) == SY_OK, "%s: %s",
              devices, sy_last_error()->text);
    for (int i = 0; i < count; i++)
        sy_memory_free(context, &copies[i]);
}

static void expect_current(CUcontext expected, const char *after)
{
    CUcontext current = NULL;
    GPU_CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == expected,
              "%s: another context is current after %s", devices, after);
}

/* All that a context does, from its opening to its end. */
static void work(void)
{
    CUcontext before = NULL;
    sy_options options = {
        .struct_size = sizeof options, .trace = lab_trace_add, .trace_user = &trace};
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    cuCtxGetCurrent(&before);
    gpu_nccl = nccl;
    context = gpu_open(devices, 300000, 0, NULL);
    gpu_nccl = NULL;
    lab_case c = gpu_case("sma", 9000);
    GPU_CHECK(context, "%s: %s", devices, sy_last_error()->text);
    if (!context)
        return;
    compute(context);
    trace.count = 0;
    GPU_CHECK(gpu_compare(context, &c, &options, &report, devices) == SY_OK && trace.count > 0,
              "%s, traced: %s", devices, sy_last_error()->text);
    for (int i = 0; i < report.n_devices; i++)
        GPU_CHECK(report.devices[i].tiles == 0 || !strcmp(report.devices[i].state, "ok"),
                  "%s: %s is %s", devices, report.devices[i].name, report.devices[i].state);
    sy_report_clear(&report);
    spread(context);
    expect_current(before, "what it computed");
    sy_trim(context);
    expect_current(before, "sy_trim");
    spread(context);
    sy_context_destroy(&context);
    expect_current(before, "its end");
}

static void beside_capture(int apart)
{
    capture c = {.end = CUDA_ERROR_UNKNOWN};
    sy_context *none = NULL;
    gpu_world("gpus=3;*:sms=16", NULL, 0);
    pthread_barrier_init(&c.begun, NULL, 2);
    pthread_barrier_init(&c.over, NULL, 2);
    if (apart && pthread_create(&c.thread, NULL, capture_apart, &c) != 0)
        exit(2);
    if (apart)
        pthread_barrier_wait(&c.begun);
    else
        begin(&c);
    work();
    if (apart) {
        pthread_barrier_wait(&c.over);
        pthread_join(c.thread, NULL);
    } else {
        end(&c);
    }
    GPU_CHECK(c.end == CUDA_SUCCESS, "%s, by %s thread: the capture is lost (%d)", devices,
              apart ? "another" : "the same", (int)c.end);
    pthread_barrier_destroy(&c.begun);
    pthread_barrier_destroy(&c.over);
    gpu_close(&none, devices);
}

/* A thread is as it was before. */
static void afterwards(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    gpu_world("gpus=3;*:sms=16", NULL, 0);
    cuInit(0);
    cuThreadExchangeStreamCaptureMode(&mode);
    work();
    cuThreadExchangeStreamCaptureMode(&mode);
    GPU_CHECK(mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, "the thread has mode %u", mode);
}

int main(int argc, char **argv)
{
    static const char *const lists[] = {"cuda", "cuda:0", "cuda:0/8+8,cpu:threads=1"};
    if (argc != 4 || strcmp(argv[2], "--nccl") != 0 || !gpu_begin(2, argv))
        return 2;
    nccl = argv[3];
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        devices = lists[i];
        beside_capture(0);
        beside_capture(1);
    }
    afterwards();
    return gpu_end();
}
