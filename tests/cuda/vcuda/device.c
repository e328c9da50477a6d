/* Devices and their properties. The limits are those of current hardware; what differs between
 * virtual GPUs comes from vcuda_setup. */
#include "internal.h"

#include <stdio.h>

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = vci_enter(VC_cuDeviceGet, vci_who(ordinal));
    if (result == CUDA_SUCCESS && !device)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = ordinal;
    return vci_leave(result);
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = vci_enter(VC_cuDeviceGetCount, VC_NOBODY);
    if (result == CUDA_SUCCESS && !count)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *count = vc.gpu_count;
    return vci_leave(result);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    CUresult result = vci_enter(VC_cuDeviceGetName, vci_who(device));
    if (result == CUDA_SUCCESS && (!name || length <= 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        snprintf(name, (size_t)length, "%s", vc.gpus[device].name);
    return vci_leave(result);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult result = vci_enter(VC_cuDeviceGetUuid_v2, vci_who(device));
    if (result == CUDA_SUCCESS && !uuid)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        for (int i = 0; i < 16; i++)
            uuid->bytes[i] = (char)(0x10 * (device + 1) + i);
    return vci_leave(result);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = vci_enter(VC_cuDeviceTotalMem_v2, vci_who(device));
    if (result == CUDA_SUCCESS && !bytes)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *bytes = vc.gpus[device].memory;
    return vci_leave(result);
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    CUresult result = vci_enter(VC_cuDeviceGetPCIBusId, vci_who(device));
    if (result == CUDA_SUCCESS && (!id || length < 13))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        snprintf(id, (size_t)length, "0000:%02X:00.0", 16 * (device + 1));
    return vci_leave(result);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice other)
{
    CUresult result = vci_enter(VC_cuDeviceCanAccessPeer, vci_who(device));
    if (result == CUDA_SUCCESS && (other < 0 || other >= vc.gpu_count))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS && !can)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *can = device != other && vc.gpus[device].peer && vc.gpus[other].peer;
    return vci_leave(result);
}

/* -1: not an attribute that is known here. */
static int attribute_of(const vc_gpu *gpu, CUdevice_attribute attribute)
{
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        return INT32_MAX;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return 99 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return 100 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return (int)(gpu->speed * 1e6 / 32);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return (int)(gpu->bandwidth * 1e6 / 128);
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return 512;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return (int)gpu->sms;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        return 0;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
        return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
        return gpu->managed;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return 16 * (gpu->index + 1);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return 32;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
        return 2;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return gpu->major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return gpu->minor;
    default:
        return -1;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult result = vci_enter(VC_cuDeviceGetAttribute, vci_who(device));
    if (result == CUDA_SUCCESS) {
        int found = attribute_of(&vc.gpus[device], attribute);
        if (value && found >= 0)
            *value = found;
        else
            result = CUDA_ERROR_INVALID_VALUE;
    }
    return vci_leave(result);
}
