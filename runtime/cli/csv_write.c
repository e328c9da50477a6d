/* Writing CSV. Records that came from a CSV file go out byte for byte, with the new fields before
 * their line end. */
#define _POSIX_C_SOURCE 200809L
#include "csv_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocks.h"
#include "message.h"
#include "number.h"
#include "progress.h"

typedef struct writer {
    const cli_input *input;
    const cli_csv *csv; /* whose records pass through, in its own blocks; NULL: none do */
    const sy_workload_info *workload;
    void *const *results;
    const char *line_end;
    cli_output *output;
    int64_t lines, block_lines; /* after the header */
} writer;

static bool put_text(cli_text *to, const char *text)
{
    return cli_text_add(to, text, strlen(text));
}

static bool put_number(cli_text *to, sy_dtype dtype, const void *values, int64_t i)
{
    const double value = cli_value(values, dtype, (size_t)i);
    char *at;
    if (!cli_text_room(to, CLI_NUMBER_SIZE))
        return false;
    at = to->at + to->used;
    to->used +=
        dtype == SY_F32 ? cli_number_print_float((float)value, at) : cli_number_print(value, at);
    return true;
}

/* In quotes where the text needs them. */
static bool put_name(cli_text *to, const char *name)
{
    bool done;
    if (!strpbrk(name, ",\"\r\n"))
        return put_text(to, name);
    done = put_text(to, "\"");
    for (; done && *name; name++)
        done = cli_text_add(to, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    return done && put_text(to, "\"");
}

/* One output is called like its workload: `sma`, not `y`. */
static const char *output_name(const writer *w, int k)
{
    return w->workload->n_outputs == 1 ? w->workload->name : w->workload->output_names[k];
}

/* ---- the header -------------------------------------------------------------------------- */

/* The output's name, before it the series' when there are several, and after it a number when the
 * input has such a column. */
static bool put_output_name(const writer *w, cli_text *to, int64_t row, int k)
{
    const char *name = output_name(w, k), *series = "";
    char number[24], *text;
    size_t size;
    bool done;
    if (w->input->rows > 1)
        series = cli_input_name_of(w->input, w->workload, row, number);
    size = strlen(series) + strlen(name) + 32;
    text = malloc(size);
    if (!text)
        return false;
    snprintf(text, size, "%s%s%s", series, *series ? "_" : "", name);
    for (int i = 2; w->input->from_csv && cli_csv_find_exact(&w->input->csv, text) != -1; i++)
        snprintf(text, size, "%s%s%s_%d", series, *series ? "_" : "", name, i);
    done = put_text(to, ",") && put_name(to, text);
    free(text);
    return done;
}

/* How many columns the input itself has in the output. */
static int64_t input_columns(const cli_input *input)
{
    return input->n_inputs > 1 ? input->n_inputs : input->rows;
}

static bool put_header(const writer *w, cli_text *to)
{
    const cli_input *input = w->input;
    bool done = true;
    if (input->from_csv)
        done = cli_text_add(to, input->csv.header.at, input->csv.header.size);
    for (int64_t i = 0; done && !input->from_csv && i < input_columns(input); i++) {
        char number[24];
        done = put_text(to, i ? "," : "") &&
               put_name(to, cli_input_name_of(input, w->workload, i, number));
    }
    for (int64_t row = 0; row < input->rows; row++)
        for (int k = 0; done && k < w->workload->n_outputs; k++)
            done = put_output_name(w, to, row, k);
    return done && put_text(to, w->line_end);
}

/* ---- records ----------------------------------------------------------------------------- */

static bool put_results(const writer *w, cli_text *to, int64_t column)
{
    const cli_input *input = w->input;
    bool done = true;
    for (int64_t row = 0; row < input->rows; row++)
        for (int k = 0; done && k < w->workload->n_outputs; k++)
            done = put_text(to, ",") &&
                   put_number(to, input->dtype, w->results[k], row * input->columns + column);
    return done;
}

static bool put_input(const cli_input *input, cli_text *to, int64_t column)
{
    bool done = true;
    for (int64_t i = 0; done && i < input_columns(input); i++) {
        const bool one_each = input->n_inputs > 1;
        done = put_text(to, i ? "," : "") &&
               put_number(to, input->dtype, input->values[one_each ? i : 0],
                          one_each ? column : i * input->columns + column);
    }
    return done;
}

static bool put_record(const writer *w, cli_text *to, csv_cursor *cursor, int64_t column)
{
    const char *line_end = w->line_end;
    bool done;
    if (w->csv) {
        const csv_span record = cli_csv_next_record(cursor, &line_end);
        done = cli_text_add(to, record.at, record.size);
    } else {
        done = put_input(w->input, to, column);
    }
    /* A last line without an end gets one, the header's. */
    return done && put_results(w, to, column) && put_text(to, *line_end ? line_end : w->line_end);
}

static int64_t count_blocks(const writer *w)
{
    return w->csv ? w->csv->n_blocks : (w->lines + w->block_lines - 1) / w->block_lines;
}

/* The first line of a block; of the one behind the last, their number. */
static int64_t line_of(const writer *w, int64_t block)
{
    const int64_t line = block * w->block_lines;
    if (w->csv)
        return cli_csv_first_of(w->csv, block);
    return line < w->lines ? line : w->lines;
}

static bool make_records(void *user, int64_t block, cli_text *text)
{
    const writer *w = user;
    const int64_t end = line_of(w, block + 1);
    csv_cursor cursor = w->csv ? w->csv->blocks[block].start : (csv_cursor){0};
    bool done = true;
    for (int64_t i = line_of(w, block); done && i < end; i++)
        done = put_record(w, text, &cursor, i);
    return done;
}

/* ---- reductions -------------------------------------------------------------------------- */

/* The names of the columns that a line is of, joined, as one field. */
static bool put_series_name(const writer *w, cli_text *to, int64_t row)
{
    const cli_input *input = w->input;
    cli_text joined = {0};
    char number[24];
    bool done = true;
    for (int k = 0; done && k < input->n_inputs; k++)
        done = put_text(&joined, k ? "_" : "") &&
               put_text(&joined, cli_input_name_of(input, w->workload, k ? k : row, number));
    done = done && cli_text_add(&joined, "", 1) && put_name(to, joined.at);
    free(joined.at);
    return done;
}

static bool put_reduction_header(const writer *w, cli_text *to)
{
    bool done = put_text(to, "series");
    for (int k = 0; done && k < w->workload->n_outputs; k++)
        done = put_text(to, ",") && put_name(to, output_name(w, k));
    return done && put_text(to, w->line_end);
}

static bool make_reductions(void *user, int64_t block, cli_text *text)
{
    const writer *w = user;
    const int64_t end = line_of(w, block + 1);
    bool done = true;
    for (int64_t row = line_of(w, block); done && row < end; row++) {
        done = put_series_name(w, text, row);
        for (int k = 0; done && k < w->workload->n_outputs; k++)
            done = put_text(text, ",") && put_number(text, w->input->dtype, w->results[k], row);
        done = done && put_text(text, w->line_end);
    }
    return done;
}

/* ---- the file ---------------------------------------------------------------------------- */

static int take_lines(void *user, int64_t block, const cli_text *text, bool made)
{
    const writer *w = user;
    if (!made)
        return cli_no_memory();
    cli_progress_step((uint64_t)line_of(w, block), (uint64_t)w->lines);
    return cli_output_write(w->output, text->at, text->used);
}

static int write_header(const writer *w, bool (*put)(const writer *w, cli_text *to))
{
    cli_text text = {0};
    int code = put(w, &text) ? cli_output_write(w->output, text.at, text.used) : cli_no_memory();
    free(text.at);
    return code;
}

int cli_csv_write(cli_output *output, const cli_input *input, const sy_workload_info *workload,
                  void *const *results)
{
    const bool reduces = workload->pattern == SY_PATTERN_REDUCE;
    writer w = {.input = input,
                .csv = input->from_csv && !reduces ? &input->csv : NULL,
                .workload = workload,
                .results = results,
                .line_end = input->from_csv ? input->csv.line_end : "\n",
                .output = output,
                .lines = reduces ? input->rows : input->columns,
                .block_lines = cli_block_lines(reduces ? 1 : input_columns(input))};
    /* On a terminal the line would be drawn into the records. */
    cli_progress_begin(isatty(output->fd) ? NULL : "writing", "lines");
    CLI_TRY(write_header(&w, reduces ? put_reduction_header : put_header));
    return cli_blocks_run(
        &(cli_blocks){count_blocks(&w), reduces ? make_reductions : make_records, take_lines, &w});
}
