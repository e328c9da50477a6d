/* For a clang without NVIDIA's headers: the words of plain CUDA C that simple kernels use, included
 * before anything else (-include). Needs clang's own header of built-in variables alone. */
#ifndef SYI_KERNELS_CUDA_PLAIN_CUDA_H
#define SYI_KERNELS_CUDA_PLAIN_CUDA_H

#define __host__   __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

#include <__clang_cuda_builtin_vars.h>

#define __syncthreads() __nvvm_bar_sync(0)

#endif
