/* The library's outputs of a case against the oracle's, bit for bit. */
#ifndef TESTS_SUPPORT_JUDGE_H
#define TESTS_SUPPORT_JUDGE_H

#include "support/lab.h"

/* An f32 output is the nearest float of the correctly rounded double.
 *
 * The number of wrong values among the outputs of a case that was run; the first ones are told on
 * standard error. The one exception to equal bits is MACD's documented limit: where the true value
 * is below 2^-50 of the largest |x| so far, an absolute error up to 2^-100 of that. */
int64_t judge_case(const lab_case *c);

#endif
