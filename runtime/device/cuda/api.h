/* The part of the CUDA driver's ABI that is used, in our own declarations, so that the library is
 * built where no toolkit is installed and is the same binary everywhere. Names, values and layouts
 * are those of the documented interface; tests/cuda/contract/header_check.c proves it against the
 * toolkit's header where there is one. A file that includes <cuda.h> first gets the functions'
 * table with the toolkit's types instead. */
#ifndef SYI_DEVICE_CUDA_API_H
#define SYI_DEVICE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef CUDA_VERSION

#ifndef CUDAAPI
#define CUDAAPI
#endif
#define CUDA_CB

/* Opaque handles. The tags are the toolkit's, so that a handle made by either side fits. */
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

typedef enum cudaError_enum {
#define SYI_CU_RESULT(name, value) name = value,
#include "device/cuda/types.def"
} CUresult;

typedef enum CUdevice_attribute_enum {
#define SYI_CU_DEVICE_ATTRIBUTE(name, value) name = value,
#include "device/cuda/types.def"
} CUdevice_attribute;

typedef enum CUpointer_attribute_enum {
#define SYI_CU_POINTER_ATTRIBUTE(name, value) name = value,
#include "device/cuda/types.def"
} CUpointer_attribute;

typedef enum CUfunction_attribute_enum {
#define SYI_CU_FUNCTION_ATTRIBUTE(name, value) name = value,
#include "device/cuda/types.def"
} CUfunction_attribute;

enum {
#define SYI_CU_FLAG(name, value) name = value,
#include "device/cuda/types.def"
};

/* Enumerations of which only the width matters here. */
typedef unsigned int CUjit_option;
typedef unsigned int CUdriverProcAddressQueryResult;
typedef unsigned int CUdevResourceType;
typedef unsigned int CUstreamCaptureMode;

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

typedef struct CUdevSmResource_st {
    unsigned int smCount;
    unsigned int minSmPartitionSize;
    unsigned int smCoscheduledAlignment;
} CUdevSmResource;

typedef struct CUdevResource_st {
    CUdevResourceType type;
    unsigned char internal[92];
    union {
        CUdevSmResource sm;
        unsigned char room[48];
    };
} CUdevResource;

typedef void(CUDA_CB *CUhostFn)(void *);
typedef void(CUDA_CB *CUstreamCallback)(CUstream, CUresult, void *);

#define SYI_CU_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size");
#define SYI_CU_OFFSET(type, member, bytes)                                                         \
    _Static_assert(offsetof(type, member) == (bytes), #type "." #member " lies elsewhere");
#include "device/cuda/types.def"

#endif

/* One pointer for each function of api.def, under the name without a suffix. */
typedef struct syi_cuda_api {
#define SYI_CU(need, name, symbol, fallback, arguments) CUresult(CUDAAPI *name) arguments;
#include "device/cuda/api.def"
#undef SYI_CU
} syi_cuda_api;

#endif
