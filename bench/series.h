/* The data that the benches compute on: prices of several kinds, the same in every run. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include <stdint.h>

/* NULL-terminated. */
extern const char *const bench_series_kinds[];

/* Fills `x` with a series of the kind; which: 0 the close, 1 the high and 2 the low that belong to
 * it, 3 another series. */
void bench_series_fill(const char *kind, int which, double *x, int64_t n);

enum { BENCH_SERIES = 4 };

/* The same from a store, made when first asked for; narrow: as floats, twice as many in the bytes.
 */
const double *bench_series(const char *kind, int which, int narrow);
/* Empties the store; from here on series have so many elements (0: the end). */
void bench_series_size(int64_t n);

#endif
