/* The .npy format, versions 1.0 to 3.0: little-endian f8 and f4. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load.h"
#include "output.h"
#include "values.h"

enum { CLI_NPY_MAX_DIMENSIONS = 3 };

typedef struct cli_npy {
    cli_bytes bytes;
    int n_dimensions; /* 1 or 2 */
    int64_t shape[2];
    const void *values; /* in the file itself where it may be used as it is */
    void *converted;    /* else a copy */
} cli_npy;

/* `dtype`: what the values are to become. cli_npy_close also when it failed. */
int cli_npy_open(const char *path, sy_dtype dtype, cli_npy *npy);
void cli_npy_close(cli_npy *npy);

/* An array to be written: `values` is the place for them. */
typedef struct cli_npy_result {
    char *block; /* header and values */
    size_t size;
    bool mapped;
    void *values;
} cli_npy_result;

/* Makes room for the array in the output, so that a full disk is known before the computation. */
int cli_npy_create(cli_output *output, sy_dtype dtype, const int64_t *shape, int n_dimensions,
                   cli_npy_result *result);
/* Hands the values over to the output, which is still to be committed. */
int cli_npy_finish(cli_npy_result *result, cli_output *output);
void cli_npy_discard(cli_npy_result *result);

#endif
