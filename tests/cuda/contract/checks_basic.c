/* Contract: initialisation, devices, contexts. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

const char *init_before(void)
{
    int count;
    EXPECT(cu.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    return NULL;
}

const char *init_flags(void)
{
    EXPECT(cu.cuInit(1), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

const char *error_name(void)
{
    const char *name = NULL;
    DO(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
    HOLDS(!strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    EXPECT(cu.cuGetErrorName((CUresult)12345, &name), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

const char *entry_versioned(void)
{
    void *found = NULL;
    if (!cu.cuGetProcAddress)
        return SKIPPED;
    DO(cu.cuInit(0));
    DO(cu.cuGetProcAddress("cuMemAlloc", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    HOLDS(found != NULL);
    /* Whatever it returns: versions of the documentation differ. */
    cu.cuGetProcAddress("cuNoSuchThing", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    HOLDS(found == NULL);
    return NULL;
}

const char *device_ordinal(void)
{
    CUdevice device;
    EXPECT(cu.cuDeviceGet(&device, gpu_count), CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cu.cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    DO(cu.cuDeviceGet(&device, 0));
    return NULL;
}

const char *device_identity(void)
{
    char name[128] = "", id[32] = "";
    CUuuid uuid;
    unsigned int domain, bus, slot, function;
    DO(cu.cuDeviceGetName(name, sizeof name, 0));
    DO(cu.cuDeviceGetUuid(&uuid, 0));
    DO(cu.cuDeviceGetPCIBusId(id, sizeof id, 0));
    HOLDS(name[0]);
    HOLDS(sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4);
    return NULL;
}

const char *device_uuid_distinct(void)
{
    CUuuid first, second;
    DO(cu.cuDeviceGetUuid(&first, 0));
    DO(cu.cuDeviceGetUuid(&second, 1));
    HOLDS(memcmp(&first, &second, sizeof first));
    return NULL;
}

const char *device_limits(void)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } expected[] = {{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
                    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
                    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
                    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
                    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
                    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1}};
    int value;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        DO(cu.cuDeviceGetAttribute(&value, expected[i].attribute, 0));
        HOLDS(value == expected[i].value);
    }
    EXPECT(cu.cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0),
           CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

const char *context_none(void)
{
    CUdeviceptr memory;
    CUcontext context = (CUcontext)1;
    EXPECT(cu.cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cu.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cu.cuCtxPopCurrent(&context), CUDA_ERROR_INVALID_CONTEXT);
    DO(cu.cuCtxGetCurrent(&context));
    HOLDS(context == NULL);
    return NULL;
}

const char *context_primary(void)
{
    CUcontext first, second;
    unsigned int flags;
    int active;
    DO(cu.cuDevicePrimaryCtxRetain(&first, 0));
    DO(cu.cuDevicePrimaryCtxRetain(&second, 0));
    HOLDS(first == second);
    DO(cu.cuDevicePrimaryCtxRelease(0));
    DO(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    HOLDS(active == 1);
    DO(cu.cuDevicePrimaryCtxRelease(0));
    DO(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    HOLDS(active == 0);
    return NULL;
}

const char *context_release(void)
{
    EXPECT(cu.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    return NULL;
}

static void CUDA_CB count_up(void *user)
{
    ++*(volatile int *)user;
}

const char *context_release_waits(void)
{
    const size_t bytes = (size_t)1 << 24;
    const int fills = 64;
    volatile int ended = 0;
    CUdeviceptr memory;
    CUstream stream;
    unsigned int flags;
    int active;
    if (!cu.cuLaunchHostFunc || !cu.cuDevicePrimaryCtxGetState)
        return SKIPPED;
    DO(use_device(0));
    DO(cu.cuMemAlloc(&memory, bytes));
    DO(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < fills; i++)
        DO(cu.cuMemsetD8Async(memory, (unsigned char)i, bytes, stream));
    DO(cu.cuLaunchHostFunc(stream, count_up, (void *)&ended));
    DO(cu.cuCtxSetCurrent(NULL));
    DO(cu.cuDevicePrimaryCtxRelease(0));
    HOLDS(ended == 1);
    DO(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    HOLDS(active == 0);
    return NULL;
}

const char *context_stack(void)
{
    CUcontext own, context;
    CUdevice device = -1;
    DO(use_device(0));
    DO(cu.cuCtxGetCurrent(&own));
    DO(cu.cuCtxPushCurrent(own));
    DO(cu.cuCtxSetCurrent(NULL)); /* pops */
    DO(cu.cuCtxGetCurrent(&context));
    HOLDS(context == own);
    DO(cu.cuCtxGetDevice(&device));
    HOLDS(device == 0);
    DO(cu.cuCtxSetCurrent(own)); /* in its own place */
    DO(cu.cuCtxPopCurrent(&context));
    HOLDS(context == own);
    EXPECT(cu.cuCtxPopCurrent(&context), CUDA_ERROR_INVALID_CONTEXT);
    DO(cu.cuCtxSetCurrent(NULL));
    return NULL;
}
