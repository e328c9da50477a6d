/*
 * Arrays of floats: they go to and from a GPU as they are, and become doubles and floats again
 * there, since kernels work on doubles.
 */
#ifndef SYI_DEVICE_CUDA_CONVERT_H
#define SYI_DEVICE_CUDA_CONVERT_H

#include "device/cuda/device.h"

/* Both enqueue on the slot's stream; nothing for a work of doubles. `view` is the job's. */
sy_status syi_cuda_widen_inputs(cuda_device *cuda, const cuda_slot *slot, const syi_job *job,
                                const syi_view *view);
sy_status syi_cuda_narrow_outputs(cuda_device *cuda, const cuda_slot *slot, const syi_job *job,
                                  const syi_view *view);

#endif
