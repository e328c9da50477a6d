/* Tests of the simulated driver itself: the orders of execution and what they catch, virtual time,
 * memory, images. Failures and hangs are in test_vcuda_faults.c; that the simulator does what a
 * driver does is the contract suite's business. */
#include "test_vcuda.h"

#include <pthread.h>
#include <string.h>

const char test_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                        ".visible .entry add(.param .u64 to, .param .u64 from,\n"
                        "                    .param .u32 value, .param .u32 n)\n"
                        "{\n"
                        "    .reg .pred %p<2>;\n"
                        "    .reg .b32 %r<9>;\n"
                        "    .reg .b64 %rd<8>;\n"
                        "    ld.param.u64 %rd1, [to];\n"
                        "    ld.param.u64 %rd2, [from];\n"
                        "    ld.param.u32 %r1, [value];\n"
                        "    ld.param.u32 %r2, [n];\n"
                        "    mov.u32 %r3, %ctaid.x;\n"
                        "    mov.u32 %r4, %ntid.x;\n"
                        "    mov.u32 %r5, %tid.x;\n"
                        "    mad.lo.s32 %r6, %r3, %r4, %r5;\n"
                        "    setp.ge.u32 %p1, %r6, %r2;\n"
                        "    @%p1 bra DONE;\n"
                        "    cvta.to.global.u64 %rd3, %rd1;\n"
                        "    cvta.to.global.u64 %rd4, %rd2;\n"
                        "    mul.wide.u32 %rd5, %r6, 4;\n"
                        "    add.s64 %rd6, %rd3, %rd5;\n"
                        "    add.s64 %rd7, %rd4, %rd5;\n"
                        "    ld.global.u32 %r7, [%rd7];\n"
                        "    add.s32 %r8, %r7, %r1;\n"
                        "    st.global.u32 [%rd6], %r8;\n"
                        "DONE:\n"
                        "    ret;\n"
                        "}\n";

/* ---- orders ---- */

/* Copy in on one stream, kernel on a second, copy out on a third. With the waits it is right;
 * without the first one the kernel may run before its input is there. Returns whether all went
 * well. */
