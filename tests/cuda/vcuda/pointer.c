/* What a pointer is: the attributes of an address. */
#include "internal.h"

#include <string.h>

static CUresult attribute(void *data, CUpointer_attribute which, const vc_region *region,
                          CUdeviceptr address)
{
    switch ((int)which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = region->context->object.handle;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)data =
            region->gpu || region->managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (region->gpu)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = region->managed;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = region->context->gpu->index;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = region->window.base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = region->window.size;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr address)
{
    CUresult result = vci_enter(VC_cuPointerGetAttribute, VC_CURRENT);
    const vc_region *region = vci_region(address, 1);
    if (result == CUDA_SUCCESS && (!data || !region))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = attribute(data, which, region, address);
    return vci_leave(result);
}

static size_t size_of(CUpointer_attribute which)
{
    switch ((int)which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return 4;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return 1;
    default:
        return 8;
    }
}

/* Unlike the single form this one accepts any pointer and answers zeroes for plain memory; the
 * ordinal is then -2. */
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *which, void **data,
                                CUdeviceptr address)
{
    CUresult result = vci_enter(VC_cuPointerGetAttributes, VC_CURRENT);
    const vc_region *region = vci_region(address, 1);
    if (result == CUDA_SUCCESS && (!count || !which || !data))
        result = CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++) {
        memset(data[i], 0, size_of(which[i]));
        if (region)
            attribute(data[i], which[i], region, address);
        else if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = -2;
    }
    return vci_leave(result);
}
