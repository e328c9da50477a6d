#define _POSIX_C_SOURCE 200809L
#include "base/text.h"

#include "base/neutral.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double parse_c(const char *text, char **end)
{
    syi_neutral neutral;
    const bool is_neutral = syi_neutral_enter(&neutral);
    const double value = strtod(text, end);
    if (is_neutral)
        syi_neutral_leave(&neutral);
    return value;
}

static bool starts_number(const char *text)
{
    if (*text == '+' || *text == '-')
        text++;
    return isdigit((unsigned char)*text) || *text == '.' || tolower((unsigned char)*text) == 'n' ||
           tolower((unsigned char)*text) == 'i';
}

bool syi_parse_number(const char *text, double *out)
{
    char *end;
    double value;
    if (!starts_number(text) || strpbrk(text, "xX"))
        return false;
    value = parse_c(text, &end);
    if (end == text || *end)
        return false;
    *out = value;
    return true;
}

bool syi_parse_integer(const char *text, int64_t min, int64_t max, int64_t *out)
{
    double value;
    if (!syi_parse_number(text, &value) || !(value >= (double)min && value <= (double)max) ||
        value != floor(value))
        return false;
    *out = (int64_t)value;
    return true;
}

bool syi_parse_with_unit(const char *text, const syi_unit *units, double *out)
{
    char *end;
    double value;
    if (!starts_number(text) || strpbrk(text, "xX"))
        return false;
    value = parse_c(text, &end);
    if (end == text)
        return false;
    for (; units->suffix; units++)
        if (strcmp(end, units->suffix) == 0) {
            *out = value * units->factor;
            return true;
        }
    return false;
}

void syi_format_list(char *to, size_t size, const char *format, va_list args)
{
    syi_neutral neutral;
    const bool is_neutral = syi_neutral_enter(&neutral);
    vsnprintf(to, size, format, args);
    if (is_neutral)
        syi_neutral_leave(&neutral);
}

void syi_format(char *to, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    syi_format_list(to, size, format, args);
    va_end(args);
}

void syi_copy_text(char *to, size_t size, const char *from)
{
    const size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

void syi_make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}