static bool pipeline(bool with_wait)
{
    bool right = true;
    CUstream in = new_stream(), compute = new_stream(), out = new_stream();
    CUdeviceptr x = new_memory(BYTES), y = new_memory(BYTES);
    uint32_t *source = new_pinned(100), *result = new_pinned(0);
    CUfunction add = function_of("add");
    CUevent there, done;
    OK(cuEventCreate(&there, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    OK(cuMemcpyHtoDAsync_v2(x, source, BYTES, in));
    OK(cuEventRecord(there, in));
    if (with_wait)
        OK(cuStreamWaitEvent(compute, there, 0));
    OK(launch_add(add, y, x, 7, compute));
    OK(cuEventRecord(done, compute));
    OK(cuStreamWaitEvent(out, done, 0));
    OK(cuMemcpyDtoHAsync_v2(result, y, BYTES, out));
    right = cuStreamSynchronize(out) == CUDA_SUCCESS;
    for (uint32_t i = 0; i < N; i++)
        right = right && result[i] == 107 + i;
    return right;
}

Test(vcuda_order, time_hides_a_missing_wait)
{
    start("gpus=1", "time", 0);
    cr_expect(pipeline(true));
    cr_expect(pipeline(false), "plausible timing hides it, as hardware does");
}

Test(vcuda_order, lifo_catches_a_missing_wait)
{
    start("gpus=1", "lifo", 0);
    cr_expect(pipeline(true));
    cr_expect_not(pipeline(false));
}

Test(vcuda_order, random_catches_a_missing_wait)
{
    int caught = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        start("gpus=1", "random", seed);
        cr_expect(pipeline(true), "seed %llu", (unsigned long long)seed);
        caught += !pipeline(false);
        vcuda_reset();
    }
    cr_expect_geq(caught, 4);
    cr_expect_lt(caught, 20, "an order that never varies is not random");
}

Test(vcuda_order, threads_run_streams)
{
    start("gpus=1", "threads", 0);
    for (int i = 0; i < 10; i++)
        cr_expect(pipeline(true));
    vcuda_reset();
}

Test(vcuda_order, nothing_runs_before_a_wait)
{
    start("gpus=1", "lifo", 0);
    CUstream stream = new_stream();
    CUdeviceptr memory = new_memory(BYTES);
    uint32_t *host = new_pinned(5);
    OK(cuMemsetD8Async(memory, 0, BYTES, stream));
    OK(cuMemcpyDtoHAsync_v2(host, memory, BYTES, stream));
    cr_expect_eq(host[0], 5);
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(host[0], 0);
}

Test(vcuda_order, memory_freed_under_pending_work_is_noticed)
{
    vcuda_counts counts;
    start("gpus=1", "lifo", 0);
    CUstream stream = new_stream();
    CUdeviceptr memory = new_memory(BYTES);
    OK(cuMemsetD8Async(memory, 0, BYTES, stream));
    OK(cuMemFree_v2(memory));
    IS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    vcuda_counters(0, &counts);
    cr_expect_eq(counts.diagnoses, 1);
}

Test(vcuda_order, uninitialised_input_is_noticed)
{
    start("gpus=1", "time", 0);
    CUdeviceptr x = new_memory(BYTES), y = new_memory(BYTES);
    OK(cuMemsetD8Async(x, 0, BYTES - 1, NULL)); /* all but one byte */
    OK(launch_add(function_of("add"), y, x, 1, NULL));
    IS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    cr_expect(strstr(vcuda_message(), "add"), "%s", vcuda_message());
}

/* ---- virtual time ---- */

static float elapsed(CUevent first, CUevent second)
{
    float time = -1;
    OK(cuEventElapsedTime_v2(&time, first, second));
    return time;
}

Test(vcuda_time, copies_take_latency_and_bytes_over_link)
{
    start("gpus=1;0:link=16GB/s,latency=8us,memory=64MiB", "time", 0);
    CUstream stream = new_stream();
    CUdeviceptr memory = new_memory(16000000);
    void *host;
    OK(cuMemHostAlloc(&host, 16000000, 0));
    CUevent before = record(stream);
    OK(cuMemcpyHtoDAsync_v2(memory, host, 16000000, stream));
    CUevent after = record(stream);
    IS(cuEventQuery(after), CUDA_ERROR_NOT_READY);
    OK(cuEventSynchronize(after));
    /* The copy is submitted one call (100 ns) later than the record before it. */
    cr_expect_float_eq(elapsed(before, after), 1.008 + 0.0001 * 1, 2e-4);
    cr_expect_geq(vcuda_virtual_now(), 1008000);
}

/* How long one `add` takes on a machine. */
static float kernel_time(const char *setup)
{
    start(setup, "time", 0);
    CUstream stream = new_stream();
    CUdeviceptr x = new_memory(BYTES), y = new_memory(BYTES);
    CUfunction add = function_of("add");
    OK(cuMemsetD8Async(x, 0, BYTES, stream));
    CUevent before = record(stream);
    OK(launch_add(add, y, x, 1, stream));
    CUevent after = record(stream);
    OK(cuStreamSynchronize(stream));
    float time = elapsed(before, after);
    vcuda_reset();
    return time;
}

Test(vcuda_time, kernels_scale_with_speed_and_multiprocessors)
{
    float base = kernel_time("gpus=1;0:latency=0us,speed=1,sms=8");
    cr_expect_gt(base, 0.005);
    cr_expect_float_eq(kernel_time("gpus=1;0:latency=0us,speed=2,sms=8"), base / 2, base / 100);
    cr_expect_float_eq(kernel_time("gpus=1;0:latency=0us,speed=1,sms=32"), base / 4, base / 100);
}

Test(vcuda_time, engines_overlap)
{
    enum { CHUNKS = 64, CHUNK = 1 << 20 };
    start("gpus=1;0:link=16GB/s,latency=1us,memory=64MiB", "time", 0);
    CUstream streams[3] = {new_stream(), new_stream(), new_stream()};
    CUdeviceptr memory[3];
    void *host;
    OK(cuMemHostAlloc(&host, CHUNK, 0));
    for (int i = 0; i < 3; i++)
        memory[i] = new_memory(CHUNK);
    CUevent before = record(streams[0]);
    for (int i = 0; i < CHUNKS; i++) {
        OK(cuMemcpyHtoDAsync_v2(memory[i % 3], host, CHUNK, streams[i % 3]));
        OK(cuMemcpyDtoHAsync_v2(host, memory[i % 3], CHUNK, streams[i % 3]));
    }
    CUevent after = record(streams[(CHUNKS - 1) % 3]);
    OK(cuCtxSynchronize());
    double one_way = CHUNKS * (1e-3 + CHUNK / 16e6);
    cr_expect_geq(elapsed(before, after), one_way);
    cr_expect_leq(elapsed(before, after), 1.05 * one_way);
}

Test(vcuda_time, polling_moves_the_clock)
{
    start("gpus=1;0:latency=5ms", "time", 0);
    CUstream stream = new_stream();
    CUdeviceptr memory = new_memory(BYTES);
    int polls = 0;
    OK(cuMemsetD8Async(memory, 0, BYTES, stream));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        polls++;
    cr_expect_gt(polls, 5);
    cr_expect_lt(polls, 20);
    cr_expect_geq(vcuda_virtual_now(), 5000000);
}

/* One host thread for each GPU: what one does must not change the other's times. */
typedef struct worker {
    int device;
    float time;
} worker;

static void *work(void *user)
{
    worker *self = user;
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, self->device));
    OK(cuCtxSetCurrent(context));
    CUstream first = new_stream(), second = new_stream();
    CUdeviceptr x = new_memory(BYTES), y = new_memory(BYTES);
    CUfunction add = function_of("add");
    CUevent before = record(first);
    for (int i = 0; i < 50; i++) {
        OK(cuMemsetD8Async(x, 0, BYTES, first));
        OK(launch_add(add, y, x, 1, first));
        OK(cuMemsetD8Async(y, 0, BYTES, second));
        if (i % 7 == 0)
            OK(cuStreamSynchronize(second));
    }
    CUevent after = record(first);
    OK(cuStreamSynchronize(first));
    self->time = elapsed(before, after);
    return NULL;
}

