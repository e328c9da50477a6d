/*
 * Brute force around every edge of shape and window, on the CPU and split, against the oracle.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "support/judge.h"
#include "support/series.h"

#define SPLIT "sim:a:speed=1e6,sim:b:speed=3e6,sim:c:speed=1e5," LAB_CPU(2)

enum { MOST = 7 * 8192 + 64 };

static double x[MOST];

static sy_context *contexts[2];

static void open_both(void)
{
    contexts[0] = lab_open("cpu", NULL, NULL);
    contexts[1] = lab_open(SPLIT, NULL, NULL);
    cr_assert(contexts[0] && contexts[1]);
    series_fill(SERIES_INTEGERS, 5, x, MOST / 2);
    series_fill(SERIES_TICK, 5, x + MOST / 2, MOST - MOST / 2);
}

static void close_both(void)
{
    sy_context_destroy(&contexts[0]);
    sy_context_destroy(&contexts[1]);
}

/* One case on both contexts; x starts somewhere in the mixed data. */
static void check(const char *workload, int64_t rows, int64_t columns, int n_params,
                  const sy_param *params, int64_t from)
{
    char text[256];
    for (int i = 0; i < 2; i++) {
        lab_case c = {.workload = workload,
                      .rows = rows,
                      .columns = columns,
                      .n_params = n_params,
                      .x = x + from};
        for (int p = 0; p < n_params; p++)
            c.params[p] = params[p];
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(contexts[i], &c, NULL, NULL), SY_OK, "%s on %s",
                     lab_describe(&c, text, sizeof text), i ? SPLIT : "cpu");
        cr_expect_eq(judge_case(&c), 0, "%s on %s", lab_describe(&c, text, sizeof text),
                     i ? SPLIT : "cpu");
        lab_release(&c);
    }
}

static const int64_t row_counts[] = {1, 2, 7};

#define P(key, number)                                                                             \
    {                                                                                              \
        .name = key, .value = number                                                               \
    }

/* Every n from 0 to beyond three windows, every small period, several rows. */
static void check_small(const char *workload, const char *extra, double extra_value)
{
    for (int period = 1; period <= 5; period++)
        for (int64_t n = 1; n <= 3 * period + 1; n++)
            for (int r = 0; r < 3; r++) {
                sy_param params[] = {P("period", period), P(extra, extra_value)};
                check(workload, row_counts[r], n, extra ? 2 : 1, params, MOST / 2 - 50);
            }
}

TestSuite(edges, .init = open_both, .fini = close_both);

Test(edges, small_sma)
{
    check_small("sma", NULL, 0);
}

Test(edges, small_rolling_std)
{
    check_small("rolling_std", NULL, 0);
}

Test(edges, small_bollinger)
{
    check_small("bollinger", NULL, 0);
    check_small("bollinger", "width", 0);
}

Test(edges, small_zscore)
{
    check_small("zscore", NULL, 0);
}

Test(edges, small_rolling_extremes)
{
    check_small("rolling_min", NULL, 0);
    check_small("rolling_max", NULL, 0);
    /* Every number of columns that is left beside stretches of eight, with whole vectors of windows
     * and some more. */
    for (int period = 6; period <= 40; period++) {
        const sy_param param = P("period", period);
        check("rolling_min", 2, 197, 1, &param, MOST / 2 - 100);
        check("rolling_max", 2, 197, 1, &param, MOST / 2 - 100);
    }
}

Test(edges, small_ema)
{
    check_small("ema", NULL, 0);
    check_small("ema", "seed_with", 1);
}

Test(edges, small_wilder)
{
    check_small("rsi", NULL, 0);
    check_small("atr", NULL, 0);
}

Test(edges, largest_ddof)
{
    for (int period = 2; period <= 6; period++) {
        sy_param params[] = {P("period", period), P("ddof", period - 1)};
        for (int64_t n = 1; n <= 3 * period; n++)
            check("rolling_std", 2, n, 2, params, MOST / 2 - 10);
    }
}

Test(edges, small_macd)
{
    for (int slow = 2; slow <= 5; slow++)
        for (int signal = 1; signal <= 3; signal++)
            for (int64_t n = 1; n <= 3 * slow + signal; n++) {
                sy_param params[] = {P("fast", slow - 1), P("slow", slow), P("signal", signal)};
                check("macd", 2, n, 3, params, MOST / 2 - 20);
            }
}

static const char *const reductions[] = {"sum", "mean", "variance", "min", "max", "dot"};

Test(edges, small_reductions)
{
    static const sy_param ddof = P("ddof", 1);
    for (int64_t n = 1; n <= 40; n++)
        for (int r = 0; r < 3; r++) {
            for (size_t w = 0; w < sizeof reductions / sizeof reductions[0]; w++)
                check(reductions[w], row_counts[r], n, 0, NULL, MOST / 2 - 100);
            check("variance", row_counts[r], n, 1, &ddof, MOST / 2 - 100);
        }
}

