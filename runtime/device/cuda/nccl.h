/*
 * The collective library, opened at run time, as the carrier of bits between the GPUs of one
 * process: send and receive, and all-gather; no sums. Nothing here blocks for longer than the
 * patience given. The caller holds a lock around every call.
 */
#ifndef SYI_DEVICE_CUDA_NCCL_H
#define SYI_DEVICE_CUDA_NCCL_H

#include "base/error.h"
#include "device/cuda/api.h"

typedef struct syi_nccl syi_nccl;

/* Opens the library at `path`. SY_ERR_UNSUPPORTED with the reason when there is none, or it is too
 * old to be given up on when it hangs. */
sy_status syi_nccl_open(const char *path, syi_nccl **out);
/* 22809 = 2.28.9 */
int syi_nccl_version(const syi_nccl *nccl);

/* Makes one rank of each context (primary ones, of different devices). Nothing is left on failure.
 */
sy_status syi_nccl_join(syi_nccl *nccl, const syi_cuda_api *cuda, const CUcontext *contexts,
                        int ranks, int64_t patience_ns);

/* One end of a transfer. */
typedef struct syi_nccl_end {
    int rank;
    CUdeviceptr address;
    CUstream stream;
} syi_nccl_end;

/* Enqueues a transfer. It has taken place when both streams are empty and syi_nccl_check says
 * nothing else. */
sy_status syi_nccl_move(syi_nccl *nccl, syi_nccl_end from, syi_nccl_end to, size_t bytes,
                        int64_t patience_ns);
/* The same of a transfer of all: each rank's array, of as many parts of `bytes` as there are ranks,
 * holds the rank's own part, and will hold all. One array and one stream a rank. */
sy_status syi_nccl_gather_all(syi_nccl *nccl, const CUdeviceptr *arrays, const CUstream *streams,
                              size_t bytes, int64_t patience_ns);
sy_status syi_nccl_check(const syi_nccl *nccl);

/* Nothing is said to this rank any more, not even at the end: its GPU hangs. */
void syi_nccl_disown(syi_nccl *nccl, int rank);
/* Ends all ranks at once, whatever they are at. */
void syi_nccl_abort(syi_nccl *nccl);
/* Ends them, in good order where all are well, and closes the library. Takes the address, leaves
 * NULL. */
void syi_nccl_close(syi_nccl **nccl, int64_t patience_ns);

#endif
