/* Reading CSV: comma-separated, quotes as spreadsheets write them ("" within quotes, line feeds
 * too), LF or CRLF, with or without a UTF-8 byte order mark. Two passes: the first counts and
 * checks the records, the second reads numbers into arrays of the right size. */
#define _POSIX_C_SOURCE 200809L
#include "csv.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"
#include "progress.h"

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* ---- fields and records ------------------------------------------------------------------ */

typedef enum csv_stop { STOP_COMMA, STOP_LINE, STOP_END, STOP_OPEN_QUOTE } csv_stop;

/* Past the closing quote of the field that begins at `p`, or NULL when there is none. */
static const char *skip_quoted(csv_cursor *cursor, const char *p)
{
    for (p++; p < cursor->end; p++) {
        if (*p == '\n')
            cursor->line++;
        if (*p != '"')
            continue;
        if (p + 1 == cursor->end || p[1] != '"')
            return p + 1;
        p++;
    }
    return NULL;
}

/* One field with its quotes, and what came after it, which is skipped. */
static csv_stop next_field(csv_cursor *cursor, csv_span *field)
{
    const char *p = cursor->at;
    csv_stop stop = STOP_END;
    *field = (csv_span){p, 0};
    if (p < cursor->end && *p == '"') {
        p = skip_quoted(cursor, p);
        if (!p)
            return STOP_OPEN_QUOTE;
    }
    while (p < cursor->end && *p != ',' && *p != '\n')
        p++;
    field->size = (size_t)(p - field->at);
    if (p < cursor->end)
        stop = *p++ == ',' ? STOP_COMMA : STOP_LINE;
    cursor->at = p;
    if (stop == STOP_LINE)
        cursor->line++;
    if (stop != STOP_COMMA && field->size && field->at[field->size - 1] == '\r')
        field->size--;
    return stop;
}

static csv_span trimmed(csv_span s)
{
    while (s.size && (*s.at == ' ' || *s.at == '\t')) {
        s.at++;
        s.size--;
    }
    while (s.size && (s.at[s.size - 1] == ' ' || s.at[s.size - 1] == '\t'))
        s.size--;
    return s;
}

static csv_span without_quotes(csv_span s)
{
    s = trimmed(s);
    if (s.size >= 2 && s.at[0] == '"' && s.at[s.size - 1] == '"')
        s = trimmed((csv_span){s.at + 1, s.size - 2});
    return s;
}

csv_span cli_csv_next_record(csv_cursor *cursor, const char **line_end)
{
    csv_span record = {cursor->at, 0}, field;
    csv_stop stop;
    do
        stop = next_field(cursor, &field);
    while (stop == STOP_COMMA);
    record.size = (size_t)(field.at + field.size - record.at);
    *line_end = stop != STOP_LINE ? "" : record.at[record.size] == '\r' ? "\r\n" : "\n";
    return record;
}

/* ---- the header -------------------------------------------------------------------------- */

static int open_quote(const cli_csv *csv, int64_t line)
{
    return cli_fail(CLI_FAILED, "%s: line %lld: a quoted field has no closing quote; close it",
                    cli_input_name(csv->path), (long long)line);
}

static char *copy_name(csv_span field)
{
    const csv_span inside = without_quotes(field);
    const bool is_quoted = inside.size < trimmed(field).size;
    char *name = malloc(inside.size + 1);
    size_t n = 0;
    if (!name)
        return NULL;
    for (size_t i = 0; i < inside.size; i++) {
        name[n++] = inside.at[i];
        if (is_quoted && inside.at[i] == '"' && i + 1 < inside.size && inside.at[i + 1] == '"')
            i++;
    }
    name[n] = '\0';
    return name;
}

