/* Where the arrays of a slab go in a slot, and by which way. */
#ifndef SYI_DEVICE_CUDA_LAYOUT_H
#define SYI_DEVICE_CUDA_LAYOUT_H

#include "device/cuda/device.h"

/* The bytes that a slab needs, and the way of its arrays. */
cuda_layout cuda_layout_of(const cuda_device *cuda, const syi_job *job, const syi_slab *slab);

#endif
