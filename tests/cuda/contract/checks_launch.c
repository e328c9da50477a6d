/* Contract: modules, launches, peers, failures, green contexts. */
#include "contract.h"

#include <string.h>

const char contract_ptx[] = ".version 6.4\n"
                            ".target sm_75\n"
                            ".address_size 64\n"
                            ".visible .global .align 4 .u32 answer = 42;\n"
                            ".visible .entry store(\n"
                            "    .param .u64 to,\n"
                            "    .param .u32 value,\n"
                            "    .param .u32 n\n"
                            ")\n"
                            "{\n"
                            "    .reg .pred %p<2>;\n"
                            "    .reg .b32 %r<8>;\n"
                            "    .reg .b64 %rd<5>;\n"
                            "    ld.param.u64 %rd1, [to];\n"
                            "    ld.param.u32 %r1, [value];\n"
                            "    ld.param.u32 %r2, [n];\n"
                            "    mov.u32 %r3, %ctaid.x;\n"
                            "    mov.u32 %r4, %ntid.x;\n"
                            "    mov.u32 %r5, %tid.x;\n"
                            "    mad.lo.s32 %r6, %r3, %r4, %r5;\n"
                            "    setp.ge.u32 %p1, %r6, %r2;\n"
                            "    @%p1 bra DONE;\n"
                            "    cvta.to.global.u64 %rd2, %rd1;\n"
                            "    mul.wide.u32 %rd3, %r6, 4;\n"
                            "    add.s64 %rd4, %rd2, %rd3;\n"
                            "    add.s32 %r7, %r1, %r6;\n"
                            "    st.global.u32 [%rd4], %r7;\n"
                            "DONE:\n"
                            "    ret;\n"
                            "}\n"
                            ".visible .entry wild()\n"
                            "{\n"
                            "    .reg .b32 %r<2>;\n"
                            "    .reg .b64 %rd<2>;\n"
                            "    mov.u64 %rd1, 4096;\n"
                            "    mov.u32 %r1, 1;\n"
                            "    st.global.u32 [%rd1], %r1;\n"
                            "    ret;\n"
                            "}\n";

CUresult load_function(const char *name, CUmodule *module, CUfunction *function)
{
    CUresult result = cu.cuModuleLoadData(module, contract_ptx);
    return result == CUDA_SUCCESS ? cu.cuModuleGetFunction(function, *module, name) : result;
}

const char *module_damaged(void)
{
    CUmodule module;
    DO(use_device(0));
    EXPECT(
        cu.cuModuleLoadData(&module, ".version 6.4\n.target sm_75\n.address_size 64\nnonsense;\n"),
        CUDA_ERROR_INVALID_PTX);
    return NULL;
}

const char *module_names(void)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr address;
    size_t size;
    DO(use_device(0));
    DO(cu.cuModuleLoadData(&module, contract_ptx));
    EXPECT(cu.cuModuleGetFunction(&function, module, "nobody"), CUDA_ERROR_NOT_FOUND);
    EXPECT(cu.cuModuleGetGlobal(&address, &size, module, "nobody"), CUDA_ERROR_NOT_FOUND);
    DO(cu.cuModuleUnload(module));
    return NULL;
}

const char *module_variable(void)
{
    CUmodule module;
    CUdeviceptr address;
    size_t size;
    uint32_t value = 0;
    DO(use_device(0));
    DO(cu.cuModuleLoadData(&module, contract_ptx));
    DO(cu.cuModuleGetGlobal(&address, &size, module, "answer"));
    HOLDS(size == 4);
    DO(cu.cuMemcpyDtoH(&value, address, 4));
    HOLDS(value == 42);
    return NULL;
}

static CUresult store(CUfunction function, CUdeviceptr to, uint32_t value, uint32_t n,
                      CUstream stream)
{
    void *parameters[] = {&to, &value, &n};
    return cu.cuLaunchKernel(function, (n + 63) / 64, 1, 1, 64, 1, 1, 0, stream, parameters, NULL);
}

const char *runs_on(CUstream stream)
{
    enum { N = 1000 };
    static uint32_t host[N + 1];
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    DO(load_function("store", &module, &function));
    DO(cu.cuMemAlloc(&memory, sizeof host));
    DO(cu.cuMemsetD8Async(memory, 0, sizeof host, stream));
    DO(store(function, memory, 17, N, stream));
    DO(cu.cuStreamSynchronize(stream));
    DO(cu.cuMemcpyDtoH(host, memory, sizeof host));
    for (uint32_t i = 0; i < N; i++)
        HOLDS(host[i] == 17 + i);
    HOLDS(host[N] == 0);
    return NULL;
}

const char *launch_runs(void)
{
    DO(use_device(0));
    return runs_on(NULL);
}

