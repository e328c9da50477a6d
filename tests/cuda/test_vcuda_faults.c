/* Tests of the simulated driver: injected faults, lost and hung devices, deadlocks, leaks. */
#include "test_vcuda.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- a small program that checks everything and gives everything back ---- */

typedef struct job {
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUmodule module;
    CUdeviceptr x, y;
    void *host;
} job;

static CUresult set_up(job *j, CUfunction *add)
{
    CUresult result = cuStreamCreate(&j->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = cuEventCreate(&j->event, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS)
        result = cuModuleLoadData(&j->module, test_ptx);
    if (result == CUDA_SUCCESS)
        result = cuModuleGetFunction(add, j->module, "add");
    if (result == CUDA_SUCCESS)
        result = cuMemAlloc_v2(&j->x, BYTES);
    if (result == CUDA_SUCCESS)
        result = cuMemAlloc_v2(&j->y, BYTES);
    return result == CUDA_SUCCESS ? cuMemHostAlloc(&j->host, BYTES, 0) : result;
}

static CUresult compute(job *j)
{
    CUfunction add;
    CUresult result = set_up(j, &add);
    if (result == CUDA_SUCCESS) {
        memset(j->host, 1, BYTES);
        result = cuMemcpyHtoDAsync_v2(j->x, j->host, BYTES, j->stream);
    }
    if (result == CUDA_SUCCESS)
        result = launch_add(add, j->y, j->x, 5, j->stream);
    if (result == CUDA_SUCCESS)
        result = cuMemcpyDtoHAsync_v2(j->host, j->y, BYTES, j->stream);
    if (result == CUDA_SUCCESS)
        result = cuEventRecord(j->event, j->stream);
    return result == CUDA_SUCCESS ? cuEventSynchronize(j->event) : result;
}

static CUresult worst(CUresult a, CUresult b)
{
    return a != CUDA_SUCCESS ? a : b;
}

static CUresult give_back(job *j, int device)
{
    CUresult result = CUDA_SUCCESS;
    if (j->host)
        result = worst(result, cuMemFreeHost(j->host));
    if (j->x)
        result = worst(result, cuMemFree_v2(j->x));
    if (j->y)
        result = worst(result, cuMemFree_v2(j->y));
    if (j->module)
        result = worst(result, cuModuleUnload(j->module));
    if (j->event)
        result = worst(result, cuEventDestroy_v2(j->event));
    if (j->stream)
        result = worst(result, cuStreamDestroy_v2(j->stream));
    return worst(result, cuDevicePrimaryCtxRelease_v2(device));
}

/* Runs on one device; whether the answer is right when all calls say so. */
static CUresult run_job(int device, bool *right)
{
    job j = {0};
    CUresult result = cuDevicePrimaryCtxRetain(&j.context, device);
    if (result != CUDA_SUCCESS)
        return result;
    while ((result = cuCtxSetCurrent(j.context)) != CUDA_SUCCESS)
        continue; /* fails at most once, when it is the call that was chosen */
    result = compute(&j);
    *right = result != CUDA_SUCCESS || *(uint32_t *)j.host == 0x01010101 + 5;
    return worst(result, give_back(&j, device));
}

static void begin(const char *order, uint64_t seed, const char *fault)
{
    OK(vcuda_setup("gpus=3"));
    OK(vcuda_order(order, seed));
    OK(vcuda_fault(fault));
}

static void sweep(const char *order, const char *how)
{
    vcuda_counts counts;
    int k = 0, failed = 0;
    do {
        char fault[128];
        bool right = true;
        snprintf(fault, sizeof fault, "device=any,call=any,after=%d,%s", k++, how);
        begin(order, (uint64_t)k, fault);
        if (cuInit(0) != CUDA_SUCCESS)
            OK(cuInit(0));
        CUresult results[3];
        for (int device = 0; device < 3; device++) {
            results[device] = run_job(device, &right);
            cr_expect(right, "k=%d device %d", k, device);
        }
        failed += results[0] || results[1] || results[2];
        cr_expect_leq(!!results[0] + !!results[1] + !!results[2], 1, "k=%d", k);
        nothing_left();
        vcuda_counters(-1, &counts);
        vcuda_reset();
    } while (counts.faults);
    cr_expect_gt(failed, 30);
}

Test(vcuda_fault, every_call_fails_once)
{
    sweep("time", "error=CUDA_ERROR_OUT_OF_MEMORY");
    sweep("lifo", "error=CUDA_ERROR_OUT_OF_MEMORY");
}

Test(vcuda_fault, every_call_fails_for_good)
{
    sweep("time", "error=CUDA_ERROR_ECC_UNCORRECTABLE,sticky");
    sweep("random", "lost");
}

Test(vcuda_fault, every_operation_fails_later)
{
    for (int k = 0; k < 4; k++) {
        char fault[64];
        bool right;
        snprintf(fault, sizeof fault, "device=1,after=%d,error=719,async", k);
        begin("time", 0, fault);
        OK(cuInit(0));
        OK(run_job(0, &right));
        IS(run_job(1, &right), CUDA_ERROR_LAUNCH_FAILED);
        IS(run_job(1, &right), CUDA_ERROR_LAUNCH_FAILED);
        OK(run_job(2, &right));
        nothing_left();
        vcuda_reset();
    }
}

Test(vcuda_fault, a_sticky_error_stays_with_the_device)
{
    CUdeviceptr memory;
    CUcontext context;
    begin("time", 0, "device=0,call=cuMemAlloc,after=1,error=CUDA_ERROR_ILLEGAL_ADDRESS,sticky");
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc_v2(&memory, 16));
    IS(cuMemAlloc_v2(&memory, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    IS(cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuDevicePrimaryCtxRetain(&context, 1));
}

Test(vcuda_fault, a_lost_device_answers_nothing)
{
    char name[64];
    CUcontext context;
    begin("time", 0, "device=1,call=cuDevicePrimaryCtxRetain,lost");
    OK(cuInit(0));
    OK(cuDeviceGetName(name, sizeof name, 1));
    IS(cuDevicePrimaryCtxRetain(&context, 1), CUDA_ERROR_DEVICE_UNAVAILABLE);
    IS(cuDeviceGetName(name, sizeof name, 1), CUDA_ERROR_DEVICE_UNAVAILABLE);
    OK(cuDeviceGetName(name, sizeof name, 0));
}

Test(vcuda_fault, a_slow_device_takes_longer)
{
    int64_t took[2];
    start("gpus=1", "time", 0);
    OK(vcuda_fault("device=0,call=cuMemsetD8Async,after=1,slow=4"));
    CUdeviceptr memory = new_memory(BYTES);
    for (int i = 0; i < 2; i++) {
        int64_t before = vcuda_virtual_now();
        OK(cuMemsetD8Async(memory, 0, BYTES, NULL));
        OK(cuStreamSynchronize(NULL));
        took[i] = vcuda_virtual_now() - before;
    }
    cr_expect_geq(took[1], 3 * took[0]);
    cr_expect_leq(took[1], 4 * took[0]);
}

/* ---- hangs ---- */

Test(vcuda_hang, a_watchdog_can_see_it)
{
    start("gpus=1", "time", 0);
    OK(vcuda_fault("device=0,call=cuMemsetD8Async,hang"));
    CUstream stream = new_stream(), other = new_stream();
    CUdeviceptr memory = new_memory(BYTES);
    int64_t patience = vcuda_virtual_now() + 1000000000;
    vcuda_counts counts;
    OK(cuMemsetD8Async(memory, 0, BYTES, stream));
    while (vcuda_virtual_now() < patience)
        IS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    OK(cuMemsetD8Async(memory, 0, BYTES, other)); /* the rest of the device still works */
    OK(cuStreamSynchronize(other));
    vcuda_counters(0, &counts);
    cr_expect_eq(counts.hang_waits, 0);
    vcuda_release();
    OK(cuStreamSynchronize(stream));
}

Test(vcuda_hang, a_blocking_wait_is_ended_and_counted)
{
    start("gpus=1", "lifo", 0);
    OK(vcuda_fault("device=0,call=cuMemsetD8Async,hang=2s"));
    CUstream stream = new_stream();
    CUdeviceptr memory = new_memory(BYTES);
    int64_t before = vcuda_virtual_now();
    vcuda_counts counts;
    OK(cuMemsetD8Async(memory, 0, BYTES, stream));
    IS(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_TIMEOUT);
    cr_expect_geq(vcuda_virtual_now() - before, 2000000000);
    vcuda_counters(0, &counts);
    cr_expect_eq(counts.hang_waits, 1);
    IS(cuMemFree_v2(memory), CUDA_ERROR_LAUNCH_TIMEOUT);
}

static void *wait_for_it(void *user)
{
    CUcontext context;
    CUresult *result = user;
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    *result = cuCtxSynchronize();
    return NULL;
}

Test(vcuda_hang, a_wait_without_limit_lasts_until_the_release)
{
    static const char *const orders[] = {"time", "threads"};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        CUresult result = CUDA_ERROR_UNKNOWN;
        start("gpus=1", orders[i], 0);
        OK(vcuda_fault("device=0,call=cuMemsetD8Async,hang=0"));
        OK(cuMemsetD8Async(new_memory(16), 0, 16, new_stream()));
        pthread_create(&thread, NULL, wait_for_it, &result);
        while (!vcuda_calls("cuCtxSynchronize"))
            continue;
        vcuda_release();
        pthread_join(thread, NULL);
        cr_expect_eq(result, CUDA_SUCCESS);
        vcuda_reset();
    }
}

Test(vcuda_hang, a_deadlock_is_ended)
{
    start("gpus=1;stall=50", "time", 0);
    CUstream stream = new_stream();
    uint32_t *word = new_pinned(0);
    OK(cuStreamWaitValue32_v2(stream, (CUdeviceptr)(uintptr_t)word, 1, CU_STREAM_WAIT_VALUE_EQ));
    IS(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_TIMEOUT);
    cr_expect(strstr(vcuda_message(), "deadlock"), "%s", vcuda_message());
}
