/* NCCL's ranks on the GPUs of a context. The caller holds a lock around every call. */
#ifndef SYI_DEVICE_CUDA_RANKS_H
#define SYI_DEVICE_CUDA_RANKS_H

#include "device/cuda/device.h"

typedef struct cuda_ranks cuda_ranks;

/* Bytes that go from `from`, whose context is current, to an array on `to`. `stream` is one of
 * `from` that the caller waits for in any case. */
typedef struct cuda_parcel {
    cuda_device *from, *to;
    CUdeviceptr source, target;
    size_t bytes;
    CUstream stream;
} cuda_parcel;

/* A rank for every GPU that has not failed. SY_ERR_UNSUPPORTED: no library that does at that path;
 * SY_ERR_DEVICE: the ranks do not meet. Nothing is left on failure. */
sy_status syi_cuda_ranks_open(const syi_devices *devices, const char *library, int64_t patience_ns,
                              cuda_ranks **out);
/* As syi_nccl_version. */
int syi_cuda_ranks_version(const cuda_ranks *ranks);

/* As syi_cuda_gather_parcel. After SY_ERR_DEVICE the transfer may be under way still:
 * syi_cuda_ranks_abort. */
sy_status syi_cuda_ranks_carry(cuda_ranks *ranks, const cuda_parcel *parcel);

/* Whether these GPUs are those of the ranks, in the same order: then they can exchange parts, as
 * syi_cuda_exchange does. SY_ERR_DEVICE as above. */
int syi_cuda_ranks_are(const cuda_ranks *ranks, syi_device *const *devices, int count);
sy_status syi_cuda_ranks_exchange(cuda_ranks *ranks, void *const *arrays, size_t part);

/* Nothing is under way any more when this returns, or that is remembered (syi_cuda_end). Takes the
 * address, accepts a NULL inside, leaves NULL. */
void syi_cuda_ranks_abort(cuda_ranks **ranks);
/* The same when nothing is under way: the ranks end in good order. */
void syi_cuda_ranks_close(cuda_ranks **ranks);

#endif
