/* The GPU form of a user's own workload: a kernel of his image, or his launcher. */
#ifndef SYI_DEVICE_CUDA_USER_H
#define SYI_DEVICE_CUDA_USER_H

#include "device/cuda/device.h"

/* The image of one workload on one device. */
typedef struct cuda_user_image {
    const syi_workload *workload;
    CUcontext context; /* that it is loaded into */
    CUmodule module;
    CUfunction kernel; /* NULL: there is none of that name, or no module */
    int is_strange;    /* the kernel takes something else than a slab */
    char refused[96];  /* why the driver has no use for it on this device; empty: it is loaded */
    struct cuda_user_image *next;
} cuda_user_image;

/* Loads the workload's image when it is first asked, into the primary context: a part's own may be
 * its worker's, whose run loads it there once more. (It is not unloaded before the end, which would
 * wait for work under way.) What else goes wrong is no obstacle: the run will meet it again and say
 * so. */
const char *syi_cuda_user_obstacle(cuda_device *cuda, const syi_workload *workload);
/* The workload's kernel; NULL for a launcher. SY_ERR_USER for an image that cannot be used. The
 * device's context is current, as for the others. */
sy_status syi_cuda_user_kernel(cuda_device *cuda, const syi_workload *workload, CUfunction *kernel);
/* Enqueues the slab that is in the slot; `launch` is its description for a built-in kernel. */
sy_status syi_cuda_user_launch(cuda_device *cuda, const cuda_slot *slot, CUfunction kernel,
                               const syi_job *job, const syi_launch *launch);
/* Unloads the images. */
void syi_cuda_user_clear(cuda_device *cuda);

#endif
