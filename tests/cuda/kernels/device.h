// The few words of CUDA that the sample kernels need, for nvcc and, without any CUDA header, for
// clang.
#ifndef DEVICE_H
#define DEVICE_H

#ifdef __clang__
#define __global__          __attribute__((global))
#define __device__          __attribute__((device))
#define __shared__          __attribute__((shared))
#define __constant__        __attribute__((constant))
#define __noinline__        __attribute__((noinline))
#define TID                 ((int)__nvvm_read_ptx_sreg_tid_x())
#define NTID                ((int)__nvvm_read_ptx_sreg_ntid_x())
#define CTAID               ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define NCTAID              ((int)__nvvm_read_ptx_sreg_nctaid_x())
#define BARRIER()           __nvvm_bar_sync(0)
#define SHUFFLE_DOWN(x, by) __nvvm_shfl_sync_down_i32(0xffffffffu, x, by, 31)
#define BALLOT(p)           __nvvm_vote_ballot_sync(0xffffffffu, p)
#define ATOMIC_ADD(p, x)    __nvvm_atom_add_gen_i(p, x)
#define ATOMIC_ADD_64(p, x) __nvvm_atom_add_gen_ll(p, x)
#define ATOMIC_MAX(p, x)    __nvvm_atom_max_gen_i(p, x)
#define FMA(a, b, c)        __builtin_fma(a, b, c)
#define SQRT(x)             __nvvm_sqrt_rn_d(x)
#define POPCOUNT(x)         __builtin_popcount(x)
#else
#define TID                 ((int)threadIdx.x)
#define NTID                ((int)blockDim.x)
#define CTAID               ((int)blockIdx.x)
#define NCTAID              ((int)gridDim.x)
#define BARRIER()           __syncthreads()
#define SHUFFLE_DOWN(x, by) __shfl_down_sync(0xffffffffu, x, by)
#define BALLOT(p)           __ballot_sync(0xffffffffu, p)
#define ATOMIC_ADD(p, x)    atomicAdd(p, x)
#define ATOMIC_ADD_64(p, x) atomicAdd((unsigned long long *)(p), (unsigned long long)(x))
#define ATOMIC_MAX(p, x)    atomicMax(p, x)
#define FMA(a, b, c)        fma(a, b, c)
#define SQRT(x)             sqrt(x)
#define POPCOUNT(x)         __popc(x)
#endif

typedef unsigned long long u64;
typedef long long i64;

#endif
