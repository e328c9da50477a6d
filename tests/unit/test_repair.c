/*
 * Deciding a recurrence stretch by stretch gives the bits of deciding the whole row at once, from
 * no more of the row than the decision asks for, also around a spike, behind a NaN, and where a
 * price mostly stands still.
 */
#include "exec/repair.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const syi_workload syi_workload_ema, syi_workload_macd, syi_workload_rsi, syi_workload_atr;

/* So long that a stretch at the end need not reach the beginning: MOST columns suffice for each. */
enum { N = 60000, STRETCH = 7000, MOST = 20100, OUTPUTS = 3 };

static double x[N], there[N], whole[OUTPUTS][N], parts[OUTPUTS][N];

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

/* As a caller does who has the row from column `begin` on: what lies before is not to be had. */
static int64_t repair(const syi_workload *workload, const double *params, int64_t first,
                      int64_t last, int64_t begin)
{
    const double *in[] = {there, there, there};
    double *out[] = {parts[0], parts[1], parts[2]};
    sy_segment row = {in, out, 0, N, 0, 0, N, params};
    syi_past past = {first > 0 && isnan(parts[0][first - 1]), begin, begin, NULL};
    memcpy(there + begin, x + begin, (size_t)(N - begin) * sizeof *x);
    for (int64_t i = 0; i < begin; i++)
        there[i] = i % 2 ? 1e300 : (double)NAN;
    cr_assert_eq(workload->repair(&row, first, last, &past), SY_OK);
    cr_assert(past.wanted >= 0 && past.wanted <= begin);
    return past.wanted;
}

/* From at most so many columns before a stretch. */
static void check_from(const syi_workload *workload, const double *params, int64_t most)
{
    int64_t begin, wanted;
    memset(parts, 0x55, sizeof parts);
    cr_assert_eq(repair(workload, params, 0, N, 0), 0);
    memcpy(whole, parts, sizeof whole);
    memset(parts, 0x55, sizeof parts);
    for (int64_t first = 0; first < N; first += STRETCH) {
        int64_t last = first + STRETCH < N ? first + STRETCH : N;
        for (begin = first; (wanted = repair(workload, params, first, last, begin)) < begin;)
            begin = wanted;
        cr_expect(first - begin <= most, "%s: %lld columns", workload->name,
                  (long long)(first - begin));
    }
    cr_expect_eq(memcmp(whole, parts, sizeof whole), 0, "%s", workload->name);
}

