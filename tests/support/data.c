/* The real series of tests/data and their reference bits in tests/golden. TESTS_DIR comes from the
 * build. */
#include "support/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const data_series[DATA_SERIES] = {"btcusd_coinbase_1m", "sp500_1d", "spy_1h",
                                              "talib_gdata_1d", "talib_ref252_1d"};

enum { LINE = 1024, MOST_BARS = 100000 };

static FILE *open_file(const char *folder, const char *name, const char *suffix)
{
    char path[1024];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s/%s%s", TESTS_DIR, folder, name, suffix);
    file = fopen(path, "rb");
    if (!file)
        fprintf(stderr, "cannot open %s\n", path);
    return file;
}

/* The field number of `name` in a header line, -1 when it is not there. */
static int field_of(char *header, const char *name)
{
    int field = 0;
    for (char *word = strtok(header, ",\n"); word; word = strtok(NULL, ",\n"), field++)
        if (!strcmp(word, name))
            return field;
    return -1;
}

double *data_column(const char *series, const char *name, int64_t *n)
{
    char line[LINE];
    FILE *file = open_file("data", series, ".csv");
    double *x = malloc(MOST_BARS * sizeof *x);
    int field = file && x && fgets(line, LINE, file) ? field_of(line, name) : -1;
    *n = 0;
    while (field >= 0 && *n < MOST_BARS && fgets(line, LINE, file)) {
        const char *at = line;
        for (int i = 0; i < field && at; i++)
            at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
        if (!at)
            field = -1;
        else
            x[(*n)++] = strtod(at, NULL);
    }
    if (file)
        fclose(file);
    if (field >= 0 && *n > 0)
        return x;
    fprintf(stderr, "no column '%s' in series %s\n", name, series);
    free(x);
    return NULL;
}

double *data_golden(const char *series, const char *indicator, int outputs, int64_t n)
{
    char name[256];
    size_t count = (size_t)outputs * (size_t)n;
    FILE *file;
    double *x = malloc(count * sizeof *x);
    snprintf(name, sizeof name, "%s_%s", series, indicator);
    file = open_file("golden", name, ".f64");
    if (x && file && fread(x, sizeof *x, count, file) == count && fgetc(file) == EOF) {
        fclose(file);
        return x; /* the files are little-endian, as every machine that this runs on */
    }
    fprintf(stderr, "golden %s is not %zu values long\n", name, count);
    if (file)
        fclose(file);
    free(x);
    return NULL;
}

/* The inputs of a workload of bars. */
static int take_bars(lab_case *c, const char *series)
{
    int64_t n_high = 0, n_low = 0;
    double *high = data_column(series, "high", &n_high), *low = data_column(series, "low", &n_low);
    int complete = high && low && n_high == c->columns && n_low == c->columns;
    if (complete) {
        memcpy(c->more[0], low, (size_t)n_low * sizeof *low);
        memcpy(c->more[1], c->x, (size_t)n_low * sizeof *low);
        free((void *)c->x);
        c->x = high;
    } else {
        free(high);
    }
    free(low);
    return complete;
}

int data_case(const char *workload, const char *series, lab_case *c)
{
    *c = (lab_case){.workload = workload, .rows = 1};
    c->x = data_column(series, "close", &c->columns);
    if (c->x && lab_prepare(c) && (c->n_inputs < 3 || take_bars(c, series)))
        return 1;
    data_case_release(c);
    return 0;
}

void data_case_release(lab_case *c)
{
    lab_release(c);
    free((void *)c->x);
    c->x = NULL;
}
