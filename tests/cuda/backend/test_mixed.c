/* Random cases of both accuracies over mixes of GPUs, CPU and simulated devices: the same bits as
 * the CPU alone. */
#include "gpu_lab.h"

#include "api/context.h"

#include <stdio.h>
#include <string.h>

static void mixed_cases(void)
{
    static const char *const lists[] = {
        "cuda", "cuda,cpu", "cuda:0", "cuda:0,cpu", "cuda,sim:a:speed=1e6,cpu", "auto"};
    uint64_t random = gpu_seed, on_gpu = 0;
    int done = 0;
    while (done < gpu_cases) {
        char setup[64];
        const char *list = lists[series_below(&random, 6)];
        sy_context *context;
        snprintf(setup, sizeof setup, "gpus=%d;1:speed=2,sms=8", 2 + (int)series_below(&random, 3));
        gpu_world(setup, NULL, 0);
        context = gpu_open(list, 0, 0, NULL);
        GPU_CHECK(context, "%s on %s: %s", list, setup, sy_last_error()->text);
        for (int i = 0; context && i < 25; i++, done++) {
            sy_options options = {.struct_size = sizeof options};
            lab_case c;
            vcuda_counts counts;
            sy_status status, expected;
            c = gpu_random_case(&random, GPU_MOST / 4);
            if (series_below(&random, 2))
                options.accuracy = SY_ACCURACY_FAST;
            status = gpu_compare(context, &c, &options, NULL, list);
            /* A workload without a GPU form needs another device. */
            expected =
                !strncmp(list, "cuda", 4) && !strchr(list, ',') &&
                        !syi_workload_for(syi_workload_find(context, c.workload), options.accuracy)
                             ->gpu
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

/* Rows of no columns, after rows that left something in the devices' memory. */
static void no_columns(void)
{
    static const char *const lists[] = {"cuda:0", "cuda", "cuda,cpu:threads=1"};
    static const char *const workloads[] = {"sum", "mean",   "variance",    "min",
                                            "dot", "sma",    "rolling_min", "ema",
                                            "rsi", "zscore", "macd"};
    enum { ROWS = 300 };
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        sy_context *context;
        gpu_world("gpus=2", NULL, 0);
        context = gpu_open(lists[l], 0, 0, NULL);
        for (size_t w = 0; context && w < sizeof workloads / sizeof *workloads; w++)
            for (int k = 0; k < 2; k++) {
                lab_case c = gpu_case(workloads[w], ROWS * 100);
                c.rows = ROWS;
                c.columns = k ? 0 : 100;
                GPU_CHECK(gpu_compare(context, &c, NULL, NULL, workloads[w]) == SY_OK,
                          "%s of %lld columns on %s: %s", workloads[w], (long long)c.columns,
                          lists[l], sy_last_error()->text);
            }
        gpu_close(&context, lists[l]);
    }
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    no_columns();
    mixed_cases();
    return gpu_end();
}
