/* Compiled, never run: asserts that our declarations of the driver's and the collective library's
 * ABI are the toolkit's, line by line. Needs <cuda.h>, and <nccl.h> where HAVE_NCCL_H is defined.
 */
#include <cuda.h>

#include "device/cuda/api.h"

#include <stddef.h>

#define VALUE(name, value)        _Static_assert((long long)name == (value), #name " has another value");
#define SYI_CU_RESULT             VALUE
#define SYI_CU_DEVICE_ATTRIBUTE   VALUE
#define SYI_CU_POINTER_ATTRIBUTE  VALUE
#define SYI_CU_FUNCTION_ATTRIBUTE VALUE
#define SYI_CU_FLAG               VALUE
#define SYI_CU_SIZE(type, bytes)  _Static_assert(sizeof(type) == (bytes), #type " has another size");
#define SYI_CU_OFFSET(type, member, bytes)                                                         \
    _Static_assert(offsetof(type, member) == (bytes), #type "." #member " lies elsewhere");
#include "device/cuda/types.def"

#define SYI_CU(need, name, symbol, fallback, arguments)                                            \
    _Static_assert(_Generic(&symbol, CUresult(CUDAAPI *) arguments : 1, default : 0),              \
                   #symbol " has another signature");
#include "device/cuda/api.def"
#undef SYI_CU

#ifdef HAVE_NCCL_H
#include <nccl.h>

#include "device/cuda/nccl_api.h"

#define SYI_NCCL(need, result, name, arguments)                                                    \
    _Static_assert(_Generic(&name, result(*) arguments : 1, default : 0),                          \
                   #name " has another signature");
#include "device/cuda/nccl_api.def"
#undef SYI_NCCL

_Static_assert(ncclUnhandledCudaError == 1 && ncclInvalidUsage == 5 && ncclInProgress == 7,
               "codes");
_Static_assert(ncclInt8 == 0 && ncclUint64 == 5 && ncclFloat64 == 8, "types");
_Static_assert(sizeof(ncclUniqueId) == 128, "size of an id");
_Static_assert(offsetof(ncclConfig_t, blocking) == 16 && offsetof(ncclConfig_t, netName) == 32 &&
                   offsetof(ncclConfig_t, splitShare) == 40,
               "layout of the configuration");
#endif
