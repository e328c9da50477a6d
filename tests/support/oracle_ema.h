/* The definitions in oracle_ema.c; called by oracle.c alone. Both return how many outputs brackets
 * of so many bits could not decide. */
#ifndef TESTS_SUPPORT_ORACLE_EMA_H
#define TESTS_SUPPORT_ORACLE_EMA_H

#include <stdint.h>

/* `first`: seeded with the first value, not with a mean. */
int64_t oracle_ema(const double *x, int64_t n, int64_t period, int first, int bits, double *out);
/* `periods`: the fast one, the slow one, the signal's. */
int64_t oracle_macd(const double *x, int64_t n, const int64_t *periods, int first, int bits,
                    double *const *out);

#endif
