/* Parts of a GPU as devices of their own, `cuda:0/96+36`: green contexts, each with some of the
 * multiprocessors. They are shared out in groups whose size the hardware sets. */
#ifndef SYI_DEVICE_CUDA_GREEN_H
#define SYI_DEVICE_CUDA_GREEN_H

#include "device/cuda/driver.h"

enum { CUDA_MOST_PARTS = 8, CUDA_MOST_GROUPS = 256 };

typedef struct cuda_part {
    int wanted;       /* multiprocessors asked for */
    int first, count; /* groups it gets */
    int rest;         /* it also gets what the groups leave over */
} cuda_part;

typedef struct cuda_parts {
    int count;
    cuda_part part[CUDA_MOST_PARTS];
    /* of the whole GPU */
    int units, n_groups, group_units, rest_units;
    CUdevResource groups[CUDA_MOST_GROUPS], rest;
} cuda_parts;

/* "96+36"; SY_ERR_ARGUMENT for anything else. `item` is for the message. */
sy_status syi_cuda_parts_parse(const char *text, const char *item, cuda_parts *out);
/* Shares the groups of the GPU out to the parts. SY_ERR_NO_DEVICE when the driver cannot, or there
 * are not enough. */
sy_status syi_cuda_parts_share(const syi_cuda_driver *driver, CUdevice device, const char *item,
                               cuda_parts *parts);

/* Opens one of them; the primary context is retained. What it makes before it fails is `green`'s.
 */
sy_status syi_cuda_part_open(const syi_cuda_driver *driver, CUdevice device,
                             const cuda_parts *parts, int index, const char *name,
                             CUgreenCtx *green, CUcontext *context, int *units);

#endif
