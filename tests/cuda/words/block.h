/*
 * A block of a GPU kernel on the host: each of its threads is a fiber, all of them on one thread of
 * the host, which change places where they meet (a barrier) or exchange words (a shuffle).
 */
#ifndef TESTS_CUDA_WORDS_BLOCK_H
#define TESTS_CUDA_WORDS_BLOCK_H

struct syi_launch;

typedef void (*host_kernel)(const struct syi_launch launch);

/* Runs the kernel for blocks 0 .. blocks - 1. Non-zero, with the reason on standard error: memory
 * is exhausted, or threads that should meet did not. */
int host_launch(host_kernel kernel, const struct syi_launch *launch, int blocks, int threads);

/* ---- for the kernels ---- */

extern int host_thread, host_block;

void host_barrier(void);
/* The word of that lane of the thread's warp. */
int host_shuffle(int word, int lane);
/* Whether it holds in any lane of the thread's warp. */
int host_any(int truth);

#endif
