/* The first of two passes over CSV, with or without a UTF-8 byte order mark: it counts and checks
 * the records. The second, csv_values.c, reads numbers into arrays of the right size. */
#define _POSIX_C_SOURCE 200809L
#include "csv.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "message.h"
#include "progress.h"

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* ---- the header -------------------------------------------------------------------------- */

static int open_quote(const cli_csv *csv, int64_t line)
{
    return cli_fail(CLI_FAILED, "%s: line %lld: a quoted field has no closing quote; close it",
                    cli_input_name(csv->path), (long long)line);
}

static char *copy_name(csv_span field)
{
    const csv_span inside = cli_csv_without_quotes(field);
    const bool is_quoted = inside.size < cli_csv_trimmed(field).size;
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

/* From the file's beginning on; to the first record. */
static int read_header(cli_csv *csv, csv_cursor *c)
{
    csv_cursor start;
    csv_span field;
    csv_stop stop;
    int n = 0;
    if (c->end - c->at >= 3 && memcmp(c->at, byte_order_mark, 3) == 0)
        c->at += 3;
    start = *c;
    do {
        stop = cli_csv_next_field(c, &field);
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
        cli_csv_next_field(&start, &field);
        csv->names[csv->n_columns] = copy_name(field);
        if (!csv->names[csv->n_columns])
            return cli_no_memory();
    }
    return cli_csv_sort_names(csv);
}

/* ---- the first pass ---------------------------------------------------------------------- */

/* A single column with other separators in it is several. */
const char *cli_csv_remedy(const cli_csv *csv, csv_span text, const char *otherwise)
{
    for (size_t i = 0; csv->n_columns == 1 && i < text.size; i++)
        if (memchr(";\t|", text.at[i], 3))
            return CLI_CSV_BY_COMMAS;
    return otherwise;
}

static int ragged(const cli_csv *csv, int64_t line, int64_t found)
{
    return cli_fail(CLI_FAILED, "%s: line %lld has %lld field%s where the header has %d; %s",
                    cli_input_name(csv->path), (long long)line, (long long)found,
                    found == 1 ? "" : "s", csv->n_columns,
                    cli_csv_remedy(csv, csv->header, "correct the line"));
}

/* Bytes of a block that is not a single record. */
#define BLOCK_BYTES ((int64_t)1 << 18)

/* Whether a record begins a block; the one before has `most` records at most. */
static bool begins_block(const cli_csv *csv, int64_t most, int64_t record, csv_cursor start)
{
    const csv_block *last;
    if (csv->n_blocks == 0)
        return true;
    last = &csv->blocks[csv->n_blocks - 1];
    return record - last->record >= most || start.at - last->start.at >= BLOCK_BYTES;
}

/* Room is made for twice as many blocks whenever their number is a power of two. */
static bool note_block(cli_csv *csv, int64_t record, csv_cursor start)
{
    const size_t n = (size_t)csv->n_blocks;
    if ((n & (n - 1)) == 0) {
        csv_block *blocks = realloc(csv->blocks, (n ? 2 * n : 1) * sizeof *blocks);
        if (!blocks)
            return false;
        csv->blocks = blocks;
    }
    csv->blocks[csv->n_blocks++] = (csv_block){start, record};
    return true;
}

int64_t cli_csv_first_of(const cli_csv *csv, int64_t block)
{
    return block < csv->n_blocks ? csv->blocks[block].record : csv->n_records;
}

static int64_t count_commas(csv_span record)
{
    int64_t commas = 0;
    for (size_t i = 0; i < record.size; i++)
        commas += record.at[i] == ',';
    return commas;
}

/* The fields of the next record, of which `field` is the last, or all that there is. */
static int64_t count_fields(csv_cursor *c, csv_span *field, csv_stop *stop)
{
    const char *line_end;
    int64_t fields = 0;
    if (c->is_plain) {
        *field = cli_csv_next_record(c, &line_end);
        *stop = STOP_LINE;
        return 1 + count_commas(*field);
    }
    do {
        *stop = cli_csv_next_field(c, field);
        fields++;
    } while (*stop == STOP_COMMA);
    return fields;
}

/* Empty lines at the end of the file are no records; in a file of one column, an empty line among
 * the others is a missing value. */
static int count_records(cli_csv *csv, csv_cursor c)
{
    const int64_t most = cli_block_lines(csv->n_columns);
    int64_t empty = 0, first_empty = 0;
    while (c.at < c.end) {
        int64_t line = c.line;
        csv_span field;
        csv_stop stop;
        int64_t fields;
        if (begins_block(csv, most, csv->n_records + empty, c) &&
            !note_block(csv, csv->n_records + empty, c))
            return cli_no_memory();
        fields = count_fields(&c, &field, &stop);
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
        if (csv->n_records % 4096 == 0)
            cli_progress_step((uint64_t)(c.at - csv->bytes.data), csv->bytes.size);
    }
    while (csv->n_blocks > 0 && csv->blocks[csv->n_blocks - 1].record >= csv->n_records)
        csv->n_blocks--; /* of empty lines at the end */
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
    csv_cursor cursor;
    *csv = (cli_csv){.path = path};
    CLI_TRY(cli_load(path, &csv->bytes));
    CLI_TRY(check_text(csv));
    cli_progress_begin("checking", "B");
    cursor = (csv_cursor){csv->bytes.data, csv->bytes.data + csv->bytes.size, 1,
                          memchr(csv->bytes.data, '"', csv->bytes.size) == NULL};
    CLI_TRY(read_header(csv, &cursor));
    CLI_TRY(count_records(csv, cursor));
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
    free(csv->blocks);
    cli_unload(&csv->bytes);
    *csv = (cli_csv){0};
}
