/* Numbers and names out of text and into it, whatever the process's locale is. */
#ifndef SYI_BASE_TEXT_H
#define SYI_BASE_TEXT_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text is one decimal number. */
bool syi_parse_number(const char *text, double *out);
/* A whole number from `min` to `max`. */
bool syi_parse_integer(const char *text, int64_t min, int64_t max, int64_t *out);
/* A number followed by one of `units` (NULL-terminated; "" allows none), times its factor. */
typedef struct syi_unit {
    const char *suffix;
    double factor;
} syi_unit;
bool syi_parse_with_unit(const char *text, const syi_unit *units, double *out);
/* snprintf and vsnprintf for what is read by people or stored: numbers have a point. */
void syi_format(char *to, size_t size, const char *format, ...) SYI_PRINTF(3, 4);
void syi_format_list(char *to, size_t size, const char *format, va_list args);
/* Copies as much as fits, always terminated; `size` > 0. */
void syi_copy_text(char *to, size_t size, const char *from);
/* Control characters become '?': what a message quotes may hold anything. */
void syi_make_one_line(char *text);

#endif
