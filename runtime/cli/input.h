/* The series that a workload reads, taken from a .csv or .npy file. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <steelyard/steelyard.h>

#include "csv.h"
#include "npy.h"

typedef enum cli_format { CLI_CSV, CLI_NPY } cli_format;
/* By the name's ending; standard input and output, pipes and devices are CSV. */
int cli_format_of(const char *option, const char *path, cli_format *out);

enum { CLI_MAX_ARRAYS = 8 };

typedef struct cli_input {
    int n_inputs;
    sy_dtype dtype; /* of the values */
    int64_t rows, columns;
    bool flat;                          /* one series, not a table of one row */
    bool from_csv;                      /* else from .npy */
    const void *values[CLI_MAX_ARRAYS]; /* [rows][columns] per input of the workload */
    int *chosen; /* CSV: the column of each series (one input) or of each input */
    int n_chosen;
    cli_csv csv;
    cli_npy npy;
    void *owned;
} cli_input;

/* Opens the file and decides what is read; `columns` is --column or NULL. Values of another type
 * become `dtype`. cli_input_close also when one of the two failed. */
int cli_input_open(const char *path, const sy_workload_info *workload, const char *columns,
                   sy_dtype dtype, cli_input *input);
int cli_input_read(cli_input *input);
void cli_input_close(cli_input *input);

/* The name of a row, or of an input when the workload has several: a column's, `x` for a single
 * array, else the row's number. `buffer` holds a number. */
const char *cli_input_name_of(const cli_input *input, const sy_workload_info *workload,
                              int64_t index, char buffer[24]);

#endif
