/*
 * What the GPU kernels are written in (kernels/cuda/device.h), for the host's C compiler: included
 * before anything else. The kernels are then a second translation of the same source, by another
 * compiler, with nobody's rules for GPUs.
 */
#ifndef TESTS_CUDA_WORDS_HOST_WORDS_H
#define TESTS_CUDA_WORDS_HOST_WORDS_H

#include "block.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One block runs at a time. */
#define __shared__ static
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#define SYI_KERNEL static void

#define SYI_THREAD             host_thread
#define SYI_BLOCK              ((long long)host_block)
#define SYI_SYNC()             host_barrier()
#define SYI_SHUFFLE_XOR(x, by) host_shuffle(x, host_thread % 32 ^ (by))
#define SYI_SHUFFLE_UP(x, by)                                                                      \
    host_shuffle(x, host_thread % 32 < (by) ? host_thread % 32 : host_thread % 32 - (by))
#define SYI_SHUFFLE(x, from)   host_shuffle(x, from)
#define SYI_ANY_OF_WARP(truth) host_any(truth)

#endif
