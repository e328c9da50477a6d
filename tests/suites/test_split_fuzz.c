/*
 * Promise 2 by force: random workloads, parameters, shapes, data, devices, ratios and threads, each
 * compared bit for bit with the unsplit run on one thread of the CPU.
 *
 * A case is decided by its seed alone. STEELYARD_FUZZ_CASES sets how many there are (10,000) and
 * STEELYARD_FUZZ_SEED the first seed; without it the clock does. A failing case prints its seed:
 * replay it with STEELYARD_FUZZ_SEED=<seed> STEELYARD_FUZZ_CASES=1.
 */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/lab.h"
#include "support/series.h"

enum { HANG_SECONDS = 120 };
enum {
    PROCESSES = 4,
    MOST_ELEMENTS = 40000,
    SLOW_ELEMENTS = 5000,
    MOST_DEVICES = 6,
    DEVICE_TEXT = 512
};

static double x[MOST_ELEMENTS];

typedef struct random_case {
    lab_case c;
    series_kind kind;
    char devices[DEVICE_TEXT];
    char names[MOST_DEVICES][16];
    int n_devices, n_ratios;
    sy_accuracy accuracy;
    sy_ratio ratios[MOST_DEVICES];
} random_case;

static void add_param(lab_case *c, const char *name, double value)
{
    c->params[c->n_params++] = (sy_param){.name = name, .value = value};
}

static int64_t random_period(uint64_t *s)
{
    static const int64_t limits[] = {4, 30, 300, 3000, 9000};
    return 1 + series_below(s, limits[series_below(s, 5)]);
}

static void pick_workload(random_case *r, uint64_t *s)
{
    static const char *const names[] = {
        "sma", "rolling_std", "bollinger", "zscore", "rolling_min", "rolling_max", "ema", "macd",
        "rsi", "atr",         "sum",       "mean",   "variance",    "min",         "max", "dot"};
    static const char *const bare[] = {"sum", "mean", "min", "max", "dot"};
    lab_case *c = &r->c;
    int64_t period = random_period(s);
    c->workload = names[series_below(s, sizeof names / sizeof names[0])];
    for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
        if (!strcmp(c->workload, bare[i]))
            return;
    if (!strcmp(c->workload, "macd")) {
        int64_t fast = 1 + series_below(s, 40);
        if (series_below(s, 3) == 0)
            return;
        add_param(c, "fast", (double)fast);
        add_param(c, "slow", (double)(fast + 1 + series_below(s, 80)));
        add_param(c, "signal", (double)(1 + series_below(s, 30)));
    } else if (!strcmp(c->workload, "variance")) {
        add_param(c, "ddof", (double)series_below(s, 2));
    } else {
        add_param(c, "period", (double)period);
        if (!strcmp(c->workload, "ema"))
            add_param(c, "seed_with", (double)series_below(s, 2));
        if (!strcmp(c->workload, "rolling_std") || !strcmp(c->workload, "bollinger") ||
            !strcmp(c->workload, "zscore"))
            add_param(c, "ddof", (double)(period > 1 ? series_below(s, 2) : 0));
        if (!strcmp(c->workload, "bollinger"))
            add_param(c, "width", 4 * series_uniform(s));
    }
}

/* Mostly around tile boundaries, some small, some with many rows. */
static void pick_shape(random_case *r, uint64_t *s)
{
    lab_case *c = &r->c;
    int64_t most;
    switch (series_below(s, 4)) {
    case 0:
        c->columns = 1 + series_below(s, 64);
        break;
    case 1:
        c->columns = 4096 * (1 + series_below(s, 4)) + series_below(s, 5) - 2;
        break;
    default:
        c->columns = 1 + series_below(s, series_below(s, 2) ? 2000 : 20000);
    }
    most = MOST_ELEMENTS / c->columns;
    most = most > 300 ? 300 : most;
    if (most > 4 && series_below(s, 4))
        most = 4;
    c->rows = 1 + series_below(s, most);
}

/* Kilobytes that one tile takes at most: all that is to its left, and its outputs. */
static int one_tile(const lab_case *c)
{
    int inputs = !strcmp(c->workload, "atr") ? 3 : !strcmp(c->workload, "dot") ? 2 : 1;
    return (int)((inputs * c->columns + 3 * 4096) * (int64_t)sizeof(double) / 1000) + 1;
}

static void pick_devices(random_case *r, uint64_t *s)
{
    size_t used = 0;
    int sims = (int)series_below(s, MOST_DEVICES);
    for (int i = 0; i < sims; i++) {
        snprintf(r->names[i], sizeof r->names[i], "d%d", i);
        used += (size_t)snprintf(r->devices + used, DEVICE_TEXT - used, "%ssim:d%d:speed=%.3g",
                                 i ? "," : "", i, 1e6 * (0.01 + series_uniform(s)));
        if (series_below(s, 8) == 0) /* small memory: the span is cut into chunks */
            used += (size_t)snprintf(r->devices + used, DEVICE_TEXT - used, ":memory=%dkB",
                                     one_tile(&r->c) + (int)series_below(s, 500));
    }
    r->n_devices = sims;
    if (sims < 1 || series_below(s, 2)) {
        snprintf(r->devices + used, DEVICE_TEXT - used, "%scpu:threads=%d%s", sims ? "," : "",
                 1 + (int)series_below(s, LAB_MOST_THREADS), series_below(s, 3) ? "" : ":isa=base");
        strcpy(r->names[r->n_devices++], "cpu");
    }
}

