/* A GPU's memory from outside of its runs. */
#ifndef SYI_DEVICE_CUDA_MEMORY_H
#define SYI_DEVICE_CUDA_MEMORY_H

#include "device/cuda/device.h"

extern const syi_ram syi_cuda_ram;

/* The port has its stream from the opening of the device on, and its buffer from the first copy on.
 * When either is given back a context of the GPU is current, and nobody else uses the port. */
sy_status syi_cuda_port_open(cuda_device *cuda);
void syi_cuda_port_trim(cuda_device *cuda);
void syi_cuda_port_close(cuda_device *cuda);

#endif
