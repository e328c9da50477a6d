/*
 * The real series against their reference bits, memcmp on every output, on the CPU, on one
 * simulated device, split over three unequal ones and the CPU, and with each instruction set.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "support/data.h"
#include "support/lab.h"

#define UNEQUAL "sim:a:speed=1e6,sim:b:speed=3e6,sim:c:speed=2e5,cpu"

static void check_series(sy_context *context, const char *workload, const char *indicator,
                         const char *series)
{
    lab_case c;
    double *golden;
    int64_t n;
    cr_assert(data_case(workload, series, &c));
    n = c.columns;
    golden = data_golden(series, indicator, c.n_outputs, n);
    cr_assert(golden);
    cr_expect_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    for (int k = 0; k < c.n_outputs; k++) {
        int64_t at = lab_difference(c.out[k], golden + k * n, n);
        cr_expect(at < 0, "%s on %s, output %d, bar %lld: %.17g, reference %.17g", workload, series,
                  k, (long long)at, c.out[k][at < 0 ? 0 : at], golden[k * n + (at < 0 ? 0 : at)]);
    }
    data_case_release(&c);
    free(golden);
}

static void check(const char *workload, const char *indicator)
{
    static const char *const devices[] = {"cpu",          "sim:one:speed=1e6", UNEQUAL,
                                          "cpu:isa=base", "cpu:isa=v3",        "cpu:isa=v4"};
    for (int d = 0; d < 6; d++) {
        sy_context *context = lab_open(devices[d], NULL, NULL);
        if (!context && d > 3 && sy_last_error()->status == SY_ERR_NO_DEVICE)
            continue; /* said on standard error: this processor has no such instructions */
        cr_assert(context);
        for (int s = 0; s < DATA_SERIES; s++)
            check_series(context, workload, indicator, data_series[s]);
        sy_context_destroy(&context);
    }
}

Test(golden, sma)
{
    check("sma", "SMA");
}

Test(golden, ema)
{
    check("ema", "EMA");
}

Test(golden, rolling_std)
{
    check("rolling_std", "STDDEV");
}

Test(golden, bollinger)
{
    check("bollinger", "BBANDS");
}

Test(golden, macd)
{
    check("macd", "MACD");
}

Test(golden, rsi)
{
    check("rsi", "RSI");
}

Test(golden, atr)
{
    check("atr", "ATR");
}
