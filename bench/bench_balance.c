/*
 * How well unequal devices are kept busy: the time that a perfect split would take, divided by the
 * time that a call takes. Simulated devices of known speeds, so "perfect" is known: elements
 * divided by the sum of the speeds. The players of a line run in turn: the library; equal split and
 * static ratios (both through the library, forced); pure dynamic packets and HGuided; StarPU, where
 * this was built with it.
 */
#include "balance.h"

#include <math.h>
#include <stdlib.h>

static const double elements_per_speed = 1e8;

static const machine machines[] = {
    {"1:1", 2, {1, 1}},   {"2:1", 2, {2, 1}},           {"4:1", 2, {4, 1}},
    {"10:1", 2, {10, 1}}, {"8:4:2:1", 4, {8, 4, 2, 1}},
};
enum { MACHINES = sizeof machines / sizeof *machines };

enum { ELEMENTS, RUNS, CASES, WORKLOAD, SMALL_FROM, SMALL_TO, OPTIONS };
static const char *const cases[] = {"profile", "first", "slower", "off", "small", NULL};
static const char *const workloads[] = {"light", "sma", NULL};
static bench_option options[OPTIONS] = {
    [ELEMENTS] = {.name = "elements",
                  .value = "N",
                  .help = "of a run",
                  .fallback = "16000000",
                  .least = 1,
                  .most = 1e10},
    [RUNS] = {.name = "runs",
              .value = "N",
              .help = "of each player",
              .fallback = "7",
              .least = 1,
              .most = MOST_RUNS},
    [CASES] = {.name = "cases",
               .value = "CASE",
               .help = "which (bench/README.md)",
               .fallback = "profile first slower off small",
               .words = cases,
               .many = 1},
    [WORKLOAD] = {.name = "workload",
                  .value = "NAME",
                  .help = "what the devices compute",
                  .fallback = "light",
                  .words = workloads},
    [SMALL_FROM] = {.name = "small-from",
                    .value = "N",
                    .help = "least size of the case `small`",
                    .fallback = "100",
                    .least = 1,
                    .most = 1e10},
    [SMALL_TO] = {.name = "small-to",
                  .value = "N",
                  .help = "its greatest size, by tens",
                  .fallback = "100000000",
                  .least = 1,
                  .most = 1e10},
};

/* ---- through the library ---- */

typedef struct through {
    sy_context *context;
    sy_options options;
    sy_ratio ratios[MOST_DEVICES];
} through;

static void run_through(void *state)
{
    const through *t = state;
    balance_compute(t->context, 0, balance_elements, &t->options);
}

static void close_through(void *state)
{
    through *t = state;
    sy_context_destroy(&t->context);
    free(t);
}

static player library(const track *t, const char *name, const double *ratios)
{
    static const char *const names[MOST_DEVICES] = {"a", "b", "c", "d"};
    double speeds[MOST_DEVICES];
    through *state = calloc(1, sizeof *state);
    if (!state)
        bench_fail("no memory");
    balance_speeds(t->machine, t->slower, speeds);
    state->context = balance_open(speeds, 0, t->machine->count);
    state->options.struct_size = sizeof state->options;
    for (int i = 0; ratios && i < t->machine->count; i++)
        state->ratios[i] = (sy_ratio){names[i], ratios[i]};
    state->options.ratios = ratios ? state->ratios : NULL;
    state->options.n_ratios = ratios ? t->machine->count : 0;
    return (player){.name = name, .state = state, .run = run_through, .close = close_through};
}

static void make_profile(const machine *m)
{
    sy_profile_options how = {.struct_size = sizeof how,
                              .workload = balance_workload,
                              .sample_size = balance_elements < 262144 ? balance_elements : 262144,
                              .runs = 3};
    double speeds[MOST_DEVICES];
    sy_context *context;
    balance_speeds(m, NULL, speeds);
    context = balance_open(speeds, 0, m->count);
    bench_progress("profiling %s", m->name);
    bench_check(sy_profile_auto_balance(context, &how, NULL));
    sy_context_destroy(&context);
}

/* ---- the race ---- */

