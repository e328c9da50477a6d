/*
 * The first averages of a row: of prices with few bits they are in the middle between two doubles,
 * or near it. Against the exact oracle.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/judge.h"
#include "support/series.h"

enum { ROWS = 48, MOST = 1100 };

/* In cents, as a float, in quarters, of sizes that together have many bits, and where nothing moves
 * at first. */
static double coarse(double price, int64_t row, int64_t column)
{
    switch (row % 5) {
    case 0:
        return floor(price * 100.0) / 100.0;
    case 1:
        return (double)(float)price;
    case 2:
        return floor(price * 4.0) / 4.0;
    case 3:
        return ldexp(floor(price), (int)(column * (row + 1) % 55));
    default:
        return column < row ? 100.0 : floor(price * 8.0) / 8.0;
    }
}

/* Highs, lows and closes. */
static void fill(double *const *inputs, int64_t columns)
{
    uint64_t s = 11;
    double close = 100.0;
    for (int64_t i = 0; i < ROWS * columns; i++) {
        const double up = 1e-5 * (double)series_below(&s, 900),
                     down = 1e-5 * (double)series_below(&s, 900);
        const double high = close * (1.0 + up), low = close * (1.0 - down);
        close = low + (high - low) * 0.01 * (double)series_below(&s, 101);
        inputs[0][i] = coarse(high, i / columns, i % columns);
        inputs[1][i] = coarse(low, i / columns, i % columns);
        inputs[2][i] = coarse(close, i / columns, i % columns);
    }
}

static void check(sy_context *context, const char *workload, int period, const char *seed_with)
{
    static double high[ROWS * MOST], low[ROWS * MOST], close[ROWS * MOST];
    double *const inputs[] = {high, low, close};
    const int64_t columns = period + 60;
    lab_case c = {
        .workload = workload,
        .params = {{.name = "period", .value = period}, {.name = "seed_with", .text = seed_with}},
        .n_params = seed_with ? 2 : 1,
        .rows = ROWS,
        .columns = columns,
        .x = high};
    fill(inputs, columns);
    cr_assert(lab_prepare(&c));
    for (int k = 1; k < c.n_inputs; k++)
        memcpy(c.more[k - 1], inputs[k], (size_t)(ROWS * columns) * sizeof *high);
    cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    cr_expect_eq(judge_case(&c), 0, "%s of %d", workload, period);
    lab_release(&c);
}

static void check_all(const char *workload, const int *periods, const char *seed_with)
{
    static const char *const devices[] = {
        LAB_CPU(1), "cpu:isa=v3", "cpu:isa=base",
        "sim:a:speed=1e6,sim:b:speed=3e6,sim:c:speed=1e5," LAB_CPU(2)};
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
        sy_context *context = lab_open(devices[d], NULL, NULL);
        cr_assert(context || /* the processor has no such instructions */
                  sy_last_error()->status == SY_ERR_NO_DEVICE);
        for (int p = 0; context && periods[p]; p++)
            check(context, workload, periods[p], seed_with);
        sy_context_destroy(&context);
    }
}

Test(first, average_ranges)
{
    static const int periods[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 32, 100, 128, 1024, 0};
    check_all("atr", periods, NULL);
}

Test(first, moving_averages)
{
    static const int periods[] = {2, 3, 4, 5, 6, 7, 9, 10, 12, 15, 20, 31, 127, 1023, 0};
    check_all("ema", periods, "sma");
    check_all("ema", periods, "first");
}
