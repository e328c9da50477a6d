/* What the programs of backend/ share. */
#include "gpu_lab.h"

#include "device/cuda/image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *gpu_driver;
sy_context *gpu_cpu;
uint64_t gpu_seed = 1;
int gpu_cases = 1000;
double gpu_x[GPU_MOST];
uint64_t gpu_checks, gpu_failures;
sy_gather gpu_gather;
const char *gpu_nccl;

static char *image; /* in the place of the built one; NULL: that */

void gpu_check(int truth, const char *file, int line, const char *format, ...)
{
    va_list arguments;
    gpu_checks++;
    if (truth)
        return;
    gpu_failures++;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static char *read_text(const char *path)
{
    enum { MOST_TEXT = 1 << 24 };
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MOST_TEXT);
    if (!file || !text || !fread(text, 1, MOST_TEXT - 1, file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

int gpu_begin(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            gpu_seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--cases") && i + 1 < argc)
            gpu_cases = atoi(argv[++i]);
        else if (image || !(image = read_text(argv[i])))
            return 0;
    }
    if (argc < 2)
        return 0;
    gpu_driver = argv[1];
    syi_cuda_image_set(image);
    setvbuf(stdout, NULL, _IOLBF, 0);
    gpu_cpu = lab_open("cpu:threads=1", NULL, NULL);
    return gpu_cpu != NULL;
}

int gpu_end(void)
{
    sy_context_destroy(&gpu_cpu);
    free(image);
    printf("%llu checks, %llu failures\n", (unsigned long long)gpu_checks,
           (unsigned long long)gpu_failures);
    return gpu_failures != 0 || gpu_checks == 0;
}

void gpu_world(const char *setup, const char *order, uint64_t seed)
{
    vcuda_reset();
    GPU_CHECK(vcuda_order(order ? order : "time", seed) == 0, "order %s", order);
    GPU_CHECK(vcuda_setup(setup) == 0, "world %s: %s", setup, vcuda_message());
}

sy_context *gpu_open(const char *devices, uint64_t budget, double watchdog_ms, lab_log *log)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices,
                        .multigpu_path = "no-such/multigpu.json",
                        .thresholds_path = "no-such/thresholds.json",
                        .log = log ? lab_remember : NULL,
                        .log_user = log,
                        .cuda_driver = gpu_driver,
                        .frozen = 1,
                        .memory_budget = budget,
                        .watchdog_ms = watchdog_ms,
                        .gather = gpu_gather,
                        .nccl_library = gpu_nccl};
    sy_context *context = NULL;
    sy_context_create(&config, &context);
    return context;
}

/* Whatever is under way has found its memory. */
static void check_rest(const char *what)
{
    vcuda_counts c;
    vcuda_finish();
    vcuda_counters(-1, &c);
    GPU_CHECK(!c.diagnoses, "%s: %s", what, vcuda_message());
}

/* What was kept from being given back ends with the context. */
static void check_leaks(const char *what)
{
    enum { MOST_GPUS = 16 };
    vcuda_counts c, device;
    vcuda_counters(-1, &c);
    for (int i = 0; i < MOST_GPUS; i++) {
        vcuda_counters(i, &device);
        c.lasting -= device.lasting;
    }
    for (int i = 0; i < MOST_GPUS && !c.lasting; i++) {
        vcuda_counters(i, &device);
        GPU_CHECK(device.lasting || (!device.leaked_allocations && !device.leaked_streams &&
                                     !device.leaked_events && !device.leaked_modules),
                  "%s: device %d: a context ended with %llu allocations, %llu streams, %llu "
                  "events, %llu modules in it",
                  what, i, (unsigned long long)device.leaked_allocations,
                  (unsigned long long)device.leaked_streams,
                  (unsigned long long)device.leaked_events,
                  (unsigned long long)device.leaked_modules);
    }
}

void gpu_close(sy_context **context, const char *what)
{
    vcuda_counts c;
    sy_context_destroy(context);
    vcuda_counters(-1, &c);
    GPU_CHECK(!c.live_allocations && !c.live_host && !c.live_contexts && !c.live_streams &&
                  !c.live_events && !c.live_modules,
              "%s: left %lld allocations, %lld host, %lld contexts, %lld streams, %lld events, "
              "%lld modules",
              what, (long long)c.live_allocations, (long long)c.live_host,
              (long long)c.live_contexts, (long long)c.live_streams, (long long)c.live_events,
              (long long)c.live_modules);
    check_leaks(what);
    check_rest(what);
}

