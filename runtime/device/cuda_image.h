/* The GPU kernels as the build made them. */
#ifndef SYI_DEVICE_CUDA_IMAGE_H
#define SYI_DEVICE_CUDA_IMAGE_H

/* A fatbin (nvcc) or PTX text (clang), to be handed to the driver; NULL: none was built. */
const void *syi_cuda_image(void);

#endif
