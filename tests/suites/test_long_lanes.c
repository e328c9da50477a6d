/*
 * Averages of rows long enough for lanes that begin with a claim of what the one before them ends
 * with: of values that cancel, of which some come out so small that the claim says too little.
 * Against the exact oracle.
 */
#include <criterion/criterion.h>

#include "support/judge.h"
#include "support/series.h"

enum { COLUMNS = 120000, SEEDS = 16 };

static void check(sy_context *context, int period, uint64_t seed)
{
    static double x[COLUMNS];
    lab_case c = {.workload = "ema", .rows = 1, .columns = COLUMNS, .x = x, .n_params = 1};
    c.params[0] = (sy_param){.name = "period", .value = period};
    for (int64_t i = 0; i < COLUMNS; i++)
        x[i] = (double)(series_below(&seed, 2000001) - 1000000) / 1e8;
    cr_assert(lab_prepare(&c));
    cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    cr_expect_eq(judge_case(&c), 0, "period %d, seed %d", period, (int)seed);
    lab_release(&c);
}

Test(long_lanes, ema_of_returns)
{
    static const int periods[] = {200, 250, 350};
    sy_context *context = lab_open("cpu:threads=1", NULL, NULL);
    cr_assert(context);
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            check(context, periods[p], seed);
    sy_context_destroy(&context);
}
