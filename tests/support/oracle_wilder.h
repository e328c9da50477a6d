/* The definitions in oracle_wilder.c; called by oracle.c alone. Both return how many outputs they
 * could not decide by so many bits; a difference of prices that has more counts as one. */
#ifndef TESTS_SUPPORT_ORACLE_WILDER_H
#define TESTS_SUPPORT_ORACLE_WILDER_H

#include <stdint.h>

int64_t oracle_rsi(const double *x, int64_t n, int64_t period, int bits, double *out);
int64_t oracle_atr(const double *high, const double *low, const double *close, int64_t n,
                   int64_t period, int bits, double *out);

#endif
