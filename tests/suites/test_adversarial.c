/*
 * Every workload on series made to break rolling arithmetic, against the exact oracle, on the CPU
 * alone and split; three tiles long, so that spikes, NaNs and states cross tiles.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "support/judge.h"
#include "support/series.h"

enum { COLUMNS = 2 * 4096 + 700 };

#define SPLIT "sim:a:speed=1e6,sim:b:speed=3e6," LAB_CPU(2)

static const uint64_t seeds[] = {1, 2};

static void check_series(sy_context *whole, sy_context *split, lab_case *c, series_kind kind)
{
    static double x[COLUMNS];
    for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++) {
        lab_case again = *c;
        int output = 0;
        int64_t at;
        c->rows = again.rows = 1;
        c->columns = again.columns = COLUMNS;
        c->x = again.x = x;
        series_fill(kind, seeds[s], x, COLUMNS);
        if (c->dtype == SY_F32)
            lab_round_to_floats(x, COLUMNS);
        cr_assert(lab_prepare(c) && lab_prepare(&again));
        cr_assert_eq(lab_run(whole, c, NULL, NULL), SY_OK);
        cr_assert_eq(lab_run(split, &again, NULL, NULL), SY_OK);
        cr_expect_eq(judge_case(c), 0, "series '%s', seed %d", series_name(kind), (int)seeds[s]);
        at = lab_case_difference(c, &again, &output);
        cr_expect(at < 0, "series '%s', seed %d: split differs in output %d at %lld",
                  series_name(kind), (int)seeds[s], output, (long long)at);
        lab_release(c);
        lab_release(&again);
    }
}

static void check(lab_case c)
{
    sy_context *whole = lab_open("cpu", NULL, NULL), *split = lab_open(SPLIT, NULL, NULL);
    cr_assert(whole && split);
    for (int kind = 0; kind < SERIES_KINDS; kind++)
        check_series(whole, split, &c, kind);
    sy_context_destroy(&whole);
    sy_context_destroy(&split);
}

#define P(key, number)                                                                             \
    {                                                                                              \
        .name = key, .value = number                                                               \
    }
#define CHECK(name, count, ...)                                                                    \
    check((lab_case){.workload = name, .params = {__VA_ARGS__}, .n_params = count})

Test(adversarial, sma)
{
    static const int periods[] = {1, 2, 3, 5, 20, 98, 200, 1000, 5000};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++)
        CHECK("sma", 1, P("period", periods[i]));
}

Test(adversarial, rolling_std)
{
    CHECK("rolling_std", 0, {0});
    CHECK("rolling_std", 1, P("period", 1));
    CHECK("rolling_std", 2, P("period", 2), P("ddof", 1));
    CHECK("rolling_std", 2, P("period", 3), P("ddof", 2));
    CHECK("rolling_std", 2, P("period", 20), P("ddof", 1));
    CHECK("rolling_std", 1, P("period", 98));
    CHECK("rolling_std", 1, P("period", 300));
    CHECK("rolling_std", 1, P("period", 4097));
}

Test(adversarial, bollinger)
{
    CHECK("bollinger", 0, {0});
    CHECK("bollinger", 2, P("period", 1), P("width", 2));
    CHECK("bollinger", 2, P("period", 2), P("width", 1));
    CHECK("bollinger", 2, P("period", 4), P("width", 0.5));
    CHECK("bollinger", 2, P("period", 98), P("width", 0.1));
    CHECK("bollinger", 2, P("period", 200), P("width", 3));
    CHECK("bollinger", 2, P("period", 1000), P("width", 2));
}

/* Two prices in turn, of which a band is what is left of a mean and a reach that cancel: only their
 * roundings, or nothing. */
static void fill_pairs(double width, double scale, int columns, double *x)
{
    uint64_t random = 7;
    double price = 0.01;
    for (int i = 0; i < columns; i++) {
        if (i % 60 == 0)
            price = scale * (double)(1 + series_below(&random, 1000)) / 100;
        x[i] = i & 1 ? price : price * ((width + 1) / (width - 1));
    }
}

Test(adversarial, bands_near_zero)
{
    enum { PAIRS_COLUMNS = 600 };
    static const double widths[] = {2, 1.5, 3, 12, 1.25}, scales[] = {1, -1, 1e150, 0x1p-1060};
    static const int periods[] = {2, 4, 20};
    static double x[PAIRS_COLUMNS];
    sy_context *context = lab_open("cpu", NULL, NULL);
    cr_assert(context);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
            for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
                lab_case c = {.workload = "bollinger", .rows = 1, .columns = PAIRS_COLUMNS, .x = x};
                c.params[c.n_params++] = (sy_param)P("period", periods[p]);
                c.params[c.n_params++] = (sy_param)P("width", widths[w]);
                fill_pairs(widths[w], scales[s], PAIRS_COLUMNS, x);
                cr_assert(lab_prepare(&c));
                cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
                cr_expect_eq(judge_case(&c), 0, "width %g, scale %g, period %d", widths[w],
                             scales[s], periods[p]);
                lab_release(&c);
            }
    sy_context_destroy(&context);
}

