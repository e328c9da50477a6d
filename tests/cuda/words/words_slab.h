/* One slab on a GPU, through any driver, and by the host's translation of the same kernel. */
#ifndef TESTS_CUDA_WORDS_WORDS_SLAB_H
#define TESTS_CUDA_WORDS_WORDS_SLAB_H

#include "block.h"

#include "device/cuda/layout.h"
#include "device/cuda/slot.h"

typedef struct words_gpu {
    syi_cuda_driver *driver;
    CUcontext context;
} words_gpu;

/* Non-zero, with the reason on standard error, when it cannot be had. */
int words_gpu_open(words_gpu *gpu, const char *driver);
int words_gpu_load(const words_gpu *gpu, const void *image, CUmodule *out);
void words_gpu_close(words_gpu *gpu);

/* Non-zero, with its name on standard error, for a driver's error. */
#define WORDS_FAILED(gpu, call) words_failed(gpu, (gpu)->driver->api.call, #call)
int words_failed(const words_gpu *gpu, CUresult result, const char *what);

typedef struct words_slab {
    const syi_job *job;
    cuda_slot slot;                    /* the caller sets its slab */
    unsigned char *given, *gpu, *host; /* the slot's memory before, and what each made of it */
} words_slab;

/* All non-zero, with the reason on standard error, when it cannot be done. */
int words_slab_open(words_slab *s);
int words_slab_on_gpu(words_slab *s, const words_gpu *gpu, CUmodule module);
int words_slab_on_host(words_slab *s, host_kernel kernel);
void words_slab_close(words_slab *s);

#endif
