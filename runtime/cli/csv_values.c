/* The second pass over CSV: numbers. */
#include "csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "message.h"
#include "number.h"
#include "progress.h"

static cli_number parse_value(csv_span text, sy_dtype dtype, double *out)
{
    cli_number kind;
    float narrow;
    if (dtype != SY_F32)
        return cli_number_parse(text.at, text.size, out);
    kind = cli_number_parse_float(text.at, text.size, &narrow);
    if (kind == CLI_NUMBER_OK)
        *out = (double)narrow;
    return kind;
}

/* An empty field is a missing value. */
static cli_number read_value(csv_span field, sy_dtype dtype, double *out)
{
    const csv_span text = cli_csv_without_quotes(field);
    return parse_value(text.size ? text : (csv_span){"nan", 3}, dtype, out);
}

static int bad_value(const cli_csv *csv, int column, int64_t line, csv_span field, cli_number kind,
                     sy_dtype dtype)
{
    const csv_span text = cli_csv_without_quotes(field);
    const int shown = text.size > 40 ? 40 : (int)text.size;
    const char *what = kind == CLI_NUMBER_NOT        ? "not a number"
                       : kind == CLI_NUMBER_TOO_LONG ? "longer than 1,199 characters"
                       : dtype == SY_F32             ? "too large for a float"
                                                     : "too large for a double";
    if (memchr(text.at, '\0', text.size)) /* it would end the line of the message */
        return cli_fail(CLI_FAILED,
                        "%s: line %lld, column '%s': there is a zero byte in the field; remove "
                        "it, or save the file as CSV in UTF-8",
                        cli_input_name(csv->path), (long long)line, csv->names[column]);
    return cli_fail(CLI_FAILED, "%s: line %lld, column '%s': '%.*s%s' is %s; %s",
                    cli_input_name(csv->path), (long long)line, csv->names[column], shown, text.at,
                    text.size > 40 ? "..." : "", what,
                    cli_csv_remedy(csv, text,
                                   "correct it, leave it empty if there is no value, or choose "
                                   "another column with --column"));
}

typedef struct reader {
    const cli_csv *csv;
    int *wanted; /* of each column the array; -1: none */
    int last;    /* column that is wanted */
    sy_dtype dtype;
    void *const *to;
} reader;

/* Up to the first value that cannot be read, which is reported if it is to be. */
static int read_block(const reader *r, int64_t block, bool reports)
{
    const cli_csv *csv = r->csv;
    const int64_t end = cli_csv_first_of(csv, block + 1);
    csv_cursor c = csv->blocks[block].start;
    for (int64_t i = cli_csv_first_of(csv, block); i < end; i++) {
        const int64_t line = c.line;
        const char *line_end;
        for (int k = 0; k <= r->last; k++) {
            csv_span field;
            cli_number kind;
            double value;
            cli_csv_next_field(&c, &field);
            if (r->wanted[k] < 0)
                continue;
            kind = read_value(field, r->dtype, &value);
            if (kind != CLI_NUMBER_OK)
                return reports ? bad_value(csv, k, line, field, kind, r->dtype) : CLI_FAILED;
            cli_value_set(r->to[r->wanted[k]], r->dtype, (size_t)i, value);
        }
        if (r->last < csv->n_columns - 1)
            cli_csv_next_record(&c, &line_end);
    }
    return CLI_DONE;
}

static bool make_values(void *user, int64_t block, cli_text *text)
{
    (void)text;
    return read_block(user, block, false) == CLI_DONE;
}

static int take_values(void *user, int64_t block, const cli_text *text, bool made)
{
    const reader *r = user;
    const cli_csv *csv = r->csv;
    (void)text;
    cli_progress_step((uint64_t)(csv->blocks[block].start.at - csv->bytes.data), csv->bytes.size);
    return made ? CLI_DONE : read_block(r, block, true);
}

int cli_csv_read(const cli_csv *csv, const int *columns, int n, sy_dtype dtype, void *const *to)
{
    reader r = {.csv = csv, .dtype = dtype, .to = to};
    const cli_blocks blocks = {csv->n_blocks, make_values, take_values, &r};
    int code;
    r.wanted = malloc((size_t)csv->n_columns * sizeof *r.wanted);
    if (!r.wanted)
        return cli_no_memory();
    for (int k = 0; k < csv->n_columns; k++)
        r.wanted[k] = -1;
    for (int k = 0; k < n; k++) {
        r.wanted[columns[k]] = k;
        r.last = columns[k] > r.last ? columns[k] : r.last;
    }
    cli_progress_begin("reading", "B");
    code = cli_blocks_run(&blocks);
    free(r.wanted);
    return code;
}
