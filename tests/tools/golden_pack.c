/*
 * Packs a reference output from its CSV form into raw little-endian doubles: the outputs one after
 * the other, each as long as the series, with the library's NaN where the CSV has no line.
 *
 *     golden_pack BARS FILE.csv FILE.f64
 *
 * The CSV has a comment line, a header `bar,<outputs>` and 17 significant digits, so the bits that
 * strtod reads are the bits that were written. tests/golden/ was made with it and is what is
 * committed; the program stays for the next set.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OUTPUTS = 8, LINE = 4096 };

static void put(FILE *to, double value)
{
    uint64_t bits;
    unsigned char byte[8];
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        bits = UINT64_C(0x7ff8000000000000);
    for (int i = 0; i < 8; i++)
        byte[i] = (unsigned char)(bits >> (8 * i));
    fwrite(byte, 1, 8, to);
}

static int fail(const char *what, const char *where)
{
    fprintf(stderr, "golden_pack: %s: %s\n", where, what);
    return 1;
}

/* Reads `bar,value[,value..]` into column[..][bar]. */
static int read_line(char *line, long bars, int outputs, double *const *column)
{
    char *at = line, *end;
    long bar = strtol(at, &end, 10);
    if (end == at || bar < 0 || bar >= bars)
        return 0;
    for (int k = 0; k < outputs; k++) {
        if (*end != ',')
            return 0;
        at = end + 1;
        column[k][bar] = strtod(at, &end);
        if (end == at)
            return 0;
    }
    return *end == '\n' || *end == '\r';
}

int main(int argc, char **argv)
{
    static char line[LINE];
    double *column[MOST_OUTPUTS] = {NULL};
    int outputs = 0;
    if (argc != 4)
        return fail("usage: golden_pack BARS FILE.csv FILE.f64", "arguments");
    long bars = strtol(argv[1], NULL, 10);
    FILE *from = fopen(argv[2], "r"), *to = fopen(argv[3], "wb");
    if (bars <= 0 || !from || !to)
        return fail("cannot be opened, or no bars", argv[2]);
    if (!fgets(line, LINE, from) || line[0] != '#' || !fgets(line, LINE, from))
        return fail("no comment and header line", argv[2]);
    for (const char *at = line; (at = strchr(at, ',')); at++)
        outputs++;
    if (outputs < 1 || outputs > MOST_OUTPUTS)
        return fail("no outputs, or too many", argv[2]);
    for (int k = 0; k < outputs; k++) {
        column[k] = malloc((size_t)bars * sizeof(double));
        if (!column[k])
            return fail("no memory", argv[2]);
        for (long i = 0; i < bars; i++)
            column[k][i] = NAN;
    }
    while (fgets(line, LINE, from))
        if (!read_line(line, bars, outputs, column))
            return fail("a line that is not `bar,values`", argv[2]);
    for (int k = 0; k < outputs; k++) {
        for (long i = 0; i < bars; i++)
            put(to, column[k][i]);
        free(column[k]);
    }
    fclose(from);
    return fclose(to) ? fail("cannot be written", argv[3]) : 0;
}
