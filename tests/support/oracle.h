/*
 * The definitions of the built-in workloads, evaluated without rounding and rounded once at the
 * end.
 *
 * Written to be obviously right, not fast, and on purpose in another way than the library: sums are
 * exact integers (GMP), an irrational result is bracketed by MPFR until its rounding is certain,
 * and a recurrence runs twice, once rounded down and once rounded up, at 4,400 bits. What these two
 * runs cannot decide is reported, never guessed.
 */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include <stdint.h>
#include <steelyard/steelyard.h>

enum { ORACLE_OUTPUTS = 3 };

/* Outputs of `workload` for one row in[k][0 .. n). A parameter that is not in `params` has its
 * default. Returns the number of outputs whose rounding could not be decided (0 in every sane use),
 * or -1 for an unknown workload or parameter. A reduction writes out[k][0]. */
int64_t oracle_run(const char *workload, const sy_param *params, int n_params,
                   const double *const *in, int64_t n, double *const *out);

/* Outputs of that workload, 0 when it is unknown. */
int oracle_outputs(const char *workload);
int oracle_is_reduction(const char *workload);

/* mantissa * 2^exponent given in decimal or hexadecimal digits ("0x..."), rounded to the nearest
 * double by the oracle's own rounding: the oracle's self-test. */
double oracle_round(const char *mantissa, long exponent);

#endif
