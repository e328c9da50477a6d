/*
 * Two unequal parts of one GPU as devices of their own: what each takes alone, what both take
 * together, and what they would take if the work were split without loss: the table that
 * run_on_gpu.sh prints. The parts are 8 to 3 (of 132 multiprocessors 96 and 36), as nearly as the
 * GPU divides.
 *
 * gpu_parts COLUMNS [DRIVER]; 77: no usable GPU. Profiles are written to the working directory.
 */
#include "support/lab.h"
#include "support/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, PARTS = 2 };

static const char *const workloads[] = {"bollinger", "ema", "sum"}; /* of each pattern one */

typedef struct bench {
    sy_context *context;
    sy_device_info part[PARTS];
    int64_t columns;
    double *x, *y[3];       /* in the host's memory */
    void *gpu_x, *gpu_y[3]; /* on the GPU */
} bench;

static sy_context *open_devices(const char *devices, const char *driver)
{
    const sy_config config = {.struct_size = sizeof config,
                              .devices = devices,
                              .multigpu_path = "gpu_parts.json",
                              .thresholds_path = "gpu_parts_thresholds.json",
                              .cuda_driver = driver,
                              .frozen = 1};
    sy_context *context = NULL;
    sy_context_create(&config, &context);
    return context;
}

/* The units of the only device that the item opens; 0: none. */
static int units_of(const char *item, const char *driver)
{
    sy_device_info info = {.units = 0};
    sy_context *context = open_devices(item, driver);
    if (context)
        sy_device_query(context, 0, &info);
    sy_context_destroy(&context);
    return info.units;
}

/* Whole groups of multiprocessors, and what is left over for the smaller part; less of that until
 * the GPU has it. */
static int open_parts(bench *b, const char *driver)
{
    int units = units_of("cuda:0", driver), group = units ? units_of("cuda:0/1", driver) : 0;
    int large = group ? (16 * (units / group) + 11) / 22 * group : 0;
    for (int small = units - large; group && !b->context && small > 0; small -= group) {
        char item[64];
        snprintf(item, sizeof item, "cuda:0/%d+%d", large, small);
        b->context = open_devices(item, driver);
    }
    for (int i = 0; b->context && i < PARTS; i++)
        sy_device_query(b->context, i, &b->part[i]);
    return b->context != NULL;
}

static int make_arrays(bench *b)
{
    const size_t bytes = (size_t)b->columns * sizeof(double);
    int ok =
        (b->x = malloc(bytes)) != NULL && sy_memory_alloc(b->context, 0, bytes, &b->gpu_x) == SY_OK;
    for (int k = 0; k < 3; k++)
        ok = ok && (b->y[k] = malloc(bytes)) != NULL &&
             sy_memory_alloc(b->context, 0, bytes, &b->gpu_y[k]) == SY_OK;
    if (ok)
        series_fill(SERIES_WALK, 1, b->x, b->columns);
    return ok && sy_memory_copy(b->context, b->gpu_x, b->x, bytes) == SY_OK;
}

static void release(bench *b)
{
    sy_memory_free(b->context, &b->gpu_x);
    for (int k = 0; k < 3; k++) {
        sy_memory_free(b->context, &b->gpu_y[k]);
        free(b->y[k]);
    }
    free(b->x);
    sy_context_destroy(&b->context);
}

/* The milliseconds of one run; 0: it failed. `part` < 0: both. */
static double run(const bench *b, const char *workload, int on_gpu, int part, const char *tag)
{
    const void *in[] = {on_gpu ? b->gpu_x : b->x};
    sy_ratio alone = {part < 0 ? NULL : b->part[part].id, 1};
    sy_options options = {.struct_size = sizeof options,
                          .tag = tag,
                          .ratios = part < 0 ? NULL : &alone,
                          .n_ratios = part < 0 ? 0 : 1};
    sy_work work = {.struct_size = sizeof work,
                    .workload = workload,
                    .columns = b->columns,
                    .inputs = in,
                    .outputs = on_gpu ? (void *const *)b->gpu_y : (void *const *)b->y};
    sy_report report = {.struct_size = sizeof report};
    double ms =
        distribute_workload(b->context, &work, &options, &report) == SY_OK ? report.wall_ms : 0;
    if (ms == 0)
        fprintf(stderr, "%s: %s\n", workload, sy_last_error()->text);
    sy_report_clear(&report);
    return ms;
}

