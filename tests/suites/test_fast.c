/*
 * Fast accuracy against the exact oracle: the error of every output is within the documented bound
 * (docs/determinism.md), NaNs and warm-up are where they are in exact, on every series that the
 * exact tests use, and the bits are the same alone and split.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/lab.h"
#include "support/promise.h"
#include "support/series.h"

enum { COLUMNS = 3 * 4096 + 700, MANY = 20 * 4096 + 5, CONTEXTS = 4 };

#define SPLIT "sim:a:speed=1e6,sim:b:speed=3e6," LAB_CPU(2)

static void judge(const lab_case *c, series_kind kind, double *seen)
{
    const double error = promise_error(c, series_name(kind));
    cr_expect(error >= 0 && error <= promise_bound(c));
    *seen = fmax(*seen, error);
}

/* An average and bands are the price itself where it stands still. */
static void judge_flats(const lab_case *c, series_kind kind)
{
    const int64_t period = (int64_t)c->params[0].value;
    int64_t same = 0;
    char text[256];
    for (int64_t i = 0; i < c->out_count; i++) {
        same = i && c->x[i] == c->x[i - 1] ? same + 1 : 1;
        for (int k = 0; k < c->n_outputs && same >= period && isfinite(c->x[i]); k++)
            cr_expect(c->out[k][i] == c->x[i], "%s, series '%s', output %d, column %d: not flat",
                      lab_describe(c, text, sizeof text), series_name(kind), k, (int)i);
    }
}

/* The bits are those of `c` on other devices. */
static void check_again(sy_context *context, const lab_case *c, series_kind kind)
{
    const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};
    lab_case again = *c;
    int output = 0;
    int64_t at;
    cr_assert(lab_prepare(&again));
    cr_assert_eq(lab_run(context, &again, &fast, NULL), SY_OK);
    at = lab_case_difference(c, &again, &output);
    cr_expect(at < 0, "%s, series '%s': split differs in output %d at %lld", c->workload,
              series_name(kind), output, (long long)at);
    lab_release(&again);
}

static int is_extreme(series_kind kind)
{
    return kind == SERIES_SUBNORMAL || kind == SERIES_FULL_RANGE || kind == SERIES_HUGE_MIX;
}

/* One row of c->columns values x, alone and on the other devices. */
static void check_row(sy_context *const *contexts, lab_case c, const double *x, series_kind kind,
                      double *seen)
{
    const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};
    c.rows = 1;
    c.x = x;
    cr_assert(lab_prepare(&c));
    cr_assert_eq(lab_run(contexts[0], &c, &fast, NULL), SY_OK);
    if (!is_extreme(kind))
        judge(&c, kind, seen);
    if (!strcmp(c.workload, "sma") || !strcmp(c.workload, "bollinger"))
        judge_flats(&c, kind);
    for (int i = 1; i < CONTEXTS && contexts[i]; i++)
        check_again(contexts[i], &c, kind);
    lab_release(&c);
}

/* The best instruction set alone, a split, and the other instruction sets. */
static void open_contexts(sy_context *contexts[CONTEXTS])
{
    static const char *const devices[CONTEXTS] = {"cpu", SPLIT, LAB_CPU(2) ":isa=base",
                                                  "cpu:isa=v3"};
    for (int i = 0; i < CONTEXTS; i++)
        contexts[i] = lab_open(devices[i], NULL, NULL);
    cr_assert(contexts[0] && contexts[1] && contexts[2]);
    cr_assert(contexts[3] || /* which says on standard error what this processor lacks */
              sy_last_error()->status == SY_ERR_NO_DEVICE);
}

static void close_contexts(sy_context *contexts[CONTEXTS])
{
    for (int i = 0; i < CONTEXTS; i++)
        sy_context_destroy(&contexts[i]);
}

/* A row whose roundings add up to more than `least` units. */
static void check_chosen(sy_context *const *contexts, lab_case c, const double *x, double least)
{
    double seen = 0;
    check_row(contexts, c, x, SERIES_SPIKES, &seen);
    cr_expect_gt(seen, least, "%s: not the roundings that were chosen", c.workload);
    if (getenv("STEELYARD_SHOW_ERRORS"))
        fprintf(stderr, "chosen roundings, %s: %.2f\n", c.workload, seen);
}

