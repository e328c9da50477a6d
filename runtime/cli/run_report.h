/* What is said about a run that is done: the --report file and the table on a terminal. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include <stdint.h>

#include <steelyard/steelyard.h>

#include "output.h"

/* Writes the JSON text; the output is still to be committed. */
int cli_report_write(cli_output *output, const sy_report *report, const char *workload,
                     sy_dtype dtype, sy_accuracy accuracy, uint64_t seed);
/* The table, on standard error. */
int cli_report_show(const sy_report *report, const char *workload);

#endif
