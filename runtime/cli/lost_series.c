#include "lost_series.h"

#include <math.h>
#include <stdio.h>

#include "message.h"
#include "values.h"

/* The column from which on all results of a row are nan. */
static int64_t end_of_results(const sy_workload_info *workload, const cli_input *input,
                              void *const *results, int64_t row)
{
    int64_t column = input->columns;
    for (; column > 0; column--)
        for (int k = 0; k < workload->n_outputs; k++)
            if (!isnan(cli_value(results[k], input->dtype,
                                 (size_t)(row * input->columns + column - 1))))
                return column;
    return column;
}

/* The first value that is not finite of the columns from..to-1 in a row: its column, and the input
 * it is in; -1: none. */
static int64_t not_finite(const cli_input *input, int64_t row, int64_t from, int64_t to, int *in)
{
    for (int64_t column = from; column < to; column++)
        for (*in = 0; *in < input->n_inputs; ++*in)
            if (!isfinite(cli_value(input->values[*in], input->dtype,
                                    (size_t)(row * input->columns + column))))
                return column;
    return -1;
}

void cli_warn_of_lost(const sy_workload_info *workload, const cli_input *input,
                      void *const *results, int64_t needed)
{
    char number[24], line[400], more[48] = "";
    int64_t lost = 0, first = -1, name = 0;
    if (workload->pattern == SY_PATTERN_REDUCE)
        return;
    for (int64_t row = 0; row < input->rows; row++) {
        int64_t from = end_of_results(workload, input, results, row);
        int in;
        if (from > 0 && input->columns - from <= needed)
            continue;
        /* Where there is no result at all, it may be any that the first one needs. */
        from = not_finite(input, row, from, from > 0 ? from + 1 : needed, &in);
        if (from >= 0 && lost++ == 0) {
            first = from;
            name = input->n_inputs > 1 ? in : row;
        }
    }
    if (lost == 0)
        return;
    if (lost > 1)
        snprintf(more, sizeof more, "; so with %lld more series", (long long)(lost - 1));
    snprintf(line, sizeof line,
             "value %lld of '%.200s' is no finite number, and every %s since is nan%s; leave such "
             "values out",
             (long long)(first + 1), cli_input_name_of(input, workload, name, number),
             workload->name, more);
    cli_log(NULL, SY_LOG_WARNING, line);
}
