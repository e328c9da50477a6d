/*
 * Fixed costs that do not pay: for a small work the best is one device, for a larger one some, for
 * a large one all. The library with all devices against the library with each subset of them, in
 * turn; who is best is measured, not modelled.
 */
#include "balance.h"

#include "series.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES = 3, SUBSETS = 1 << DEVICES };

/* Near and slow; further and faster; far away. */
static const char *const list[DEVICES] = {
    "sim:near:speed=0.1",
    "sim:mid:speed=0.2:latency=300us",
    "sim:far:speed=0.1:latency=5ms",
};

static sy_context *open_subset(int subset)
{
    char devices[256] = "";
    for (int i = 0; i < DEVICES; i++)
        if (subset >> i & 1)
            snprintf(devices + strlen(devices), sizeof devices - strlen(devices), "%s%s",
                     devices[0] ? "," : "", list[i]);
    return balance_devices(devices);
}

static void name_subset(int subset, char name[64])
{
    name[0] = '\0';
    for (int i = 0; i < DEVICES; i++)
        if (subset >> i & 1)
            snprintf(name + strlen(name), 64 - strlen(name), "%s%.*s", name[0] ? "+" : "",
                     (int)strcspn(list[i] + 4, ":"), list[i] + 4);
}

typedef struct call {
    sy_context *context;
    sy_work work;
} call;

static void run_call(void *user)
{
    call *c = user;
    bench_check(distribute_workload(c->context, &c->work, NULL, NULL));
}

static void print(int64_t n, bench_side *sides, const char *decision)
{
    char best[64];
    int fastest = 1;
    for (int subset = 2; subset < SUBSETS; subset++)
        if (sides[subset].median < sides[fastest].median)
            fastest = subset;
    name_subset(fastest, best);
    bench_row("small");
    bench_figure("n", (double)n, 0);
    bench_figure("ms", sides[0].median / 1e6, 4);
    bench_word("decision", decision);
    bench_word("best_subset", best);
    bench_figure("best_ms", sides[fastest].median / 1e6, 4);
    bench_figure("of_best", bench_ratio(&sides[fastest], &sides[0]), 4);
    bench_figure("of_best_least", sides[fastest].least / sides[0].least, 4);
    bench_figure("of_itself", bench_ratio(&sides[SUBSETS - 1], &sides[0]), 4);
    bench_row_end();
}

static void measure(call *calls, int64_t n, const void *const *in, void *const *out)
{
    bench_side sides[SUBSETS];
    sy_plan_info info = {.struct_size = sizeof info};
    for (int i = 0; i < SUBSETS; i++) {
        calls[i].work = (sy_work){.struct_size = sizeof calls[i].work,
                                  .workload = balance_workload,
                                  .columns = n,
                                  .inputs = in,
                                  .outputs = out};
        sides[i] = (bench_side){.work = run_call, .user = &calls[i]};
    }
    bench_progress("all subsets of three devices, %lld elements", (long long)n);
    bench_time(sides, SUBSETS);
    bench_check(sy_plan_explain(calls[0].context, &calls[0].work, NULL, &info));
    print(n, sides, info.decision);
    sy_plan_info_clear(&info);
}

void balance_small(double from, double to)
{
    sy_profile_options how = {.struct_size = sizeof how,
                              .workload = balance_workload,
                              .sample_size = to < 1048576 ? (int64_t)to : 1048576,
                              .runs = 3};
    call calls[SUBSETS];
    double *in = bench_array((int64_t)to, 0), *out = bench_array((int64_t)to, 1);
    const void *inputs[] = {in};
    void *outputs[] = {out};
    bench_series_fill("walk", 0, in, (int64_t)to);
    calls[0].context = open_subset(SUBSETS - 1);
    bench_progress("profiling three devices");
    bench_check(sy_profile_auto_balance(calls[0].context, &how, NULL));
    for (int i = 1; i < SUBSETS; i++)
        calls[i].context = open_subset(i);
    for (double n = from; n <= to * 1.001; n *= 10)
        measure(calls, (int64_t)n, inputs, outputs);
    for (int i = 0; i < SUBSETS; i++)
        sy_context_destroy(&calls[i].context);
    bench_forget();
    bench_array_free(in);
    bench_array_free(out);
}