static void check(const syi_workload *workload, const double *params)
{
    check_from(workload, params, MOST);
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

/* Far from what is decided kernels do most of the work, which is not to show. */
Test(repair, stretches_of_long_averages)
{
    static const double ema[] = {70, 0}, macd[] = {20, 60, 9, 0}, other[] = {3, 50, 20, 0};
    for (int spikes = 0; spikes < 2; spikes++) {
        fill(spikes ? 3 * STRETCH + 5 : -1, -1);
        for (int returns = 0; returns < 2; returns++) {
            check_from(&syi_workload_ema, ema, 2 * MOST);
            check_from(&syi_workload_macd, macd, 2 * MOST);
            check_from(&syi_workload_macd, other, 2 * MOST);
            for (int64_t i = N - 1; i > 0; i--)
                x[i] = (x[i] - x[i - 1]) / x[i - 1];
            x[0] = 0.0;
        }
    }
}

/* A price that stands still for long, as its average comes near it, and moves by a tick: each move
 * is in doubt, and each is decided from not much farther away than the price has stood still. */
Test(repair, stretches_of_a_price_that_stands_still)
{
    static const double ema[] = {3, 0}, macd[] = {3, 7, 3, 0}, wilder[] = {2};
    for (int64_t i = 0; i < N; i++)
        x[i] = (double)(10000 + i / 500 % 7 * (i / 500 % 3)) / 100;
    check(&syi_workload_ema, ema);
    check(&syi_workload_macd, macd);
    check(&syi_workload_atr, wilder);
}

/* Columns that the kernel leaves to be decided; the others are to be as if they had been. */
static int64_t left_by(const syi_workload *workload, const double *params, syi_isa isa)
{
    static double outputs[OUTPUTS][N];
    const double *in[] = {x, x, x};
    double *out[] = {outputs[0], outputs[1], outputs[2]};
    syi_doubts doubts = {0};
    syi_carry assumed, end;
    int64_t left = 0;
    syi_piece piece = {.segment = {in, out, 0, N, 0, 0, N, params},
                       .assumed = &assumed,
                       .end = &end,
                       .doubts = &doubts};
    memcpy(outputs, whole, sizeof outputs); /* of which a workload may have fewer */
    cr_assert_eq(workload->run[isa](&piece), SY_OK);
    for (int64_t i = 0; i < doubts.count; i++) {
        const int64_t first = doubts.list[i].first, columns = doubts.list[i].last - first;
        left += columns;
        for (int k = 0; k < OUTPUTS; k++)
            memcpy(outputs[k] + first, whole[k] + first, (size_t)columns * sizeof **whole);
    }
    cr_expect_eq(memcmp(whole, outputs, sizeof whole), 0, "%s, %s", workload->name,
                 syi_isa_name(isa));
    syi_doubts_clear(&doubts);
    return left;
}

static void check_left(const syi_workload *workload, const double *params)
{
    memset(parts, 0, sizeof parts);
    cr_assert_eq(repair(workload, params, 0, N, 0), 0);
    memcpy(whole, parts, sizeof whole);
    for (syi_isa isa = SYI_ISA_BASE; isa <= syi_isa_detect(); isa++)
        cr_expect_leq(left_by(workload, params, isa), 20, "%s of %g, %s", workload->name, params[0],
                      syi_isa_name(isa));
}

/* What is left of a state after so long goes through the least of doubles to zero, in one go and
 * not column by column. At last a range, or a move, is there again. */
Test(repair, is_not_for_what_stands_still_for_long)
{
    static const double macd[] = {12, 26, 9, 0}, other[] = {5, 35, 35, 0}, wilder[] = {14},
                        longer[] = {20};
    for (int64_t i = 0; i < N; i++)
        x[i] = (double)(10000 + i / 14500 * 7 % 5 + (i > N - 50 ? i % 3 : 0)) / 100;
    check_left(&syi_workload_macd, macd);
    check_left(&syi_workload_macd, other);
    check_left(&syi_workload_atr, wilder);
    check_left(&syi_workload_atr, longer);
}

/* Of little traded shares: between two moves little is left of a state, but more than zero. */
Test(repair, is_not_for_prices_that_seldom_move)
{
    static const double macd[] = {12, 26, 9, 0}, other[] = {5, 10, 1, 0}, wilder[] = {14};
    for (int64_t still = 70; still < 2000; still = still * 5 / 2) {
        for (int64_t i = 0; i < N; i++)
            x[i] = (double)(10000 + i / still * 7 % 5) / 100;
        check_left(&syi_workload_macd, macd);
        check_left(&syi_workload_macd, other);
        check_left(&syi_workload_atr, wilder);
    }
}

/* As in the volumes of what is seldom traded: an average of nothing but zeros goes to zero. */
Test(repair, is_not_for_long_zeros)
{
    static const double short_ema[] = {2, 0}, ema[] = {20, 0};
    for (int64_t i = 0; i < N; i++)
        x[i] = i % 14500 < 3 || i > N - 50 ? (double)(i % 7 * 100) : 0.0;
    check_left(&syi_workload_ema, short_ema);
    check_left(&syi_workload_ema, ema);
}

Test(repair, stretches_behind_a_hole)
{
    fill(STRETCH, 4 * STRETCH - 1);
    check_all();
    cr_expect(!isnan(parts[0][4 * STRETCH - 2]) && isnan(parts[0][4 * STRETCH - 1]) &&
              isnan(parts[0][N - 1]));
}

/* Doubts anywhere in a row, some of them twice, near ones and such that are tiles apart: all are
 * decided, and each column counts once. */
Test(repair, doubts_of_a_row)
{
    static const int64_t columns[][2] = {{20000, 20001}, {20002, 20003}, {20001, 20005},
                                         {20003, 20004}, {24095, 24097}, {31000, 31001},
                                         {33000, 33002}, {59999, 60000}, {0, 300}};
    const double params[] = {400, 0};
    const void *in[] = {x};
    void *out[] = {parts[0]};
    syi_gate gate = {0};
    syi_job job = {.workload = &syi_workload_ema,
                   .params = params,
                   .rows = 1,
                   .columns = N,
                   .in = in,
                   .out = out,
                   .gate = &gate,
                   .threads = 2};
    syi_doubts doubts = {0};
    int64_t repaired = 0;
    fill(-1, -1);
    cr_assert_eq(repair(&syi_workload_ema, params, 0, N, 0), 0);
    memcpy(whole, parts, sizeof whole);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        cr_assert_eq(syi_doubts_add_stretch(&doubts, 0, columns[i][0], columns[i][1]), SY_OK);
        for (int64_t k = columns[i][0]; k < columns[i][1]; k++)
            parts[0][k] = 12345;
    }
    pthread_mutex_init(&gate.asking, NULL);
    cr_assert_eq(syi_repair_doubts(&job, &doubts, &repaired), SY_OK);
    cr_expect_eq(repaired, 5 + 2 + 1 + 2 + 1 + 300, "%lld", (long long)repaired);
    cr_expect(memcmp(parts[0], whole[0], sizeof whole[0]) == 0);
    pthread_mutex_destroy(&gate.asking);
    syi_doubts_clear(&doubts);
}