static int read_header(cli_csv *csv)
{
    csv_cursor start, *c = &csv->records;
    csv_span field;
    csv_stop stop;
    int n = 0;
    if (c->end - c->at >= 3 && memcmp(c->at, byte_order_mark, 3) == 0)
        c->at += 3;
    start = *c;
    do {
        stop = next_field(c, &field);
        if (stop == STOP_OPEN_QUOTE)
            return open_quote(csv, 1);
        n++;
    } while (stop == STOP_COMMA);
    csv->names = calloc((size_t)n, sizeof *csv->names);
    if (!csv->names)
        return cli_no_memory();
    csv->header = (csv_span){csv->bytes.data, (size_t)(field.at + field.size - csv->bytes.data)};
    csv->line_end = c->at - (field.at + field.size) == 2 ? "\r\n" : "\n";
    for (; csv->n_columns < n; csv->n_columns++) {
        next_field(&start, &field);
        csv->names[csv->n_columns] = copy_name(field);
        if (!csv->names[csv->n_columns])
            return cli_no_memory();
    }
    return cli_csv_sort_names(csv);
}

/* ---- the first pass ---------------------------------------------------------------------- */

/* What to do about a line: a single column with other separators in it is several. */
static const char *remedy(const cli_csv *csv, csv_span text, const char *otherwise)
{
    for (size_t i = 0; csv->n_columns == 1 && i < text.size; i++)
        if (memchr(";\t|", text.at[i], 3))
            return CLI_CSV_BY_COMMAS;
    return otherwise;
}

static int ragged(const cli_csv *csv, int64_t line, int found)
{
    return cli_fail(CLI_FAILED, "%s: line %lld has %d field%s where the header has %d; %s",
                    cli_input_name(csv->path), (long long)line, found, found == 1 ? "" : "s",
                    csv->n_columns, remedy(csv, csv->header, "correct the line"));
}

/* Empty lines at the end of the file are no records; in a file of one column, an empty line among
 * the others is a missing value. */
static int count_records(cli_csv *csv)
{
    csv_cursor c = csv->records;
    const char *last = c.at;
    int64_t empty = 0, first_empty = 0;
    while (c.at < c.end) {
        int64_t line = c.line;
        csv_span field;
        csv_stop stop;
        int fields = 0;
        do {
            stop = next_field(&c, &field);
            fields++;
        } while (stop == STOP_COMMA);
        if (stop == STOP_OPEN_QUOTE)
            return open_quote(csv, line);
        if (fields == 1 && field.size == 0) {
            first_empty = empty++ ? first_empty : line;
            continue;
        }
        if (empty && csv->n_columns > 1)
            return cli_fail(CLI_FAILED,
                            "%s: line %lld is empty where the header has %d fields; "
                            "remove the line",
                            cli_input_name(csv->path), (long long)first_empty, csv->n_columns);
        if (fields != csv->n_columns)
            return ragged(csv, line, fields);
        csv->n_records += empty + 1;
        empty = 0;
        last = c.at;
        if (csv->n_records % 4096 == 0)
            cli_progress_step((uint64_t)(c.at - csv->bytes.data), csv->bytes.size);
    }
    csv->records.end = last;
    return CLI_DONE;
}

static bool begins_with(const cli_csv *csv, const char *bytes)
{
    const size_t size = strlen(bytes);
    return csv->bytes.size >= size && memcmp(csv->bytes.data, bytes, size) == 0;
}

/* What it is instead of CSV, and what to do about it; NULL: nothing else that is known. */
static const char *what_else(const cli_csv *csv)
{
    const char *p = csv->bytes.data;
    const size_t size = csv->bytes.size;
    /* Without a mark it has the zero bytes of letters that are ASCII. */
    if (begins_with(csv, "\xff\xfe") || begins_with(csv, "\xfe\xff") ||
        (size >= 2 && (p[0] == 0) != (p[1] == 0)))
        return "is UTF-16; save it as CSV in UTF-8";
    if (begins_with(csv, "\x93NUMPY"))
        return "is an .npy file; name it as a file whose name ends in .npy";
    if (begins_with(csv, "\x1f\x8b"))
        return "is compressed by gzip; decompress it first, as 'gzip -d' does";
    if (begins_with(csv, "PK\3\4"))
        return "is a zip archive or a spreadsheet; unpack it, or save it as CSV in UTF-8";
    if (!memchr(p, '\n', size) && memchr(p, '\r', size))
        return "has CR alone at the ends of its lines; save it with LF or CRLF";
    return NULL;
}

