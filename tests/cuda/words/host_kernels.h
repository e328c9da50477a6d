/* The GPU kernels by the host's compiler. */
#ifndef TESTS_CUDA_WORDS_HOST_KERNELS_H
#define TESTS_CUDA_WORDS_HOST_KERNELS_H

#include "block.h"

typedef struct host_entry {
    const char *name; /* as in syi_gpu_form; NULL ends the table */
    host_kernel run;
} host_entry;

/* As they are, and with what they round (reveal.h) in the place of each result. */
extern const host_entry host_shipped[], host_revealing[];

#endif
