/*
 * The few words of CUDA that the kernels use, for a clang without NVIDIA's headers: included before
 * anything else (-include). The C library's declarations are read first, since they are the
 * host's; then their names stand for the compiler's own operations.
 */
#ifndef SYI_KERNELS_CUDA_MINI_CUDA_H
#define SYI_KERNELS_CUDA_MINI_CUDA_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __host__               __attribute__((host))
#define __device__             __attribute__((device))
#define __global__             __attribute__((global))
#define __shared__             __attribute__((shared))
#define __forceinline__        inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#define fma(a, b, c)        __builtin_fma(a, b, c)
#define fabs(a)             __builtin_fabs(a)
#define sqrt(a)             __nvvm_sqrt_rn_d(a)
#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memset(to, byte, n) __builtin_memset(to, byte, n)

#define SYI_THREAD ((int)__nvvm_read_ptx_sreg_tid_x())
#define SYI_BLOCK  ((long long)__nvvm_read_ptx_sreg_ctaid_x())
#define SYI_SYNC() __nvvm_bar_sync(0)

/* Lane `lane ^ by`'s word; lane `lane - by`'s, its own where there is none; lane `from`'s. */
#define SYI_SHUFFLE_XOR(x, by) __nvvm_shfl_sync_bfly_i32(0xffffffffu, x, by, 31)
#define SYI_SHUFFLE_UP(x, by)  __nvvm_shfl_sync_up_i32(0xffffffffu, x, by, 0)
#define SYI_SHUFFLE(x, from)   __nvvm_shfl_sync_idx_i32(0xffffffffu, x, from, 31)
/* Whether it holds in any lane of the warp. */
#define SYI_ANY_OF_WARP(truth) __nvvm_vote_any_sync(0xffffffffu, truth)

#endif
