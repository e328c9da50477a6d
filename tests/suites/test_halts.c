/*
 * Averages of prices that stand still for long and then move, with periods whose factors have few
 * bits: behind a halt they come to the middle between two doubles but for what is left of the halt
 * before; so do average ranges of periods that are powers of two. And a macd, of which little is
 * left before a move, and bands of windows with two prices, many of which lie between two doubles.
 * Against the exact oracle.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/judge.h"
#include "support/series.h"

enum { COLUMNS = 9000, MOST = 60000, SEEDS = 16 };

/* What a price moves to: cents near by or far away, a number of few bits, the price before, near
 * where it is or next to it, farther away, or to the other side of zero. */
static double moved(uint64_t *random, double price, double before)
{
    const double cents = floor(price * 100.0);
    switch (series_below(random, 8)) {
    case 0:
        return (cents + (double)series_below(random, 21) - 10.0) / 100.0;
    case 1:
        return (double)(1000 + series_below(random, 40000)) / 100.0;
    case 2:
        return 100.0 + (double)series_below(random, 64) / 64.0;
    case 3:
        return (double)(series_below(random, 2001) - 1000) / 64.0;
    case 4:
        return before;
    case 5:
        return price + ldexp(1.0, -(int)series_below(random, 60));
    case 6:
        return nextafter(price, series_below(random, 2) ? 0.0 : 1e9);
    default:
        return series_below(random, 3) ? 1.5 * price : -price;
    }
}

/* Prices that stand still for up to `most` columns, of several sizes; some first of all for more
 * than half of them. */
static void fill_halts(uint64_t seed, int64_t most, double *x, int64_t columns)
{
    static const int scales[] = {-560, -500, -300, 600};
    const int scale = seed % 4 == 0 ? scales[seed / 4 % 4] : 0;
    double price = 100.0, before = 99.0;
    for (int64_t i = 0, end = seed % 8 == 3 ? columns / 2 + 777 : 0; i < columns; i++) {
        if (i == end) {
            const double next = moved(&seed, price, before);
            before = price;
            price = fabs(next) < 1e6 ? next : 100.0;
            end += 1 + series_below(&seed, most);
        }
        x[i] = ldexp(price, scale);
    }
}

/* All inputs are the same prices. */
static void check_case(sy_context *context, lab_case c, int64_t most, uint64_t seed)
{
    static double x[MOST];
    c.rows = 1;
    c.columns = c.columns ? c.columns : COLUMNS;
    c.x = x;
    fill_halts(seed, most, x, c.columns);
    cr_assert(lab_prepare(&c));
    for (int k = 1; k < c.n_inputs; k++)
        memcpy(c.more[k - 1], x, (size_t)c.columns * sizeof *x);
    cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    cr_expect_eq(judge_case(&c), 0, "%s of %g, halts of up to %d, seed %d", c.workload,
                 c.params[0].value, (int)most, (int)seed);
    lab_release(&c);
}

static void check(sy_context *context, const char *workload, int period, int64_t most)
{
    lab_case c = {
        .workload = workload, .params = {{.name = "period", .value = period}}, .n_params = 1};
    for (int seed = 0; seed < SEEDS; seed++) { /* what the last tile leaves is of any length */
        c.columns = COLUMNS - 37 * seed;
        check_case(context, c, most, (uint64_t)(10000 * most + 16 * period + seed));
    }
}

static void check_all(const char *workload, const int *periods, const char *devices)
{
    static const int mosts[] = {12, 120, 700, 2500};
    sy_context *context = lab_open(devices, NULL, NULL);
    cr_assert(context || sy_last_error()->status == SY_ERR_NO_DEVICE);
    for (int p = 0; context && periods[p]; p++)
        for (size_t m = 0; m < sizeof mosts / sizeof mosts[0]; m++)
            check(context, workload, periods[p], mosts[m]);
    sy_context_destroy(&context);
}

Test(halts, ema)
{
    static const int periods[] = {3, 7, 15, 31, 127, 0};
    check_all("ema", periods, "cpu");
    check_all("ema", periods, "cpu:isa=v3");
    check_all("ema", periods, "sim:a:speed=1e6,sim:b:speed=3e6");
}

Test(halts, atr)
{
    static const int periods[] = {2, 4, 8, 16, 32, 128, 0};
    check_all("atr", periods, "cpu");
    check_all("atr", periods, "cpu:isa=v3");
    check_all("atr", periods, "cpu:isa=base");
}

/* Long enough for long lanes, and to be cut; a price stands still for up to `most` columns. (What
 * is left after 5,000 the oracle can't tell.) */
static void check_long(const char *workload, const char *devices, const int *periods, int64_t most)
{
    sy_context *context = lab_open(devices, NULL, NULL);
    cr_assert(context);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const double period = periods[seed % 2];
        check_case(context,
                   (lab_case){.workload = workload,
                              .params = {{.name = "period", .value = period}},
                              .n_params = 1,
                              .columns = MOST},
                   most, seed);
    }
    sy_context_destroy(&context);
}

Test(halts, atr_across_pieces)
{
    static const int periods[] = {8, 4};
    check_long("atr", LAB_CPU(2), periods, 2500);
    check_long("atr", "sim:a:speed=1e6,sim:b:speed=3e6", periods, 2500);
}

Test(halts, ema_of_long_lanes)
{
    static const int periods[] = {3, 7};
    check_long("ema", LAB_CPU(1), periods, 100);
    check_long("ema", LAB_CPU(1), periods, 1000);
    check_long("ema", LAB_CPU(2), periods, 2500);
}

