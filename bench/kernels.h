/* What the parts of bench_kernels share: what a line is about, and measuring it. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include "harness.h"

extern const char *const kernels_dtypes[];

/* What one line is about. */
typedef struct question {
    const sy_workload_info *info;
    const char *kind;
    sy_dtype dtype;
    int64_t n, rows, period; /* elements in all; period 0: its own, or it has none */
    int threads;
    int hard_data, several_threads; /* some line's are: what they are compared with has a column */
} question;

enum { KERNELS_OUTPUTS = 3 }; /* at most */

/* Which of the series of a kind (series.h) it reads, a bit for each. */
unsigned kernels_series(const sy_workload_info *info);
/* Made when first asked for; 0: the end, all are destroyed. */
sy_context *kernels_context(int threads);
/* The instruction set at most, for contexts made later; NULL: the best. Borrowed. */
void kernels_limit(const char *isa);
/* From here on the arrays have so many elements; 0: the end. */
void kernels_size(int64_t n);
/* A line for each accuracy named, all of whose sides run in turn. */
void kernels_measure(const question *q, const bench_option *accuracies);

#endif