static void check(lab_case c)
{
    static double x[COLUMNS];
    sy_context *contexts[CONTEXTS];
    double seen = 0;
    char text[256];
    open_contexts(contexts);
    c.columns = COLUMNS;
    for (int kind = 0; kind < SERIES_KINDS; kind++) {
        series_fill(kind, 5, x, COLUMNS);
        check_row(contexts, c, x, kind, &seen);
    }
    if (getenv("STEELYARD_SHOW_ERRORS"))
        fprintf(stderr, "%s: %.2f\n", lab_describe(&c, text, sizeof text), seen);
    close_contexts(contexts);
}

#define P(key, number)                                                                             \
    {                                                                                              \
        .name = key, .value = number                                                               \
    }
#define CHECK(name, count, ...)                                                                    \
    check((lab_case){.workload = name, .params = {__VA_ARGS__}, .n_params = count})

static const int periods[] = {1, 2, 3, 5, 20, 24, 98, 200, 256, 1000, 2048, 5000};
enum { PERIODS = sizeof periods / sizeof periods[0] };

Test(fast, sma)
{
    for (int i = 0; i < PERIODS; i++)
        CHECK("sma", 1, P("period", periods[i]));
}

Test(fast, rolling_std)
{
    for (int i = 0; i < PERIODS; i++)
        CHECK("rolling_std", 2, P("period", periods[i]), P("ddof", periods[i] > 1 ? i % 2 : 0));
}

Test(fast, bollinger)
{
    for (int i = 0; i < PERIODS; i++)
        CHECK("bollinger", 2, P("period", periods[i]), P("width", 0.5 * (i % 4)));
}

Test(fast, zscore)
{
    for (int i = 0; i < PERIODS; i++)
        CHECK("zscore", 1, P("period", periods[i]));
}

/* Rows that a search for the largest error has found. */
Test(fast, windows_of_chosen_roundings)
{
    static const double deviations[] = {
        0x1.6fad1bffef2c5p+15, 0x1.6facf1a6919c6p+15, 0x1.6e9c9722b6588p+15, 0x1.6e9d8c0502116p+15,
        0x1.7fe1efcf516afp+15, 0x1.4ff58220ee972p+15, 0x1.6e9c977fe3282p+15, 0x1.6e9d3ac78efb6p+15,
        0x1.fcc48750cbf6ap+14, 0x1.d98286c9869c6p+14, 0x1.aea673762edaep+14, 0x1.e52f14cba1019p+14,
        0x1.6e9c973dab664p+15, 0x1.6e9c974c1207cp+15, 0x1.6e9c979039fbbp+15, 0x1.6e9c15bd7bb9p+15,
        0x1.6e9c978ad6d05p+15, 0x1.6e9c979039fb9p+15, 0x1.6e9c97671f948p+15, 0x1.6e9caea078769p+15};
    static const double bands[] = {
        0x1.023440d9c1e41p+17, 0x1.023440daa1825p+17, 0x1.0234090d26ea5p+17, 0x1.023440ca593d5p+17,
        0x1.023440d807c4ap+17, 0x1.02346cecf5f4p+17,  0x1.023440d8087aap+17, 0x1.0234163f3482p+17,
        0x1.02349bbca1859p+17, 0x1.02343a7dc44b5p+17, 0x1.023440de68985p+17, 0x1.023440cc9e7adp+17,
        0x1.02341d0e07c49p+17, 0x1.023440d5f35eap+17};
    static const double scores[] = {
        0x1.eecb9b8e7bbb6p-7,  0x1.24a4de57908d4p-2,  -0x1.056f6e7302376p-2, 0x1.af732eea0e162p-2,
        -0x1.e2fa6cf672581p-3, 0x1.ba46340064eb8p-2,  -0x1.36491ba731579p-2, 0x1.eb3dea8703c3bp-2,
        0x1.2196ab568b7cep-4,  -0x1.c2ef1f045d388p-3, 0x1.3008095670afep-2,  -0x1.90d4bafd357f1p-2,
        -0x1.dfafeaf93a3f8p-3, -0x1.c2ef1f045d384p-3, -0x1.13d391ef4d081p-2, 0x1.24a4d984fc73fp-2,
        0x1.a31a306700a81p-2,  0x1.eb821794c43c6p-4,  0x1.32ea3ff407983p-4,  0x1.fc76751d7bbcp-2,
        0x1.decf74089738p-2,   -0x1.d01d945816775p-4, 0x1.21956ce47a2p-4};
    const struct {
        const char *workload;
        const double *x;
        int period;
        double width, least;
    } rows[] = {{"rolling_std", deviations, 20, 0, 15},
                {"bollinger", bands, 14, 0.5, 1.2},
                {"zscore", scores, 23, 0, 14}};
    sy_context *contexts[CONTEXTS];
    open_contexts(contexts);
    for (int i = 0; i < 3; i++)
        check_chosen(contexts,
                     (lab_case){.workload = rows[i].workload,
                                .columns = rows[i].period,
                                .params = {P("period", rows[i].period), P("width", rows[i].width)},
                                .n_params = 1 + (rows[i].width > 0)},
                     rows[i].x, rows[i].least);
    close_contexts(contexts);
}