/* A piece of a row begins some columns before a move, and behind so many without one that nothing
 * is left there: two threads cut a row of so many at column 30,208. */
static void check_nothing_left(sy_context *context, const char *workload, int period, uint64_t seed)
{
    enum { STILL = 2560, MOVES = (30208 + 20) % STILL };
    static double x[MOST];
    lab_case c = {.workload = workload,
                  .params = {{.name = "period", .value = period}},
                  .n_params = 1,
                  .rows = 1,
                  .columns = MOST,
                  .x = x};
    double price = 100.0;
    for (int64_t i = 0; i < MOST; i++) {
        if (i % STILL == MOVES)
            price = (double)(5000 + series_below(&seed, 10000)) / 100.0;
        x[i] = price;
    }
    cr_assert(lab_prepare(&c));
    for (int k = 1; k < c.n_inputs; k++)
        memcpy(c.more[k - 1], x, sizeof x);
    cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    cr_expect_eq(judge_case(&c), 0, "%s of %d, seed %d", workload, period, (int)seed);
    lab_release(&c);
}

Test(halts, of_a_piece_with_nothing_left)
{
    sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
    cr_assert(context);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        check_nothing_left(context, "atr", 4, seed);
        check_nothing_left(context, "ema", 3, seed);
    }
    sy_context_destroy(&context);
}

static void check_macd(const char *devices, int fast, int slow, int signal)
{
    static const int mosts[] = {120, 700, 2500};
    lab_case c = {.workload = "macd",
                  .params = {{.name = "fast", .value = fast},
                             {.name = "slow", .value = slow},
                             {.name = "signal", .value = signal}},
                  .n_params = 3};
    sy_context *context = lab_open(devices, NULL, NULL);
    cr_assert(context || sy_last_error()->status == SY_ERR_NO_DEVICE);
    for (size_t m = 0; context && m < sizeof mosts / sizeof mosts[0]; m++)
        for (uint64_t seed = 1; seed <= 8; seed++) { /* lanes end anywhere in a block */
            c.columns = COLUMNS + (int64_t)seed * 863;
            check_case(context, c, mosts[m], seed);
        }
    sy_context_destroy(&context);
}

Test(halts, macd)
{
    static const int periods[][3] = {{12, 26, 9}, {3, 10, 16}, {5, 35, 5}, {50, 200, 9}};
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
        check_macd("cpu:threads=1", periods[p][0], periods[p][1], periods[p][2]);
        check_macd("cpu:isa=v3", periods[p][0], periods[p][1], periods[p][2]);
    }
}

Test(halts, bollinger)
{
    static const int periods[] = {20, 98, 200, 300, 1000};
    static const double widths[] = {2, 0.5, 2.5, 0.3}, ddofs[] = {0, 1};
    static const int mosts[] = {120, 500, 2500};
    sy_context *context = lab_open("cpu:threads=1", NULL, NULL);
    cr_assert(context);
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++)
        for (uint64_t seed = 1; seed <= 16; seed++)
            check_case(context,
                       (lab_case){.workload = "bollinger",
                                  .params = {{.name = "period", .value = periods[p]},
                                             {.name = "width", .value = widths[seed % 4]},
                                             {.name = "ddof", .value = ddofs[seed / 4 % 2]}},
                                  .n_params = 3},
                       mosts[seed % 3], seed);
    sy_context_destroy(&context);
}

/* What is not finite makes the sums of a lane so, which begins behind windows that hold it. */
Test(halts, bollinger_behind_a_hole)
{
    enum { SHORT = 601 };
    static double x[SHORT];
    sy_context *context = lab_open("cpu:threads=1", NULL, NULL);
    cr_assert(context);
    for (int hole = 1; hole < 120; hole++) {
        lab_case c = {.workload = "bollinger", .rows = 1, .columns = SHORT, .x = x, .n_params = 1};
        c.params[0] = (sy_param){.name = "period", .value = 2};
        series_fill(SERIES_WALK, (uint64_t)hole, x, SHORT);
        x[hole] = NAN;
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
        cr_expect_eq(judge_case(&c), 0, "hole at %d", hole);
        lab_release(&c);
    }
    sy_context_destroy(&context);
}

/* Fast rsi holds its value while a price stands still, for longer here than some pieces of a row
 * are, so that these begin with a value that they do not know. */
Test(halts, that_pieces_begin_in)
{
    enum { LONG = 1400000 };
    static const char *const devices[] = {"cpu:threads=1", "cpu:threads=2",
                                          "sim:a:speed=1e6,sim:b:speed=3e6"};
    static const int64_t moves[] = {100, 600000, 40000};
    static double x[LONG];
    const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};
    lab_case first, c;
    for (int d = 0; d < 3; d++) {
        sy_context *context = lab_open(devices[d], NULL, NULL);
        int output;
        cr_assert(context);
        c = (lab_case){.workload = "rsi", .rows = 1, .columns = LONG, .x = x};
        for (int64_t i = 0, next = 50, k = 0; i < LONG; i++) {
            x[i] = 100.0 + (double)(7 * k % 5);
            if (i == next)
                next += moves[k++ % 3];
        }
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, &fast, NULL), SY_OK);
        if (d == 0)
            first = c;
        else
            cr_expect_lt(lab_case_difference(&first, &c, &output), 0, "%s", devices[d]);
        if (d > 0)
            lab_release(&c);
        sy_context_destroy(&context);
    }
    lab_release(&first);
}
