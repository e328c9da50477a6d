/* Shared by the tests of the simulated driver and NCCL: short forms of the calls, a module of small
 * kernels (test_vcuda.c), and the demand that nothing is left over. */
#ifndef TEST_VCUDA_H
#define TEST_VCUDA_H

#include "device/cuda/api.h"
#include "vcuda/vcuda.h"

#include <criterion/criterion.h>

#define SYI_CU(need, name, symbol, fallback, arguments) CUresult symbol arguments;
#include "device/cuda/api.def"
#undef SYI_CU

#define OK(call)        cr_assert_eq((int)(call), 0, "%s: %s", #call, vcuda_message())
#define IS(call, error) cr_assert_eq((int)(call), (int)(error), "%s is not %s", #call, #error)

enum { N = 4096, BYTES = 4 * N };

/* add(to, from, value, n): to[i] = from[i] + value. */
extern const char test_ptx[];

/* The machine of a test, started, with device 0's primary context current. */
static inline void start(const char *setup, const char *order, uint64_t seed)
{
    CUcontext context;
    cr_assert_eq(vcuda_setup(setup), 0, "%s", vcuda_message());
    cr_assert_eq(vcuda_order(order, seed), 0);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
}

static inline CUfunction function_of(const char *name)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, test_ptx));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUresult launch_add(CUfunction function, CUdeviceptr to, CUdeviceptr from,
                                  uint32_t value, CUstream stream)
{
    uint32_t n = N;
    void *parameters[] = {&to, &from, &value, &n};
    return cuLaunchKernel(function, N / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

static inline CUstream new_stream(void)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static inline CUdeviceptr new_memory(size_t bytes)
{
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, bytes));
    return memory;
}

static inline CUevent record(CUstream stream)
{
    CUevent event;
    OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    OK(cuEventRecord(event, stream));
    return event;
}

static inline uint32_t *new_pinned(uint32_t first)
{
    void *host;
    OK(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    for (uint32_t i = 0; i < N; i++)
        ((uint32_t *)host)[i] = first + i;
    return host;
}

static inline void nothing_left(void)
{
    vcuda_counts counts;
    vcuda_counters(-1, &counts);
    cr_expect_eq(counts.live_allocations, 0);
    cr_expect_eq(counts.live_bytes, 0);
    cr_expect_eq(counts.live_host, 0);
    cr_expect_eq(counts.live_contexts, 0);
    cr_expect_eq(counts.live_streams, 0);
    cr_expect_eq(counts.live_events, 0);
    cr_expect_eq(counts.live_modules, 0);
    cr_expect_eq(counts.leaked_allocations + counts.leaked_streams + counts.leaked_events +
                     counts.leaked_modules,
                 0);
}

#endif
