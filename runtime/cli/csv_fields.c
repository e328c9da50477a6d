/* Comma-separated, quotes as spreadsheets write them ("" within quotes, line feeds too), LF or
 * CRLF. */
#include "csv_fields.h"

#include <string.h>

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

/* The bytes that are zero have their highest bit set here; so may some above the lowest of them. */
static uint64_t zero_bytes(uint64_t eight)
{
    return (eight - 0x0101010101010101u) & ~eight & 0x8080808080808080u;
}

/* The first comma or line feed from `p` on, else `end`: eight bytes at a time. */
static const char *skip_plain(const char *p, const char *end)
{
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; end - p >= 8; p += 8) {
        uint64_t eight, found;
        memcpy(&eight, p, sizeof eight);
        found = zero_bytes(eight ^ 0x0101010101010101u * ',') |
                zero_bytes(eight ^ 0x0101010101010101u * '\n');
        if (found)
            return p + __builtin_ctzll(found) / 8;
    }
#endif
    while (p < end && *p != ',' && *p != '\n')
        p++;
    return p;
}

csv_stop cli_csv_next_field(csv_cursor *cursor, csv_span *field)
{
    const char *p = cursor->at;
    csv_stop stop = STOP_END;
    *field = (csv_span){p, 0};
    if (p < cursor->end && *p == '"') {
        p = skip_quoted(cursor, p);
        if (!p)
            return STOP_OPEN_QUOTE;
    }
    p = skip_plain(p, cursor->end);
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

csv_span cli_csv_trimmed(csv_span s)
{
    while (s.size && (*s.at == ' ' || *s.at == '\t')) {
        s.at++;
        s.size--;
    }
    while (s.size && (s.at[s.size - 1] == ' ' || s.at[s.size - 1] == '\t'))
        s.size--;
    return s;
}

csv_span cli_csv_without_quotes(csv_span s)
{
    s = cli_csv_trimmed(s);
    if (s.size >= 2 && s.at[0] == '"' && s.at[s.size - 1] == '"')
        s = cli_csv_trimmed((csv_span){s.at + 1, s.size - 2});
    return s;
}

/* A record of a text without quotes ends with the line. */
static csv_span next_line(csv_cursor *cursor, csv_stop *stop)
{
    const size_t left = (size_t)(cursor->end - cursor->at);
    const char *found = left ? memchr(cursor->at, '\n', left) : NULL;
    csv_span record = {cursor->at, found ? (size_t)(found - cursor->at) : left};
    cursor->at += record.size + (found != NULL);
    cursor->line += found != NULL;
    if (record.size && record.at[record.size - 1] == '\r')
        record.size--;
    *stop = found ? STOP_LINE : STOP_END;
    return record;
}

static csv_span next_fields(csv_cursor *cursor, csv_stop *stop)
{
    csv_span record = {cursor->at, 0}, field;
    do
        *stop = cli_csv_next_field(cursor, &field);
    while (*stop == STOP_COMMA);
    record.size = (size_t)(field.at + field.size - record.at);
    return record;
}

csv_span cli_csv_next_record(csv_cursor *cursor, const char **line_end)
{
    csv_stop stop;
    const csv_span record =
        cursor->is_plain ? next_line(cursor, &stop) : next_fields(cursor, &stop);
    *line_end = stop != STOP_LINE ? "" : record.at[record.size] == '\r' ? "\r\n" : "\n";
    return record;
}
