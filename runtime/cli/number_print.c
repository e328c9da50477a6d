/* Numbers as text. Ordinary prices go a fast way, exact by integer arithmetic, and everything else
 * to the C library by trial; a test compares the two. */
#define _POSIX_C_SOURCE 200809L
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The decimals that read back to a value, scaled to integers of 17 or 18 digits: those from `low`
 * to `high`, around centre / 2^shift; times 10^-decimals. */
typedef struct interval {
    wide centre;
    int shift, decimals;
    uint64_t low, high;
} interval;

static wide power_of_ten(int n)
{
    static const uint64_t power[] = {1,         10,         100,         1000,
                                     10000,     100000,     1000000,     10000000,
                                     100000000, 1000000000, 10000000000, 100000000000};
    return (wide)power[n / 2] * power[n - n / 2];
}

/* Of the doubles that are a mantissa of 53 bits over a power of two, from 1e-5 to 2^53: there the
 * bounds fit 128 bits. What rounds to a float is as much wider as a double has more bits. */
static bool interval_of(double value, bool narrow, interval *r)
{
    const wide unit = narrow ? (wide)1 << (DBL_MANT_DIG - FLT_MANT_DIG) : 1;
    uint64_t bits, mantissa;
    wide scale, lower, upper;
    int binary;
    if (!(value >= 1e-5 && value < 9007199254740992.0))
        return false;
    memcpy(&bits, &value, sizeof bits);
    mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    binary = (int)(bits >> 52) - 1023; /* 2^binary <= value */
    /* 2^binary has 17 digits then: 78913 / 2^18 is log10(2), and of what is above 0 a quotient is
     * rounded down. */
    r->decimals = 16 - (binary * 78913 + (18 << 18)) / (1 << 18) + 18;
    if (r->decimals > 21)
        r->decimals = 21;
    r->shift = 52 - binary + 2;
    scale = power_of_ten(r->decimals);
    r->centre = 4 * (wide)mantissa * scale;
    /* Below a power of two the neighbour is half as far away. */
    lower = r->centre - (mantissa == (uint64_t)1 << 52 ? 1 : 2) * unit * scale;
    upper = r->centre + 2 * unit * scale;
    /* The bounds themselves round to the even mantissa. */
    if (mantissa / (uint64_t)unit % 2) {
        lower++;
        upper--;
    }
    r->low = (uint64_t)((lower + (((wide)1 << r->shift) - 1)) >> r->shift);
    r->high = (uint64_t)(upper >> r->shift);
    return true;
}

/* The interval's multiple of the highest power of ten, in units of that; of several the nearest to
 * the value, and of two as near the even one, as printf does it. */
static uint64_t shortest_multiple(const interval *r, int *dropped)
{
    uint64_t low = r->low, high = r->high, down = (uint64_t)(r->centre >> r->shift), unit = 1;
    wide below, above;
    for (*dropped = 0; high / 10 >= (low + 9) / 10; ++*dropped) {
        low = (low + 9) / 10;
        high /= 10;
        down /= 10;
        unit *= 10;
    }
    below = r->centre - ((wide)(down * unit) << r->shift);
    above = ((wide)((down + 1) * unit) << r->shift) - r->centre;
    if (down < low)
        return down + 1;
    if (down + 1 > high)
        return down;
    return below < above || (below == above && down % 2 == 0) ? down : down + 1;
}

/* The digits end at `end`; returns where they begin. */
static char *put_digits(uint64_t n, char *end)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    for (; n >= 100; n /= 100)
        memcpy(end -= 2, pairs + n % 100 * 2, 2);
    if (n >= 10)
        return memcpy(end - 2, pairs + n * 2, 2);
    *--end = (char)('0' + n);
    return end;
}

static bool shortest_by_interval(double value, bool narrow, shortest *s)
{
    interval r;
    int dropped;
    char *end = s->digits + sizeof s->digits, *first;
    if (!interval_of(value, narrow, &r))
        return false;
    first = put_digits(shortest_multiple(&r, &dropped), end);
    s->count = (int)(end - first);
    s->exponent = s->count - 1 + dropped - r.decimals;
    memmove(s->digits, first, (size_t)s->count);
    return true;
}
#else
static bool shortest_by_interval(double value, bool narrow, shortest *s)
{
    (void)value;
    (void)narrow;
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
    if (!shortest_by_interval(value, narrow, &s))
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
