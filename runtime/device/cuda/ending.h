/*
 * Work of which it is not known that it has ended: a GPU hangs, or its driver answers with errors.
 * Until it is known, nothing that this work may use is given back; what the context's end finds in
 * use is left to the driver. A hanging GPU is asked about such streams, which waits for nothing,
 * and for nothing else.
 */
#ifndef SYI_DEVICE_CUDA_ENDING_H
#define SYI_DEVICE_CUDA_ENDING_H

#include "device/cuda/device.h"

/* Waits for the stream, whose context is current, after an error too. If its end cannot be seen it
 * is remembered, and that it may use arrays of these homes (cuda_home_bit, CUDA_HOST). */
void syi_cuda_end(cuda_device *cuda, CUstream stream, uint64_t homes);
/* The same where the driver does not even take the context. */
void syi_cuda_end_unseen(cuda_device *cuda, CUstream stream, uint64_t homes);

/* Destroys the stream, whose context is current, once it is known that it has ended. */
void syi_cuda_stream_drop(cuda_device *cuda, CUstream stream);

/* Whether everything on the device is known to have ended; what was not is asked for again. */
int syi_cuda_is_settled(cuda_device *cuda);

/* SY_ERR_DEVICE where not: then nothing that its work may use is to be used again. */
sy_status syi_cuda_need_settled(cuda_device *cuda);

/* Whether all parts of its GPU are settled: giving memory back may wait for any of them. */
int syi_cuda_gpu_is_settled(const cuda_device *cuda);

/* The homes of what the unsettled devices may use: their own, and what their copies use. `but`
 * (NULL: none) does not count, nor do parts of its GPU that can be closed with it. */
uint64_t syi_cuda_homes_in_use(const syi_devices *devices, const cuda_device *but);

/* Gives the context back, unless a communicator of NCCL was left in it. */
void syi_cuda_context_close(cuda_device *cuda);

/* Ends what can be ended before memory is given back for good: with a context goes its work, so
 * those of devices that answer with errors are closed, but for one that another one may use. */
void syi_cuda_end_refusing(const syi_devices *devices);

#endif
