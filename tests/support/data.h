/* The real series of tests/data and their reference bits in tests/golden. */
#ifndef TESTS_SUPPORT_DATA_H
#define TESTS_SUPPORT_DATA_H

#include <stdint.h>

enum { DATA_SERIES = 5 };

extern const char *const data_series[DATA_SERIES];

/* Column `name` of a series; to be freed. NULL, with a message on standard error, when it cannot be
 * read: a test then fails. */
double *data_column(const char *series, const char *name, int64_t *n);

/* `outputs` arrays of n values each, one after the other; to be freed. NULL likewise. */
double *data_golden(const char *series, const char *indicator, int outputs, int64_t n);

#endif