/* Around one and two tiles, with periods around the tile, equal to n, and beyond it. */
Test(edges, tiles)
{
    static const int64_t lengths[] = {4095, 4096, 4097, 8192};
    for (int l = 0; l < 4; l++) {
        const int64_t n = lengths[l];
        const int64_t periods[] = {1, 2, 20, 4095, 4096, 4097, n - 1, n, n + 1, n + 5000};
        for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
            sy_param period = P("period", (double)periods[p]);
            check("sma", 2, n, 1, &period, MOST / 2 - 3000);
            check("rolling_std", 1, n, 1, &period, MOST / 2 - 3000);
            check("bollinger", 1, n, 1, &period, MOST / 2 - 3000);
            check("zscore", 1, n, 1, &period, MOST / 2 - 3000);
            check("rolling_min", 1, n, 1, &period, MOST / 2 - 3000);
            check("rolling_max", 1, n, 1, &period, MOST / 2 - 3000);
            check("ema", 2, n, 1, &period, MOST / 2 - 3000);
            check("rsi", 1, n, 1, &period, MOST / 2 - 3000);
            check("atr", 1, n, 1, &period, MOST / 2 - 3000);
        }
        check("macd", 7, n, 0, NULL, 0);
        for (size_t w = 0; w < sizeof reductions / sizeof reductions[0]; w++)
            check(reductions[w], 7, n, 0, NULL, 0);
    }
}

/* Zero columns: a success that writes nothing, whatever the rows. */
Test(edges, no_columns)
{
    static const char *const workloads[] = {"sma",         "rolling_std", "bollinger", "zscore",
                                            "rolling_min", "rolling_max", "ema",       "macd"};
    for (int i = 0; i < 2; i++)
        for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; w++)
            for (int64_t rows = 0; rows < 3; rows++) {
                lab_case c = {.workload = workloads[w], .rows = rows, .columns = 0, .x = x};
                sy_report report = {.struct_size = sizeof report};
                cr_assert(lab_prepare(&c));
                cr_expect_eq(lab_run(contexts[i], &c, NULL, &report), SY_OK);
                for (int d = 0; d < report.n_devices; d++)
                    cr_expect_eq(report.devices[d].elements, 0);
                sy_report_clear(&report);
                lab_release(&c);
            }
}

/* "columns may be 0: nothing is computed": a reduction must not invent a partial either. */
Test(edges, reductions_of_nothing)
{
    for (int i = 0; i < 2; i++)
        for (size_t w = 0; w < sizeof reductions / sizeof reductions[0]; w++) {
            lab_case c = {.workload = reductions[w], .rows = 3, .columns = 0, .x = x};
            cr_assert(lab_prepare(&c));
            cr_expect_eq(lab_run(contexts[i], &c, NULL, NULL), SY_OK);
            lab_release(&c);
        }
}

/* rows = 0 means one row. */
Test(edges, rows_zero_is_one_row)
{
    lab_case zero = {.workload = "sma", .rows = 1, .columns = 300, .x = x}, one = zero;
    int output = 0;
    cr_assert(lab_prepare(&zero) && lab_prepare(&one));
    zero.rows = 0;
    cr_expect_eq(lab_run(contexts[1], &zero, NULL, NULL), SY_OK);
    cr_expect_eq(lab_run(contexts[1], &one, NULL, NULL), SY_OK);
    cr_expect_lt(lab_case_difference(&zero, &one, &output), 0);
    lab_release(&zero);
    lab_release(&one);
}

/* All outputs that have no value are the one NaN. */
Test(edges, period_beyond_the_series)
{
    static const char *const workloads[] = {"sma",         "rolling_std", "bollinger", "zscore",
                                            "rolling_min", "rolling_max", "ema"};
    for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; w++)
        for (int64_t n = 1; n <= 3; n++) {
            sy_param period = P("period", 4);
            check(workloads[w], 2, n, 1, &period, 0);
        }
}

/* A value that is -0 by its definition is +0. */
Test(edges, zero_is_positive)
{
    static const double zeros[64] = {-0.0, 0.0, -0.0, -0.0};
    static const char *const workloads[] = {
        "sma",  "rolling_std", "bollinger", "zscore",   "rolling_min", "rolling_max", "ema",
        "macd", "sum",         "mean",      "variance", "min",         "max",         "dot"};
    for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; w++) {
        lab_case c = {.workload = workloads[w], .rows = 1, .columns = 64, .x = zeros};
        cr_assert(lab_prepare(&c));
        cr_expect_eq(lab_run(contexts[1], &c, NULL, NULL), SY_OK);
        cr_expect_eq(judge_case(&c), 0);
        lab_release(&c);
    }
}

/* Infinities and what is no number beside numbers that are nearly as large, and sums that are too
 * large for a double. */
