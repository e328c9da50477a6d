/* Tables and JSON for people and programs. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdio.h>

#include <jansson.h>

#include "output.h"

/* A table that is collected first, so that its columns fit. */
typedef struct cli_table {
    int columns;
    char **cells;
    size_t count, room;
    int failed;
} cli_table;

enum { CLI_TABLE_MAX_COLUMNS = 12 };

/* `columns` headings follow; a heading that begins with `>` is of a column set to the right. */
void cli_table_begin(cli_table *table, int columns, ...);
void cli_table_cell(cli_table *table, const char *format, ...);
/* Prints, unless `to` is NULL, and frees. Returns an exit code. */
int cli_table_end(cli_table *table, FILE *to);

/* A number as JSON has it: null for NaN and infinities. */
json_t *cli_json_number(double value);
/* Adds an item and returns the array; NULL, with both given back, for a lack of memory. */
json_t *cli_json_append(json_t *array, json_t *item);
/* Text that may be no UTF-8, whose bytes above ASCII then become `?`. */
json_t *cli_json_text(const char *text);
/* Prints (with a line feed) and frees; NULL is a lack of memory. */
int cli_json_print(json_t *json);
/* The same to a file, which is still to be committed. */
int cli_json_write(cli_output *output, json_t *json);

/* "high,low,close" */
void cli_names_text(const char *const *names, int n, char *text, size_t size);
/* "15.9 GiB" */
void cli_bytes_text(double bytes, char out[32]);
/* "1.23 ms", "4.56 s", `-` for a negative or unknown time. */
void cli_time_text(double ms, char out[32]);

#endif
