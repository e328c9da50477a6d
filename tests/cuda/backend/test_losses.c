/*
 * Devices that are lost or hang in the middle of a run: the right bits, and nothing is done again
 * but what was under way on the lost device.
 */
#include "gpu_lab.h"

#include "device/cuda/slot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Slabs of one tile: a launch is a tile. */
enum { GPUS = 3, SHARE = 20, COLUMNS = GPUS * SHARE * 4096, IN_FLIGHT = CUDA_SLOTS };

/* Slabs of a tile need memory for one in each slot, and not for two. */
static const struct {
    const char *name;
    uint64_t slab_bytes;
} workloads[] = {{"sma", 100000}, {"ema", 100000}, {"variance", 50000}};

static double x[COLUMNS];

static sy_context *open_world(int w)
{
    gpu_world("gpus=3", NULL, 0);
    return gpu_open("cuda", IN_FLIGHT * workloads[w].slab_bytes, 0, NULL);
}

/* What is done is never more than there is, whatever is done again. */
static int watch(void *user, uint64_t done, uint64_t tiles)
{
    uint64_t *last = user;
    GPU_CHECK(done >= *last && done <= tiles, "%llu of %llu tiles are done",
              (unsigned long long)done, (unsigned long long)tiles);
    *last = done;
    return 0;
}

/* Equal shares, and each device keeps to its own. */
static sy_status run(sy_context *context, const char *workload, sy_report *report, const char *what)
{
    const sy_ratio ratios[GPUS] = {{"cuda:0", 1}, {"cuda:1", 1}, {"cuda:2", 1}};
    uint64_t done = 0;
    const sy_options options = {.struct_size = sizeof options,
                                .ratios = ratios,
                                .n_ratios = GPUS,
                                .progress = watch,
                                .progress_user = &done};
    lab_case c = {.workload = workload, .rows = 1, .columns = COLUMNS, .x = x};
    return gpu_compare(context, &c, &options, report, what);
}

/* `after` tiles of its share were launched. */
static void lose(int w, int device, int after)
{
    const char *workload = workloads[w].name;
    sy_report report = {.struct_size = sizeof report};
    sy_context *context = open_world(w);
    char fault[128];
    int64_t tiles = 0;
    vcuda_counts counts;
    snprintf(fault, sizeof fault, "device=%d,call=cuLaunchKernel,after=%d,lost", device, after);
    GPU_CHECK(context && vcuda_fault(fault) == 0, "%s: %s", fault, vcuda_message());
    GPU_CHECK(run(context, workload, &report, fault) == SY_OK, "%s, %s: %s", workload, fault,
              sy_last_error()->text);
    vcuda_counters(-1, &counts);
    GPU_CHECK(counts.faults == 1, "%s: did not strike", fault);
    for (int i = 0; i < report.n_devices; i++) {
        const sy_device_report *d = &report.devices[i];
        tiles += d->tiles;
        GPU_CHECK(!strcmp(d->state, i == device ? "failed" : "ok"), "%s, %s: device %d is %s",
                  workload, fault, i, d->state);
        GPU_CHECK(i != device ? d->tiles >= SHARE
                              : d->tiles <= after && d->tiles >= after - IN_FLIGHT,
                  "%s, %s: %lld tiles of device %d", workload, fault, (long long)d->tiles, i);
    }
    GPU_CHECK(tiles == report.tiles && tiles == (int64_t)GPUS * SHARE, "%s, %s: %lld tiles",
              workload, fault, (long long)tiles);
    GPU_CHECK(counts.launches <= (uint64_t)(GPUS * SHARE + IN_FLIGHT),
              "%s, %s: %llu tiles were computed", workload, fault,
              (unsigned long long)counts.launches);
    sy_report_clear(&report);
    gpu_close(&context, fault);
}

/* Undisturbed, nothing is done twice: what the figures of `lose` are to be seen against. */
static void undisturbed(int w)
{
    const char *workload = workloads[w].name;
    sy_context *context = open_world(w);
    vcuda_counts counts;
    GPU_CHECK(context && run(context, workload, NULL, "undisturbed") == SY_OK, "%s",
              sy_last_error()->text);
    for (int i = 0; i < GPUS; i++) {
        vcuda_counters(i, &counts);
        GPU_CHECK(counts.launches == SHARE, "%s: %llu launches on device %d", workload,
                  (unsigned long long)counts.launches, i);
    }
    gpu_close(&context, workload);
}

