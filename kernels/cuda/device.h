/*
 * What the GPU kernels are written in: one set of words for the compilers that make them, nvcc, the
 * one that knows CUDA's own, and those that are given these before (clang, cuda/mini_cuda.h). The
 * arithmetic is the CPU kernels' own.
 */
#ifndef SYI_KERNELS_CUDA_DEVICE_H
#define SYI_KERNELS_CUDA_DEVICE_H

#ifndef SYI_THREAD
#define SYI_THREAD             ((int)threadIdx.x)
#define SYI_BLOCK              ((long long)blockIdx.x)
#define SYI_SYNC()             __syncthreads()
#define SYI_SHUFFLE_XOR(x, by) __shfl_xor_sync(0xffffffffu, x, by)
#define SYI_SHUFFLE_UP(x, by)  __shfl_up_sync(0xffffffffu, x, by)
#define SYI_SHUFFLE(x, from)   __shfl_sync(0xffffffffu, x, from)
#define SYI_ANY_OF_WARP(truth) __any_sync(0xffffffffu, truth)
#define __builtin_clzll(x)     __clzll((long long)(x))
#endif
#ifndef SYI_KERNEL
#define SYI_KERNEL extern "C" __global__ void
#endif

/* C's words */
#define _Static_assert static_assert
#define restrict __restrict

#include "exact/bits.h"
#include "launch.h"

#include <stddef.h>

#define SYI_DEVICE static __device__ __forceinline__

#define SYI_WARP 32

/* ---- words of 64 bits between the lanes of a warp ---- */

#define SYI_SHUFFLE_64(x, how, by)                                                                 \
    ((uint64_t)(uint32_t)how((int)(uint32_t)((x) >> 32), by) << 32 |                               \
     (uint32_t)how((int)(uint32_t)(x), by))

SYI_DEVICE uint64_t syi_shuffle_xor(uint64_t x, int by)
{
    return SYI_SHUFFLE_64(x, SYI_SHUFFLE_XOR, by);
}

SYI_DEVICE uint64_t syi_shuffle_up(uint64_t x, int by)
{
    return SYI_SHUFFLE_64(x, SYI_SHUFFLE_UP, by);
}

SYI_DEVICE uint64_t syi_shuffle(uint64_t x, int from)
{
    return SYI_SHUFFLE_64(x, SYI_SHUFFLE, from);
}

SYI_DEVICE int64_t syi_warp_most(int64_t x)
{
    for (int by = SYI_WARP / 2; by > 0; by /= 2) {
        int64_t other = (int64_t)syi_shuffle_xor((uint64_t)x, by);
        x = other > x ? other : x;
    }
    return x;
}

SYI_DEVICE int64_t syi_warp_least(int64_t x)
{
    return ~syi_warp_most(~x);
}

/* ---- units ---- */

/* One unit: columns [at, at + count) of a row of the slab. */
typedef struct syi_unit {
    int64_t index, row, at, count;
} syi_unit;

SYI_DEVICE syi_unit syi_unit_of(const syi_launch *launch, int64_t index)
{
    int64_t row = index / launch->units_per_row;
    int64_t at = (index - row * launch->units_per_row) * launch->unit_columns;
    int64_t left = launch->columns - at;
    return (syi_unit){index, row, at, left < launch->unit_columns ? left : launch->unit_columns};
}

/* An input at the unit's first column, and an output. */
SYI_DEVICE const double *syi_unit_in(const syi_launch *launch, const syi_unit *unit,
                                     const double *in)
{
    return in + unit->row * launch->in_stride + launch->left + unit->at;
}

SYI_DEVICE double *syi_unit_out(const syi_launch *launch, const syi_unit *unit, double *out)
{
    return out + unit->row * launch->columns + unit->at;
}

/* Columns [first, last) of the unit are in doubt; first >= last: none. One thread of the unit. */
SYI_DEVICE void syi_unit_doubt(const syi_launch *launch, const syi_unit *unit, int64_t first,
                               int64_t last)
{
    int any = first < last;
    launch->doubts[2 * unit->index] = any ? unit->at + first : 0;
    launch->doubts[2 * unit->index + 1] = any ? unit->at + last : 0;
}

#endif