/* One spike or more where blocks of the window's length begin. */
Test(fast, windows_of_spikes_at_borders)
{
    static const char *const workloads[] = {"rolling_std", "bollinger", "zscore"};
    static const int of[] = {24, 98, 200, 256};
    static const double spikes[] = {1e3, 1e7, 1e12};
    static double x[COLUMNS];
    sy_context *contexts[CONTEXTS];
    open_contexts(contexts);
    for (int w = 0; w < 3; w++)
        for (int p = 0; p < 4; p++) {
            lab_case c = {.workload = workloads[w], .columns = COLUMNS, .n_params = 1 + (w == 1)};
            char text[256];
            double seen = 0;
            c.params[0] = (sy_param)P("period", of[p]);
            c.params[1] = (sy_param)P("width", 2);
            for (int s = 0; s < 9; s++) {
                uint64_t random = (uint64_t)s;
                for (int i = 0; i < COLUMNS; i++)
                    x[i] = 100 + series_uniform(&random) +
                           (i / of[p] % 3 == 1 && i % of[p] <= s / 3 ? spikes[s % 3] : 0.0);
                check_row(contexts, c, x, SERIES_SPIKES, &seen);
            }
            if (getenv("STEELYARD_SHOW_ERRORS"))
                fprintf(stderr, "spikes at borders, %s: %.2f\n",
                        lab_describe(&c, text, sizeof text), seen);
        }
    close_contexts(contexts);
}

Test(fast, ema)
{
    static const int of[] = {1, 2, 3, 20, 200, 2000};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        CHECK("ema", 2, P("period", of[i]), P("seed_with", (double)(i % 2)));
}

Test(fast, macd)
{
    CHECK("macd", 0, {0});
    CHECK("macd", 4, P("fast", 3), P("slow", 10), P("signal", 16), P("seed_with", 1));
    CHECK("macd", 3, P("fast", 50), P("slow", 200), P("signal", 1));
}

Test(fast, atr)
{
    static const int of[] = {1, 2, 14, 200, 2000};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        CHECK("atr", 1, P("period", of[i]));
}

Test(fast, rsi)
{
    static const int of[] = {1, 2, 14, 200, 2000};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        CHECK("rsi", 1, P("period", of[i]));
}

/* The price rests for longer than a block, to the very beginning of one, too, and moves by little
 * after it moved by much. */
Test(fast, rsi_of_rests)
{
    static const int gaps[] = {1500, 9500, 24576, 30000}, of[] = {1, 3, 14};
    static double x[MANY];
    sy_context *contexts[CONTEXTS];
    double seen = 0;
    open_contexts(contexts);
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (int p = 0; p < 3; p++) {
            lab_case c = {.workload = "rsi", .columns = MANY, .n_params = 1};
            uint64_t random = (uint64_t)(of[p] + gaps[g]);
            c.params[0] = (sy_param)P("period", of[p]);
            series_fill(SERIES_TICK, 3, x, 2000);
            for (int i = 2000; i < MANY; i++)
                x[i] = x[i - 1] +
                       (i % gaps[g] >= 3 ? 0.0 : ldexp(series_uniform(&random) - 0.5, -i % 9));
            check_row(contexts, c, x, SERIES_FLATS, &seen);
            x[MANY - gaps[g] / 2] = NAN;
            check_row(contexts, c, x, SERIES_NANS, &seen);
        }
    close_contexts(contexts);
}

/* The price rests, at one of which both averages are the same, for so long that nothing is left of
 * the signal, which does not go through the subnormal numbers meanwhile. */
Test(fast, macd_of_rests)
{
    enum { MOVES = 600, REST = 5000 };
    static double x[REST];
    const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};
    lab_case c = {.workload = "macd", .rows = 1, .columns = REST, .x = x};
    sy_context *contexts[CONTEXTS];
    double seen = 0;
    open_contexts(contexts);
    series_fill(SERIES_TICK, 1, x, MOVES);
    for (int i = MOVES; i < REST; i++)
        x[i] = 100.75;
    check_row(contexts, c, x, SERIES_FLATS, &seen);
    cr_assert(lab_prepare(&c));
    cr_assert_eq(lab_run(contexts[0], &c, &fast, NULL), SY_OK);
    for (int i = MOVES; i < REST; i++)
        cr_expect(c.out[1][i] == 0.0 || fabs(c.out[1][i]) > 0x1p-900, "column %d: %g", i,
                  c.out[1][i]);
    cr_expect_eq(c.out[1][REST - 1], 0.0);
    lab_release(&c);
    close_contexts(contexts);
}

