/*
 * Device memory: the budget holds, arrays larger than the device stream through, where memory is
 * short the parts get smaller down to one tile at a time, and a device that has not even room for
 * that leaves the run, not the context.
 */
#include "resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 4096 };

static vcuda_counts counts_of(int device)
{
    vcuda_counts counts;
    vcuda_counters(device, &counts);
    return counts;
}

/* Everything kept between calls is given back by sy_trim; the budget holds. */
static void budget(void)
{
    const uint64_t budget = 600000;
    vcuda_counts counts;
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", budget, 0, NULL);
    GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "budget") == SY_OK, "%s", sy_last_error()->text);
    counts = counts_of(0);
    GPU_CHECK(counts.peak_bytes <= budget && counts.launches > 1, "peak %llu, %llu launches",
              (unsigned long long)counts.peak_bytes, (unsigned long long)counts.launches);
    GPU_CHECK(counts.live_bytes > 0 && counts.live_host > 0, "nothing is kept");
    sy_trim(context);
    counts = counts_of(0);
    GPU_CHECK(!counts.live_bytes && !counts.live_host, "sy_trim left %lld bytes",
              (long long)counts.live_bytes);
    gpu_close(&context, "memory");
}

/* Of the host's memory no more is pinned than is staged: of floats what the caller has, not what
 * the kernel works on, and of arrays that are pinned already only what is in doubt. */
static void staging(sy_dtype dtype, resident_place place)
{
    enum { ARRAYS = 2, FEW = 20000 };
    const uint64_t array = GPU_MOST * (dtype == SY_F32 ? sizeof(float) : sizeof(double));
    const uint64_t theirs = place == ON_PINNED ? ARRAYS * array : 0;
    const uint64_t staged = place == ON_PINNED ? 0 : ARRAYS * array;
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_context *context;
    vcuda_counts counts;
    c.dtype = dtype;
    if (dtype == SY_F32)
        lab_round_to_floats(gpu_x, GPU_MOST);
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    GPU_CHECK(resident_compare(context, &c, place, place, NULL, NULL, "staging") == SY_OK, "%s",
              sy_last_error()->text);
    sy_trim(context);
    counts = counts_of(0);
    printf("staging of %s, %s: at most %llu bytes pinned\n", dtype == SY_F32 ? "f32" : "f64",
           resident_name(place), (unsigned long long)counts.peak_pinned);
    GPU_CHECK(counts.peak_pinned <= theirs + staged + FEW, "%llu bytes pinned, %llu by the caller",
              (unsigned long long)counts.peak_pinned, (unsigned long long)theirs);
    gpu_close(&context, "staging");
}

/* Work that is a little larger each time does not ask for memory each time; where there is no room
 * for more than is needed, that is asked for, and nothing is made smaller. */
static void growing(int is_short)
{
    enum { LEAST = 10000, STEP = 500, CALLS = 21 };
    uint64_t asked;
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    asked = vcuda_calls("cuMemAlloc");
    for (int i = 0; i < CALLS; i++) {
        lab_case c = gpu_case("sma", LEAST + i * STEP);
        sy_report report = {.struct_size = sizeof report};
        if (is_short && i == 1)
            GPU_CHECK(vcuda_fault("call=cuMemAlloc,error=CUDA_ERROR_OUT_OF_MEMORY") == 0, "%s",
                      vcuda_message());
        GPU_CHECK(gpu_compare(context, &c, NULL, &report, "growing") == SY_OK, "%s",
                  sy_last_error()->text);
        GPU_CHECK(report.n_devices == 1 && !report.devices[0].retries, "call %d: smaller parts", i);
        sy_report_clear(&report);
    }
    asked = vcuda_calls("cuMemAlloc") - asked;
    GPU_CHECK(asked <= (is_short ? 6 : 4), "%d calls asked for memory %llu times", CALLS,
              (unsigned long long)asked);
    GPU_CHECK(counts_of(0).faults == (uint64_t)is_short, "it was not short");
    gpu_close(&context, "growing");
}

static int trim_it(void *context, uint64_t done, uint64_t tiles)
{
    (void)done, (void)tiles;
    sy_trim(context);
    return 0;
}

/* Who is asked within a run may trim: what the run uses stays. */
static void trim_within(void)
{
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    sy_options options = {
        .struct_size = sizeof options, .progress = trim_it, .progress_user = context};
    GPU_CHECK(gpu_compare(context, &c, &options, NULL, "trim within") == SY_OK, "%s",
              sy_last_error()->text);
    gpu_close(&context, "trim within");
}

