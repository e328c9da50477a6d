/*
 * Averages that tend to the middle between two doubles, or to where one move more puts them there,
 * until no number of bits shows how far they are from it: of prices that climb by equal steps,
 * alternate, or stand still, of ranges that do not change. What is right is said by fractions.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "exact/bits.h"
#include "support/fractions.h"
#include "support/lab.h"
#include "support/series.h"

enum { MOST = 26000 };

static double x[MOST], low[MOST], close_[MOST];

/* The last column of each output, of `n` columns. */
static void run(const char *workload, const sy_param *params, int n_params, int64_t n,
                const char *devices, double *last)
{
    static double y[3][MOST];
    const void *in[] = {x, low, close_};
    void *out[] = {y[0], y[1], y[2]};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = workload,
                          .rows = 1,
                          .columns = n,
                          .inputs = in,
                          .outputs = out,
                          .params = params,
                          .n_params = n_params};
    sy_context *context = lab_open(devices, NULL, NULL);
    cr_assert(context);
    cr_assert_eq(distribute_workload(context, &work, NULL, NULL), SY_OK, "%s",
                 sy_last_error()->text);
    for (int k = 0; k < 3; k++)
        last[k] = y[k][n - 1];
    sy_context_destroy(&context);
}

/* All devices give the `right` outputs. */
static void check(const char *workload, const sy_param *params, int n_params, int64_t n,
                  const double *right, int n_outputs)
{
    static const char *const devices[] = {"cpu", "cpu:isa=base:threads=1",
                                          "sim:a:speed=1e6,sim:b:speed=3e6"};
    for (int d = 0; d < 3; d++) {
        double last[3];
        run(workload, params, n_params, n, devices[d], last);
        for (int k = 0; k < n_outputs; k++)
            cr_expect_eq(syi_bits(last[k]), syi_bits(right[k]),
                         "%s of %g on %s, output %d of column %lld: %a, should be %a", workload,
                         params[0].value, devices[d], k, (long long)n - 1, last[k], right[k]);
    }
}

static void check_ema(int64_t period, int first, int64_t n)
{
    const sy_param params[] = {{"period", (double)period, NULL},
                               {"seed_with", 0, first ? "first" : "sma"}};
    const double right = fractions_ema(x, n, period, first);
    check("ema", params, 2, n, &right, 1);
}

/* x[0], then from + i * step for n columns. */
static int64_t climb(double start, double from, double step, int64_t n)
{
    for (int64_t i = 0; i <= n; i++)
        x[i] = from + (double)i * step;
    x[0] = start;
    return n + 1;
}

/* Of an even period the average is half a step away from a price. */
Test(toward_ties, of_prices_that_climb)
{
    static const double starts[] = {0.5, 2.0};
    for (int k = 0; k < 2; k++) {
        check_ema(2, 0, climb(starts[k], 1.0, 0x1p-52, 1700));
        check_ema(2, 1, climb(starts[k], 1.0, -0x3p-52, 1750));
        check_ema(4, 1, climb(starts[k], 1.0, 0x1p-52, 3600));
        check_ema(20, 1, climb(starts[k], 1.0, 0x1p-52, 18000));
    }
}

Test(toward_ties, of_prices_that_climbed_and_stopped)
{
    for (int k = 0; k < 2; k++) {
        int64_t n = climb(k ? 3000.0 : 5000.0, 4000.0, 0.25, 2549);
        for (int64_t i = 0; i < 60; i++, n++) {
            x[n] = x[n - 1];
            if (i > 30)
                check_ema(3, 0, n + 1);
        }
    }
}

static int64_t alternate(double start, double odd, double even, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 2 ? odd : even;
    x[0] = start;
    return n;
}

Test(toward_ties, of_prices_that_alternate)
{
    static const double starts[] = {2.0, -1.0};
    for (int k = 0; k < 2; k++)
        for (int64_t more = 0; more < 2; more++) {
            /* to (odd - even) / 2 / period: half the least number, and a middle about 1/4 */
            check_ema(2, 0, alternate(starts[k] * 0x1p-1074, 0x1p-1074, -0x1p-1074, 1700 + more));
            check_ema(2, 1, alternate(starts[k], 1.0, -0x1p-53, 1800 + more));
            check_ema(4, 1, alternate(starts[k], 1.0, -0x1p-53, 3800 + more));
        }
}

static void check_macd(int64_t fast, int64_t slow, int64_t signal, int64_t n)
{
    const int64_t period[] = {fast, slow, signal};
    const sy_param params[] = {{"fast", (double)fast, NULL},
                               {"slow", (double)slow, NULL},
                               {"signal", (double)signal, NULL},
                               {"seed_with", 0, "first"}};
    double right[3];
    fractions_macd(x, n, period, right);
    check("macd", params, 4, n, right, 3);
}