const char *launch_parameters(void)
{
    gate g;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    CUstream stream;
    uint32_t value = 5, n = 1, host = 0;
    DO(use_device(0));
    DO(load_function("store", &module, &function));
    DO(cu.cuMemAlloc(&memory, 4));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *parameters[] = {&memory, &value, &n};
    DO(gate_close(&g, stream));
    DO(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    value = 6;
    gate_open(&g);
    DO(cu.cuStreamSynchronize(stream));
    DO(cu.cuMemcpyDtoH(&host, memory, 4));
    HOLDS(host == 5);
    return NULL;
}

const char *launch_refused(void)
{
    static const unsigned int wrong[][7] = {{0, 1, 1, 32, 1, 1, 0},
                                            {1, 0, 1, 32, 1, 1, 0},
                                            {1, 1, 1, 0, 1, 1, 0},
                                            {1, 65536, 1, 32, 1, 1, 0},
                                            {1, 1, 65536, 32, 1, 1, 0},
                                            {1, 1, 1, 1025, 1, 1, 0},
                                            {1, 1, 1, 1, 1, 65, 0},
                                            {1, 1, 1, 512, 4, 1, 0},
                                            {1, 1, 1, 32, 1, 1, (48 << 10) + 1}};
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    uint32_t value = 5, n = 1;
    DO(use_device(0));
    DO(load_function("store", &module, &function));
    DO(cu.cuMemAlloc(&memory, 4));
    void *parameters[] = {&memory, &value, &n};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const unsigned int *w = wrong[i];
        EXPECT(cu.cuLaunchKernel(function, w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL,
                                 parameters, NULL),
               CUDA_ERROR_INVALID_VALUE);
    }
    DO(cu.cuLaunchKernel(function, 1, 1, 1, 1024, 1, 1, 48 << 10, NULL, parameters, NULL));
    DO(cu.cuCtxSynchronize());
    return NULL;
}

const char *launch_attributes(void)
{
    CUmodule module;
    CUfunction function;
    int threads = 0, shared = -1, blocks = 0;
    DO(use_device(0));
    DO(load_function("store", &module, &function));
    DO(cu.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    DO(cu.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    HOLDS(threads == 1024 && shared == 0);
    DO(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
    HOLDS(blocks >= 1 && blocks <= 2);
    DO(cu.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
    EXPECT(
        cu.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20),
        CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

const char *peer_self(void)
{
    int can = 1;
    CUcontext own;
    DO(use_device(0));
    DO(cu.cuDeviceCanAccessPeer(&can, 0, 0));
    HOLDS(can == 0);
    DO(cu.cuCtxGetCurrent(&own));
    EXPECT(cu.cuCtxEnablePeerAccess(own, 0), CUDA_ERROR_INVALID_CONTEXT);
    return NULL;
}

const char *peer_enable(void)
{
    int can = 0;
    CUcontext other;
    DO(use_device(1));
    DO(cu.cuCtxGetCurrent(&other));
    DO(use_device(0));
    DO(cu.cuDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        EXPECT(cu.cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        return NULL;
    }
    DO(cu.cuCtxEnablePeerAccess(other, 0));
    EXPECT(cu.cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    return NULL;
}

const char *peer_copy(void)
{
    CUcontext first, second;
    CUdeviceptr from, to;
    uint32_t value = 77, back = 0;
    DO(use_device(0));
    DO(cu.cuCtxGetCurrent(&first));
    DO(cu.cuMemAlloc(&from, 4));
    DO(cu.cuMemcpyHtoD(from, &value, 4));
    DO(use_device(1));
    DO(cu.cuCtxGetCurrent(&second));
    DO(cu.cuMemAlloc(&to, 4));
    DO(cu.cuMemcpyPeerAsync(to, second, from, first, 4, NULL));
    DO(cu.cuCtxSynchronize());
    DO(cu.cuMemcpyDtoH(&back, to, 4));
    HOLDS(back == 77);
    return NULL;
}

/* Device `index` with a kernel behind it that wrote where it must not. */
static const char *break_device(int index)
{
    CUmodule module;
    CUfunction function;
    DO(use_device(index));
    DO(load_function("wild", &module, &function));
    DO(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    return NULL;
}

const char *failure_address(void)
{
    CUdeviceptr memory;
    CUstream stream;
    size_t available, total;
    int version;
    const char *found = break_device(0);
    if (found)
        return found;
    EXPECT(cu.cuMemAlloc(&memory, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cu.cuStreamCreate(&stream, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cu.cuStreamQuery(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cu.cuMemGetInfo(&available, &total), CUDA_ERROR_ILLEGAL_ADDRESS);
    DO(cu.cuDriverGetVersion(&version)); /* concerns no device */
    return NULL;
}

const char *failure_release(void)
{
    CUdeviceptr memory;
    CUstream stream;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 16));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const char *found = break_device(0);
    if (found)
        return found;
    EXPECT(cu.cuMemFree(memory), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cu.cuStreamDestroy(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    return NULL;
}

const char *failure_inactive(void)
{
    unsigned int flags;
    int active = 1;
    const char *found = break_device(0);
    if (found)
        return found;
    if (!cu.cuDevicePrimaryCtxGetState)
        return SKIPPED;
    cu.cuDevicePrimaryCtxRelease(0); /* what it returns is not asked */
    DO(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    HOLDS(active == 0);
    return NULL;
}

const char *failure_apart(void)
{
    const char *found = break_device(0);
    if (found)
        return found;
    DO(use_device(1));
    return runs_on(NULL);
}
