/* TA-Lib as a peer, where the user has it: opened at run time, never needed. */
#ifndef BENCH_TALIB_H
#define BENCH_TALIB_H

#include <stdint.h>

/* Opens the library of that path (NULL: the system's); 0 when it is not there. */
int bench_talib_open(const char *path);
/* Whether it has this workload, as the same thing under another name, and takes the period (as in
 * bench_talib_run). */
int bench_talib_has(const char *workload, int64_t n, int64_t period);
/* Computes it; period 0: the workload's own. */
void bench_talib_run(const char *workload, const double *const *in, double *const *out, int64_t n,
                     int64_t period);
void bench_talib_close(void);

#endif
