/*
 * Many short rows give the bits that each of them gives alone, whatever lies in the rows before and
 * behind it. (What one row gives is the other suites' matter.)
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/lab.h"
#include "support/series.h"

enum { ROWS = 2 * SERIES_KINDS + 1 };

enum { DEVICES = 5 };
static const char *const devices[DEVICES] = {LAB_CPU(1), LAB_CPU(3), "cpu:threads=1:isa=base",
                                             "cpu:threads=1:isa=v3", "cpu:threads=1:isa=v4"};
/* Of those that are there; the rows alone run on the first. */
static sy_context *contexts[DEVICES];
static int n_contexts;

static void open_all(void)
{
    for (int d = 0; d < DEVICES; d++) {
        sy_context *context = lab_open(devices[d], NULL, NULL);
        cr_assert(context || sy_last_error()->status == SY_ERR_NO_DEVICE, "%s", devices[d]);
        if (context)
            contexts[n_contexts++] = context;
    }
    cr_assert_gt(n_contexts, 2);
}

static void close_all(void)
{
    while (n_contexts > 0)
        sy_context_destroy(&contexts[--n_contexts]);
}

TestSuite(rows, .init = open_all, .fini = close_all);

static const char *const workloads[] = {"sma",         "rolling_std", "bollinger", "zscore",
                                        "rolling_min", "rolling_max", "ema",       "macd",
                                        "rsi",         "atr"};
/* Around the limits between the ways in which windows are computed, and whole steps of these. */
static const int periods[] = {1, 2, 7, 20, 23, 24, 29, 50, 128, 131, 200, 256, 257};

enum { EACH_KIND = -1 };

/* Rows of one kind, or of each kind in turn. Exactly as long as that: what reads beyond is seen. */
static double *panel(int kind, int64_t rows, int64_t columns)
{
    double *x = malloc((size_t)(rows * columns) * sizeof *x);
    cr_assert_not_null(x);
    for (int64_t row = 0; row < rows; row++)
        series_fill((series_kind)(kind == EACH_KIND ? row * 5 % SERIES_KINDS : kind), (uint64_t)row,
                    x + row * columns, columns);
    return x;
}

/* No low of an atr's is above its high, but one in 331 that is then. */
static void order_bars(lab_case *c)
{
    for (int64_t i = 0; c->n_inputs > 2 && i < c->rows * c->columns; i++)
        if (i % c->columns % 331 != 330 && c->more[0][i] > c->x[i])
            c->more[0][i] = c->x[i];
}

static void run(sy_context *context, lab_case *c, sy_accuracy accuracy)
{
    const sy_options options = {.struct_size = sizeof options, .accuracy = accuracy};
    char text[128];
    cr_assert(lab_prepare(c));
    order_bars(c);
    cr_assert_eq(lab_run(context, c, &options, NULL), SY_OK, "%s",
                 lab_describe(c, text, sizeof text));
}

/* The outputs of each row alone. */
static void run_alone(lab_case *all, sy_accuracy accuracy)
{
    cr_assert(lab_prepare(all));
    for (int64_t row = 0; row < all->rows; row++) {
        lab_case one = *all;
        one.rows = 1;
        one.x = all->x + row * all->columns;
        run(contexts[0], &one, accuracy);
        for (int k = 0; k < one.n_outputs; k++)
            memcpy(all->out[k] + row * one.out_count, one.out[k],
                   (size_t)one.out_count * sizeof *one.out[k]);
        lab_release(&one);
    }
}

/* The case on the first `devices`. */
static void compare(const lab_case *c, sy_accuracy accuracy, int devices)
{
    lab_case alone = *c;
    run_alone(&alone, accuracy);
    for (int d = 0; d < devices; d++) {
        lab_case all = *c;
        char text[128];
        int64_t at;
        int output;
        run(contexts[d], &all, accuracy);
        at = lab_case_difference(&all, &alone, &output);
        cr_assert_eq(at, -1, "%s, %d x %d, accuracy %d, device %d: output %d, element %d",
                     lab_describe(c, text, sizeof text), (int)c->rows, (int)c->columns,
                     (int)accuracy, d, output, (int)at);
        lab_release(&all);
    }
    lab_release(&alone);
}