/* A scope that is left at its end, by a return, and without a context any more. */
static int64_t leave_scope(sy_context **owner, int way)
{
    sy_context *context = *owner;
    lab_case c = gpu_case("sma", GPU_MOST);
    vcuda_counts kept;
    SY_TRIM_AT_SCOPE_END(context);
    for (int turn = 0; turn < 2; turn++) {
        SY_TRIM_AT_SCOPE_END(context);
        GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "guard") == SY_OK, "%s",
                  sy_last_error()->text);
        kept = counts_of(0);
        GPU_CHECK(kept.live_allocations > 0 && kept.live_host > 0, "turn %d: nothing is kept",
                  turn);
        if (way == 1)
            return kept.live_allocations;
        if (way == 2) {
            sy_context_destroy(&context);
            *owner = NULL;
            break;
        }
    }
    return counts_of(0).live_allocations;
}

/* Leaving the scope has given back what the context kept. */
static void guard(void)
{
    for (int way = 0; way < 3; way++) {
        vcuda_counts counts;
        sy_context *context;
        int64_t inside;
        gpu_world("gpus=1", NULL, 0);
        context = gpu_open("cuda,cpu:threads=1", 0, 0, NULL);
        inside = leave_scope(&context, way);
        counts = counts_of(0);
        GPU_CHECK(!counts.live_allocations && !counts.live_host,
                  "way %d: %lld allocations and %lld on the host outlive the scope", way,
                  (long long)counts.live_allocations, (long long)counts.live_host);
        GPU_CHECK((inside > 0) == (way == 1), "way %d: %lld allocations", way, (long long)inside);
        gpu_close(&context, "guard");
    }
}

/* An array twenty times as large as all of the GPU's memory, of which three quarters may be used.
 */
static void large_array(const char *workload, int64_t rows)
{
    const uint64_t memory = 1 << 19, budget = memory / 4 * 3;
    const int64_t values = 20 * (int64_t)memory / 8;
    double *x = malloc((size_t)values * sizeof *x);
    lab_case c = {.workload = workload, .rows = rows, .columns = values / rows, .x = x};
    sy_context *context;
    vcuda_counts counts;
    GPU_CHECK(x, "memory");
    if (!x)
        return;
    series_fill(SERIES_WALK, 5, x, values);
    gpu_world("gpus=1;0:memory=512KiB", NULL, 0);
    context = gpu_open("cuda", budget, 0, NULL);
    GPU_CHECK(context && gpu_compare(context, &c, NULL, NULL, workload) == SY_OK, "%s: %s",
              workload, sy_last_error()->text);
    counts = counts_of(0);
    GPU_CHECK(counts.peak_bytes <= budget, "%s: peak %llu", workload,
              (unsigned long long)counts.peak_bytes);
    GPU_CHECK(counts.bytes_in >= 20 * memory, "%s: only %llu bytes went to the GPU", workload,
              (unsigned long long)counts.bytes_in);
    gpu_close(&context, workload);
    free(x);
}

/* Which ways of running on a GPU with little memory have been seen. */
typedef struct seen {
    int at_once, smaller, singly, without;
} seen;

/* The budget promises more than there is, so that the first slabs do not fit. */
static void short_of(uint64_t memory, seen *seen)
{
    const int64_t tiles = (GPU_MOST + TILE - 1) / TILE, tile_bytes = 2 * TILE * 8;
    sy_report report = {.struct_size = sizeof report};
    lab_case c = gpu_case("sma", GPU_MOST);
    char world[64];
    sy_context *context;
    vcuda_counts counts;
    snprintf(world, sizeof world, "gpus=1;0:memory=%llu", (unsigned long long)memory);
    gpu_world(world, NULL, 0);
    context = gpu_open("cuda,cpu", UINT64_C(1) << 30, 0, NULL);
    GPU_CHECK(context && gpu_compare(context, &c,
                                     &(sy_options){.struct_size = sizeof(sy_options),
                                                   .ratios = &(sy_ratio){"cuda:0", 1},
                                                   .n_ratios = 1},
                                     &report, world) == SY_OK,
              "%s: %s", world, sy_last_error()->text);
    counts = counts_of(0);
    if (report.n_devices && !strcmp(report.devices[0].state, "out of memory")) {
        seen->without++;
        GPU_CHECK(report.devices[1].tiles == tiles && !counts.launches, "%s: %lld tiles on the CPU",
                  world, (long long)report.devices[1].tiles);
    } else if (report.n_devices) {
        GPU_CHECK(report.devices[0].tiles == tiles, "%s: %lld tiles on the GPU", world,
                  (long long)report.devices[0].tiles);
        seen->at_once += !report.devices[0].retries;
        seen->smaller += report.devices[0].retries && counts.launches < (uint64_t)tiles;
        seen->singly +=
            counts.launches == (uint64_t)tiles && counts.peak_bytes < 2 * (uint64_t)tile_bytes;
    }
    sy_report_clear(&report);
    gpu_close(&context, world);
}

static void short_memory(void)
{
    seen seen = {0};
    for (uint64_t memory = 3 << 20; memory > 40000; memory = memory * 4 / 5)
        short_of(memory, &seen);
    GPU_CHECK(seen.at_once && seen.smaller && seen.singly && seen.without,
              "at once %d, in parts %d, tile by tile %d, not at all %d", seen.at_once, seen.smaller,
              seen.singly, seen.without);
    printf("short memory: at once %d, in parts %d, tile by tile %d, not at all %d\n", seen.at_once,
           seen.smaller, seen.singly, seen.without);
}

