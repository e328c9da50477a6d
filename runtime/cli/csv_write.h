/* A run's results as CSV: the input's columns followed by the outputs', or for a reduction one
 * line a series. */
#ifndef CLI_CSV_WRITE_H
#define CLI_CSV_WRITE_H

#include "input.h"
#include "output.h"

/* The results are of the input's dtype. */
int cli_csv_write(cli_output *output, const cli_input *input, const sy_workload_info *workload,
                  void *const *results);

#endif
