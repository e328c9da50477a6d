/* The definitions in oracle_more.c; called by oracle.c alone. */
#ifndef TESTS_SUPPORT_ORACLE_MORE_H
#define TESTS_SUPPORT_ORACLE_MORE_H

#include <stdint.h>

void oracle_zscore(const double *x, int64_t n, int64_t period, int64_t ddof, double *out);
void oracle_rolling_extreme(const double *x, int64_t n, int64_t period, int greatest, double *out);
/* Value and column. */
void oracle_extreme(const double *x, int64_t n, int greatest, double *const *out);
void oracle_dot(const double *x, const double *y, int64_t n, double *out);

#endif