/* Of `period`, or for a macd of as many columns in all. */
static void set_params(lab_case *c, int period)
{
    c->n_params = 1;
    c->params[0] = (sy_param){.name = "period", .value = period};
    if (!strcmp(c->workload, "macd")) {
        c->n_params = 3;
        c->params[0] = (sy_param){.name = "fast", .value = 1 + period / 3};
        c->params[1] = (sy_param){.name = "slow", .value = 2 + period / 2};
        c->params[2] = (sy_param){.name = "signal", .value = 1 + period / 4};
    }
}

static void check(sy_dtype dtype, int kind, int64_t rows, int64_t columns, int period)
{
    double *x = panel(kind, rows, columns);
    if (dtype == SY_F32)
        lab_round_to_floats(x, rows * columns);
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        for (int accuracy = SY_ACCURACY_EXACT; accuracy <= SY_ACCURACY_FAST; accuracy++) {
            lab_case c = {
                .workload = workloads[w], .rows = rows, .columns = columns, .dtype = dtype, .x = x};
            set_params(&c, period);
            compare(&c, (sy_accuracy)accuracy, dtype == SY_F32 ? 1 : n_contexts);
        }
    free(x);
}

/* Rows with a few windows, with none, with one, and around two and three periods. */
static void check_all(sy_dtype dtype)
{
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        const int period = periods[p];
        const int64_t columns[] = {period - 1, period,         period + 1,     period + 7, 252,
                                   2 * period, 2 * period + 5, 3 * period - 1, 601};
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            if (columns[i] > 0)
                check(dtype, EACH_KIND, 2 + (int64_t)(p + i) * 3 % (ROWS - 1), columns[i], period);
    }
}

Test(rows, like_each_alone)
{
    check_all(SY_F64);
}

Test(rows, of_floats)
{
    check_all(SY_F32);
}

/* Rows that are alike are run beside each other to their ends. */
Test(rows, of_one_kind)
{
    for (int kind = 0; kind < SERIES_KINDS; kind++) {
        check(SY_F64, kind, 17, 61, 5);
        check(SY_F64, kind, 16, 252, 20);
        check(SY_F64, kind, 9, 600, 50);
    }
}

/* So many that several threads merge them, around whole steps of columns. */
static void check_reductions(sy_dtype dtype)
{
    static const char *const reductions[] = {"sum", "mean", "variance", "min", "max", "dot"};
    const int64_t columns[] = {1, 5, 31, 33, 64, 100, 252, 601};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double *x = panel(EACH_KIND, 521, columns[i]);
        if (dtype == SY_F32)
            lab_round_to_floats(x, 521 * columns[i]);
        for (size_t w = 0; w < sizeof reductions / sizeof *reductions; w++)
            for (int accuracy = SY_ACCURACY_EXACT; accuracy <= SY_ACCURACY_FAST; accuracy++) {
                const lab_case c = {.workload = reductions[w],
                                    .rows = 521,
                                    .columns = columns[i],
                                    .dtype = dtype,
                                    .x = x};
                compare(&c, (sy_accuracy)accuracy, n_contexts);
            }
        free(x);
    }
}

Test(rows, of_reductions)
{
    check_reductions(SY_F64);
    check_reductions(SY_F32);
}

/* What may end a row's way beside the others: what becomes of a price. */
static double disturbed(double price, double before, int64_t how)
{
    const double others[] = {NAN, INFINITY, before, 0.0, 1e120, -price, 10.0 * price};
    return others[how % (int64_t)(sizeof others / sizeof *others)];
}