/* Whatever it is that there is no memory for: the device leaves the run and takes part in the
 * next one. */
static void refused(const char *call)
{
    lab_case c = gpu_case("ema", GPU_MOST);
    char fault[96];
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    snprintf(fault, sizeof fault, "device=1,call=%s,times=10,error=CUDA_ERROR_OUT_OF_MEMORY", call);
    GPU_CHECK(context && vcuda_fault(fault) == 0, "%s", vcuda_message());
    for (int run = 0; context && run < 3; run++) {
        sy_report report = {.struct_size = sizeof report};
        const char *wanted = run ? "ok" : "out of memory";
        GPU_CHECK(gpu_compare(context, &c, NULL, &report, fault) == SY_OK, "%s: %s", fault,
                  sy_last_error()->text);
        GPU_CHECK(report.n_devices == 2 && !strcmp(report.devices[1].state, wanted) &&
                      !strcmp(report.devices[0].state, "ok"),
                  "%s, run %d: the device is %s", fault, run,
                  report.n_devices ? report.devices[1].state : "not there");
        sy_report_clear(&report);
    }
    gpu_close(&context, fault);
}

/* With nobody to take it over, that is the error. */
static void alone(void)
{
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", 0, 0, NULL);
    vcuda_fault("call=cuMemAlloc,times=0,error=CUDA_ERROR_OUT_OF_MEMORY");
    GPU_CHECK(context && gpu_compare(context, &c, NULL, NULL, "alone") == SY_ERR_MEMORY &&
                  lab_told(SY_ERR_MEMORY),
              "no memory at all");
    gpu_close(&context, "alone");
}

/* An array that is shorter than what is asked of it is the caller's mistake, not the GPU's. */
static void short_array(void)
{
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .columns = 1024,
                    .outputs = (void *const[]){gpu_x}};
    sy_context *context;
    void *array = NULL;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda,cpu:threads=1", 0, 0, NULL);
    GPU_CHECK(sy_memory_alloc(context, 0, 4096, &array) == SY_OK, "%s", sy_last_error()->text);
    work.inputs = (const void *const[]){array};
    GPU_CHECK(sy_memory_copy(context, array, gpu_x, 8192) == SY_ERR_ARGUMENT, "8192 bytes");
    GPU_CHECK(sy_memory_copy(context, gpu_x, (char *)array + 8, 4096) == SY_ERR_ARGUMENT, "4104");
    GPU_CHECK(distribute_workload(context, &work, NULL, NULL) == SY_ERR_ARGUMENT &&
                  strstr(sy_last_error()->text, "sma: input 'x' has 8192 bytes"),
              "%s", sy_last_error()->text);
    GPU_CHECK(sy_memory_copy(context, array, gpu_x, 4096) == SY_OK, "%s", sy_last_error()->text);
    sy_memory_free(context, &array);
    gpu_close(&context, "short array");
}

/* Pinned memory comes from a GPU that works; where none does it is plain. */
static void pinned_without_the_first(void)
{
    for (int alone = 0; alone < 2; alone++) {
        lab_case c = gpu_case("sma", GPU_MOST);
        sy_context *context;
        void *memory = NULL;
        int64_t pinned;
        gpu_world(alone ? "gpus=1" : "gpus=2", NULL, 0);
        context = gpu_open("cuda,cpu:threads=1", 0, 0, NULL);
        vcuda_fault("device=0,call=cuLaunchKernel,lost");
        GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "pinned") == SY_OK, "%s",
                  sy_last_error()->text);
        pinned = counts_of(-1).live_host;
        GPU_CHECK(sy_memory_alloc(context, SY_MEMORY_PINNED, 4096, &memory) == SY_OK, "%s",
                  sy_last_error()->text);
        GPU_CHECK(counts_of(-1).live_host == pinned + !alone, "%d GPUs: %lld, then %lld pinned",
                  2 - alone, (long long)pinned, (long long)counts_of(-1).live_host);
        sy_memory_free(context, &memory);
        gpu_close_kept(&context, 1, "pinned");
    }
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    budget();
    guard();
    staging(SY_F64, ON_HOST);
    staging(SY_F32, ON_HOST);
    staging(SY_F64, ON_PINNED);
    staging(SY_F32, ON_PINNED);
    growing(0);
    growing(1);
    trim_within();
    large_array("sma", 1);
    large_array("ema", 1);
    large_array("variance", 40);
    short_memory();
    refused("cuMemAlloc");
    refused("cuMemHostAlloc");
    refused("cuStreamCreate");
    refused("cuEventCreate");
    alone();
    short_array();
    pinned_without_the_first();
    return gpu_end();
}
