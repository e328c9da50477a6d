/* The command's decimal numbers against the C library: what is printed reads back to the same bits,
 * no decimal of fewer digits does, and what is read is what strtod reads. Prints the seed of a
 * failure; `test_numbers SEED` tries another one. */
#include "number.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks;

static void failed(const char *what, double value, const char *text)
{
    if (++failures <= 20)
        printf("FAILED %s: %.17g (%a), '%s'\n", what, value, value, text);
}

static int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The significant digits of a printed number. */
static int count_digits(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && n == 0))
            continue;
        n++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return n - zeros;
}

/* Whether a decimal of `count` digits reads back: the nearest, or one of its two neighbours. */
static int fewer_would_do(double value, int count, int narrow)
{
    char text[64];
    long long digits, exponent;
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    exponent = strtoll(strchr(text, 'e') + 1, NULL, 10) - (count - 1);
    if (count > 1)
        memmove(text + 1, text + 2, strlen(text + 2) + 1); /* the point goes */
    digits = strtoll(text, NULL, 10);
    for (long long d = digits - 1; d <= digits + 1; d++) {
        snprintf(text, sizeof text, "%llde%lld", d, exponent);
        if (narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            return 1;
    }
    return 0;
}

static void check_reading(const char *text)
{
    double value = 0, wanted = strtod(text, NULL);
    cli_number kind = cli_number_parse(text, strlen(text), &value);
    checks++;
    if (kind != CLI_NUMBER_OK || !same_bits(value, wanted))
        failed("reading", wanted, text);
}

static void check(double value)
{
    char text[CLI_NUMBER_SIZE], long_text[64];
    size_t size = cli_number_print(value, text);
    int digits = count_digits(text);
    checks++;
    if (size != strlen(text) || size >= CLI_NUMBER_SIZE)
        failed("length", value, text);
    if (!same_bits(strtod(text, NULL), value))
        failed("does not read back", value, text);
    if (digits > 1 && fewer_would_do(fabs(value), digits - 1, 0))
        failed("not the shortest", value, text);
    check_reading(text);
    snprintf(long_text, sizeof long_text, "%.17g", value);
    check_reading(long_text);
    snprintf(long_text, sizeof long_text, "%.6e", value);
    if (!isinf(strtod(long_text, NULL))) /* rounded up, the largest is too large */
        check_reading(long_text);
    snprintf(long_text, sizeof long_text, "%.30e", value);
    check_reading(long_text);
}

static void check_reading_float(const char *text)
{
    float value = 0, wanted = strtof(text, NULL);
    cli_number kind = cli_number_parse_float(text, strlen(text), &value);
    checks++;
    if (isinf(wanted) ? kind != CLI_NUMBER_TOO_LARGE
                      : kind != CLI_NUMBER_OK || memcmp(&value, &wanted, sizeof value) != 0)
        failed("reading a float", (double)wanted, text);
}

/* The decimal midway to the next float, exactly, and so near to it on both sides that the nearest
 * double is the middle itself. */
static void check_middle(float value)
{
    double middle = ((double)value + (double)nextafterf(value, HUGE_VALF)) / 2;
    char text[400], *last;
    if (isinf(middle))
        middle = ldexp(1, 128) - ldexp(1, 103);
    snprintf(text, sizeof text, "%.300f", middle);
    check_reading_float(text);
    last = text + strlen(text) - 1;
    *last = '1';
    check_reading_float(text);
    for (*last = '0'; *last == '0' || *last == '.'; last--)
        if (*last == '0')
            *last = '9';
    --*last;
    check_reading_float(text);
}

static void check_float(float value)
{
    char text[CLI_NUMBER_SIZE];
    size_t size = cli_number_print_float(value, text);
    float again = strtof(text, NULL);
    int digits = count_digits(text);
    checks++;
    if (size != strlen(text) || size >= CLI_NUMBER_SIZE)
        failed("length of a float", (double)value, text);
    if (memcmp(&again, &value, sizeof value) != 0)
        failed("a float does not read back", (double)value, text);
    if (digits > 1 && fewer_would_do(fabs((double)value), digits - 1, 1))
        failed("not the shortest of a float", (double)value, text);
    check_reading_float(text);
    if (value > 0)
        check_middle(value);
}

static void check_floats(uint32_t bits)
{
    for (uint32_t near = bits - 2; near != bits + 3; near++) {
        float value;
        memcpy(&value, &near, sizeof value);
        if (isfinite(value))
            check_float(value);
    }
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A value with its sign changed, and its neighbours. */
static void check_around(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    check(-value);
    for (int d = -2; d <= 2; d++) {
        double near = from_bits(bits + (uint64_t)d);
        if (isfinite(near) && near != 0)
            check(near);
    }
}

static void check_words(void)
{
    static const char *const refused[] = {"",    " ",      "1 ",  " 1",  ".",     "+",       "-",
                                          "e5",  "1e",     "1e+", "0x1", "1.2.3", "1,5",     "1_0",
                                          "--1", "nan(1)", "na",  "in",  "1f",    "infinite"};
    char longest[1201];
    double value;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (cli_number_parse(refused[i], strlen(refused[i]), &value) != CLI_NUMBER_NOT)
            failed("is accepted", 0, refused[i]);
    if (cli_number_parse("1e999", 5, &value) != CLI_NUMBER_TOO_LARGE)
        failed("is not too large", 0, "1e999");
    if (cli_number_parse("NaN", 3, &value) != CLI_NUMBER_OK || !isnan(value))
        failed("is no nan", value, "NaN");
    if (cli_number_parse("-INF", 4, &value) != CLI_NUMBER_OK || value != -HUGE_VAL)
        failed("is no infinity", value, "-INF");
    memset(longest, '1', sizeof longest - 1);
    memcpy(longest, "0.", 2);
    longest[1200] = '\0';
    if (cli_number_parse(longest, 1200, &value) != CLI_NUMBER_TOO_LONG)
        failed("is not too long", 0, longest);
    longest[1199] = '\0';
    check_reading(longest);
    check_reading(".5");
    check_reading("5.");
    check_reading("+1E2");
    check_reading("-0");
    check_reading("00000000000000000000000000000000000012.5");
    check_reading("1e-400");
    check_reading("123456789012345678901234567890e-30");
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, state = seed;
    check_words();
    for (int e = -1074; e < 1024; e++)
        check_around(ldexp(1, e));
    for (int e = -320; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        check_around(strtod(text, NULL));
    }
    for (uint32_t exponent = 0; exponent < 256; exponent++)
        check_floats(exponent << 23);
    for (int i = 0; i < 100000; i++) {
        double value;
        state += 0x9e3779b97f4a7c15u; /* splitmix64 */
        uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        value = from_bits(z);
        if (isfinite(value))
            check(value);
        check_floats((uint32_t)z);
        check_float((float)(z >> 40) / 10000);
        /* Prices: whole numbers over a power of ten, and means of them. */
        check((double)(z >> 40) / 10000);
        check((double)(z >> 30) / 2100);
    }
    printf("%d checks, %d failures, seed %" PRIu64 "\n", checks, failures, seed);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