Test(vcuda_time, host_threads_do_not_disturb_each_other)
{
    worker alone = {0, 0}, pair[2] = {{0, 0}, {1, 0}};
    pthread_t threads[2];
    start("gpus=2;1:speed=1", "time", 0);
    work(&alone);
    for (int round = 0; round < 5; round++) {
        vcuda_reset();
        start("gpus=2;1:speed=1", "time", 0);
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, work, &pair[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        cr_expect_eq(pair[0].time, alone.time);
        cr_expect_gt(pair[1].time, alone.time);
    }
}

/* ---- green contexts ---- */

typedef struct taker {
    CUcontext context;
    CUresult pushed, set;
} taker;

static void *take(void *user)
{
    taker *self = user;
    self->pushed = cuCtxPushCurrent_v2(self->context);
    self->set = cuCtxSetCurrent(self->context);
    while (cuCtxPopCurrent_v2(NULL) == CUDA_SUCCESS)
        continue;
    return NULL;
}

/* What another thread is told that makes the context current. */
static void try_beside(CUcontext context, CUresult expected)
{
    taker other = {context, CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, take, &other), 0);
    pthread_join(thread, NULL);
    IS(other.pushed, expected);
    IS(other.set, expected);
}

Test(vcuda_green, current_to_one_thread)
{
    CUdevResource all, group, rest;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUcontext primary, context;
    unsigned int count = 1;
    vcuda_counts counts;
    start("gpus=1", "time", 0);
    OK(cuCtxGetCurrent(&primary));
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 8));
    OK(cuDevResourceGenerateDesc(&description, &group, 1));
    OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuCtxFromGreenCtx(&context, green));
    for (int i = 0; i < 2; i++)
        OK(cuCtxPushCurrent_v2(context)); /* the thread itself as often as it likes */
    OK(cuCtxPopCurrent_v2(NULL));
    try_beside(primary, CUDA_SUCCESS);
    try_beside(context, CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxPushCurrent_v2(primary));
    try_beside(context, CUDA_ERROR_INVALID_CONTEXT); /* it comes back with a pop */
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuCtxSetCurrent(primary));
    try_beside(context, CUDA_SUCCESS);
    vcuda_counters(0, &counts);
    cr_expect_eq(counts.diagnoses, 4);
    OK(cuGreenCtxDestroy(green));
}
