/* The real series of tests/data and their reference bits in tests/golden. */
#ifndef TESTS_SUPPORT_DATA_H
#define TESTS_SUPPORT_DATA_H

#include "support/lab.h"

#include <stdint.h>

enum { DATA_SERIES = 5 };

extern const char *const data_series[DATA_SERIES];

/* Column `name` of a series; to be freed. NULL, with a message on standard error, when it cannot be
 * read: a test then fails. */
double *data_column(const char *series, const char *name, int64_t *n);

/* A workload over the whole of a series, prepared: its closes, or where it has three inputs the
 * high, the low and the close of each bar. To be given back with data_case_release. 0 likewise. */
int data_case(const char *workload, const char *series, lab_case *c);
void data_case_release(lab_case *c);

/* `outputs` arrays of n values each, one after the other; to be freed. NULL likewise. */
double *data_golden(const char *series, const char *indicator, int outputs, int64_t n);

#endif
