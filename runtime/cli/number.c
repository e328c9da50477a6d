/* Numbers from text. The process never calls setlocale, so strtod works in the "C" locale: a
 * decimal point, whatever the environment says. Ordinary prices go a fast way, exact by one
 * division, and everything else to the C library; a test compares the two. */
#define _POSIX_C_SOURCE 200809L
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A decimal number taken apart: value = mantissa * 10^exponent when `whole` (no digit dropped). */
typedef struct decimal {
    uint64_t mantissa;
    int exponent;
    bool negative, whole;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *scan_digits(const char *p, const char *end, int step, decimal *d)
{
    for (; p < end && is_digit(*p); p++) {
        if (d->mantissa > (UINT64_MAX - 9) / 10) {
            d->whole = false;
            continue;
        }
        d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
        d->exponent -= step;
    }
    return p;
}

static const char *scan_exponent(const char *p, const char *end, decimal *d)
{
    bool negative = false;
    int value = 0;
    const char *first;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    for (first = p; p < end && is_digit(*p); p++)
        value = value < 10000 ? value * 10 + (*p - '0') : value;
    d->exponent += negative ? -value : value;
    return p > first ? p : NULL;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. */
static bool scan_decimal(const char *text, size_t size, decimal *d)
{
    const char *p = text, *end = text + size, *first;
    *d = (decimal){.whole = true};
    if (p < end && (*p == '+' || *p == '-'))
        d->negative = *p++ == '-';
    first = p;
    p = scan_digits(p, end, 0, d);
    if (p < end && *p == '.') {
        const char *point = p++;
        p = scan_digits(p, end, 1, d);
        if (point == first && p == point + 1)
            return false;
    }
    if (p == first)
        return false;
    if (p < end && (*p == 'e' || *p == 'E'))
        p = scan_exponent(p + 1, end, d);
    return p == end;
}

/* An integer below 2^53 times or divided by an exact power of ten is one rounding. */
static bool fast_value(const decimal *d, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)d->mantissa;
    if (FLT_EVAL_METHOD != 0 || !d->whole || d->mantissa >> 53 || d->exponent < -22 ||
        d->exponent > 22)
        return false;
    value = d->exponent < 0 ? value / power[-d->exponent] : value * power[d->exponent];
    *out = d->negative ? -value : value;
    return true;
}

static bool parse_word(const char *text, size_t size, double *out)
{
    bool negative = size && text[0] == '-';
    if (size && (text[0] == '-' || text[0] == '+')) {
        text++;
        size--;
    }
    if (size == 3 && strncasecmp(text, "nan", 3) == 0)
        *out = (double)NAN;
    else if ((size == 3 && strncasecmp(text, "inf", 3) == 0) ||
             (size == 8 && strncasecmp(text, "infinity", 8) == 0))
        *out = negative ? -HUGE_VAL : HUGE_VAL;
    else
        return false;
    return true;
}

enum { LONGEST = 1199 }; /* the longest exact decimal of a double has 1,077 characters */

/* By the C library; the text is a decimal. */
static cli_number parse_decimal(const char *text, size_t size, bool narrow, double *out)
{
    char copy[LONGEST + 1];
    double value;
    memcpy(copy, text, size);
    copy[size] = '\0';
    value = narrow ? (double)strtof(copy, NULL) : strtod(copy, NULL);
    if (isinf(value))
        return CLI_NUMBER_TOO_LARGE;
    *out = value;
    return CLI_NUMBER_OK;
}

cli_number cli_number_parse(const char *text, size_t size, double *out)
{
    decimal d;
    if (!scan_decimal(text, size, &d))
        return parse_word(text, size, out) ? CLI_NUMBER_OK : CLI_NUMBER_NOT;
    if (size > LONGEST)
        return CLI_NUMBER_TOO_LONG;
    if (fast_value(&d, out))
        return CLI_NUMBER_OK;
    return parse_decimal(text, size, false, out);
}

/* Whether a decimal that rounds to the double may have another nearest float than the double has:
 * only where the double is midway between two floats, or beyond the largest. */
static bool float_is_open(double value)
{
    float nearest = (float)value, other;
    if (!isfinite(value) || (double)nearest == value)
        return false;
    other = nextafterf(nearest, value > (double)nearest ? HUGE_VALF : -HUGE_VALF);
    return isinf(nearest) || fabs(value - (double)nearest) == fabs((double)other - value);
}

cli_number cli_number_parse_float(const char *text, size_t size, float *out)
{
    double value;
    cli_number kind = cli_number_parse(text, size, &value);
    if (kind == CLI_NUMBER_OK && float_is_open(value))
        kind = parse_decimal(text, size, true, &value);
    if (kind == CLI_NUMBER_OK)
        *out = (float)value;
    return kind;
}
