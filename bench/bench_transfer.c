/*
 * How fast data moves: within the host's memory for every shape (so many arrays read, so many
 * written), and between the host and each GPU, by the driver alone and through the library. What a
 * workload cannot be faster than.
 */
#include "driver.h"
#include "harness.h"
#include "loops.h"
#include "series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ARRAYS = 4 };
enum { SIZES, THREADS, BYTES, DRIVER, ONLY, OPTIONS };

static const char *const parts[] = {"memory", "copies", "library", NULL};
static bench_option options[OPTIONS] = {
    [SIZES] = {.name = "sizes",
               .value = "N",
               .help = "elements of an array in the host's memory",
               .fallback = "10000 1000000 50000000",
               .least = 1,
               .most = 1e10,
               .many = 1},
    [THREADS] = {.name = "threads",
                 .value = "N",
                 .help = "threads",
                 .fallback = "1 2",
                 .least = 1,
                 .most = 1024,
                 .many = 1},
    [BYTES] = {.name = "bytes",
               .value = "N",
               .help = "bytes of a copy to and from a GPU",
               .fallback = "65536 4194304 268435456",
               .least = 8,
               .most = 1e11,
               .many = 1},
    [DRIVER] = {.name = "cuda-driver",
                .value = "FILE",
                .help = "the CUDA driver's library (default the system's)"},
    [ONLY] = {.name = "only",
              .value = "PART",
              .help = "parts to measure",
              .fallback = "memory copies library",
              .words = parts,
              .many = 1},
};

/* ---- the host's memory ---- */

typedef struct stream {
    bench_stream_fn run;
    const double *in[ARRAYS];
    double *out[ARRAYS];
    int64_t n;
    int threads;
} stream;

static void run_stream(void *user)
{
    const stream *s = user;
    bench_stream_run(s->run, s->in, s->out, s->n, s->threads);
}

static void print_memory(const bench_stream *shape, int64_t n, int threads, bench_side *sides)
{
    const double bytes = 8.0 * (double)n * (shape->reads + shape->writes);
    const int past_is_faster = shape->past && sides[1].median < sides[0].median;
    const bench_side *better = &sides[past_is_faster];
    bench_row("memory");
    bench_word("read:write", shape->shape);
    bench_figure("n", (double)n, 0);
    bench_figure("threads", threads, 0);
    bench_figure("mb", bytes / 1e6, 3);
    bench_figure("gb_per_s", bytes / better->median, 2);
    bench_figure("most_gb_per_s", bytes / better->least, 2);
    bench_figure("plain", bytes / sides[0].median, 2);
    bench_figure("past_cache", shape->past ? bytes / sides[1].median : NAN, 2);
    bench_row_end();
}

static void measure_memory(int64_t n)
{
    double *arrays[ARRAYS];
    for (int k = 0; k < ARRAYS; k++)
        arrays[k] = bench_array(n, k);
    for (int t = 0; t < options[THREADS].count; t++)
        for (int i = 0; bench_stream_at(i); i++) {
            const bench_stream *shape = bench_stream_at(i);
            stream forms[2];
            bench_side sides[2];
            for (int k = 0; k < 2; k++) {
                forms[k] = (stream){.run = k ? shape->past : shape->plain,
                                    .n = n,
                                    .threads = (int)options[THREADS].number[t]};
                for (int a = 0; a < shape->reads; a++)
                    forms[k].in[a] = arrays[a];
                for (int a = 0; a < shape->writes; a++)
                    forms[k].out[a] = arrays[shape->reads + a];
                sides[k] = (bench_side){.work = run_stream, .user = &forms[k]};
            }
            bench_progress("memory, %s, %lld elements, %d thread%s", shape->shape, (long long)n,
                           forms[0].threads, forms[0].threads > 1 ? "s" : "");
            bench_time(sides, shape->past ? 2 : 1);
            print_memory(shape, n, forms[0].threads, sides);
        }
    for (int k = 0; k < ARRAYS; k++)
        bench_array_free(arrays[k]);
}

/* ---- GPUs ---- */

typedef struct transfer {
    driver_memory *memory;
    driver_way way;
} transfer;

static void run_transfer(void *user)
{
    const transfer *t = user;
    driver_copy(t->memory, t->way);
}

/* The simulated driver of the tests moves bytes at its own pace: its figures are no GPU's. */
static const char *is_simulated(void)
{
    const char *path = options[DRIVER].count ? options[DRIVER].text[0] : "";
    return strstr(path, "vcuda") ? "yes" : "no";
}

