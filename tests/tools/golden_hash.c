/*
 * Prints a hash of every output of every workload, in both accuracies, on the real series and on
 * the adversarial ones:
 *
 *     golden_hash ISA
 *
 * with the kernels of one instruction set (base, v3, v4). check_bits.sh builds it with several
 * compilers and optimisation levels; the lines must be the same in all. Exits with 77 when this
 * processor or build does not have the instruction set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/lab.h"
#include "support/series.h"

enum { COLUMNS = 5000, ROWS = 20, SHORT_ROWS = 80, SKIPPED = 77 };

#define P(key, number)                                                                             \
    {                                                                                              \
        .name = key, .value = number                                                               \
    }

static const lab_case cases[] = {
    {.workload = "sma"},
    {.workload = "sma", .params = {P("period", 98)}, .n_params = 1},
    {.workload = "rolling_std"},
    {.workload = "rolling_std", .params = {P("period", 200), P("ddof", 1)}, .n_params = 2},
    {.workload = "bollinger"},
    {.workload = "bollinger", .params = {P("period", 4), P("width", 0.3)}, .n_params = 2},
    {.workload = "zscore"},
    {.workload = "zscore", .params = {P("period", 98), P("ddof", 1)}, .n_params = 2},
    {.workload = "rolling_min"},
    {.workload = "rolling_min", .params = {P("period", 200)}, .n_params = 1},
    {.workload = "rolling_max", .params = {P("period", 3)}, .n_params = 1},
    {.workload = "ema"},
    {.workload = "ema", .params = {P("period", 3), P("seed_with", 1)}, .n_params = 2},
    {.workload = "macd"},
    {.workload = "rsi"},
    {.workload = "atr"},
    {.workload = "sum"},
    {.workload = "mean"},
    {.workload = "variance"},
    {.workload = "min"},
    {.workload = "max"},
    {.workload = "dot"},
};

/* FNV-1a over the bytes. */
static uint64_t hash(uint64_t state, const double *values, int64_t count)
{
    const unsigned char *bytes = (const unsigned char *)values;
    for (int64_t i = 0; i < count * 8; i++)
        state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
    return state;
}

/* Every case on one series in one accuracy, as one row or cut into some; 0 when something failed.
 */
static int hash_series(sy_context *context, sy_accuracy accuracy, const char *name, const double *x,
                       int64_t n, int64_t rows)
{
    const sy_options options = {.struct_size = sizeof options, .accuracy = accuracy};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab_case c = cases[i];
        uint64_t state = UINT64_C(0xcbf29ce484222325);
        c.rows = rows;
        c.columns = n / rows;
        c.x = x;
        if (!lab_prepare(&c) || lab_run(context, &c, &options, NULL) != SY_OK)
            return 0;
        for (int k = 0; k < c.n_outputs; k++)
            state = hash(state, c.out[k], c.out_count);
        printf("%s case %d on %s, %d rows, %s: %016llx\n", c.workload, (int)i, name, (int)rows,
               accuracy == SY_ACCURACY_FAST ? "fast" : "exact", (unsigned long long)state);
        lab_release(&c);
    }
    return 1;
}

static int hash_both(sy_context *context, const char *name, const double *x, int64_t n,
                     int64_t rows)
{
    return hash_series(context, SY_ACCURACY_EXACT, name, x, n, rows) &&
           hash_series(context, SY_ACCURACY_FAST, name, x, n, rows);
}

int main(int argc, char **argv)
{
    static double x[COLUMNS];
    char devices[64];
    sy_context *context;
    if (argc != 2)
        return 2;
    snprintf(devices, sizeof devices, "cpu:threads=1:isa=%s", argv[1]);
    context = lab_open(devices, NULL, NULL);
    if (!context)
        return sy_last_error()->status == SY_ERR_NO_DEVICE ? SKIPPED : 1;
    for (int s = 0; s < DATA_SERIES; s++) {
        int64_t n;
        double *close = data_column(data_series[s], "close", &n);
        if (!close || !hash_both(context, data_series[s], close, n, 1))
            return 1;
        free(close);
    }
    for (int kind = 0; kind < SERIES_KINDS; kind++) {
        series_fill(kind, 9, x, COLUMNS);
        if (!hash_both(context, series_name(kind), x, COLUMNS, 1) ||
            !hash_both(context, series_name(kind), x, COLUMNS, ROWS) ||
            !hash_both(context, series_name(kind), x, COLUMNS, SHORT_ROWS))
            return 1;
    }
    sy_context_destroy(&context);
    return 0;
}
