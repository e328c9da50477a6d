/* Where the fields and records of CSV text begin and end. */
#ifndef CLI_CSV_FIELDS_H
#define CLI_CSV_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the text. */
typedef struct csv_cursor {
    const char *at, *end;
    int64_t line;  /* counted from 1 */
    bool is_plain; /* there are no quotes in the text */
} csv_cursor;

typedef struct csv_span {
    const char *at;
    size_t size;
} csv_span;

typedef enum csv_stop { STOP_COMMA, STOP_LINE, STOP_END, STOP_OPEN_QUOTE } csv_stop;

/* One field with its quotes, and what came after it, which is skipped. */
csv_stop cli_csv_next_field(csv_cursor *cursor, csv_span *field);
/* The next record, or what is left of one, as raw bytes without its line end, which is `line_end`
 * ("" for none). */
csv_span cli_csv_next_record(csv_cursor *cursor, const char **line_end);

/* Without the blanks around it. */
csv_span cli_csv_trimmed(csv_span field);
/* The same without quotes and the blanks within them. */
csv_span cli_csv_without_quotes(csv_span field);

#endif
