/*
 * What fast accuracy promises of its errors, tried on random series of the kinds that rolling
 * arithmetic fails on: levels, noise and spikes of any size, in stretches as long as windows are
 * and at the columns where blocks of them begin.
 *
 * A case is decided by its seed alone. STEELYARD_FUZZ_CASES sets how many there are,
 * STEELYARD_FUZZ_SEED the first seed (1). With STEELYARD_SHOW_ERRORS set, each workload's largest
 * part of its bound is told.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/lab.h"
#include "support/promise.h"
#include "support/series.h"

enum { COLUMNS = 4000, CASES = 1320, PROCESSES = 2 };

typedef struct subject {
    const char *workload;
    const char *params[2]; /* the first is the period, the second twice that, or a width */
} subject;

static const subject subjects[] = {
    {"sma", {"period", NULL}},
    {"rolling_std", {"period", NULL}},
    {"bollinger", {"period", "width"}},
    {"zscore", {"period", NULL}},
    {"ema", {"period", NULL}},
    {"macd", {"fast", "slow"}},
    {"atr", {"period", NULL}},
    {"rsi", {"period", NULL}},
    {"variance", {NULL, NULL}},
    {"sum", {NULL, NULL}},
    {"mean", {NULL, NULL}},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* 10^k for a random k of [least, most]. */
static double power_of_ten(uint64_t *s, int least, int most)
{
    return pow(10, least + (double)series_below(s, most - least + 1));
}

/* A level with noise, and what breaks it: from `offset` on, every `every` columns for `wide`. */
static void fill(uint64_t *s, int period, double *x)
{
    const double level = series_below(s, 3) ? power_of_ten(s, -3, 9) : 0.0;
    const double noise = power_of_ten(s, -6, 2);
    const double spike = power_of_ten(s, -1, 12) * (series_below(s, 2) ? 1 : -1);
    const int every = series_below(s, 2) ? period : 1 + (int)series_below(s, 3 * period);
    const int wide = 1 + (int)series_below(s, series_below(s, 2) ? 4 : period + 4);
    const int offset = series_below(s, 2) ? 0 : (int)series_below(s, every);
    const int kind = (int)series_below(s, 6);
    double walk = 0;
    for (int i = 0; i < COLUMNS; i++) {
        const int inside = (i + every - offset) % every < wide;
        const double moved = noise * (series_uniform(s) - 0.5);
        x[i] = level + moved;
        if (kind == 0) /* spikes, or stretches of another level */
            x[i] += inside ? spike : 0;
        else if (kind == 1) /* spikes anywhere */
            x[i] += series_below(s, every) ? 0 : spike;
        else if (kind == 2) /* stairs */
            x[i] += i / every * spike;
        else if (kind == 3) /* a walk */
            x[i] = level + (walk += moved);
        else if (kind == 4) /* stretches of another scale */
            x[i] *= inside ? 1 + spike : 1;
        else /* rests between shocks that fade */
            x[i] = inside ? level : x[i] + spike * pow(0.9, i % every);
    }
}

static lab_case make_case(uint64_t seed, double *x)
{
    const subject *subject = &subjects[seed % SUBJECTS];
    uint64_t state = seed;
    const int period = 2 + (int)series_below(&state, series_below(&state, 2) ? 30 : 270);
    lab_case c = {.workload = subject->workload, .rows = 1, .columns = COLUMNS, .x = x};
    for (; c.n_params < 2 && subject->params[c.n_params]; c.n_params++)
        c.params[c.n_params] = (sy_param){.name = subject->params[c.n_params], .value = period};
    if (c.n_params == 2)
        c.params[1].value = strcmp(c.params[1].name, "width") ? 2 * period : 2.5;
    fill(&state, period, x);
    return c;
}

/* Part `part` of the cases: every PROCESSES-th seed, in a process of its own. */
static void fuzz(uint64_t part)
{
    static const sy_options fast = {.struct_size = sizeof fast, .accuracy = SY_ACCURACY_FAST};
    static double x[COLUMNS];
    const uint64_t first = lab_setting("STEELYARD_FUZZ_SEED", 1);
    const uint64_t cases = lab_setting("STEELYARD_FUZZ_CASES", CASES);
    sy_context *cpu = lab_open("cpu:threads=1", NULL, NULL);
    double most[SUBJECTS] = {0};
    cr_assert(cpu);
    for (uint64_t i = part; i < cases; i += PROCESSES) {
        const uint64_t seed = first + i;
        lab_case c = make_case(seed, x);
        double error, bound;
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(cpu, &c, &fast, NULL), SY_OK);
        error = promise_error(&c, "random");
        bound = promise_bound(&c);
        cr_expect(error >= 0 && error <= bound,
                  "STEELYARD_FUZZ_SEED=%llu: %.3g units of %.3g that are promised",
                  (unsigned long long)seed, error, bound);
        most[seed % SUBJECTS] = fmax(most[seed % SUBJECTS], error / bound);
        lab_release(&c);
    }
    for (int k = 0; k < SUBJECTS && getenv("STEELYARD_SHOW_ERRORS"); k++)
        fprintf(stderr, "%s: %.2f of what is promised\n", subjects[k].workload, most[k]);
    sy_context_destroy(&cpu);
}

Test(promise_fuzz, part_0)
{
    fuzz(0);
}

Test(promise_fuzz, part_1)
{
    fuzz(1);
}