static void hang(void)
{
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_report report = {.struct_size = sizeof report};
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    context = gpu_open("cuda", 0, 50, NULL);
    GPU_CHECK(vcuda_fault("device=1,call=cuLaunchKernel,hang") == 0, "%s", vcuda_message());
    GPU_CHECK(gpu_compare(context, &c, NULL, &report, "hang") == SY_OK, "%s",
              sy_last_error()->text);
    GPU_CHECK(!strcmp(report.devices[1].state, "failed"), "state %s", report.devices[1].state);
    sy_report_clear(&report);
    vcuda_release();
    sy_context_destroy(&context);
}

/* A launch fails once, and the GPU would do again: not in this context, whatever is run there, but
 * in the next one. */
static void tried_again(void)
{
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_context *context;
    vcuda_counts before, after;
    gpu_world("gpus=2", NULL, 0);
    for (int turn = 0; turn < 2; turn++) {
        context = gpu_open("cuda", 0, 0, NULL);
        GPU_CHECK(turn ||
                      !vcuda_fault("device=1,call=cuLaunchKernel,error=CUDA_ERROR_LAUNCH_FAILED"),
                  "%s", vcuda_message());
        for (int run = 0; run < 3; run++) {
            sy_report report = {.struct_size = sizeof report};
            vcuda_counters(1, &before);
            GPU_CHECK(gpu_compare(context, &c, NULL, &report, "again") == SY_OK, "%s",
                      sy_last_error()->text);
            vcuda_counters(1, &after);
            GPU_CHECK(!strcmp(report.devices[1].state, turn ? "ok" : "failed"),
                      "context %d, run %d: %s", turn, run, report.devices[1].state);
            GPU_CHECK((after.launches > before.launches) == turn && report.devices[0].tiles > 0,
                      "context %d, run %d: %llu launches", turn, run,
                      (unsigned long long)(after.launches - before.launches));
            sy_report_clear(&report);
        }
        GPU_CHECK(after.faults == 1, "%llu faults", (unsigned long long)after.faults);
        gpu_close(&context, "again");
    }
}

/* One whose driver does not even give it is listed, and the others work. */
static void not_given(void)
{
    lab_case c = gpu_case("sma", GPU_MOST);
    sy_device_info info;
    sy_context *context;
    gpu_world("gpus=2", NULL, 0);
    GPU_CHECK(!vcuda_fault("device=1,call=cuDeviceGet,error=CUDA_ERROR_UNKNOWN"), "%s",
              vcuda_message());
    context = gpu_open("auto", 0, 0, NULL);
    GPU_CHECK(context, "%s", sy_last_error()->text);
    GPU_CHECK(sy_device_query(context, 1, &info) == SY_OK && info.type == SY_DEVICE_CUDA &&
                  !info.usable && !strcmp(info.id, "cuda:1") && *info.reason,
              "device 1 is '%s', type %d: %s", info.id, (int)info.type, info.reason);
    GPU_CHECK(gpu_compare(context, &c, NULL, NULL, "not given") == SY_OK, "%s",
              sy_last_error()->text);
    gpu_close(&context, "not given");
}

/* Whoever waits for ever is not told that a GPU hangs. */
static void endless_patience(void)
{
    static const double patience_ms[] = {1e13, 1e300, INFINITY};
    for (int i = 0; i < 3; i++) {
        lab_case c = gpu_case("sma", GPU_MOST);
        sy_report report = {.struct_size = sizeof report};
        sy_context *context;
        gpu_world("gpus=2", "threads", 0);
        context = gpu_open("cuda", 0, patience_ms[i], NULL);
        GPU_CHECK(context && gpu_compare(context, &c, NULL, &report, "patience") == SY_OK, "%s",
                  sy_last_error()->text);
        for (int k = 0; k < report.n_devices; k++)
            GPU_CHECK(!strcmp(report.devices[k].state, "ok"), "%g ms: %s", patience_ms[i],
                      report.devices[k].state);
        sy_report_clear(&report);
        gpu_close(&context, "patience");
    }
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    series_fill(SERIES_SPIKES, 7, x, COLUMNS);
    for (int w = 0; w < 3; w++) {
        undisturbed(w);
        for (int device = 0; device < GPUS; device++)
            for (int quarter = 1; quarter < 4; quarter++)
                lose(w, device, SHARE * quarter / 4);
    }
    hang();
    tried_again();
    not_given();
    endless_patience();
    return gpu_end();
}
