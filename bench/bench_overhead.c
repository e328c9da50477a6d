/*
 * What the library costs beside the work itself, through its public interface: a tiny call; a call
 * against a plain OpenMP loop over the same function; planning; a context that does nothing; the
 * phases of a run and the time that none of them explains. (What a packet of the queue and the
 * split of 100,000 devices cost can be seen from inside only: bench_inside.)
 */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "loops.h"
#include "series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TILE = 4096 };
enum { SIZES, DEVICES, SECONDS, ONLY, OPTIONS };

static const char *const parts[] = {"call", "loop", "plan", "idle", "phases", NULL};
static bench_option options[OPTIONS] = {
    [SIZES] = {.name = "sizes",
               .value = "N",
               .help = "elements of the calls and of the loop",
               .fallback = "1000 100000 10000000",
               .least = 1,
               .most = 1e10,
               .many = 1},
    [DEVICES] = {.name = "plan-devices",
                 .value = "N",
                 .help = "devices to plan for",
                 .fallback = "10 100 1000",
                 .least = 1,
                 .most = 1e5,
                 .many = 1},
    [SECONDS] = {.name = "idle-seconds",
                 .value = "X",
                 .help = "how long to look at an idle context",
                 .fallback = "1",
                 .least = 1e-3,
                 .most = 3600},
    [ONLY] = {.name = "only",
              .value = "PART",
              .help = "parts to measure",
              .fallback = "call loop plan idle phases",
              .words = parts,
              .many = 1},
};

/* ---- calls ---- */

typedef struct call {
    sy_context *context;
    sy_work work;
    const double *in;
    double *out;
    const void *inputs[1];
    void *outputs[1];
} call;

static void run_call(void *user)
{
    call *c = user;
    bench_check(distribute_workload(c->context, &c->work, NULL, NULL));
}

static void make_call(call *c, sy_context *context, const char *workload, int64_t n)
{
    *c = (call){.context = context, .in = bench_array(n, 0), .out = bench_array(n, 1)};
    bench_series_fill("walk", 0, (double *)c->in, n);
    c->inputs[0] = c->in;
    c->outputs[0] = c->out;
    c->work = (sy_work){.struct_size = sizeof c->work,
                        .workload = workload,
                        .columns = n,
                        .inputs = c->inputs,
                        .outputs = c->outputs};
}

static void clear_call(call *c)
{
    bench_array_free((double *)c->in);
    bench_array_free(c->out);
}

static void run_textbook(void *user)
{
    const call *c = user;
    bench_textbook_of("sma")->loop(&c->in, &c->out, c->work.columns, 20);
}

/* A call and the textbook loop for the same: what is left when the size goes to one is the cost of
 * the call. */
static void measure_call(sy_context *context, const char *devices, int64_t n)
{
    call c;
    make_call(&c, context, "sma", n);
    bench_side sides[] = {{.work = run_call, .user = &c}, {.work = run_textbook, .user = &c}};
    bench_progress("one call, %s, %lld elements", devices, (long long)n);
    bench_time(sides, 2);
    bench_row("call");
    bench_word("devices", devices);
    bench_word("workload", "sma");
    bench_figure("n", (double)n, 0);
    bench_figure("us", sides[0].median / 1e3, 3);
    bench_figure("us_least", sides[0].least / 1e3, 3);
    bench_figure("textbook_us", sides[1].median / 1e3, 3);
    bench_row_end();
    clear_call(&c);
}

static void measure_calls(void)
{
    static const char *const devices[] = {"cpu:threads=1", "cpu"};
    for (int d = 0; d < 2; d++) {
        sy_context *context = bench_open(devices[d], NULL);
        measure_call(context, devices[d], 1);
        for (int i = 0; i < options[SIZES].count; i++)
            measure_call(context, devices[d], (int64_t)options[SIZES].number[i]);
        sy_context_destroy(&context);
    }
}

/* ---- the same function in a plain OpenMP loop ---- */

static void run_loop(void *user)
{
    const call *c = user;
    const int64_t n = c->work.columns;
    int64_t first;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (n > TILE)
#endif
    for (first = 0; first < n; first += TILE) {
        const double *in = c->in + first;
        double *out = c->out + first;
        sy_segment segment = {.in = &in,
                              .out = &out,
                              .first = first,
                              .count = n - first < TILE ? n - first : TILE,
                              .columns = n};
        bench_light(&segment);
    }
}

static void measure_loop(sy_context *context, int64_t n)
{
    call c;
    make_call(&c, context, "light", n);
    bench_side sides[] = {{.work = run_call, .user = &c}, {.work = run_loop, .user = &c}};
    bench_progress("a call against a loop, %lld elements", (long long)n);
    bench_time(sides, 2);
    bench_row("loop");
    bench_word("workload", "1.5 x + 2.5");
    bench_figure("n", (double)n, 0);
    bench_figure("us", sides[0].median / 1e3, 3);
    bench_figure("loop_us", sides[1].median / 1e3, 3);
    bench_figure("vs_loop", bench_ratio(&sides[0], &sides[1]), 3);
    bench_figure("vs_loop_least", sides[0].least / sides[1].least, 3);
    bench_figure("extra_us", (sides[0].median - sides[1].median) / 1e3, 3);
    bench_row_end();
    clear_call(&c);
}

static void measure_loops(void)
{
    sy_context *context = bench_open("cpu", NULL);
    bench_register_light(context);
    for (int i = 0; i < options[SIZES].count; i++)
        measure_loop(context, (int64_t)options[SIZES].number[i]);
    sy_context_destroy(&context);
}

