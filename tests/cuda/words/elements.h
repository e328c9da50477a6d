/* The kernels that make doubles of floats and floats of doubles, beside the host's conversions. */
#ifndef TESTS_CUDA_WORDS_ELEMENTS_H
#define TESTS_CUDA_WORDS_ELEMENTS_H

#include "words_slab.h"

/* Every kind of number, ties, and NaNs. Adds to both counts; the first differences are told on
 * standard error. Non-zero when a kernel does not run. */
int words_elements(const words_gpu *gpu, CUmodule module, uint64_t *words, uint64_t *failures);

#endif