/* To (odd - even) / 2 * (1 / fast - 1 / slow): the middle between two doubles. */
Test(toward_ties, of_the_difference_of_two_averages)
{
    const double unit = 0x1p-57, most = 39.0 * 0x1p50, least = 39.0 * 5;
    for (int k = 0; k < 2; k++) {
        check_macd(1, 2, 1, alternate(k ? 2.0 : -1.0, 1.0, -0x1p-53, 2200));
        check_macd(1, 2, 3, alternate(k ? 2.0 : -1.0, 1.0, -0x1p-53, 2201));
        check_macd(12, 26, 1, alternate(k ? 2.0 : -1.0, most * unit, -least * unit, 24000 + k));
    }
}

/* Every range is in the middle, but for one. */
Test(toward_ties, of_ranges_that_do_not_change)
{
    static const int64_t columns[][2] = {{2, 2800}, {3, 4500}, {14, 25000}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            const int64_t n = columns[i][1];
            const sy_param params[] = {{"period", (double)columns[i][0], NULL}};
            double right;
            for (int64_t t = 0; t < n; t++)
                x[t] = 1.0, low[t] = -0x1p-53, close_[t] = 0.5;
            x[1] = k ? 2.5 : 0.75;
            right = fractions_atr(x, low, close_, n, columns[i][0]);
            check("atr", params, 1, n, &right, 1);
        }
}

/* rsi: what was left of the moves before a halt decides between two values. */
Test(toward_ties, of_the_moves_before_a_halt)
{
    for (int k = 0; k < 2; k++) {
        const sy_param params[] = {{"period", 2, NULL}};
        int64_t n = 0;
        double right;
        x[n++] = -0x1.2000000000c25p+0 + (k ? -0x1p-52 : 0x1p-52);
        while (n < 2600)
            x[n++] = -0x1.2000000000c25p+0;
        x[n++] = 1.0;
        x[n++] = 0x1.0000000000c25p-1;
        right = fractions_rsi(x, n, 2);
        check("rsi", params, 1, n, &right, 1);
    }
}

/* Rests of rests. */
Test(toward_ties, of_values_of_all_sizes)
{
    static const double many[] = {0x1p+497,  -0x1p+496, 0x1p-1074, 0x1p-998,
                                  0x1p-1052, 0x1p+497,  -0x1p+496, 0.0};
    static const double few[] = {0x1.4400000007a07p+5, 0x1.8p+401, -0x1p+400, 0x1.a8p-49};
    for (int k = 0; k < 2; k++) {
        memset(x, 0, sizeof x);
        x[0] = k ? 0x1p-1074 : -0x1p-1074;
        memcpy(x + 701, few, sizeof few);
        check_ema(2, 1, 705);
        memset(x + 701, 0, sizeof few);
        memcpy(x + 1101, many, 3 * sizeof *many);
        memcpy(x + 2204, many + 3, 5 * sizeof *many);
        for (int64_t n = 2205; n < 2210; n++)
            check_ema(3, 1, n);
    }
}

/* One of the few values that are next to each other, next to 0, or far from both. */
static double pick(uint64_t *state)
{
    static const double bases[] = {0.0, 1.0, 1.0, -1.0, 3.0, 0.5, 0x1p60, 0x1p-300};
    static const double units[] = {0x1p-52, 0x1p-53, 0x1p-51, 0x1p-1074, 0x1p-60};
    const double unit = units[series_below(state, 5)];
    return bases[series_below(state, 8)] + (double)(series_below(state, 15) - 7) * unit;
}

static int64_t fill_part(uint64_t *state, double *to, int64_t most)
{
    static const double steps[] = {0x1p-52, 0x1p-51, 0.25, -0x1p-52, -0.5};
    const double a = pick(state), b = pick(state), step = steps[series_below(state, 5)];
    const int64_t kind = series_below(state, 4), n = 1 + series_below(state, most);
    for (int64_t i = 0; i < n; i++)
        to[i] = kind == 0 ? a : kind == 1 ? a + (double)i * step : i % 2 ? a : b;
    return n;
}

Test(toward_ties, by_chance)
{
    uint64_t state = lab_setting("STEELYARD_FUZZ_SEED", 1);
    for (int i = 0; i < 100; i++) {
        int64_t n = 0, period = 2 + series_below(&state, 9);
        while (n < 900)
            n += fill_part(&state, x + n, i % 2 ? 900 : 90);
        for (int64_t more = 0; more < 3; more++)
            x[n + more] = pick(&state);
        check_ema(period, 1, n + 2);
        check_macd(period, period + 1 + series_below(&state, 9), 1 + series_below(&state, 9),
                   n + 3);
    }
}
