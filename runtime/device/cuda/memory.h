/* A GPU's memory from outside of its runs. */
#ifndef SYI_DEVICE_CUDA_MEMORY_H
#define SYI_DEVICE_CUDA_MEMORY_H

#include "device/cuda/device.h"

extern const syi_ram syi_cuda_ram;

/* Gives the port's stream and buffer back. The context is current, and nobody else uses
 * the port. */
void syi_cuda_port_clear(cuda_device *cuda);

#endif