/* Two of three rows from some column on, of these every second one in that alone. A period of 2
 * makes ties as well. */
static void check_parting(int64_t columns, int period)
{
    enum { MANY = 42 };
    double *x = panel(SERIES_TICK, MANY, columns);
    for (int64_t row = 0; row < MANY; row++) {
        double *const prices = x + row * columns;
        const int64_t first = 1 + row * 41 % (columns - 1), before = first - 1;
        for (int64_t i = first; row % 3 > 0 && i < (row % 2 ? first + 1 : columns); i++)
            prices[i] = disturbed(prices[i], prices[before], row);
    }
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        for (int accuracy = SY_ACCURACY_EXACT; accuracy <= SY_ACCURACY_FAST; accuracy++) {
            lab_case c = {.workload = workloads[w], .rows = MANY, .columns = columns, .x = x};
            set_params(&c, period);
            compare(&c, (sy_accuracy)accuracy, n_contexts);
        }
    free(x);
}

Test(rows, that_part_on_the_way)
{
    check_parting(333, 14);
    check_parting(333, 2);
    check_parting(100, 14);
    check_parting(100, 2);
}

static void compare_all(int64_t rows, int64_t columns, const double *x)
{
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        for (int accuracy = SY_ACCURACY_EXACT; accuracy <= SY_ACCURACY_FAST; accuracy++) {
            lab_case c = {.workload = workloads[w], .rows = rows, .columns = columns, .x = x};
            set_params(&c, 14);
            compare(&c, (sy_accuracy)accuracy, n_contexts);
        }
}

/* Prices so small that what moves leave of them becomes next to nothing, once they stand still:
 * eight rows in the same column, the next eight in the next one. */
Test(rows, of_small_prices)
{
    enum { MANY = 128, LONG = 250, STILL = 80 };
    double *x = panel(SERIES_TICK, MANY, LONG), *first = panel(SERIES_TICK, 1, LONG);
    for (int64_t i = 0; i < MANY * LONG; i++) {
        const int64_t still = STILL + i / LONG / 8, column = i % LONG;
        x[i] = ldexp(first[column < still ? column : still], -890);
    }
    compare_all(MANY, LONG, x);
    free(first);
    free(x);
}

/* Each row in another column, so that it is the last one of a step as well. */
Test(rows, with_a_hole_anywhere)
{
    enum { LONG = 150 };
    double *x = panel(SERIES_TICK, LONG, LONG);
    for (int64_t row = 0; row < LONG; row++)
        x[row * LONG + row] = NAN;
    compare_all(LONG, LONG, x);
    free(x);
}

/* Prices of 0 that become next to nothing before they become ordinary ones. */
Test(rows, that_hardly_begin)
{
    enum { MANY = 48, LONG = 200 };
    double *x = panel(SERIES_TICK, MANY, LONG);
    for (int64_t row = 0; row < MANY; row++) {
        const double least = ldexp(1.0, (int)(row % 8) * 60 - 1074);
        for (int64_t i = 0; i < 40 + row; i++)
            x[row * LONG + i] = i < 20 + row ? 0.0 : least * (double)(i % 3);
    }
    compare_all(MANY, LONG, x);
    free(x);
}

/* So many that a thread takes some of them at a time, and arrays whose results go past caches. */
Test(rows, by_thousands)
{
    enum { THOUSANDS = 4100, COLUMNS = 252 };
    double *x = panel(EACH_KIND, THOUSANDS, COLUMNS);
    for (int i = 0; i < 3; i++) {
        const lab_case c = {.workload = i == 0 ? "sma" : "zscore",
                            .params = {{.name = "period", .value = 100}},
                            .n_params = 1,
                            .rows = THOUSANDS,
                            .columns = COLUMNS,
                            .x = x};
        compare(&c, i < 2 ? SY_ACCURACY_EXACT : SY_ACCURACY_FAST, 2);
    }
    free(x);
}
