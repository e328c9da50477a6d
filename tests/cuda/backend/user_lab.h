/* A user's own workloads, with forms for the CPU and for GPUs, and runs that are compared with the
 * CPU alone. */
#ifndef TESTS_CUDA_BACKEND_USER_LAB_H
#define TESTS_CUDA_BACKEND_USER_LAB_H

#include "gpu_lab.h"

enum { USER_ROWS = 5, USER_COLUMNS = 5 * 4096, USER_LANES = 64 };

extern char *user_ptx; /* the image of the kernels in ../user */

/* As gpu_begin, for a command line `DRIVER PTX`; fills the inputs, too. */
int user_begin(int argc, char **argv);
int user_end(void);

/* The workload of the kernel with that name: user_map, user_window, user_reduce. A definition may
 * be changed before it is added. */
sy_workload_def user_def(const char *name, sy_pattern pattern);
void user_add(sy_context *context, const sy_workload_def *def);

/* Of the arrays of the runs that follow; the values are the same, as near as they come. */
extern sy_dtype user_dtype;

typedef struct user_result {
    double out[2][USER_ROWS * USER_COLUMNS]; /* of floats only the first half */
} user_result;

extern user_result user_expected, user_found;

sy_status user_compute(sy_context *context, const char *workload, double p, int64_t rows,
                       int64_t columns, user_result *r, sy_report *report);
/* On the context and on the CPU, which must know the workload. */
void user_same_as_cpu(sy_context *context, const char *workload, double p, int64_t rows,
                      int64_t columns, const char *what);

#endif
