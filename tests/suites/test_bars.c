/* The average true range of a market's bars, and of bars that no market has. */
#include <criterion/criterion.h>
#include <math.h>

#include "support/judge.h"
#include "support/promise.h"
#include "support/series.h"

enum { BARS = 3 * 4096 + 100, SOME = 3000, FEW = 400, DEVICES = 4 };

static const char *const devices[DEVICES] = {
    "cpu", "cpu:isa=v3", "cpu:isa=base",
    "sim:a:speed=1e6,sim:b:speed=3e6,sim:c:speed=1e5," LAB_CPU(2)};

static const double strange[] = {
    100.0, (double)NAN, (double)INFINITY, 0.0,   -0.0,   -100.0, 1e-250,
    1e250, 190.0,       55.125,           317.3, 0x1p101};
enum { STRANGE = sizeof strange / sizeof strange[0] };

static sy_context *contexts[DEVICES];

static void open_all(void)
{
    for (int d = 0; d < DEVICES; d++) {
        contexts[d] = lab_open(devices[d], NULL, NULL);
        cr_assert(contexts[d] || /* the processor has no such instructions */
                  sy_last_error()->status == SY_ERR_NO_DEVICE);
    }
}

static void close_all(void)
{
    for (int d = 0; d < DEVICES; d++)
        sy_context_destroy(&contexts[d]);
}

TestSuite(bars, .init = open_all, .fini = close_all);

/* Bars of a price near `level`: a walk of closes, highs above and lows below. */
static void fill_bars(double level, int64_t count, double *high, double *low, double *close)
{
    uint64_t s = 11;
    double price = level;
    for (int64_t i = 0; i < count; i++) {
        double up = (double)series_below(&s, 900) * 1e-5,
               down = (double)series_below(&s, 900) * 1e-5;
        high[i] = price * (1.0 + up);
        low[i] = price * (1.0 - down);
        price = close[i] = low[i] + (high[i] - low[i]) * 0.01 * (double)series_below(&s, 101);
    }
}

/* The bars, of which one of the inputs (highs, lows, closes) has another value at one column. */
static lab_case case_of(double level, int64_t count, int input, int64_t at, double value)
{
    static double high[BARS];
    lab_case c = {.workload = "atr", .rows = 1, .columns = count, .x = high};
    cr_assert(lab_prepare(&c));
    double *const inputs[] = {high, c.more[0], c.more[1]};
    fill_bars(level, count, high, c.more[0], c.more[1]);
    inputs[input][at] = value;
    return c;
}

static void check_exact(sy_context *context, double level, int input, int64_t at, double value)
{
    lab_case c = case_of(level, SOME, input, at, value);
    cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    cr_expect_eq(judge_case(&c), 0, "input %d is %g at %d", input, value, (int)at);
    lab_release(&c);
}

static const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};

static void check_promise(int input, int64_t at, double value)
{
    lab_case c = case_of(100.0, FEW, input, at, value);
    cr_assert_eq(lab_run(contexts[0], &c, &fast, NULL), SY_OK);
    const double error = promise_error(&c, "bars");
    cr_expect(error >= 0 && error <= promise_bound(&c), "input %d is %g at %d", input, value,
              (int)at);
    lab_release(&c);
}

/* A NaN where exact accuracy has one, and the same bits on all devices. */
static void check_devices(int input, int64_t at, double value)
{
    lab_case exact = case_of(100.0, BARS, input, at, value);
    lab_case first = case_of(100.0, BARS, input, at, value);
    cr_assert_eq(lab_run(contexts[0], &exact, NULL, NULL), SY_OK);
    cr_assert_eq(lab_run(contexts[0], &first, &fast, NULL), SY_OK);
    for (int64_t i = 0; i < BARS; i++)
        cr_assert_eq(isnan(first.out[0][i]), isnan(exact.out[0][i]), "input %d is %g at %d", input,
                     value, (int)at);
    for (int d = 1; d < DEVICES; d++) {
        lab_case c = case_of(100.0, BARS, input, at, value);
        int output;
        cr_expect(!contexts[d] || (lab_run(contexts[d], &c, &fast, NULL) == SY_OK &&
                                   lab_case_difference(&first, &c, &output) < 0),
                  "%s: input %d is %g at %d", devices[d], input, value, (int)at);
        lab_release(&c);
    }
    lab_release(&first);
    lab_release(&exact);
}

Test(bars, strange)
{
    for (int d = 0; d < DEVICES; d++)
        for (size_t k = 0; k < STRANGE && contexts[d]; k++)
            for (int input = 0; input < 3; input++)
                for (int at = 700; at < 1400; at += 511)
                    check_exact(contexts[d], 100.0, input, at, strange[k]);
}

/* Where a step, a tile or the row ends, too: what is wrong with a close may be seen late. */
Test(bars, strange_fast)
{
    static const int64_t few[] = {1, 13, 14, 255, FEW - 1};
    static const int64_t many[] = {1, 14, 4095, 4096, 8191, 8207, BARS - 1};
    for (size_t k = 0; k < STRANGE; k++)
        for (int input = 0; input < 3; input++) {
            for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
                check_promise(input, few[i], strange[k]);
            for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
                check_devices(input, many[i], strange[k]);
        }
}

Test(bars, at_any_level)
{
    for (int power = -1070; power < 1020; power += 30)
        check_exact(contexts[0], ldexp(1.0, power), 0, 1500, ldexp(1.25, power));
}