Test(edges, sums_of_a_few_infinite_values)
{
    const double infinity = (double)INFINITY;
    const struct {
        double x[3], sum, mean;
    } series[] = {{{infinity, 1e300, 1e300}, infinity, infinity},
                  {{1e300, -infinity, -1e300}, -infinity, -infinity},
                  {{infinity, 1e305, -infinity}, (double)NAN, (double)NAN},
                  {{1e300, (double)NAN, 1e300}, (double)NAN, (double)NAN},
                  {{1e308, 1e308, 1e308}, infinity, 1e308}};
    for (size_t k = 0; k < sizeof series / sizeof series[0]; k++)
        for (int mean = 0; mean < 2; mean++) {
            const double want = mean ? series[k].mean : series[k].sum;
            lab_case c = {
                .workload = mean ? "mean" : "sum", .rows = 1, .columns = 3, .x = series[k].x};
            cr_assert(lab_prepare(&c));
            cr_expect_eq(lab_run(contexts[1], &c, NULL, NULL), SY_OK);
            cr_expect(isnan(want) ? isnan(c.out[0][0]) : c.out[0][0] == want,
                      "%s of series %d: %g, not %g", c.workload, (int)k, c.out[0][0], want);
            lab_release(&c);
        }
}

/* Nothing but one strange value for longer than any block of columns. */
Test(edges, only_strange_values)
{
    static const double strange[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    static const char *const workloads[] = {"sma",         "rolling_std", "bollinger", "zscore",
                                            "rolling_min", "rolling_max", "ema",       "macd",
                                            "rsi",         "atr"};
    for (size_t k = 0; k < sizeof strange / sizeof strange[0]; k++) {
        for (int i = 700; i < 7000; i++)
            x[i] = strange[k];
        for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; w++)
            check(workloads[w], 1, 8000, 0, NULL, 0);
    }
}

static void check_fast(const char *workload, int period, int64_t n, const double *from)
{
    const sy_options options = {.struct_size = sizeof options, .accuracy = SY_ACCURACY_FAST};
    lab_case exact = {.workload = workload, .rows = 1, .columns = n, .x = from, .n_params = 1};
    lab_case fast[2];
    char text[256];
    int output;
    exact.params[0] = (sy_param)P("period", period);
    fast[0] = fast[1] = exact;
    lab_describe(&exact, text, sizeof text);
    cr_assert(lab_prepare(&exact));
    cr_assert_eq(lab_run(contexts[0], &exact, NULL, NULL), SY_OK);
    for (int i = 0; i < 2; i++) {
        cr_assert(lab_prepare(&fast[i]));
        cr_assert_eq(lab_run(contexts[i], &fast[i], &options, NULL), SY_OK, "%s", text);
    }
    cr_expect_eq(lab_case_difference(&fast[0], &fast[1], &output), -1, "%s", text);
    for (int k = 0; k < exact.n_outputs; k++)
        for (int64_t i = 0; i < n; i++)
            cr_expect_eq(isnan(fast[0].out[k][i]), isnan(exact.out[k][i]), "%s at %d", text,
                         (int)i);
    lab_release(&exact);
    lab_release(&fast[0]);
    lab_release(&fast[1]);
}

/* Series that end about where the first window does, or where what the fast kernels go through at
 * once does, with nothing before or nothing behind them. */
Test(edges, fast_windows)
{
    static const char *const workloads[] = {"sma", "rolling_std", "bollinger", "zscore"};
    static const int periods[] = {20, 24, 61, 200, 256};
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
        const int64_t period = periods[p];
        const int64_t n[] = {1,          period - 1,     period,     period + 1,     2 * period + 3,
                             8 * period, 8 * period + 9, 9 * period, 17 * period + 5};
        for (size_t i = 0; i < sizeof n / sizeof n[0]; i++)
            for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; w++) {
                check_fast(workloads[w], periods[p], n[i], x);
                check_fast(workloads[w], periods[p], n[i], x + MOST - n[i]);
            }
    }
}

/* Of column 0 the close alone counts in atr, whatever else comes right behind the seed. */
Test(edges, first_high_of_atr)
{
    const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};
    lab_case exact = {.workload = "atr", .rows = 1, .columns = 64, .x = x, .n_params = 1}, c;
    exact.params[0] = (sy_param)P("period", 3);
    x[0] = x[10] = (double)NAN;
    c = exact;
    cr_assert(lab_prepare(&exact) && lab_prepare(&c));
    cr_expect_eq(lab_run(contexts[0], &exact, NULL, NULL), SY_OK);
    cr_expect_eq(lab_run(contexts[0], &c, &fast, NULL), SY_OK);
    cr_expect(!isnan(exact.out[0][9]) && isnan(exact.out[0][10]));
    for (int i = 0; i < 64; i++)
        cr_expect_eq(isnan(c.out[0][i]), isnan(exact.out[0][i]), "column %d", i);
    lab_release(&exact);
    lab_release(&c);
}
