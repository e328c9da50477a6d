/* Contract: memory, copies, fills. */
#include "contract.h"

#include <stdlib.h>
#include <string.h>

const char *memory_zero(void)
{
    CUdeviceptr memory;
    void *host;
    DO(use_device(0));
    EXPECT(cu.cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cu.cuMemHostAlloc(&host, 0, 0), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

const char *memory_exhausted(void)
{
    size_t total;
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuDeviceTotalMem(&total, 0));
    EXPECT(cu.cuMemAlloc(&memory, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    DO(cu.cuMemAlloc(&memory, 4096));
    DO(cu.cuMemFree(memory));
    return NULL;
}

const char *memory_aligned(void)
{
    CUdeviceptr memory[8];
    DO(use_device(0));
    for (size_t i = 0; i < 8; i++) {
        DO(cu.cuMemAlloc(&memory[i], 1 + 100 * i));
        HOLDS(memory[i] % 256 == 0);
    }
    for (size_t i = 0; i < 8; i++)
        DO(cu.cuMemFree(memory[i]));
    return NULL;
}

const char *memory_info(void)
{
    size_t before, after, total;
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuMemGetInfo(&before, &total));
    DO(cu.cuMemAlloc(&memory, 32 << 20));
    DO(cu.cuMemGetInfo(&after, &total));
    HOLDS(after + (32 << 20) <= before && before <= total);
    DO(cu.cuMemFree(memory));
    return NULL;
}

const char *memory_free_null(void)
{
    DO(use_device(0));
    DO(cu.cuMemFree(0));
    return NULL;
}

const char *memory_free_inside(void)
{
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 4096));
    EXPECT(cu.cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
    DO(cu.cuMemFree(memory));
    return NULL;
}

const char *memory_pinned(void)
{
    void *host;
    unsigned int type = 0;
    CUdeviceptr address = 0;
    DO(use_device(0));
    DO(cu.cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE));
    CUdeviceptr same = (CUdeviceptr)(uintptr_t)host;
    DO(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, same));
    HOLDS(type == CU_MEMORYTYPE_HOST);
    DO(cu.cuPointerGetAttribute(&address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, same));
    HOLDS(address == same);
    DO(cu.cuMemFreeHost(host));
    return NULL;
}

const char *memory_plain(void)
{
    char host[64];
    unsigned int type = 7;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&type};
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)host;
    DO(use_device(0));
    EXPECT(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
           CUDA_ERROR_INVALID_VALUE);
    DO(cu.cuPointerGetAttributes(1, which, data, address));
    HOLDS(type == 0);
    return NULL;
}

const char *memory_register(void)
{
    void *host = aligned_alloc(4096, 8192);
    DO(use_device(0));
    DO(cu.cuMemHostRegister(host, 8192, CU_MEMHOSTREGISTER_PORTABLE));
    EXPECT(cu.cuMemHostRegister(host, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    DO(cu.cuMemHostUnregister(host));
    EXPECT(cu.cuMemHostUnregister(host), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    free(host);
    return NULL;
}

const char *memory_managed(void)
{
    CUdeviceptr memory;
    unsigned int type = 0, managed = 0;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *data[] = {&type, &managed};
    DO(use_device(0));
    if (!cu.cuMemAllocManaged ||
        cu.cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL) == CUDA_ERROR_NOT_SUPPORTED)
        return SKIPPED;
    DO(cu.cuPointerGetAttributes(2, which, data, memory + 128));
    HOLDS(managed);
    DO(cu.cuCtxSynchronize());
    memset((void *)(uintptr_t)memory, 1, 4096);
    EXPECT(cu.cuMemFreeHost((void *)(uintptr_t)memory), CUDA_ERROR_INVALID_VALUE);
    DO(cu.cuMemFree(memory));
    return NULL;
}

const char *memory_ordinal(void)
{
    CUdeviceptr memory, start = 0;
    unsigned int type = 0;
    int ordinal = -1;
    size_t size = 0;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&type, &ordinal, &start, &size};
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 4096));
    DO(cu.cuPointerGetAttributes(4, which, data, memory + 128));
    HOLDS(type == CU_MEMORYTYPE_DEVICE && ordinal == 0 && start == memory && size >= 4096);
    DO(cu.cuMemFree(memory));
    return NULL;
}

const char *copy_round_trip(void)
{
    char there[1000], back[1000] = {0};
    CUdeviceptr first, second;
    DO(use_device(0));
    for (int i = 0; i < 1000; i++)
        there[i] = (char)(7 * i);
    DO(cu.cuMemAlloc(&first, 1000));
    DO(cu.cuMemAlloc(&second, 1000));
    DO(cu.cuMemcpyHtoD(first, there, 1000));
    DO(cu.cuMemcpyDtoD(second, first, 1000));
    DO(cu.cuMemcpyDtoH(back, second, 1000));
    HOLDS(!memcmp(there, back, 1000));
    DO(cu.cuMemFree(first));
    DO(cu.cuMemFree(second));
    return NULL;
}

const char *copy_nothing(void)
{
    char host[1];
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 16));
    DO(cu.cuMemcpyHtoD(memory, host, 0));
    DO(cu.cuMemcpyHtoDAsync(memory, host, 0, NULL));
    return NULL;
}

const char *copy_beyond(void)
{
    static char host[64 << 20];
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 32 << 20));
    EXPECT(cu.cuMemcpyHtoD(memory, host, sizeof host), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

/* Copies `host` behind a closed gate, changes it, opens, and tells which value arrived. */
static CUresult changed_behind(char *host, char *arrived)
{
    gate g;
    CUstream stream;
    CUdeviceptr memory;
    CUresult result = cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = cu.cuMemAlloc(&memory, 256);
    if (result == CUDA_SUCCESS)
        result = gate_close(&g, stream);
    memset(host, 'a', 256);
    if (result == CUDA_SUCCESS)
        result = cu.cuMemcpyHtoDAsync(memory, host, 256, stream);
    memset(host, 'b', 256);
    if (result == CUDA_SUCCESS) {
        gate_open(&g);
        result = cu.cuStreamSynchronize(stream);
    }
    return result == CUDA_SUCCESS ? cu.cuMemcpyDtoH(arrived, memory, 1) : result;
}

const char *copy_pinned_late(void)
{
    void *host;
    char arrived = 0;
    DO(use_device(0));
    DO(cu.cuMemHostAlloc(&host, 256, 0));
    DO(changed_behind(host, &arrived));
    HOLDS(arrived == 'b');
    return NULL;
}

const char *copy_plain_staged(void)
{
    static char host[256];
    char arrived = 0;
    DO(use_device(0));
    DO(changed_behind(host, &arrived));
    HOLDS(arrived == 'a');
    return NULL;
}

const char *copy_plain_out(void)
{
    char host[256] = {0};
    CUstream stream;
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cu.cuMemAlloc(&memory, 256));
    DO(cu.cuMemsetD8Async(memory, 9, 256, stream));
    DO(cu.cuMemcpyDtoHAsync(host, memory, 256, stream));
    HOLDS(host[0] == 9 && host[255] == 9);
    return NULL;
}

const char *fill_bytes(void)
{
    unsigned char host[300];
    CUdeviceptr memory;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, 300));
    DO(cu.cuMemsetD8Async(memory, 1, 300, NULL));
    DO(cu.cuMemsetD8Async(memory + 7, 0xfe, 5, NULL));
    DO(cu.cuMemcpyDtoH(host, memory, 300));
    HOLDS(host[6] == 1 && host[7] == 0xfe && host[11] == 0xfe && host[12] == 1);
    return NULL;
}
