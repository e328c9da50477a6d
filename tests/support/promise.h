/* What fast accuracy promises of its errors (docs/determinism.md), and how a case keeps it. */
#ifndef TESTS_SUPPORT_PROMISE_H
#define TESTS_SUPPORT_PROMISE_H

#include "support/lab.h"

/* The largest error among the outputs of a case of one row that was run, in the promise's units; it
 * is infinite where a NaN is not where it should be, or another one. The first output that is
 * beyond the bound is told on standard error as one of `series`. -1: memory is exhausted. */
double promise_error(const lab_case *c, const char *series);

/* The most that is promised of the case, in the same units. */
double promise_bound(const lab_case *c);

#endif