void gpu_close_beside_hung(sy_context **context, int devices, const char *what)
{
    sy_context_destroy(context);
    for (int device = 0; device < devices; device++) {
        vcuda_counts c;
        vcuda_counters(device, &c);
        GPU_CHECK(c.faults || (!c.live_allocations && !c.live_host && !c.live_contexts &&
                               !c.live_streams && !c.live_events && !c.live_modules),
                  "%s: device %d did not hang; left %lld allocations, %lld host, %lld contexts, "
                  "%lld streams, %lld events, %lld modules",
                  what, device, (long long)c.live_allocations, (long long)c.live_host,
                  (long long)c.live_contexts, (long long)c.live_streams, (long long)c.live_events,
                  (long long)c.live_modules);
    }
    check_rest(what);
}

void gpu_close_kept(sy_context **context, int devices, const char *what)
{
    vcuda_counts c;
    sy_context_destroy(context);
    for (int device = 0; device < devices; device++) {
        vcuda_counters(device, &c);
        GPU_CHECK(c.live_contexts || (!c.live_allocations && !c.live_host && !c.live_streams &&
                                      !c.live_events && !c.live_modules),
                  "%s: device %d: left without a context", what, device);
    }
    check_rest(what);
}

sy_context *gpu_open_mix(int mix, char *words)
{
    char world[128];
    sy_context *context;
    const char *devices = mix % 2 ? "cuda,cpu:threads=1" : "cuda";
    snprintf(words, GPU_WORDS, "on %d GPUs%s", mix / 2 + 1, mix % 2 ? " and the CPU" : "");
    snprintf(world, sizeof world, "gpus=%d;0:cc=7.5;1:cc=12.0;2:cc=9.0;3:cc=8.6", mix / 2 + 1);
    gpu_world(world, NULL, 0);
    context = gpu_open(devices, 0, 0, NULL);
    GPU_CHECK(context, "%s: %s", words, sy_last_error()->text);
    return context;
}

void gpu_check_all_worked(int mix, const char *words)
{
    for (int i = 0; i <= mix / 2; i++) {
        vcuda_counts counts;
        vcuda_counters(i, &counts);
        GPU_CHECK(counts.launches > 0, "%s: GPU %d did nothing", words, i);
    }
}

lab_case gpu_case(const char *workload, int64_t n)
{
    series_fill(SERIES_SPIKES, 7, gpu_x, n);
    return (lab_case){.workload = workload, .rows = 1, .columns = n, .x = gpu_x};
}

lab_case gpu_random_case(uint64_t *random, int64_t most)
{
    sy_workload_info info;
    series_kind kind = (series_kind)series_below(random, SERIES_KINDS);
    int64_t size = 1 + series_below(random, 1 + series_below(random, most));
    lab_case c = {.x = gpu_x};
    sy_workload_query(gpu_cpu, (int)series_below(random, sy_workload_count(gpu_cpu)), &info);
    c.workload = info.name;
    c.rows = 1 + series_below(random, series_below(random, 2) ? 1 : size < 9 ? size : 9);
    c.columns = size / c.rows;
    series_fill(kind, series_bits(random), gpu_x, size);
    c.dtype = series_below(random, 4) ? SY_F64 : SY_F32;
    if (c.dtype == SY_F32)
        lab_round_to_floats(gpu_x, size);
    for (int k = 0; k < info.n_params && k < 4; k++) {
        const sy_param_info *p = &info.params[k];
        double most_value = p->max < 300 ? p->max : 300;
        double least;
        if (!strcmp(p->name, "fast") || !strcmp(p->name, "ddof"))
            continue; /* not free of the other parameters */
        least = !strcmp(p->name, "slow") ? 13 : !strcmp(p->name, "period") ? 2 : p->min;
        if (!p->is_integer || least > most_value || series_below(random, 3) == 0)
            continue;
        c.params[c.n_params].name = p->name;
        c.params[c.n_params++].value =
            least + (double)series_below(random, (int64_t)(most_value - least) + 1);
    }
    return c;
}

sy_status gpu_compare(sy_context *context, lab_case *c, const sy_options *options,
                      sy_report *report, const char *what)
{
    lab_case expected = *c;
    char text[256];
    int output = 0;
    int64_t at;
    const sy_options same = {.struct_size = sizeof same,
                             .accuracy = options ? options->accuracy : SY_ACCURACY_EXACT};
    sy_status reference, status;
    GPU_CHECK(lab_prepare(&expected) && lab_prepare(c), "memory");
    reference = lab_run(gpu_cpu, &expected, &same, NULL);
    status = lab_run(context, c, options, report);
    if (status == SY_OK) {
        at = lab_case_difference(&expected, c, &output);
        GPU_CHECK(reference == SY_OK && at < 0, "%s: %s%s, %lld x %lld: output %d differs at %lld",
                  what, lab_describe(c, text, sizeof text),
                  same.accuracy == SY_ACCURACY_FAST ? " in fast accuracy" : "", (long long)c->rows,
                  (long long)c->columns, output, (long long)at);
    }
    lab_release(&expected);
    lab_release(c);
    return status;
}
