/* Where the arrays of a slab go in a slot, and by which way. */
#ifndef SYI_DEVICE_CUDA_LAYOUT_H
#define SYI_DEVICE_CUDA_LAYOUT_H

#include "device/cuda/device.h"

/* The bytes that a slab needs, and the way of its arrays. */
cuda_layout syi_cuda_layout_of(const cuda_device *cuda, const syi_job *job, const syi_slab *slab);

/* Where the elements of an array are on the GPU; `view` is the job's. */
CUdeviceptr syi_cuda_slot_in(const cuda_slot *slot, const syi_view *view, int k);
CUdeviceptr syi_cuda_slot_out(const cuda_slot *slot, const syi_view *view, int k);

#endif
