#include "spread.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "values.h"

int cli_spread_open(cli_spread *spread, sy_workload_info *info, size_t rows)
{
    static const char *const suffixes[CLI_SPREAD_OUTPUTS] = {"", "_mean", "_min", "_max", "_std"};
    size_t seeds = (size_t)spread->seeds;
    if (info->pattern != SY_PATTERN_REDUCE || info->n_outputs != 1)
        return cli_fail(CLI_USAGE, "--seeds is for sum, mean, variance and dot, not for '%s'",
                        info->name);
    for (int k = 0; k < CLI_SPREAD_OUTPUTS; k++) {
        snprintf(spread->names[k], sizeof spread->names[k], "%s%s", info->name, suffixes[k]);
        spread->list[k] = spread->names[k];
    }
    info->n_outputs = CLI_SPREAD_OUTPUTS;
    info->output_names = spread->list;
    if (rows && seeds > SIZE_MAX / sizeof(double) / rows)
        return cli_no_memory();
    spread->values = malloc(rows ? seeds * rows * sizeof(double) : 1);
    return spread->values ? CLI_DONE : cli_no_memory();
}

void cli_spread_fill(const cli_spread *spread, size_t rows, sy_dtype dtype, void *const *results)
{
    size_t seeds = (size_t)spread->seeds;
    for (size_t row = 0; row < rows; row++) {
        const double *value = spread->values + row;
        double first = value[0], shift = 0, squares = 0, least = first, most = first;
        for (size_t s = 0; s < seeds; s++) {
            double x = value[s * rows];
            if (x != first) /* they may be infinite */
                shift += (x - first) / (double)seeds;
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        for (size_t s = 0; s < seeds; s++) {
            double off = value[s * rows] - first - shift;
            squares += off * off / (double)seeds;
        }
        cli_value_set(results[1], dtype, row, first + shift);
        cli_value_set(results[2], dtype, row, least);
        cli_value_set(results[3], dtype, row, most);
        cli_value_set(results[4], dtype, row, isnan(squares) ? (double)NAN : sqrt(squares));
    }
}

void cli_spread_free(cli_spread *spread)
{
    free(spread->values);
    spread->values = NULL;
}
