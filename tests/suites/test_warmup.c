/* How long a series must be for a result, by what comes out of series that are as long or shorter.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "support/lab.h"
#include "support/series.h"

enum { N = 64 };

static double x[N];
static sy_context *context;

static void open_it(void)
{
    series_fill(SERIES_TICK, 3, x, N);
    context = lab_open("cpu:threads=1", NULL, NULL);
    cr_assert(context);
}

static void close_it(void)
{
    sy_context_destroy(&context);
}

TestSuite(warmup, .init = open_it, .fini = close_it);

/* Whether a row of so many columns has a result. */
static int has_result(const char *workload, const sy_param *params, int n_params, int64_t columns)
{
    lab_case c = {
        .workload = workload, .n_params = n_params, .rows = 1, .columns = columns, .x = x};
    int any = 0;
    for (int i = 0; i < n_params; i++)
        c.params[i] = params[i];
    cr_assert(lab_prepare(&c));
    cr_expect_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    for (int k = 0; k < c.n_outputs; k++)
        for (int64_t i = 0; i < c.out_count; i++)
            any |= !isnan(c.out[k][i]);
    lab_release(&c);
    return any;
}

/* As many columns as the library says are needed for a result, and no fewer, give one. */
Test(warmup, least_columns)
{
    static const sy_param macd[] = {{"fast", 5, NULL}, {"slow", 9, NULL}, {"signal", 4, NULL}},
                          period[] = {{"period", 7, NULL}}, ddof[] = {{"ddof", 6, NULL}};
    static const struct {
        const char *workload;
        const sy_param *params;
        int n_params;
    } subjects[] = {{"sma", period, 1},    {"rolling_std", period, 1}, {"bollinger", period, 1},
                    {"zscore", period, 1}, {"rolling_min", period, 1}, {"rolling_max", period, 1},
                    {"ema", period, 1},    {"rsi", period, 1},         {"atr", period, 1},
                    {"macd", macd, 3},     {"variance", ddof, 1},      {"sum", NULL, 0},
                    {"min", NULL, 0},      {"max", NULL, 0},           {"mean", NULL, 0},
                    {"dot", NULL, 0}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        const char *workload = subjects[i].workload;
        const sy_param *params = subjects[i].params;
        const int n = subjects[i].n_params;
        int64_t least = 0;
        cr_assert_eq(sy_workload_least_columns(context, workload, params, n, &least), SY_OK);
        cr_expect(has_result(workload, params, n, least), "%s: none of %d columns", workload,
                  (int)least);
        cr_expect(least == 1 || !has_result(workload, params, n, least - 1),
                  "%s: one of %d columns", workload, (int)least - 1);
    }
}
