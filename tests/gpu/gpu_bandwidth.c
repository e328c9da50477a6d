/*
 * The bandwidth of every workload's kernel on one GPU, as a fraction of a copy inside the device,
 * both timed by the device's events: the table that run_on_gpu.sh prints.
 *
 * gpu_bandwidth COLUMNS [DRIVER]; 77: no usable GPU. Bytes are those of the inputs and outputs,
 * each moved once, whatever the kernel reads again.
 */
#include "support/lab.h"
#include "support/series.h"

#include "device/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 5 };

/* Bytes read and written in a millisecond by the best of some copies; 0: it went wrong. */
static double copy_rate(const syi_cuda_api *api, size_t bytes)
{
    CUcontext context;
    CUdeviceptr from = 0, to = 0;
    CUevent marks[2] = {NULL, NULL};
    float best = 0;
    int ok = !api->cuDevicePrimaryCtxRetain(&context, 0) && !api->cuCtxPushCurrent(context) &&
             !api->cuMemAlloc(&from, bytes) && !api->cuMemAlloc(&to, bytes) &&
             !api->cuMemsetD8Async(from, 1, bytes, NULL) && !api->cuEventCreate(&marks[0], 0) &&
             !api->cuEventCreate(&marks[1], 0);
    for (int i = 0; ok && i < RUNS; i++) {
        float ms = 0;
        ok = !api->cuEventRecord(marks[0], NULL) &&
             !api->cuMemcpyDtoDAsync(to, from, bytes, NULL) &&
             !api->cuEventRecord(marks[1], NULL) && !api->cuEventSynchronize(marks[1]) &&
             !api->cuEventElapsedTime(&ms, marks[0], marks[1]);
        best = i == 0 || ms < best ? ms : best;
    }
    for (int i = 0; i < 2; i++)
        if (marks[i])
            api->cuEventDestroy(marks[i]);
    if (from)
        api->cuMemFree(from);
    if (to)
        api->cuMemFree(to);
    api->cuCtxPopCurrent(NULL);
    api->cuDevicePrimaryCtxRelease(0);
    return ok && best > 0 ? 2 * (double)bytes / best : 0;
}

/* The best of some runs; 0: it went wrong. */
static double kernel_rate(sy_context *context, const char *workload, sy_accuracy accuracy,
                          const double *x, int64_t n)
{
    const sy_options options = {.struct_size = sizeof options, .accuracy = accuracy};
    lab_case c = {.workload = workload, .rows = 1, .columns = n, .x = x};
    double best = 0, bytes;
    if (!lab_prepare(&c))
        return 0;
    bytes = 8 * ((double)c.n_inputs * (double)n + (double)c.n_outputs * (double)c.out_count);
    for (int i = 0; i < RUNS; i++) {
        sy_report report = {.struct_size = sizeof report};
        if (lab_run(context, &c, &options, &report) == SY_OK && report.devices[0].compute_ms > 0 &&
            bytes / report.devices[0].compute_ms > best)
            best = bytes / report.devices[0].compute_ms;
        sy_report_clear(&report);
    }
    lab_release(&c);
    return best;
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 1 << 24;
    sy_config config = {.struct_size = sizeof config,
                        .devices = "cuda:0",
                        .cuda_driver = argc > 2 ? argv[2] : NULL,
                        .frozen = 1};
    sy_context *context = NULL;
    syi_cuda_driver *driver = NULL;
    double *x = n > 0 ? malloc((size_t)n * sizeof *x) : NULL, copy;
    int failed = 0;
    if (!x || sy_context_create(&config, &context) != SY_OK ||
        syi_cuda_driver_open(config.cuda_driver, &driver) != SY_OK) {
        printf("%s\n", sy_last_error()->text);
        return 77;
    }
    series_fill(SERIES_WALK, 1, x, n);
    copy = copy_rate(&driver->api, (size_t)n * sizeof *x);
    failed = copy == 0;
    printf("| %lld columns | exact, GB/s | of a copy | fast, GB/s | of a copy |\n"
           "|---|---|---|---|---|\n",
           (long long)n);
    printf("| copy inside the device, read and write | %.1f | 1 | | |\n", copy / 1e6);
    for (int w = 0; w < sy_workload_count(context); w++) {
        sy_workload_info info;
        double exact, fast;
        sy_workload_query(context, w, &info);
        exact = kernel_rate(context, info.name, SY_ACCURACY_EXACT, x, n);
        fast = kernel_rate(context, info.name, SY_ACCURACY_FAST, x, n);
        failed |= exact == 0 || fast == 0;
        printf("| %s | %.1f | %.3f | %.1f | %.3f |\n", info.name, exact / 1e6,
               copy > 0 ? exact / copy : 0, fast / 1e6, copy > 0 ? fast / copy : 0);
    }
    syi_cuda_driver_close(&driver);
    sy_context_destroy(&context);
    free(x);
    return failed;
}
