/*
 * The oracle itself, before anything is judged by it: its rounding against strtod (correctly
 * rounded by the C library), its indicators against reference bits that another program computed.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/lab.h"
#include "support/oracle.h"
#include "support/series.h"

/* Integers of up to 120 bits times 2^e, around every border: normal, subnormal, overflow, zero. */
Test(oracle, rounds_like_strtod)
{
    uint64_t state = 11;
    for (int i = 0; i < 200000; i++) {
        char digits[64], number[96];
        int words = 1 + (int)series_below(&state, 4), length = 0;
        long exponent = (long)series_below(&state, 2400) - 1300;
        double ours, theirs;
        if (i % 4 == 0)
            exponent = -1074 - 60 + (long)series_below(&state, 70);
        length += snprintf(digits, sizeof digits, "%s0x1", i % 2 ? "-" : "");
        for (int w = 0; w < words; w++) {
            /* runs of zeros and ones make ties */
            uint32_t bits = (uint32_t)series_bits(&state);
            static const uint32_t special[] = {0, 0x80000000u, 0xffffffffu, 1};
            bits = series_below(&state, 2) ? special[series_below(&state, 4)] : bits;
            length += snprintf(digits + length, sizeof digits - (size_t)length, "%08x", bits);
        }
        snprintf(number, sizeof number, "%sp%ld", digits, exponent);
        ours = oracle_round(digits, exponent);
        theirs = strtod(number, NULL);
        theirs = theirs == 0 ? 0.0 : theirs;
        cr_assert(memcmp(&ours, &theirs, sizeof ours) == 0, "%s: %a, strtod says %a", number, ours,
                  theirs);
    }
}

static void check_indicator(const char *workload, const char *indicator, int outputs)
{
    for (int s = 0; s < DATA_SERIES; s++) {
        int64_t n;
        double *x = data_column(data_series[s], "close", &n);
        double *golden = x ? data_golden(data_series[s], indicator, outputs, n) : NULL;
        double *out[ORACLE_OUTPUTS] = {NULL};
        cr_assert(x && golden);
        for (int k = 0; k < outputs; k++)
            out[k] = lab_alloc(n);
        cr_assert_eq(oracle_run(workload, NULL, 0, (const double *[]){x}, n, out), 0);
        for (int k = 0; k < outputs; k++) {
            int64_t at = lab_difference(out[k], golden + k * n, n);
            cr_expect(at < 0, "%s on %s, output %d, bar %lld: %.17g, golden %.17g", workload,
                      data_series[s], k, (long long)at, out[k][at < 0 ? 0 : at],
                      golden[k * n + (at < 0 ? 0 : at)]);
            cr_expect(lab_guards_intact(out[k], n));
            lab_free(out[k]);
        }
        free(x);
        free(golden);
    }
}

Test(oracle, agrees_with_the_golden_sma)
{
    check_indicator("sma", "SMA", 1);
}

Test(oracle, agrees_with_the_golden_stddev)
{
    check_indicator("rolling_std", "STDDEV", 1);
}

Test(oracle, agrees_with_the_golden_bbands)
{
    check_indicator("bollinger", "BBANDS", 3);
}

Test(oracle, agrees_with_the_golden_ema)
{
    check_indicator("ema", "EMA", 1);
}

Test(oracle, agrees_with_the_golden_macd)
{
    check_indicator("macd", "MACD", 3);
}

static void check_row(const char *workload, const sy_param *ddof, const double *x, const double *y,
                      int64_t n, double want, double want_also)
{
    const double *in[] = {x, y};
    double value[2] = {0, 0}, *out[ORACLE_OUTPUTS] = {&value[0], &value[1]};
    cr_assert_eq(oracle_run(workload, ddof, ddof != NULL, in, n, out), 0);
    cr_expect(value[0] == want && value[1] == want_also, "%s: %g, %g", workload, value[0],
              value[1]);
}

Test(oracle, reductions_by_hand)
{
    static const double x[] = {1e300, 1, -1e300, 3}, y[] = {-1e300, 0x1p-1074, -1e300, 2};
    const sy_param ddof = {.name = "ddof", .value = 1};
    check_row("sum", NULL, x, NULL, 4, 4.0, 0);
    check_row("mean", NULL, x, NULL, 4, 1.0, 0);
    check_row("variance", NULL, x + 1, NULL, 1, 0.0, 0);
    check_row("variance", &ddof, (const double[]){1, 2, 3, 6}, NULL, 4, 14.0 / 3.0, 0);
    check_row("dot", NULL, x, y, 4, 6.0, 0);
    check_row("dot", NULL, x, y, 2, -INFINITY, 0);
    check_row("min", NULL, x, NULL, 4, -1e300, 2);
    check_row("max", NULL, x, NULL, 4, 1e300, 0);
    check_row("min", NULL, (const double[]){2, 0.0, -0.0}, NULL, 3, 0, 1);
}

Test(oracle, windows_by_hand)
{
    static const double x[] = {1, 3, 2, 2, 2};
    const sy_param period = {.name = "period", .value = 2};
    const double *in[] = {x};
    double y[5], *out[ORACLE_OUTPUTS] = {y};
    cr_assert_eq(oracle_run("rolling_max", &period, 1, in, 5, out), 0);
    cr_expect(isnan(y[0]) && y[1] == 3 && y[2] == 3 && y[3] == 2);
    cr_assert_eq(oracle_run("rolling_min", &period, 1, in, 5, out), 0);
    cr_expect(isnan(y[0]) && y[1] == 1 && y[2] == 2 && y[3] == 2);
    cr_assert_eq(oracle_run("zscore", &period, 1, in, 5, out), 0);
    cr_expect(isnan(y[0]) && y[1] == 1 && y[2] == -1 && isnan(y[3]) && isnan(y[4]));
}