Test(fast, reductions)
{
    static const char *const names[] = {"sum", "mean", "variance", "dot", "min", "max"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK(names[i], 0, {0});
}

/* Parts of a row that lie far apart, in every way that its lanes and blocks may be cut. */
Test(fast, variance_of_jumps)
{
    static const int stretches[] = {1, 8, 100, 512, 700};
    static const double jumps[] = {1e-3, 1.0, 1e6, 1e12};
    static double x[COLUMNS];
    sy_context *contexts[CONTEXTS];
    uint64_t random = 1;
    double seen = 0;
    open_contexts(contexts);
    for (int i = 0; i < 20; i++) {
        lab_case c = {.workload = "variance", .columns = COLUMNS};
        for (int k = 0; k < COLUMNS; k++)
            x[k] = series_uniform(&random) + (k / stretches[i % 5] % 8 ? jumps[i / 5] : 0.0);
        check_row(contexts, c, x, SERIES_SPIKES, &seen);
    }
    if (getenv("STEELYARD_SHOW_ERRORS"))
        fprintf(stderr, "variance of jumps: %.2f\n", seen);
    close_contexts(contexts);
}

/* Sums of which nearly half a unit is rounded away each time: in the lanes of a block, in what the
 * blocks add, and of squares in the same way. */
Test(fast, reductions_of_chosen_roundings)
{
    enum { TILE = 4096, LANES = 32, BLOCK = 512 };
    static double sums[TILE], squares[TILE];
    const double half = 0x1.ffffffffp-54, root = 0x1p-26 * (1 - 0x1p-20) * sqrt(0.5);
    sy_context *contexts[CONTEXTS];
    open_contexts(contexts);
    for (int i = 0; i < TILE; i++) {
        const int k = i % BLOCK / 8 % 16;
        sums[i] = i < LANES ? 1 + (i / 16) * 0x1p-52 : i < BLOCK ? half : half / 16.0001;
        squares[i] = i >= BLOCK ? root / 4 : k < 2 ? 1 : root;
        squares[i] = k % 2 ? -squares[i] : squares[i];
    }
    check_chosen(contexts, (lab_case){.workload = "sum", .columns = TILE}, sums, 20);
    check_chosen(contexts, (lab_case){.workload = "mean", .columns = TILE}, sums, 20);
    check_chosen(contexts, (lab_case){.workload = "variance", .columns = TILE}, squares, 8);
    close_contexts(contexts);
}

/* Both averages only shrink for long, by factors that are rounded, until they meet. */
Test(fast, rsi_of_a_long_decay)
{
    enum { PERIOD = 749, CLIMB = PERIOD + 201 };
    static double x[CLIMB + 31 * PERIOD];
    const int count = sizeof x / sizeof *x;
    sy_context *contexts[CONTEXTS];
    open_contexts(contexts);
    for (int i = 0; i < count; i++)
        x[i] = i < CLIMB ? i : CLIMB - 1 - 0x1.125p-40 * (i + 1 - CLIMB);
    check_chosen(
        contexts,
        (lab_case){
            .workload = "rsi", .columns = count, .params = {P("period", PERIOD)}, .n_params = 1},
        x, 100);
    close_contexts(contexts);
}

/* So many first values of the macd that a plain sum of them would lose more than they are off by.
 */
Test(fast, macd_of_a_long_signal)
{
    enum { SLOW = 100, SIGNAL = 20000, FALL = SLOW + 10 };
    static double x[SLOW + SIGNAL + 40];
    const int count = sizeof x / sizeof *x;
    sy_context *contexts[CONTEXTS];
    open_contexts(contexts);
    for (int i = 0; i < count; i++)
        x[i] = i < FALL ? -1 : 1 - 0x1p-30 + (i - FALL) * 0x1p-53;
    check_chosen(contexts,
                 (lab_case){.workload = "macd",
                            .columns = count,
                            .params = {P("fast", 1), P("slow", SLOW), P("signal", SIGNAL)},
                            .n_params = 3},
                 x, 0);
    close_contexts(contexts);
}
