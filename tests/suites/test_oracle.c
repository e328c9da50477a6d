/*
 * The oracle itself, before anything is judged by it: its rounding against strtod (correctly
 * rounded by the C library), its indicators against reference bits that another program computed.
 */
#include <criterion/criterion.h>
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
        cr_assert_eq(oracle_run(workload, NULL, 0, x, n, out), 0);
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

Test(oracle, reductions_by_hand)
{
    static const double x[] = {1e300, 1, -1e300, 3};
    double value;
    double *out[ORACLE_OUTPUTS] = {&value};
    sy_param ddof = {.name = "ddof", .value = 1};
    cr_assert_eq(oracle_run("sum", NULL, 0, x, 4, out), 0);
    cr_assert_eq(value, 4.0);
    cr_assert_eq(oracle_run("mean", NULL, 0, x, 4, out), 0);
    cr_assert_eq(value, 1.0);
    cr_assert_eq(oracle_run("variance", NULL, 0, x + 1, 1, out), 0);
    cr_assert_eq(value, 0.0);
    cr_assert_eq(oracle_run("variance", &ddof, 1, (const double[]){1, 2, 3, 6}, 4, out), 0);
    cr_assert_eq(value, 14.0 / 3.0);
}
