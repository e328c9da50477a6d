/*
 * The CUDA backend through the public API on virtual GPUs: the same bits as the CPU alone for
 * random mixed cases, in every order, through every planted failure.
 *
 * test_backend DRIVER [IMAGE.ptx] [--seed N] [--cases N]: IMAGE takes the place of the built one.
 */
#include "gpu_lab.h"

#include "api/context.h"
#include "base/mem.h"
#include "device/cuda_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40000, SWEPT = 13000, ALLOCATIONS = 90 };

static double x[MOST];
static sy_context *cpu;

static void mixed_cases(uint64_t seed, int cases)
{
    static const char *const lists[] = {
        "cuda", "cuda,cpu", "cuda:0", "cuda:0,cpu", "cuda,sim:a:speed=1e6,cpu", "auto"};
    uint64_t random = seed, on_gpu = 0;
    int done = 0;
    while (done < cases) {
        char setup[64];
        const char *list = lists[series_below(&random, 6)];
        sy_context *context;
        snprintf(setup, sizeof setup, "gpus=%d;1:speed=2,sms=8", 2 + (int)series_below(&random, 3));
        gpu_world(setup, NULL, 0);
        context = gpu_open(list, 0, 0, NULL);
        GPU_CHECK(context, "%s on %s: %s", list, setup, sy_last_error()->text);
        for (int i = 0; context && i < 25; i++, done++) {
            lab_case c;
            vcuda_counts counts;
            sy_status status, expected;
            gpu_random_case(cpu, &random, x, MOST / 4, &c);
            status = gpu_compare(cpu, context, &c, NULL, NULL, list);
            /* A workload without a GPU form needs another device. */
            expected = !strncmp(list, "cuda", 4) && !strchr(list, ',') &&
                               !syi_workload_find(context, c.workload)->gpu
                           ? SY_ERR_NO_DEVICE
                           : SY_OK;
            GPU_CHECK(status == expected, "%s on %s: %s", c.workload, list, sy_last_error()->text);
            vcuda_counters(-1, &counts);
            on_gpu += counts.launches;
        }
        gpu_close(&context, list);
    }
    GPU_CHECK(on_gpu > 0, "nothing ran on a GPU");
    printf("%d mixed cases\n", done);
}

static void fill(lab_case *c, const char *workload, int64_t n)
{
    series_fill(SERIES_SPIKES, 7, x, n);
    *c = (lab_case){.workload = workload, .rows = 1, .columns = n, .x = x};
}

