/* Slabs through the slots of a GPU. */
#ifndef SYI_DEVICE_CUDA_SLOT_H
#define SYI_DEVICE_CUDA_SLOT_H

#include "device/cuda/device.h"

/* Whether a slab of that layout goes into the memory that the slot has. */
int syi_cuda_slot_fits(const cuda_slot *slot, const cuda_layout *layout);
/* Makes the memory of a slot, one of `slots` in use, large enough for that layout, which the next
 * slab has. SY_ERR_MEMORY leaves the slot usable. */
sy_status syi_cuda_slot_reserve(cuda_device *cuda, cuda_slot *slot, const cuda_layout *layout,
                                int slots);
/* What a kernel gets for the slab in the slot; `view` is the job's. */
syi_launch syi_cuda_slot_describe(const cuda_slot *slot, const syi_job *job, const syi_view *view);
/* Stages the slab, for which the slot is reserved, and enqueues its copies and its kernel. */
sy_status syi_cuda_slot_start(cuda_device *cuda, cuda_slot *slot, CUfunction kernel,
                              const syi_job *job, const syi_slab *slab);
/* Waits for the slab, writes its outputs where they belong, and adds what was found. */
sy_status syi_cuda_slot_finish(cuda_device *cuda, cuda_slot *slot, const syi_job *job,
                               syi_outcome *outcome);
/* Waits for the slab without using what it computed. */
void syi_cuda_slot_abandon(cuda_device *cuda, cuda_slot *slot);
/* Gives stream, events and memory back. */
void syi_cuda_slot_clear(cuda_device *cuda, cuda_slot *slot);

#endif
