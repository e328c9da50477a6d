/*
 * Deciding a recurrence stretch by stretch gives the bits of deciding the whole row at once,
 * whatever the stretches have seen of the row before, also around a spike and behind a NaN.
 */
#include "kernel.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const syi_workload syi_workload_ema, syi_workload_macd, syi_workload_rsi, syi_workload_atr;

enum { N = 9000, STRETCH = 700, OUTPUTS = 3 };

static double x[N], whole[OUTPUTS][N], parts[OUTPUTS][N];

static void fill(int64_t spike, int64_t hole)
{
    uint64_t random = 88172645463325252u;
    int64_t ticks = 10000;
    for (int64_t i = 0; i < N; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        ticks += (int64_t)(random % 41) - 20;
        x[i] = (double)ticks / 100;
    }
    if (spike >= 0)
        x[spike] = 1e12;
    if (hole >= 0)
        x[hole] = (double)NAN;
}

static sy_status repair(const syi_workload *workload, const double *params,
                        double values[OUTPUTS][N], int64_t first, int64_t last, syi_seen *seen)
{
    const double *in[] = {x, x, x};
    double *out[] = {values[0], values[1], values[2]};
    sy_segment row = {in, out, 0, N, 0, 0, N, params};
    return workload->repair(&row, first, last, seen);
}

static void check(const syi_workload *workload, const double *params)
{
    syi_seen seen = {0};
    memset(whole, 0x55, sizeof whole);
    memset(parts, 0x55, sizeof parts);
    cr_assert_eq(repair(workload, params, whole, 0, N, &(syi_seen){0}), SY_OK);
    for (int64_t first = 0; first < N; first += STRETCH)
        cr_assert_eq(repair(workload, params, parts, first,
                            first + STRETCH < N ? first + STRETCH : N, &seen),
                     SY_OK);
    cr_expect_eq(memcmp(whole, parts, sizeof whole), 0, "%s", workload->name);
}

static void check_all(void)
{
    static const double ema[] = {20, 0}, macd[] = {12, 26, 9, 0}, wilder[] = {14};
    check(&syi_workload_ema, ema);
    check(&syi_workload_macd, macd);
    check(&syi_workload_rsi, wilder);
    check(&syi_workload_atr, wilder);
}

Test(repair, stretches_of_prices)
{
    fill(-1, -1);
    check_all();
}

Test(repair, stretches_around_a_spike)
{
    fill(3 * STRETCH + 5, -1);
    check_all();
}

Test(repair, stretches_behind_a_hole)
{
    fill(STRETCH, 4 * STRETCH - 1);
    check_all();
    cr_expect(!isnan(parts[0][4 * STRETCH - 2]) && isnan(parts[0][4 * STRETCH - 1]) &&
              isnan(parts[0][N - 1]));
}