Test(adversarial, zscore)
{
    CHECK("zscore", 0, {0});
    CHECK("zscore", 1, P("period", 1));
    CHECK("zscore", 2, P("period", 2), P("ddof", 1));
    CHECK("zscore", 1, P("period", 4));
    CHECK("zscore", 2, P("period", 98), P("ddof", 1));
    CHECK("zscore", 2, P("period", 1000), P("ddof", 3));
    CHECK("zscore", 1, P("period", 4097));
}

/* Prices in cents, near enough to each other to be computed a stretch of columns at a time: and
 * what ends that, a value or two far above, something not finite, nothing that moves, ticks that
 * seldom do (of bands many lie in the middle between two doubles then), or another level. */
enum { LONG_COLUMNS = 50000 };
enum {
    LOW_PRICE,
    SPIKES,
    PAIRS,
    OPPOSITES,
    OUTLIERS,
    HOLES,
    RESTS,
    TICKS,
    LEVELS,
    BELOW_ZERO,
    PRICE,
    PRICES
};

/* What is in a price's place: far above others, as far as another such value or its opposite, or
 * farther than squares go; some way above or below, or not finite. */
static double outlier(uint64_t *random, double price, double last)
{
    switch (series_below(random, 16)) {
    case 0:
        return -last;
    case 1:
        return last;
    case 2:
        return 1e17;
    case 3:
        return series_below(random, 4) ? -1e12 : NAN;
    case 4:
        return price * (double)(1 + series_below(random, 100000));
    case 5:
        return series_below(random, 8) ? -price : 0.0;
    case 6:
    case 7:
    case 8:
    case 9:
        return ldexp(price, 60 + (int)series_below(random, 80));
    default:
        return ldexp(price, 12 + (int)series_below(random, 30));
    }
}

/* `seldom`: columns between what happens so, on average. */
static void fill_prices(int kind, int period, int columns, int seldom, double *x)
{
    uint64_t random = (uint64_t)(100 * kind + period);
    int64_t cents = kind == LOW_PRICE ? 1200 : 10000;
    double last = 1e12;
    for (int i = 0; i < columns; i++) {
        const int rare = series_below(&random, seldom) == 0;
        if (kind == TICKS)
            cents += series_below(&random, 10) ? 0 : 2 * (int64_t)series_below(&random, 2) - 1;
        else if (kind != RESTS || rare)
            cents += (int64_t)series_below(&random, 21) - 10;
        if (kind == LEVELS && rare)
            cents = cents > 10000 ? cents / 3 : cents * 19 / 10;
        cents = cents < 1000 ? 1000 : cents;
        x[i] = (double)(kind == BELOW_ZERO ? -cents : cents) / 100;
        if ((kind == SPIKES || kind == PAIRS || kind == OPPOSITES) && rare)
            x[i] = 1e12;
        if (kind == PAIRS && i > period + 1 && x[i - period + (i & 1)] == 1e12)
            x[i] = -1e11;
        if (kind == OPPOSITES && i > 0 && x[i - 1] == 1e12)
            x[i] = -1e12;
        if (kind == OUTLIERS && series_below(&random, 60) == 0)
            x[i] = last = outlier(&random, x[i], last);
        if (kind == HOLES && rare)
            x[i] = i & 1 ? NAN : INFINITY;
    }
}

/* Of every kind, in windows of that period. */
static void check_prices(sy_context *context, const char *name, int period, int columns, int seldom)
{
    static double x[LONG_COLUMNS];
    for (int kind = 0; kind < PRICES; kind++) {
        lab_case c = {.workload = name, .rows = 1, .columns = columns, .x = x};
        c.params[c.n_params++] = (sy_param)P("period", period);
        fill_prices(kind, period, columns, seldom, x);
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
        cr_expect_eq(judge_case(&c), 0, "%s, period %d, prices of kind %d", name, period, kind);
        lab_release(&c);
    }
}

static const char *const windows[] = {"rolling_std", "bollinger", "zscore", "sma"};

Test(adversarial, prices)
{
    static const int periods[] = {2, 4, 5, 20, 64, 65, 128, 129, 600};
    sy_context *context = lab_open("cpu", NULL, NULL);
    cr_assert(context);
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++)
        for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
            check_prices(context, windows[w], periods[p], COLUMNS, 700);
    sy_context_destroy(&context);
}

/* Where roots begin with a float, which a spread of values far above others may be too large for.
 */
Test(adversarial, prices_by_avx2)
{
    sy_context *context = lab_open("cpu:isa=v3", NULL, NULL);
    cr_assert(context || sy_last_error()->status == SY_ERR_NO_DEVICE);
    for (size_t w = 0; context && w < sizeof windows / sizeof windows[0]; w++)
        for (int period = 3; period < 100; period *= 4)
            check_prices(context, windows[w], period, COLUMNS, 700);
    sy_context_destroy(&context);
}

