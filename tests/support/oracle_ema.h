/* The definitions in oracle_ema.c; called by oracle.c alone. Both return how many outputs brackets
 * of so many bits could not decide. */
#ifndef TESTS_SUPPORT_ORACLE_EMA_H
#define TESTS_SUPPORT_ORACLE_EMA_H

#include <stdint.h>

typedef struct oracle_ema_args {
    int64_t period, fast, slow, signal;
    int first; /* seeded with the first value */
} oracle_ema_args;

int64_t oracle_ema(const double *x, int64_t n, const oracle_ema_args *a, int bits, double *out);
int64_t oracle_macd(const double *x, int64_t n, const oracle_ema_args *a, int bits,
                    double *const *out);

#endif