static int by_size(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Medians of part 0 alone, part 1 alone and both, in turn; 0 when a run failed. */
static int measure(const bench *b, const char *workload, int on_gpu, const char *tag, int ways,
                   double *ms)
{
    double times[PARTS + 1][RUNS];
    for (int i = -1; i < RUNS; i++) /* the first round warms up */
        for (int way = 0; way < ways; way++) {
            double one = run(b, workload, on_gpu, way < PARTS ? way : -1, tag);
            if (one == 0)
                return 0;
            if (i >= 0)
                times[way][i] = one;
        }
    for (int way = 0; way < ways; way++) {
        qsort(times[way], RUNS, sizeof(double), by_size);
        ms[way] = times[way][RUNS / 2];
    }
    return 1;
}

/* Arrays in the host's memory are split by a profile; those on the GPU, of which a profile knows
 * nothing, by the speeds that the parts have shown. */
static int prepare(const bench *b, const char *workload, int on_gpu, const char *tag)
{
    const sy_profile_options options = {.struct_size = sizeof options,
                                        .workload = workload,
                                        .tag = tag,
                                        .sample_size = b->columns,
                                        .runs = RUNS};
    double ms[PARTS];
    sy_ratio ratios[PARTS];
    if (!on_gpu)
        return sy_profile_auto_balance(b->context, &options, NULL) == SY_OK;
    if (!measure(b, workload, on_gpu, NULL, PARTS, ms))
        return 0;
    for (int i = 0; i < PARTS; i++)
        ratios[i] = (sy_ratio){b->part[i].id, 1 / ms[i]};
    return sy_balance_set(b->context, tag, ratios, PARTS) == SY_OK;
}

static int print_row(const bench *b, const char *workload, int on_gpu)
{
    double ms[PARTS + 1], ideal;
    char tag[64];
    snprintf(tag, sizeof tag, "%s_%s", workload, on_gpu ? "gpu" : "host");
    if (!prepare(b, workload, on_gpu, tag) || !measure(b, workload, on_gpu, tag, PARTS + 1, ms)) {
        fprintf(stderr, "%s: %s\n", tag, sy_last_error()->text);
        return 1;
    }
    ideal = 1 / (1 / ms[0] + 1 / ms[1]);
    printf("| %s | %s | %.3f | %.3f | %.3f | %.3f | %.3f |\n", workload, on_gpu ? "GPU" : "host",
           ms[0], ms[1], ideal, ms[2], ideal / ms[2]);
    return 0;
}

int main(int argc, char **argv)
{
    bench b = {.columns = argc > 1 ? strtoll(argv[1], NULL, 10) : 1 << 24};
    int failed = 0;
    if (b.columns <= 0 || !open_parts(&b, argc > 2 ? argv[2] : NULL)) {
        fprintf(stderr, "%s\n", sy_last_error()->text);
        return 77;
    }
    if (!make_arrays(&b)) {
        fprintf(stderr, "%s\n", sy_last_error()->text);
        release(&b);
        return 1;
    }
    printf("| workload, %lld columns | arrays on | %s alone, ms | %s alone, ms | ideal, ms | "
           "together, ms | efficiency |\n|---|---|---|---|---|---|---|\n",
           (long long)b.columns, b.part[0].name, b.part[1].name);
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        for (int on_gpu = 0; on_gpu < 2; on_gpu++)
            failed |= print_row(&b, workloads[w], on_gpu);
    release(&b);
    return failed;
}
