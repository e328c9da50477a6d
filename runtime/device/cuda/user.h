/* The GPU form of a user's own workload: a kernel of his image, or his launcher. */
#ifndef SYI_DEVICE_CUDA_USER_H
#define SYI_DEVICE_CUDA_USER_H

#include "device/cuda/device.h"

/* The image of one workload, loaded on one device. */
typedef struct cuda_user_image {
    const syi_workload *workload;
    CUmodule module;
    CUfunction kernel;
    struct cuda_user_image *next;
} cuda_user_image;

/* The workload's kernel, loaded when it is first wanted; NULL for a launcher. SY_ERR_USER when the
 * image is of no use on this device. The device's context is current, as for the others. */
sy_status cuda_user_kernel(cuda_device *cuda, const syi_workload *workload, CUfunction *kernel);
/* Enqueues the slab that is in the slot; `launch` is its description for a built-in kernel. */
sy_status cuda_user_launch(cuda_device *cuda, const cuda_slot *slot, CUfunction kernel,
                           const syi_job *job, const syi_launch *launch);
/* Unloads the images. */
void cuda_user_clear(cuda_device *cuda);

#endif
