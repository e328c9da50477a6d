/*
 * Stretches of arrays between the GPUs of a context. Results that belong on another GPU than the
 * one that computed them, or on all of them, go there by the first way that works: NCCL, peer
 * copies, or through the host. A way that fails, or hangs past the watchdog, is given up for the
 * rest of the context, and what it was to carry is carried by the next one; the log says which way
 * is taken, and why.
 */
#ifndef SYI_DEVICE_CUDA_GATHER_H
#define SYI_DEVICE_CUDA_GATHER_H

#include "base/log.h"
#include "device/cuda/ranks.h"

typedef struct syi_cuda_gather syi_cuda_gather;

/* Of the devices that are opened now and later. */
sy_status syi_cuda_gather_open(const syi_devices *devices, const sy_config *config, syi_log *log,
                               syi_cuda_gather **out);
/* When no call is under way any more: ends what can be ended, so that the caller's memory can be
 * given back. Accepts a NULL. */
void syi_cuda_gather_end(syi_cuda_gather *gather);
/* Before the devices are closed: says which of them are kept. Takes the address, accepts a NULL
 * inside, leaves NULL. */
void syi_cuda_gather_close(syi_cuda_gather **gather);

/* Gives back what a way keeps between transfers (NCCL's ranks and their memory); it is begun again
 * when it is needed. While nothing of this thread's is under way. */
void syi_cuda_gather_trim(syi_cuda_gather *gather);

/* Whether anything goes from GPU to GPU; else all goes through the host. */
int syi_cuda_gather_is_direct(syi_cuda_gather *gather);

/* Enqueues on `stream`, of `to`, whose context is current and which has nothing else at `target`.
 * Where that cannot be it is done through the host, and by everybody from now on. SY_ERR_DEVICE:
 * one of the two failed. */
sy_status syi_cuda_peer_fetch(cuda_device *to, cuda_device *from, CUdeviceptr source,
                              CUdeviceptr target, size_t bytes, CUstream stream);

/* Carries finished bytes; when it returns they are there. SY_ERR_DEVICE: one of the two failed, and
 * is `lost`. */
sy_status syi_cuda_gather_parcel(const cuda_parcel *parcel);

/* As syi_ram.exchange. */
sy_status syi_cuda_exchange(syi_device *const *devices, void *const *arrays, int count,
                            size_t part);

#endif
