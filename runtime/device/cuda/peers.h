/* GPUs that reach into each other's memory by themselves, for copies that the driver makes between
 * them. */
#ifndef SYI_DEVICE_CUDA_PEERS_H
#define SYI_DEVICE_CUDA_PEERS_H

#include "device/cuda/device.h"

/* Lets `cuda`, whose context is current, reach the memory of `other`. Where they cannot, copies
 * work without it, by way of the host's memory. By any thread. */
void syi_cuda_peers_enable(cuda_device *cuda, const cuda_device *other);
/* What was switched on for our copies is switched off again. */
void syi_cuda_peers_close(cuda_device *cuda);

#endif
