/* Worlds of virtual GPUs, and cases that are compared with the CPU alone. */
#ifndef TESTS_CUDA_GPU_LAB_H
#define TESTS_CUDA_GPU_LAB_H

#include "support/lab.h"
#include "support/series.h"
#include "vcuda/vcuda.h"

extern const char *gpu_driver; /* path of the simulated driver */
extern uint64_t gpu_checks, gpu_failures;

#define GPU_CHECK(truth, ...) gpu_check(!!(truth), __FILE__, __LINE__, __VA_ARGS__)
void gpu_check(int truth, const char *file, int line, const char *format, ...);

/* A fresh machine (vcuda_setup); `order` may be NULL. No context may be open. */
void gpu_world(const char *setup, const char *order, uint64_t seed);
/* NULL when it cannot be had: the reason is in sy_last_error(). */
sy_context *gpu_open(const char *devices, uint64_t budget, double watchdog_ms, lab_log *log);
/* Closes it, and checks that nothing is left on the virtual GPUs. */
void gpu_close(sy_context **context, const char *what);

/* A random case of any workload on a series of its own; `x` has room for `most` values. */
void gpu_random_case(sy_context *cpu, uint64_t *random, double *x, int64_t most, lab_case *c);
/* Runs the case on the context and compares with the CPU alone. */
sy_status gpu_compare(sy_context *cpu, sy_context *context, lab_case *c, const sy_options *options,
                      sy_report *report, const char *what);

#endif
