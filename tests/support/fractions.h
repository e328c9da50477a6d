/*
 * The recurrences in fractions of integers, rounded once, at the end: for values that no number of
 * bits tells from the middle between two doubles. As long as the row is, so long the integers get.
 */
#ifndef TESTS_SUPPORT_FRACTIONS_H
#define TESTS_SUPPORT_FRACTIONS_H

#include <stdint.h>

/* Each gives the column n - 1 of a row whose warm-up is over there. `first`: seed_with=first. */
double fractions_ema(const double *x, int64_t n, int64_t period, int first);
double fractions_atr(const double *high, const double *low, const double *close, int64_t n,
                     int64_t period);
double fractions_rsi(const double *x, int64_t n, int64_t period);
/* Of periods fast, slow, and signal; seed_with=first. out: macd, signal, histogram. */
void fractions_macd(const double *x, int64_t n, const int64_t period[3], double out[3]);

#endif
