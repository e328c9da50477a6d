/* Numbers as text. The process never calls setlocale, so strtod and snprintf work in the "C"
 * locale: a decimal point, whatever the environment says.
 *
 * Both directions have a fast way for ordinary prices, exact by integer arithmetic, and the C
 * library for everything else; a test compares the two. */
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

/* ---- reading ----------------------------------------------------------------------------- */

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

/* ---- printing ---------------------------------------------------------------------------- */

/* value = 0.d1d2d3... * 10^(exponent + 1): the digits without leading or trailing zeros. */
typedef struct shortest {
    char digits[20];
    int count, exponent;
} shortest;

static void trim_zeros(shortest *s)
{
    while (s->count > 1 && s->digits[s->count - 1] == '0')
        s->count--;
}

static bool reads_back(const shortest *s, double value, bool narrow)
{
    char text[40];
    snprintf(text, sizeof text, "%.1s.%.*se%d", s->digits, s->count - 1, s->digits + 1,
             s->exponent);
    return narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* The next decimal up with the same number of digits. */
static void step_up(shortest *s)
{
    int i = s->count - 1;
    for (; i >= 0 && s->digits[i] == '9'; i--)
        s->digits[i] = '0';
    if (i >= 0) {
        s->digits[i]++;
        return;
    }
    s->digits[0] = '1';
    s->exponent++;
}

/* More and more digits until they read back. Below a power of two the doubles lie closer than
 * above, so that there the next decimal up may do where the nearest does not. Any decimal of 15
 * digits survives a normal double, and of 6 a normal float, hence the start. */
static void shortest_by_trial(double value, bool narrow, shortest *s)
{
    char text[40];
    int count = value < (narrow ? (double)FLT_MIN : DBL_MIN) ? 1 : narrow ? FLT_DIG : DBL_DIG;
    for (;; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        s->count = count;
        s->digits[0] = text[0];
        memcpy(s->digits + 1, text + 2, (size_t)count - 1);
        s->exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
        if (reads_back(s, value, narrow))
            break;
        step_up(s);
        if (reads_back(s, value, narrow))
            break;
    }
    trim_zeros(s);
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* Of the multiples of `step` next to centre / 2^shift the nearer one in [low, high]; an exact tie
 * goes to the even digit, as printf does it. */
static uint64_t nearest_multiple(wide centre, int shift, uint64_t step, uint64_t low, uint64_t high)
{
    uint64_t down = (uint64_t)(centre >> shift) / step * step, up = down + step;
    wide below = centre - ((wide)down << shift), above = ((wide)up << shift) - centre;
    if (down < low)
        return up;
    if (up > high || below < above || (below == above && down / step % 2 == 0))
        return down;
    return up;
}

/* The doubles that are a mantissa of 53 bits over a power of two, from 1e-5 to 2^53: scaled to 17
 * digits, the interval that rounds to the value has integer bounds that fit 128 bits, and the
 * shortest decimal is its multiple of the highest power of ten. */
static bool shortest_by_interval(double value, shortest *s)
{
    int binary, decimals = 21, n;
    uint64_t mantissa, low, high, step = 1, digits;
    wide scale = 1, centre, lower, upper;
    if (!(value >= 1e-5 && value < 9007199254740992.0))
        return false;
    mantissa = (uint64_t)ldexp(frexp(value, &binary), 53);
    int shift = 53 - binary + 2;
    for (double bound = 1e-4; decimals > 1 && value >= bound; decimals--)
        bound *= 10; /* a bound that is a little off costs nothing: 17 digits are plenty */
    for (n = 0; n < decimals; n++)
        scale *= 10;
    centre = 4 * (wide)mantissa * scale;
    lower = centre - (mantissa == (uint64_t)1 << 52 ? scale : 2 * scale);
    upper = centre + 2 * scale;
    /* The bounds themselves round to the even mantissa. */
    if (mantissa % 2) {
        lower++;
        upper--;
    }
    low = (uint64_t)((lower + (((wide)1 << shift) - 1)) >> shift);
    high = (uint64_t)(upper >> shift);
    while (high / (10 * step) * (10 * step) >= low)
        step *= 10;
    digits = nearest_multiple(centre, shift, step, low, high);
    s->count = snprintf(s->digits, sizeof s->digits, "%llu", (unsigned long long)digits);
    s->exponent = s->count - 1 - decimals;
    trim_zeros(s);
    return true;
}
#else
static bool shortest_by_interval(double value, shortest *s)
{
    (void)value;
    (void)s;
    return false;
}
#endif

static char *put(char *to, const char *from, int n)
{
    memcpy(to, from, (size_t)n);
    return to + n;
}

static char *put_zeros(char *to, int n)
{
    memset(to, '0', (size_t)n);
    return to + n;
}

static char *lay_out(char *p, const shortest *s)
{
    int whole = s->exponent + 1; /* digits before the point */
    if (s->exponent < -4 || s->exponent >= 16) {
        *p++ = s->digits[0];
        if (s->count > 1) {
            *p++ = '.';
            p = put(p, s->digits + 1, s->count - 1);
        }
        return p + sprintf(p, "e%+03d", s->exponent);
    }
    if (whole <= 0)
        return put(put_zeros(put(p, "0.", 2), -whole), s->digits, s->count);
    if (s->count <= whole)
        return put_zeros(put(p, s->digits, s->count), whole - s->count);
    p = put(p, s->digits, whole);
    *p++ = '.';
    return put(p, s->digits + whole, s->count - whole);
}

/* What has no digits, and the sign: NULL when the number is printed, else where its digits go. */
static char *print_special(double value, char *out)
{
    if (isnan(value))
        stpcpy(out, "nan");
    else if (isinf(value))
        stpcpy(out, value < 0 ? "-inf" : "inf");
    else if (value == 0)
        stpcpy(out, signbit(value) ? "-0" : "0");
    else {
        if (value < 0)
            *out++ = '-';
        return out;
    }
    return NULL;
}

static size_t print(double value, bool narrow, char *out)
{
    char *p = print_special(value, out);
    shortest s;
    if (!p)
        return strlen(out);
    value = fabs(value);
    if (narrow || !shortest_by_interval(value, &s))
        shortest_by_trial(value, narrow, &s);
    p = lay_out(p, &s);
    *p = '\0';
    return (size_t)(p - out);
}

size_t cli_number_print(double value, char out[CLI_NUMBER_SIZE])
{
    return print(value, false, out);
}

size_t cli_number_print_float(float value, char out[CLI_NUMBER_SIZE])
{
    return print((double)value, true, out);
}