static void print(const track *t, player *p, int runs)
{
    double speeds[MOST_DEVICES], sum = 0, ideal, first = p->ms[0], fourth = NAN, median;
    balance_speeds(t->machine, t->slower, speeds);
    for (int i = 0; i < t->machine->count; i++)
        sum += speeds[i];
    ideal = (double)balance_elements / (sum * elements_per_speed) * 1e3;
    if (runs > 3)
        fourth = p->ms[3];
    median = bench_median(p->ms, runs);
    bench_row("balance");
    bench_word("case", t->name);
    bench_word("speeds", t->machine->name);
    bench_word("player", p->name);
    bench_figure("n", (double)balance_elements, 0);
    bench_figure("ideal_ms", ideal, 3);
    bench_figure("efficiency", ideal / median, 4);
    bench_figure("best", ideal / p->ms[0], 4);
    bench_figure("worst", ideal / p->ms[runs - 1], 4);
    bench_figure("first", ideal / first, 4);
    bench_figure("fourth", ideal / fourth, 4);
    bench_row_end();
}

static double run_ms(const player *p)
{
    double began, took;
    if (p->wake)
        p->wake(p->state);
    began = bench_now_ns();
    p->run(p->state);
    took = bench_now_ns() - began;
    if (p->rest)
        p->rest(p->state);
    return took / 1e6;
}

static void race(const track *t, player *players, int count)
{
    const int runs = (int)options[RUNS].number[0];
    for (int run = 0; run < runs; run++)
        for (int i = 0; i < count; i++) {
            bench_progress("%s, %s, %s, run %d of %d", t->name, t->machine->name, players[i].name,
                           run + 1, runs);
            players[i].ms[run] = run_ms(&players[i]);
        }
    for (int i = 0; i < count; i++) {
        print(t, &players[i], runs);
        players[i].close(players[i].state);
    }
}

static void race_all(const char *name, const machine *m, const double *slower)
{
    static const double equal[MOST_DEVICES] = {1, 1, 1, 1};
    const track t = {name, m, slower};
    player players[MOST_PLAYERS];
    int count = 0;
    make_profile(m);
    players[count++] = library(&t, "steelyard", NULL);
    players[count++] = library(&t, "equal", equal);
    players[count++] = library(&t, "static", m->weight);
    players[count++] = balance_pool(&t, 0);
    players[count++] = balance_pool(&t, 1);
    count += balance_starpu(&t, players + count);
    race(&t, players, count);
    bench_forget();
}

int main(int argc, char **argv)
{
    static const double slower[MOST_DEVICES] = {3, 1, 1, 1}, off[MOST_DEVICES] = {1.2, 1, 1, 1};
    bench_begin("bench_balance", "How well unequal devices are kept busy: ideal time / time.",
                options, OPTIONS, argc, argv);
    if (options[SMALL_FROM].number[0] > options[SMALL_TO].number[0])
        bench_usage("--small-from %.0f is above --small-to %.0f", options[SMALL_FROM].number[0],
                    options[SMALL_TO].number[0]);
    bench_check_memory(&options[ELEMENTS], 2 * sizeof(double));
    if (bench_wants(&options[CASES], "small"))
        bench_check_memory(&options[SMALL_TO], 2 * sizeof(double));
    bench_start(NULL);
    balance_begin((int64_t)options[ELEMENTS].number[0], options[WORKLOAD].text[0]);
    for (int k = 0; k < MACHINES && bench_wants(&options[CASES], "profile"); k++)
        race_all("profile", &machines[k], NULL);
    if (bench_wants(&options[CASES], "first")) {
        const track t = {"first", &machines[3], NULL};
        player players[] = {library(&t, "steelyard", NULL)};
        race(&t, players, 1);
        bench_forget();
    }
    if (bench_wants(&options[CASES], "slower"))
        race_all("slower", &machines[2], slower);
    if (bench_wants(&options[CASES], "off"))
        race_all("off", &machines[2], off);
    balance_end();
    if (bench_wants(&options[CASES], "small"))
        balance_small(options[SMALL_FROM].number[0], options[SMALL_TO].number[0]);
    return bench_end();
}
