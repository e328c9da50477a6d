/* The oracle's numbers: exact integers times a power of two, and the one rounding at the end. */
#ifndef TESTS_SUPPORT_ORACLE_NUM_H
#define TESTS_SUPPORT_ORACLE_NUM_H

#include <stdint.h>
#include <stdio.h> /* before gmp.h and mpfr.h, which then declare their input and output */
#include <gmp.h>
#include <mpfr.h>

/* The library's NaN. */
double num_nan(void);
void num_fill_nan(double *out, int64_t from, int64_t to);

/* The least e such that every finite x is an integer times 2^e (0 when there is none). */
long num_exponent(const double *x, int64_t n);
/* x / 2^exponent; x is finite and the quotient an integer. */
void num_scale(mpz_t out, double x, long exponent);

/* mpfr: the value rounded to nearest double; ties to even, subnormals on their grid, zero is +0. */
double num_round(const mpfr_t value);
/* num/den * 2^exponent. */
double num_round_quotient(const mpz_t num, const mpz_t den, long exponent);
/* (a + sign * sqrt(b)) / den * 2^exponent with sign 0, 1 or -1; b >= 0, den > 0. */
double num_round_root(const mpz_t a, int sign, const mpz_t b, const mpz_t den, long exponent);

#endif