static void pick_ratios(random_case *r, uint64_t *s)
{
    if (series_below(s, 4) == 0)
        return; /* the devices' own speeds */
    for (int i = 0; i < r->n_devices; i++) {
        double ratio = series_below(s, 6) ? 0.001 + series_uniform(s) : 1e-9;
        if (series_below(s, 5) == 0 && (r->n_ratios || i + 1 < r->n_devices))
            continue; /* left out */
        r->ratios[r->n_ratios++] = (sy_ratio){r->names[i], ratio};
    }
}

/* Data that is mostly decided exactly is a thousand times slower: it gets the smaller cases. */
static series_kind pick_series(const random_case *r, uint64_t *s)
{
    series_kind kind = (series_kind)series_below(s, SERIES_KINDS);
    int is_slow = kind == SERIES_SUBNORMAL || kind == SERIES_FULL_RANGE || kind == SERIES_HUGE_MIX;
    if (is_slow && r->c.rows * r->c.columns > SLOW_ELEMENTS)
        kind = SERIES_FLATS;
    return kind;
}

static void make_case(uint64_t seed, random_case *r)
{
    uint64_t state = seed;
    memset(r, 0, sizeof *r);
    pick_workload(r, &state);
    pick_shape(r, &state);
    pick_devices(r, &state);
    pick_ratios(r, &state);
    r->accuracy = series_below(&state, 2) ? SY_ACCURACY_FAST : SY_ACCURACY_EXACT;
    r->kind = pick_series(r, &state);
    for (int64_t row = 0; row < r->c.rows; row++)
        series_fill(r->kind, series_bits(&state), x + row * r->c.columns, r->c.columns);
    r->c.dtype = series_below(&state, 4) ? SY_F64 : SY_F32;
    if (r->c.dtype == SY_F32)
        lab_round_to_floats(x, r->c.rows * r->c.columns);
    r->c.x = x;
}

/* 1 when the split run's bits are those of `whole`. */
static int check_case(sy_context *whole, uint64_t seed)
{
    random_case r;
    lab_case reference;
    sy_options options = {.struct_size = sizeof options}, alone;
    sy_context *context;
    char text[256];
    int output = 0, right;
    int64_t at = -1;
    sy_status status[2] = {SY_ERR_INTERNAL, SY_ERR_INTERNAL};
    make_case(seed, &r);
    reference = r.c;
    options.accuracy = r.accuracy;
    options.seed = seed % 3; /* fast reductions merge in its order */
    alone = options;
    options.ratios = r.n_ratios ? r.ratios : NULL;
    options.n_ratios = r.n_ratios;
    context = lab_open(r.devices, NULL, NULL);
    if (context && lab_prepare(&r.c) && lab_prepare(&reference)) {
        status[0] = lab_run(whole, &reference, &alone, NULL);
        status[1] = lab_run(context, &r.c, &options, NULL);
        at = lab_case_difference(&reference, &r.c, &output);
    }
    right = status[0] == SY_OK && status[1] == SY_OK && at < 0;
    if (!right)
        fprintf(stderr,
                "seed %llu: %s %s, series '%s', devices %s, %d ratios: statuses %d and %d, "
                "output %d differs at %lld\n",
                (unsigned long long)seed, r.accuracy == SY_ACCURACY_FAST ? "fast" : "exact",
                lab_describe(&r.c, text, sizeof text), series_name(r.kind), r.devices, r.n_ratios,
                (int)status[0], (int)status[1], output, (long long)at);
    lab_release(&r.c);
    lab_release(&reference);
    sy_context_destroy(&context);
    return right;
}

/* A case that hangs ends the process and tells its seed. */
static volatile uint64_t running;

static void hung(int signal)
{
    static const char text[] = " is the seed of a case that hangs\n";
    char digits[24];
    int at = sizeof digits;
    uint64_t seed = running;
    (void)signal;
    do
        digits[--at] = (char)('0' + seed % 10);
    while ((seed /= 10) != 0);
    if (write(STDERR_FILENO, digits + at, sizeof digits - (size_t)at) < 0 ||
        write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

/* Part `part` of the cases: every PROCESSES-th seed, in a process of its own. */
static void fuzz(uint64_t part)
{
    struct timespec now;
    uint64_t first, cases = lab_setting("STEELYARD_FUZZ_CASES", 10000), wrong = 0;
    sy_context *whole = lab_open("cpu:threads=1", NULL, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    first = lab_setting("STEELYARD_FUZZ_SEED",
                        (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    fprintf(stderr, "STEELYARD_FUZZ_SEED=%llu, every %dth of %llu cases from the %dth\n",
            (unsigned long long)first, PROCESSES, (unsigned long long)cases, (int)part);
    cr_assert(whole);
    signal(SIGALRM, hung);
    for (uint64_t i = part; i < cases; i += PROCESSES) {
        running = first + i;
        alarm(HANG_SECONDS);
        wrong += !check_case(whole, first + i);
        if (wrong >= 10)
            break;
    }
    alarm(0);
    cr_expect_eq(wrong, 0, "%d wrong cases; replay one with the seed that is printed", (int)wrong);
    sy_context_destroy(&whole);
}

Test(split_fuzz, part_0)
{
    fuzz(0);
}

Test(split_fuzz, part_1)
{
    fuzz(1);
}

Test(split_fuzz, part_2)
{
    fuzz(2);
}

Test(split_fuzz, part_3)
{
    fuzz(3);
}
