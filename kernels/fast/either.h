/* A vector here and on a GPU: several doubles of a register, or one of each of some threads. What
 * is written in it does the same operations on both. */
#ifndef SYI_KERNELS_FAST_EITHER_H
#define SYI_KERNELS_FAST_EITHER_H

/* The last: for the tests, which compile the GPU kernels for the host. */
#if defined(__CUDACC__) || defined(__CUDA__) || defined(SYI_KERNEL)
#include "fast/lanes.h"
#define SYI_EITHER SYI_DEVICE
#else
#include "fast/divide.h"
#define SYI_EITHER SYI_INLINE
#endif

#endif
