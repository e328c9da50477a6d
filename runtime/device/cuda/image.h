/* The GPU kernels as the build made them. */
#ifndef SYI_DEVICE_CUDA_IMAGE_H
#define SYI_DEVICE_CUDA_IMAGE_H

/* A fatbin (nvcc) or PTX text (clang), to be handed to the driver; NULL: none was built. */
const void *syi_cuda_image(void);
/* For tests: another image for the contexts to come; NULL: the built one again. */
void syi_cuda_image_set(const void *image);

#endif