static int check_text(const cli_csv *csv)
{
    const char *name = cli_input_name(csv->path), *other;
    if (csv->bytes.size == 0)
        return cli_fail(CLI_FAILED, "%s is empty; a header row and at least one record are needed",
                        name);
    other = what_else(csv);
    return other ? cli_fail(CLI_FAILED, "%s %s", name, other) : CLI_DONE;
}

int cli_csv_open(const char *path, cli_csv *csv)
{
    *csv = (cli_csv){.path = path};
    CLI_TRY(cli_load(path, &csv->bytes));
    CLI_TRY(check_text(csv));
    cli_progress_begin("checking", "B");
    csv->records = (csv_cursor){csv->bytes.data, csv->bytes.data + csv->bytes.size, 1};
    CLI_TRY(read_header(csv));
    CLI_TRY(count_records(csv));
    if (csv->n_records == 0)
        return cli_fail(CLI_FAILED, "%s has a header row only; at least one record is needed",
                        cli_input_name(path));
    return CLI_DONE;
}

void cli_csv_close(cli_csv *csv)
{
    for (int i = 0; i < csv->n_columns; i++)
        free(csv->names[i]);
    free(csv->names);
    free(csv->sorted);
    cli_unload(&csv->bytes);
    *csv = (cli_csv){0};
}

/* ---- values ------------------------------------------------------------------------------ */

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

static int bad_value(const cli_csv *csv, int column, int64_t line, csv_span text, const char *what)
{
    int shown = text.size > 40 ? 40 : (int)text.size;
    return cli_fail(CLI_FAILED, "%s: line %lld, column '%s': '%.*s%s' is %s; %s",
                    cli_input_name(csv->path), (long long)line, csv->names[column], shown, text.at,
                    text.size > 40 ? "..." : "", what,
                    remedy(csv, text,
                           "correct it, leave it empty if there is no value, or choose another "
                           "column with --column"));
}

static int read_value(const cli_csv *csv, int column, int64_t line, csv_span field, sy_dtype dtype,
                      double *out)
{
    csv_span text = without_quotes(field);
    cli_number kind = parse_value(text.size ? text : (csv_span){"nan", 3}, dtype, out);
    if (kind == CLI_NUMBER_OK)
        return CLI_DONE;
    if (memchr(text.at, '\0', text.size)) /* it would end the line of the message */
        return cli_fail(CLI_FAILED,
                        "%s: line %lld, column '%s': there is a zero byte in the field; remove "
                        "it, or save the file as CSV in UTF-8",
                        cli_input_name(csv->path), (long long)line, csv->names[column]);
    return bad_value(csv, column, line, text,
                     kind == CLI_NUMBER_NOT        ? "not a number"
                     : kind == CLI_NUMBER_TOO_LONG ? "longer than 1,199 characters"
                     : dtype == SY_F32             ? "too large for a float"
                                                   : "too large for a double");
}

static int read_records(const cli_csv *csv, const int *wanted, sy_dtype dtype, void *const *to)
{
    csv_cursor c = csv->records;
    for (int64_t i = 0; i < csv->n_records; i++) {
        int64_t line = c.line;
        for (int k = 0; k < csv->n_columns; k++) {
            csv_span field;
            next_field(&c, &field);
            if (wanted[k] >= 0) {
                double value;
                CLI_TRY(read_value(csv, k, line, field, dtype, &value));
                cli_value_set(to[wanted[k]], dtype, (size_t)i, value);
            }
        }
        if (i % 4096 == 0)
            cli_progress_step((uint64_t)(c.at - csv->bytes.data), csv->bytes.size);
    }
    return CLI_DONE;
}

int cli_csv_read(const cli_csv *csv, const int *columns, int n, sy_dtype dtype, void *const *to)
{
    int *wanted = malloc((size_t)csv->n_columns * sizeof *wanted), code;
    if (!wanted)
        return cli_no_memory();
    for (int k = 0; k < csv->n_columns; k++)
        wanted[k] = -1;
    for (int k = 0; k < n; k++)
        wanted[columns[k]] = k;
    cli_progress_begin("reading", "B");
    code = read_records(csv, wanted, dtype, to);
    free(wanted);
    return code;
}
