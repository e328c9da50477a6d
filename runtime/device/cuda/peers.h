/* GPUs that reach into each other's memory by themselves, for copies that the driver makes between
 * them. */
#ifndef SYI_DEVICE_CUDA_PEERS_H
#define SYI_DEVICE_CUDA_PEERS_H

#include "device/cuda/device.h"

/* Lets `cuda` reach the memory of `other`, which belongs to the primary contexts, be they whole
 * GPUs or parts. Where they cannot, copies work without it, by way of the host's memory. By any
 * thread. It ends with the primary context, which others in the process share: the driver does not
 * count who asked, so it is not for us to switch off. */
void syi_cuda_peers_enable(cuda_device *cuda, const cuda_device *other);

#endif
