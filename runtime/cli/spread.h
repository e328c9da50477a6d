/* --seeds: a reduction's result with an error bar from merging in as many orders. */
#ifndef CLI_SPREAD_H
#define CLI_SPREAD_H

#include <stddef.h>
#include <steelyard/steelyard.h>

enum { CLI_SPREAD_OUTPUTS = 5 };

/* The names of the outputs, which the workload's description then points to. */
typedef struct cli_spread {
    char names[CLI_SPREAD_OUTPUTS][72];
    const char *list[CLI_SPREAD_OUTPUTS];
    int64_t seeds;  /* 0: none */
    double *values; /* [seeds][rows]; cli_spread_free */
} cli_spread;

/* Makes the description one of five outputs: the value, and the mean, least, greatest and standard
 * deviation of what the seeds give. */
int cli_spread_open(cli_spread *spread, sy_workload_info *info, size_t rows);
/* After the computation: results[1..4] from the values. */
void cli_spread_fill(const cli_spread *spread, size_t rows, sy_dtype dtype, void *const *results);
void cli_spread_free(cli_spread *spread);

#endif