/* Of which one that is not sure costs as much as thousands of others. */
Test(adversarial, long_windows)
{
    sy_context *context = lab_open("cpu", NULL, NULL);
    cr_assert(context);
    for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
        check_prices(context, windows[w], 5000, LONG_COLUMNS, 9000);
        check_prices(context, windows[w], 20000, LONG_COLUMNS, 15000);
    }
    sy_context_destroy(&context);
}

Test(adversarial, rolling_extremes)
{
    static const int periods[] = {1,   2,   3,    20,   32,   33,   127,  128,  129,
                                  512, 513, 1000, 1023, 1024, 1025, 2048, 2049, 5000};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        CHECK("rolling_min", 1, P("period", periods[i]));
        CHECK("rolling_max", 1, P("period", periods[i]));
    }
}

Test(adversarial, ema)
{
    static const int periods[] = {1, 2, 3, 7, 20, 26, 200, 5000};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++)
        CHECK("ema", 1, P("period", periods[i]));
}

Test(adversarial, ema_seeded_with_the_first_value)
{
    static const int periods[] = {1, 2, 15, 26, 1000};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++)
        CHECK("ema", 2, P("period", periods[i]), {.name = "seed_with", .text = "first"});
}

Test(adversarial, macd)
{
    CHECK("macd", 0, {0});
    CHECK("macd", 3, P("fast", 3), P("slow", 10), P("signal", 16));
    CHECK("macd", 3, P("fast", 2), P("slow", 8), P("signal", 3));
    CHECK("macd", 3, P("fast", 50), P("slow", 200), P("signal", 1));
}

/* Prices nearly on lines, by steps of several sizes; now and then one from which the step to the
 * next is no double. */
Test(adversarial, macd_near_lines)
{
    static const int periods[][3] = {{12, 26, 9}, {1, 3, 2}, {100, 500, 9}, {2, 700, 5}};
    static double x[COLUMNS];
    sy_context *context = lab_open("cpu", NULL, NULL);
    cr_assert(context);
    for (int i = 0; i < COLUMNS; i++) {
        const double unit = ldexp(1.0, -20 * (i / 1500 % 3));
        x[i] = i % 2900 == 2899 ? 0x1p-90 : unit * (100.0 + i % 1500 / 3.0);
    }
    for (size_t k = 0; k < sizeof periods / sizeof periods[0]; k++) {
        const int *of = periods[k];
        lab_case c = {.workload = "macd", .rows = 1, .columns = COLUMNS, .x = x, .n_params = 3};
        c.params[0] = (sy_param)P("fast", of[0]);
        c.params[1] = (sy_param)P("slow", of[1]);
        c.params[2] = (sy_param)P("signal", of[2]);
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
        cr_expect_eq(judge_case(&c), 0, "periods %d, %d, %d", of[0], of[1], of[2]);
        lab_release(&c);
    }
    sy_context_destroy(&context);
}

Test(adversarial, wilder)
{
    static const int periods[] = {1, 2, 3, 14, 16, 200, 5000};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        CHECK("rsi", 1, P("period", periods[i]));
        CHECK("atr", 1, P("period", periods[i]));
    }
}

/* One column in `gap` is a move by 0.7, the others fall by `fall`: the gains go through the least
 * of doubles to 0, and come back. */
static void check_rare_gains(int gap, double fall)
{
    static double x[COLUMNS];
    sy_context *context = lab_open("cpu", NULL, NULL);
    cr_assert(context);
    for (int period = 2; period <= 3; period++) {
        lab_case c = {.workload = "rsi", .rows = 1, .columns = COLUMNS, .x = x, .n_params = 1};
        uint64_t random = (uint64_t)(period + gap);
        c.params[0] = (sy_param)P("period", period);
        for (int i = 1; i < COLUMNS; i++)
            x[i] = x[i - 1] + (i % gap ? -fall : series_below(&random, 3) ? -0.7 : 0.7);
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
        cr_expect_eq(judge_case(&c), 0, "period %d, gap %d, fall %g", period, gap, fall);
        lab_release(&c);
    }
    sy_context_destroy(&context);
}

Test(adversarial, rsi_of_rare_gains)
{
    static const int gaps[] = {90, 300, 534, 700, 1500, 3000};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        check_rare_gains(gaps[g], 0.0);
        check_rare_gains(gaps[g], 0x1p-20);
    }
}

Test(adversarial, reductions)
{
    CHECK("sum", 0, {0});
    CHECK("mean", 0, {0});
    CHECK("variance", 0, {0});
    CHECK("variance", 1, P("ddof", 1));
    CHECK("min", 0, {0});
    CHECK("max", 0, {0});
    CHECK("dot", 0, {0});
}

Test(adversarial, floats)
{
    static const char *const names[] = {"sma", "bollinger", "zscore",   "rolling_max",
                                        "ema", "macd",      "rsi",      "atr",
                                        "sum", "mean",      "variance", "dot"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check((lab_case){.workload = names[i], .dtype = SY_F32});
    check((lab_case){.workload = "bollinger",
                     .dtype = SY_F32,
                     .params = {P("period", 2), P("width", 1)},
                     .n_params = 2});
}