static void measure_copies(const char *name, size_t bytes)
{
    static const char *const ways[] = {"to", "from", "on"};
    for (int pinned = 0; pinned < 2; pinned++) {
        driver_memory memory;
        driver_reserve(&memory, bytes, pinned);
        for (int way = DRIVER_TO; way <= (pinned ? DRIVER_FROM : DRIVER_ON); way++) {
            transfer t = {&memory, (driver_way)way};
            bench_side side = {.work = run_transfer, .user = &t};
            /* A copy on the device reads and writes its memory. */
            const double moved = (double)bytes * (way == DRIVER_ON ? 2 : 1);
            bench_progress("%s, %s it, %zu bytes", name, ways[way], bytes);
            bench_time(&side, 1);
            bench_row("copy");
            bench_word("gpu", name);
            bench_word("simulated", is_simulated());
            bench_word("direction", ways[way]);
            bench_word("host_memory", way == DRIVER_ON ? "-" : pinned ? "pinned" : "pageable");
            bench_figure("bytes", (double)bytes, 0);
            bench_figure("us", side.median / 1e3, 2);
            bench_figure("gb_per_s", moved / side.median, 2);
            bench_figure("most_gb_per_s", moved / side.least, 2);
            bench_row_end();
        }
        driver_release(&memory);
    }
}

/* ---- GPUs through the library: the phases that a call reports ---- */

static double rate(double bytes, double ms)
{
    return ms > 0 ? bytes / ms / 1e6 : NAN;
}

static void measure_library(int gpu, const char *name, int64_t n)
{
    double *in = bench_array(n, 0), *out = bench_array(n, 1), walls[BENCH_MOST_PASSES];
    const void *inputs[] = {in};
    void *outputs[] = {out};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .columns = n,
                    .inputs = inputs,
                    .outputs = outputs};
    sy_report report = {.struct_size = sizeof report};
    char device[32];
    sy_context *context;
    snprintf(device, sizeof device, "cuda:%d", gpu);
    context = bench_open(device, options[DRIVER].count ? options[DRIVER].text[0] : NULL);
    bench_series_fill("walk", 0, in, n);
    bench_progress("%s, sma through the library, %lld elements", name, (long long)n);
    bench_check(distribute_workload(context, &work, NULL, NULL));
    for (int i = 0; i < bench_passes(); i++) {
        sy_report_clear(&report);
        report.struct_size = sizeof report;
        bench_check(distribute_workload(context, &work, NULL, &report));
        walls[i] = report.wall_ms;
    }
    bench_row("library");
    bench_word("gpu", name);
    bench_word("simulated", is_simulated());
    bench_word("workload", "sma");
    bench_figure("n", (double)n, 0);
    bench_figure("wall_ms", bench_median(walls, bench_passes()), 3);
    bench_figure("in_ms", report.devices[0].copy_in_ms, 3);
    bench_figure("compute_ms", report.devices[0].compute_ms, 3);
    bench_figure("out_ms", report.devices[0].copy_out_ms, 3);
    bench_figure("in_gb_per_s", rate(8.0 * (double)n, report.devices[0].copy_in_ms), 2);
    bench_figure("compute_gb_per_s", rate(16.0 * (double)n, report.devices[0].compute_ms), 2);
    bench_figure("out_gb_per_s", rate(8.0 * (double)n, report.devices[0].copy_out_ms), 2);
    bench_row_end();
    sy_report_clear(&report);
    sy_context_destroy(&context);
    bench_array_free(in);
    bench_array_free(out);
}

/* The number of GPUs, or why there are none, which is nothing wrong unless a driver was named. */
static int find_gpus(char why[256])
{
    const char *path = options[DRIVER].count ? options[DRIVER].text[0] : NULL;
    int gpus = driver_open(path, why);
    if (!gpus && path)
        bench_fail("--cuda-driver: %s", why);
    return gpus;
}

static void measure_gpus(int gpus, const char *why)
{
    char name[DRIVER_NAME];
    if (!gpus) {
        bench_row("copy");
        bench_word("gpu", "none");
        bench_word("reason", why);
        bench_row_end();
    }
    for (int gpu = 0; gpu < gpus; gpu++) {
        driver_use(gpu, name);
        for (int i = 0; i < options[BYTES].count && bench_wants(&options[ONLY], "copies"); i++)
            measure_copies(name, (size_t)options[BYTES].number[i]);
        for (int i = 0; i < options[BYTES].count && bench_wants(&options[ONLY], "library"); i++)
            measure_library(gpu, name, (int64_t)options[BYTES].number[i] / 8);
    }
    driver_close();
}

int main(int argc, char **argv)
{
    char why[256];
    int gpus = 0, wants_gpus;
    if (bench_most_threads() == 1)
        options[THREADS].fallback = "1";
    bench_begin("bench_transfer", "How fast data moves in the host's memory and to and from GPUs.",
                options, OPTIONS, argc, argv);
    bench_check_threads(&options[THREADS]);
    wants_gpus = bench_wants(&options[ONLY], "copies") || bench_wants(&options[ONLY], "library");
    if (wants_gpus)
        gpus = find_gpus(why);
    if (bench_wants(&options[ONLY], "memory"))
        bench_check_memory(&options[SIZES], ARRAYS * sizeof(double));
    if (gpus) /* what they have to hold themselves is not looked at */
        bench_check_memory(&options[BYTES], bench_wants(&options[ONLY], "library") ? 2 : 1);
    bench_start(NULL);
    for (int i = 0; i < options[SIZES].count && bench_wants(&options[ONLY], "memory"); i++)
        measure_memory((int64_t)options[SIZES].number[i]);
    if (wants_gpus)
        measure_gpus(gpus, why);
    return bench_end();
}