/* The k-th driver call of a run over three devices fails. */
static void fault_sweep(void)
{
    static const char *const kinds[] = {"error=CUDA_ERROR_OUT_OF_MEMORY",
                                        "error=CUDA_ERROR_LAUNCH_FAILED,sticky",
                                        "error=CUDA_ERROR_UNKNOWN", "lost"};
    int runs = 0, fired = 0, ended = 0;
    for (int kind = 0; kind < 4; kind++) {
        for (int k = 0; k < 400; k++) {
            char fault[128];
            vcuda_counts counts;
            lab_case c;
            sy_context *context;
            snprintf(fault, sizeof fault, "device=any,call=any,after=%d,%s", k, kinds[kind]);
            gpu_world("gpus=3", NULL, 0);
            GPU_CHECK(vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
            context = gpu_open("cuda,cpu", 0, 0, NULL);
            fill(&c, "sma", SWEPT);
            if (context)
                ended += gpu_compare(cpu, context, &c, NULL, NULL, fault) != SY_OK;
            vcuda_counters(-1, &counts);
            gpu_close(&context, fault);
            runs++;
            fired += counts.faults > 0;
            if (!counts.faults)
                break;
        }
    }
    GPU_CHECK(fired > 100, "only %d faults fired", fired);
    printf("fault sweep: %d runs, %d faults fired, %d ended in an error\n", runs, fired, ended);
}

static void host_memory_sweep(void)
{
    int failed = 0;
    for (int k = 1; k <= ALLOCATIONS; k++) {
        int64_t before = syi_mem_alive();
        lab_case c;
        sy_context *context;
        gpu_world("gpus=2", NULL, 0);
        fill(&c, "ema", SWEPT);
        GPU_CHECK(lab_prepare(&c), "memory");
        syi_mem_fail_at(k);
        context = gpu_open("cuda,cpu", 0, 0, NULL);
        failed += !context || lab_run(context, &c, NULL, NULL) != SY_OK;
        syi_mem_fail_at(0);
        lab_release(&c);
        gpu_close(&context, "allocation failure");
        GPU_CHECK(syi_mem_alive() == before, "allocation %d: %lld blocks left", k,
                  (long long)(syi_mem_alive() - before));
    }
    GPU_CHECK(failed > 0, "no allocation failed");
    printf("host allocation sweep: %d, %d ended in an error\n", ALLOCATIONS, failed);
}

static void losses(void)
{
    int hit = 0;
    for (int device = 0; device < 3; device++) {
        for (int after = 0; after < 3; after++) {
            char fault[128];
            vcuda_counts counts;
            lab_case c;
            sy_context *context;
            gpu_world("gpus=3", NULL, 0);
            context = gpu_open("cuda", 3 << 20, 0, NULL);
            snprintf(fault, sizeof fault, "device=%d,call=cuLaunchKernel,after=%d,lost", device,
                     after);
            GPU_CHECK(context && vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
            fill(&c, "bollinger", MOST);
            GPU_CHECK(gpu_compare(cpu, context, &c, NULL, NULL, fault) == SY_OK, "%s: %s", fault,
                      sy_last_error()->text);
            vcuda_counters(-1, &counts);
            hit += counts.faults > 0;
            gpu_close(&context, fault);
        }
    }
    GPU_CHECK(hit >= 3, "%d losses", hit);
    printf("losses: %d of 9 struck\n", hit);
}

static void hang(void)
{
    lab_case c;
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda", 0, 50, NULL);
    GPU_CHECK(vcuda_fault("device=1,call=cuLaunchKernel,hang") == 0, "%s", vcuda_message());
    fill(&c, "sma", MOST);
    GPU_CHECK(gpu_compare(cpu, context, &c, NULL, &report, "hang") == SY_OK, "%s",
              sy_last_error()->text);
    GPU_CHECK(!strcmp(report.devices[1].state, "failed"), "state %s", report.devices[1].state);
    sy_report_clear(&report);
    vcuda_release();
    sy_context_destroy(&context);
}

static void orders(void)
{
    for (uint64_t seed = 0; seed <= 24; seed++) {
        lab_case c;
        sy_context *context;
        gpu_world("gpus=2", seed ? "random" : "lifo", seed);
        context = gpu_open("cuda,cpu", 2 << 20, 0, NULL);
        fill(&c, seed % 2 ? "macd" : "rolling_std", MOST);
        GPU_CHECK(gpu_compare(cpu, context, &c, NULL, NULL, "order") == SY_OK, "order %d: %s",
                  (int)seed, sy_last_error()->text);
        gpu_close(&context, "order");
    }
    printf("orders: lifo and 24 seeds\n");
}

/* Everything kept between calls is given back by sy_trim; the budget holds. */
static void memory(void)
{
    const uint64_t budget = 600000;
    vcuda_counts counts;
    lab_case c;
    sy_context *context;
    gpu_world("gpus=1", NULL, 0);
    context = gpu_open("cuda", budget, 0, NULL);
    fill(&c, "sma", MOST);
    GPU_CHECK(gpu_compare(cpu, context, &c, NULL, NULL, "budget") == SY_OK, "%s",
              sy_last_error()->text);
    vcuda_counters(0, &counts);
    GPU_CHECK(counts.peak_bytes <= budget && counts.launches > 1, "peak %llu, %llu launches",
              (unsigned long long)counts.peak_bytes, (unsigned long long)counts.launches);
    GPU_CHECK(counts.live_bytes > 0 && counts.live_host > 0, "nothing is kept");
    sy_trim(context);
    vcuda_counters(0, &counts);
    GPU_CHECK(!counts.live_bytes && !counts.live_host, "sy_trim left %lld bytes",
              (long long)counts.live_bytes);
    gpu_close(&context, "memory");
}

static void loader_worlds(void)
{
    const char *driver = gpu_driver;
    lab_log log = {0};
    sy_context *context;
    gpu_driver = "no-such-driver.so";
    context = gpu_open("auto", 0, 0, &log);
    GPU_CHECK(context && sy_device_count(context) == 1 && log.warnings == 1, "%d warnings",
              log.warnings);
    sy_context_destroy(&context);
    context = gpu_open("cuda", 0, 0, NULL);
    GPU_CHECK(!context && lab_told(SY_ERR_NO_DEVICE), "cuda without a driver");
    gpu_driver = "libc.so.6"; /* a library that is no driver */
    GPU_CHECK(!gpu_open("cuda:0", 0, 0, NULL) && lab_told(SY_ERR_NO_DEVICE), "no symbols");
    gpu_driver = driver;
    gpu_world("gpus=1;driver=10020", NULL, 0);
    GPU_CHECK(!gpu_open("cuda", 0, 0, NULL) && lab_told(SY_ERR_NO_DEVICE), "old driver");
}

static char *read_text(const char *path)
{
    enum { MOST_TEXT = 1 << 24 };
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MOST_TEXT);
    if (!file || !text || !fread(text, 1, MOST_TEXT - 1, file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    int cases = 1000;
    char *image = NULL;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--cases") && i + 1 < argc)
            cases = atoi(argv[++i]);
        else
            image = read_text(argv[i]);
    }
    if (argc < 2)
        return 2;
    gpu_driver = argv[1];
    syi_cuda_image_set(image);
    cpu = lab_open("cpu", NULL, NULL);
    if (!cpu)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    loader_worlds();
    memory();
    hang();
    losses();
    orders();
    host_memory_sweep();
    fault_sweep();
    mixed_cases(seed, cases);
    sy_context_destroy(&cpu);
    free(image);
    printf("%llu checks, %llu failures\n", (unsigned long long)gpu_checks,
           (unsigned long long)gpu_failures);
    return gpu_failures != 0;
}
