/*
 * What the programs of backend/ share: worlds of virtual GPUs, and cases on the CUDA backend that
 * are compared with the CPU alone, through the public API. Each program is called as
 *
 *     test_SUBJECT DRIVER [IMAGE.ptx] [--seed N] [--cases N]
 *
 * with the simulated driver's path and, if need be, an image in the place of the built one.
 */
#ifndef TESTS_CUDA_GPU_LAB_H
#define TESTS_CUDA_GPU_LAB_H

#include "support/lab.h"
#include "support/series.h"
#include "vcuda/vcuda.h"

enum { GPU_MOST = 40000 };

extern const char *gpu_driver; /* path of the simulated driver */
extern sy_context *gpu_cpu;    /* one thread of the CPU: what is right */
extern uint64_t gpu_seed;      /* what the command line says */
extern int gpu_cases;
extern double gpu_x[GPU_MOST]; /* for the series of a case */
extern uint64_t gpu_checks, gpu_failures;

/* Reads the command line and opens what is right; 0, with the reason on standard error, when that
 * cannot be had. */
int gpu_begin(int argc, char **argv);
/* Counts the checks in a line; the program's exit code. */
int gpu_end(void);

#define GPU_CHECK(truth, ...) gpu_check(!!(truth), __FILE__, __LINE__, __VA_ARGS__)
void gpu_check(int truth, const char *file, int line, const char *format, ...);

/* A fresh machine (vcuda_setup); `order` may be NULL. No context may be open. */
void gpu_world(const char *setup, const char *order, uint64_t seed);
/* How contexts gather results on GPUs, and their NCCL: AUTO and none unless a program says
 * otherwise.
 */
extern sy_gather gpu_gather;
extern const char *gpu_nccl;
/* NULL when it cannot be had: the reason is in sy_last_error(). */
sy_context *gpu_open(const char *devices, uint64_t budget, double watchdog_ms, lab_log *log);
/* Closes it, and checks that nothing is left on the virtual GPUs. */
void gpu_close(sy_context **context, const char *what);
/* The same where some of the first `devices` hang: of those nothing can be given back; the others
 * are clean. */
void gpu_close_beside_hung(sy_context **context, int devices, const char *what);
/* The same where copies between some of the first `devices` may hang, or a driver refuses
 * everything: a GPU is left with its context, or clean. */
void gpu_close_kept(sy_context **context, int devices, const char *what);

/* One to four GPUs of different generations, with and without the CPU: 0 <= mix < GPU_MIXES, and
 * the mix in words. NULL, which counts as a failure, when it cannot be had. */
enum { GPU_MIXES = 8, GPU_WORDS = 64 };
sy_context *gpu_open_mix(int mix, char *words);
/* Checks that each GPU of the mix has computed something. */
void gpu_check_all_worked(int mix, const char *words);

/* One row of n values with spikes, in gpu_x. */
lab_case gpu_case(const char *workload, int64_t n);
/* A random case of any workload on a series of its own of at most `most` values, in gpu_x. */
lab_case gpu_random_case(uint64_t *random, int64_t most);
/* Runs the case on the context and compares with the CPU alone, in the accuracy of the options. */
sy_status gpu_compare(sy_context *context, lab_case *c, const sy_options *options,
                      sy_report *report, const char *what);

#endif
