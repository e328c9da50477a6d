/* Tables and JSON. */
#define _POSIX_C_SOURCE 200809L
#include "print.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* ---- tables ------------------------------------------------------------------------------ */

/* Takes the text over; NULL is a lack of memory. */
static void add_cell(cli_table *table, char *text)
{
    if (table->count == table->room) {
        size_t room = table->room ? 2 * table->room : 64;
        char **cells = realloc(table->cells, room * sizeof *cells);
        table->failed |= !cells;
        if (!cells) {
            free(text);
            return;
        }
        table->cells = cells;
        table->room = room;
    }
    table->failed |= !text;
    if (text)
        cli_clean(text);
    table->cells[table->count++] = text;
}

void cli_table_begin(cli_table *table, int columns, ...)
{
    va_list args;
    *table = (cli_table){.columns = columns};
    va_start(args, columns);
    for (int i = 0; i < columns; i++)
        add_cell(table, strdup(va_arg(args, const char *)));
    va_end(args);
}

void cli_table_cell(cli_table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_cell(table, cli_compose(format, args));
    va_end(args);
}

static void print_row(const cli_table *table, size_t first, const int *width, FILE *to)
{
    for (int k = 0; k < table->columns; k++) {
        const char *text = table->cells[first + (size_t)k];
        int last = k + 1 == table->columns, right = table->cells[k][0] == '>';
        if (first == 0 && right)
            text++;
        if (right)
            cli_print(to, "%*s%s", width[k], text, last ? "\n" : "  ");
        else if (last)
            cli_print(to, "%s\n", text);
        else
            cli_print(to, "%-*s  ", width[k], text);
    }
}

int cli_table_end(cli_table *table, FILE *to)
{
    int width[CLI_TABLE_MAX_COLUMNS] = {0}, failed = table->failed;
    size_t columns = (size_t)table->columns;
    for (size_t i = 0; !failed && i < table->count; i++) {
        int n = (int)strlen(table->cells[i]) - (i < columns && table->cells[i][0] == '>');
        if (n > width[i % columns])
            width[i % columns] = n;
    }
    for (size_t i = 0; to && !failed && i + columns <= table->count; i += columns)
        print_row(table, i, width, to);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (cli_table){0};
    return failed ? cli_no_memory() : CLI_DONE;
}

/* ---- JSON -------------------------------------------------------------------------------- */

json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_text(const char *text)
{
    char ascii[600];
    size_t n = 0;
    json_t *json = json_string(text);
    if (json)
        return json;
    for (; *text && n < sizeof ascii - 1; text++)
        ascii[n++] = (unsigned char)*text < 0x80 ? *text : '?';
    ascii[n] = '\0';
    return json_string(ascii);
}

json_t *cli_json_append(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0)
        return array;
    json_decref(array);
    return NULL;
}

/* The text, to be freed by the caller; frees `json`. NULL: a lack of memory. */
static char *dump(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(json);
    return text;
}

int cli_json_print(json_t *json)
{
    char *text = dump(json);
    if (!text)
        return cli_no_memory();
    cli_print(stdout, "%s\n", text);
    free(text);
    return CLI_DONE;
}

int cli_json_write(cli_output *output, json_t *json)
{
    char *text = dump(json);
    int code = text ? cli_output_write(output, text, strlen(text)) : cli_no_memory();
    if (code == CLI_DONE)
        code = cli_output_write(output, "\n", 1);
    free(text);
    return code;
}

/* ---- quantities -------------------------------------------------------------------------- */

void cli_names_text(const char *const *names, int n, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", names[i]);
}

void cli_bytes_text(double bytes, char out[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int k = 0;
    for (; bytes >= 1024 && k < 4; k++)
        bytes /= 1024;
    snprintf(out, 32, k ? "%.1f %s" : "%.0f %s", bytes, unit[k]);
}

void cli_time_text(double ms, char out[32])
{
    if (!(ms >= 0) || isinf(ms))
        strcpy(out, "-");
    else if (ms < 1)
        snprintf(out, 32, "%.3f ms", ms);
    else if (ms < 1000)
        snprintf(out, 32, "%.3g ms", ms);
    else
        snprintf(out, 32, "%.2f s", ms / 1000);
}
