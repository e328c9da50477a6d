/* The part of the collective library's ABI that is used, in our own declarations, for the same
 * reason as api.h. Only bits are moved with it: there is no sum here. */
#ifndef SYI_DEVICE_CUDA_NCCL_API_H
#define SYI_DEVICE_CUDA_NCCL_API_H

#include "device/cuda/api.h"

#ifndef NCCL_H_

typedef struct ncclComm *ncclComm_t;

typedef struct {
    char internal[128];
} ncclUniqueId;

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7
} ncclResult_t;

/* The types that only say how many bytes an element has. */
typedef enum { ncclInt8 = 0, ncclUint64 = 5, ncclFloat64 = 8 } ncclDataType_t;

/* How the layout begins since 2.18; `size` tells the library how much there is. Magic is
 * 0xcafebeef, and a member without a wish is INT_MIN or NULL. */
typedef struct {
    size_t size;
    unsigned int magic;
    unsigned int version;
    int blocking;
    int cgaClusterSize, minCTAs, maxCTAs;
    const char *netName;
    int splitShare;
} ncclConfig_t;

#endif

typedef struct syi_nccl_api {
#define SYI_NCCL(need, result, name, arguments) result(*name) arguments;
#include "device/cuda/nccl_api.def"
#undef SYI_NCCL
} syi_nccl_api;

#endif