/* ---- planning ---- */

typedef struct planning {
    sy_context *context;
    sy_plan_info info;
} planning;

static void run_plan(void *user)
{
    planning *p = user;
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .columns = 1000000000};
    sy_plan_info_clear(&p->info);
    p->info.struct_size = sizeof p->info;
    bench_check(sy_plan_explain(p->context, &work, NULL, &p->info));
}

/* Devices of speeds 1 to 10, so fast that profiling them takes no time. */
static sy_context *open_many(int count)
{
    size_t size = (size_t)count * 32, used = 0;
    char *list = malloc(size);
    sy_context *context;
    if (!list)
        bench_fail("no memory for a list of %d devices", count);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, size - used, "%ssim:d%d:speed=%d", i ? "," : "", i,
                                 1000 * (1 + i % 10));
    context = bench_open(list, NULL);
    free(list);
    return context;
}

static void measure_plan(int count)
{
    sy_profile_options how = {.struct_size = sizeof how,
                              .workload = "sma",
                              .sample_size = 16384,
                              .runs = 1,
                              .warmup = -1};
    planning p = {.context = open_many(count), .info = {.struct_size = sizeof p.info}};
    bench_side side = {.work = run_plan, .user = &p};
    bench_progress("profiling %d simulated devices", count);
    bench_check(sy_profile_auto_balance(p.context, &how, NULL));
    bench_progress("planning for %d devices", count);
    bench_time(&side, 1);
    bench_row("plan");
    bench_figure("devices", count, 0);
    bench_figure("n", 1e9, 0);
    bench_figure("us", side.median / 1e3, 1);
    bench_figure("us_least", side.least / 1e3, 1);
    bench_word("decision", p.info.decision);
    bench_row_end();
    sy_plan_info_clear(&p.info);
    sy_context_destroy(&p.context);
    bench_forget();
}

/* ---- a context that does nothing ---- */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure_idle(const char *devices)
{
    const double seconds = options[SECONDS].number[0];
    struct timespec pause = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    sy_context *context = bench_open(devices, NULL);
    double began, cpu;
    call c;
    make_call(&c, context, "sma", 1000000);
    run_call(&c);
    bench_progress("idle, %s", devices);
    began = bench_now_ns();
    cpu = cpu_seconds();
    nanosleep(&pause, NULL);
    cpu = cpu_seconds() - cpu;
    bench_row("idle");
    bench_word("devices", devices);
    bench_figure("seconds", (bench_now_ns() - began) / 1e9, 3);
    bench_figure("cpu_s_per_s", cpu / ((bench_now_ns() - began) / 1e9), 5);
    bench_row_end();
    clear_call(&c);
    sy_context_destroy(&context);
}

/* ---- the phases of a run ---- */

static void print_phases(const char *devices, const sy_report *r)
{
    for (int i = 0; i < r->n_devices; i++) {
        const sy_device_report *d = &r->devices[i];
        bench_row("phases");
        bench_word("devices", devices);
        bench_word("device", d->name);
        bench_figure("n", (double)r->columns, 0);
        bench_figure("elements", (double)d->elements, 0);
        bench_figure("in_us", 1e3 * d->copy_in_ms, 2);
        bench_figure("compute_us", 1e3 * d->compute_ms, 2);
        bench_figure("out_us", 1e3 * d->copy_out_ms, 2);
        bench_figure("busy_us", 1e3 * d->busy_ms, 2);
        bench_figure("wall_us", 1e3 * r->wall_ms, 2);
        bench_figure("predicted_us", r->predicted_ms < 0 ? NAN : 1e3 * r->predicted_ms, 2);
        bench_figure("unaccounted_us", 1e3 * r->unaccounted_ms, 2);
        bench_figure("efficiency", r->efficiency, 4);
        bench_row_end();
    }
}

/* The fourth call: by then the context knows its devices. */
static void measure_phases(const char *name, const char *devices, int64_t n)
{
    sy_context *context = bench_open(devices, NULL);
    sy_report report = {.struct_size = sizeof report};
    call c;
    make_call(&c, context, "sma", n);
    bench_progress("phases, %s, %lld elements", name, (long long)n);
    for (int i = 0; i < 3; i++)
        run_call(&c);
    bench_check(distribute_workload(context, &c.work, NULL, &report));
    print_phases(name, &report);
    sy_report_clear(&report);
    clear_call(&c);
    sy_context_destroy(&context);
}

int main(int argc, char **argv)
{
    bench_begin("bench_overhead", "What the library costs beside the work itself.", options,
                OPTIONS, argc, argv);
    bench_check_memory(&options[SIZES], 2 * sizeof(double));
    bench_start(NULL);
    if (bench_wants(&options[ONLY], "call"))
        measure_calls();
    if (bench_wants(&options[ONLY], "loop"))
        measure_loops();
    for (int i = 0; i < options[DEVICES].count && bench_wants(&options[ONLY], "plan"); i++)
        measure_plan((int)options[DEVICES].number[i]);
    if (bench_wants(&options[ONLY], "idle")) {
        measure_idle("cpu");
        measure_idle("cpu,sim:a,sim:b");
    }
    for (int i = 0; i < options[SIZES].count && bench_wants(&options[ONLY], "phases"); i++) {
        int64_t n = (int64_t)options[SIZES].number[i];
        measure_phases("cpu", "cpu", n);
        measure_phases("simulated 4:1",
                       "sim:a:speed=0.8:link=4GB/s:latency=20us,sim:b:speed=0.2:link=4GB/s", n);
    }
    return bench_end();
}
