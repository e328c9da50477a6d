/* Writing CSV. Records that came from a CSV file go out byte for byte, with the new fields before
 * their line end. */
#define _POSIX_C_SOURCE 200809L
#include "csv_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "number.h"
#include "progress.h"

typedef struct writer {
    cli_output *output;
    const cli_input *input;
    const sy_workload_info *workload;
    void *const *results;
    const char *line_end;
} writer;

static int put_text(const writer *w, const char *text)
{
    return cli_output_write(w->output, text, strlen(text));
}

/* ",value" or "value" */
static int put_number(const writer *w, bool first, const void *values, int64_t i)
{
    const double value = cli_value(values, w->input->dtype, (size_t)i);
    char text[CLI_NUMBER_SIZE + 1] = ",";
    size_t n = 1 + (w->input->dtype == SY_F32 ? cli_number_print_float((float)value, text + 1)
                                              : cli_number_print(value, text + 1));
    return cli_output_write(w->output, text + first, n - first);
}

/* In quotes where the text needs them. */
static int put_name(const writer *w, const char *name)
{
    if (!strpbrk(name, ",\"\r\n"))
        return put_text(w, name);
    CLI_TRY(put_text(w, "\""));
    for (; *name; name++)
        CLI_TRY(cli_output_write(w->output, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1));
    return put_text(w, "\"");
}

/* One output is called like its workload: `sma`, not `y`. */
static const char *output_name(const writer *w, int k)
{
    return w->workload->n_outputs == 1 ? w->workload->name : w->workload->output_names[k];
}

/* ---- the header -------------------------------------------------------------------------- */

/* The output's name, before it the series' when there are several, and after it a number when the
 * input has such a column. */
static int put_output_name(const writer *w, int64_t row, int k)
{
    const char *name = output_name(w, k), *series = "";
    char number[24], *text;
    size_t size;
    int code;
    if (w->input->rows > 1)
        series = cli_input_name_of(w->input, w->workload, row, number);
    size = strlen(series) + strlen(name) + 32;
    text = malloc(size);
    if (!text)
        return cli_no_memory();
    snprintf(text, size, "%s%s%s", series, *series ? "_" : "", name);
    for (int i = 2; w->input->from_csv && cli_csv_find_exact(&w->input->csv, text) != -1; i++)
        snprintf(text, size, "%s%s%s_%d", series, *series ? "_" : "", name, i);
    code = put_text(w, ",");
    code = code ? code : put_name(w, text);
    free(text);
    return code;
}

/* How many columns the input itself has in the output. */
static int64_t input_columns(const cli_input *input)
{
    return input->n_inputs > 1 ? input->n_inputs : input->rows;
}

static int put_header(const writer *w)
{
    const cli_input *input = w->input;
    if (input->from_csv)
        CLI_TRY(cli_output_write(w->output, input->csv.header.at, input->csv.header.size));
    else
        for (int64_t i = 0; i < input_columns(input); i++) {
            char number[24];
            CLI_TRY(put_text(w, i ? "," : ""));
            CLI_TRY(put_name(w, cli_input_name_of(input, w->workload, i, number)));
        }
    for (int64_t row = 0; row < input->rows; row++)
        for (int k = 0; k < w->workload->n_outputs; k++)
            CLI_TRY(put_output_name(w, row, k));
    return put_text(w, w->line_end);
}

/* ---- records ----------------------------------------------------------------------------- */

static int put_results(const writer *w, int64_t column)
{
    for (int64_t row = 0; row < w->input->rows; row++)
        for (int k = 0; k < w->workload->n_outputs; k++)
            CLI_TRY(put_number(w, false, w->results[k], row * w->input->columns + column));
    return CLI_DONE;
}

static int put_input(const writer *w, int64_t column)
{
    const cli_input *input = w->input;
    for (int64_t i = 0; i < input_columns(input); i++) {
        int one_each = input->n_inputs > 1;
        CLI_TRY(put_number(w, i == 0, input->values[one_each ? i : 0],
                           one_each ? column : i * input->columns + column));
    }
    return CLI_DONE;
}

static int put_records(const writer *w)
{
    csv_cursor cursor = w->input->csv.records;
    for (int64_t i = 0; i < w->input->columns; i++) {
        const char *line_end = w->line_end;
        if (w->input->from_csv) {
            csv_span record = cli_csv_next_record(&cursor, &line_end);
            CLI_TRY(cli_output_write(w->output, record.at, record.size));
        } else
            CLI_TRY(put_input(w, i));
        CLI_TRY(put_results(w, i));
        /* A last line without an end gets one, the header's. */
        CLI_TRY(put_text(w, *line_end ? line_end : w->line_end));
        if (i % 1024 == 0)
            cli_progress_step((uint64_t)i, (uint64_t)w->input->columns);
    }
    return CLI_DONE;
}

/* ---- reductions -------------------------------------------------------------------------- */

/* The names of the columns it reads, joined, as one field. */
static int put_series_name(const writer *w, int64_t row)
{
    const cli_input *input = w->input;
    char number[24], *text, *end;
    size_t size = 1;
    int code;
    for (int k = 0; k < input->n_inputs; k++)
        size += strlen(cli_input_name_of(input, w->workload, k ? k : row, number)) + 1;
    text = end = malloc(size);
    if (!text)
        return cli_no_memory();
    for (int k = 0; k < input->n_inputs; k++)
        end += sprintf(end, "%s%s", k ? "_" : "",
                       cli_input_name_of(input, w->workload, k ? k : row, number));
    code = put_name(w, text);
    free(text);
    return code;
}

static int put_reduction(const writer *w)
{
    const cli_input *input = w->input;
    CLI_TRY(put_text(w, "series"));
    for (int k = 0; k < w->workload->n_outputs; k++) {
        CLI_TRY(put_text(w, ","));
        CLI_TRY(put_name(w, output_name(w, k)));
    }
    CLI_TRY(put_text(w, w->line_end));
    for (int64_t row = 0; row < input->rows; row++) {
        CLI_TRY(put_series_name(w, row));
        for (int k = 0; k < w->workload->n_outputs; k++)
            CLI_TRY(put_number(w, false, w->results[k], row));
        CLI_TRY(put_text(w, w->line_end));
    }
    return CLI_DONE;
}

int cli_csv_write(cli_output *output, const cli_input *input, const sy_workload_info *workload,
                  void *const *results)
{
    writer w = {output, input, workload, results, input->from_csv ? input->csv.line_end : "\n"};
    /* On a terminal the line would be drawn into the records. */
    cli_progress_begin(isatty(output->fd) ? NULL : "writing", "lines");
    if (workload->pattern == SY_PATTERN_REDUCE)
        return put_reduction(&w);
    CLI_TRY(put_header(&w));
    return put_records(&w);
}
