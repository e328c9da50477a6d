/*
 * CPU or GPU for small works of which nothing is known: both are timed in turn, the faster one
 * stays, and thresholds.json tells the next process. A virtual GPU interprets its kernels, so the
 * CPU is faster by orders of magnitude.
 */
#include "gpu_lab.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 5000, MOST_PROBES = 20 };

static char thresholds[64];

static sy_context *open_both(void)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = "cpu,cuda:0",
                        .multigpu_path = "no-such/multigpu.json",
                        .thresholds_path = thresholds,
                        .cuda_driver = gpu_driver};
    sy_context *context = NULL;
    GPU_CHECK(sy_context_create(&config, &context) == SY_OK, "%s", sy_last_error()->text);
    return context;
}

/* Runs the case and gives the device that computed all of it; -1: several. */
static int who(sy_context *context, const char *device, const char *what)
{
    lab_case c = gpu_case("sma", COLUMNS);
    sy_options options = {.struct_size = sizeof options, .device = device};
    sy_report report = {.struct_size = sizeof report};
    int found = -1;
    if (gpu_compare(context, &c, &options, &report, what) != SY_OK) {
        GPU_CHECK(0, "%s: %s", what, sy_last_error()->text);
        return -1;
    }
    for (int i = 0; i < report.n_devices; i++)
        if (report.devices[i].tiles == report.tiles)
            found = i;
    sy_report_clear(&report);
    return found;
}

static void asked_for(void)
{
    sy_context *context = open_both();
    GPU_CHECK(who(context, "cuda", "cuda") == 1, "cuda was asked for");
    GPU_CHECK(who(context, "cpu", "cpu") == 0, "cpu was asked for");
    gpu_close(&context, "asked for");
}

static int is_probe(sy_context *context)
{
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = COLUMNS};
    sy_plan_info plan = {.struct_size = sizeof plan};
    int is;
    GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK, "%s", sy_last_error()->text);
    is = strstr(plan.reason, "to compare") != NULL;
    sy_plan_info_clear(&plan);
    return is;
}

static void timed_in_turn(void)
{
    sy_context *context = open_both();
    sy_threshold found = {0};
    int timed[2] = {0, 0};
    for (int i = 0; i < MOST_PROBES && is_probe(context); i++) {
        int by = who(context, NULL, "probe");
        GPU_CHECK(by >= 0, "the work was divided");
        timed[by == 1]++;
    }
    GPU_CHECK(timed[0] >= 2 && timed[1] >= 2, "%d and %d calls", timed[0], timed[1]);
    for (int i = 0; i < 5; i++)
        GPU_CHECK(who(context, NULL, "known") == 0, "not the faster one");
    GPU_CHECK(sy_threshold_get(context, "sma:{'period': 20, 'size': 5000}", &found) == SY_OK &&
                  found.cpu_ms_avg > 0 && found.gpu_ms_avg > found.cpu_ms_avg,
              "stored: %g, %g", found.cpu_ms_avg, found.gpu_ms_avg);
    gpu_close(&context, "timed");
}

/* Arrays that live on the GPU: what is known of the host's says nothing of them. */
static void resident(void)
{
    sy_context *context = open_both();
    void *x = NULL, *y = NULL;
    sy_report report = {.struct_size = sizeof report};
    sy_plan_info plan = {.struct_size = sizeof plan};
    const size_t bytes = COLUMNS * sizeof *gpu_x;
    GPU_CHECK(sy_memory_alloc(context, 1, bytes, &x) == SY_OK &&
                  sy_memory_alloc(context, 1, bytes, &y) == SY_OK &&
                  sy_memory_copy(context, x, gpu_x, bytes) == SY_OK,
              "%s", sy_last_error()->text);
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .rows = 1,
                    .columns = COLUMNS,
                    .inputs = (const void *const[]){x},
                    .outputs = (void *const[]){y}};
    for (int i = 0; i < 3; i++) {
        GPU_CHECK(sy_plan_explain(context, &work, NULL, &plan) == SY_OK &&
                      strstr(plan.reason, "live on a GPU") && !strcmp(plan.decision, "one") &&
                      strstr(plan.devices[0].left_out, "live on a GPU"),
                  "%s: %s", plan.decision, plan.reason);
        sy_plan_info_clear(&plan);
        GPU_CHECK(distribute_workload(context, &work, NULL, &report) == SY_OK &&
                      report.devices[1].tiles == report.tiles,
                  "it was divided");
        sy_report_clear(&report);
    }
    work.inputs = NULL;
    work.outputs = NULL;
    GPU_CHECK(is_probe(context), "the times of arrays on the GPU were taken for others'");
    sy_memory_free(context, &x);
    sy_memory_free(context, &y);
    gpu_close(&context, "resident");
}

/* The next process is told by the file. */
static void told(void)
{
    sy_context *context = open_both();
    for (int i = 0; i < 3; i++)
        GPU_CHECK(sy_threshold_update(context, "sma:{'period': 20, 'size': 5000}", 9000, 0.001) ==
                      SY_OK,
                  "%s", sy_last_error()->text);
    GPU_CHECK(who(context, NULL, "told") == 1, "the file was not believed");
    gpu_close(&context, "told");
}

int main(int argc, char **argv)
{
    if (!gpu_begin(argc, argv))
        return 2;
    snprintf(thresholds, sizeof thresholds, "sides-%d.json", (int)getpid());
    gpu_world("gpus=1", NULL, 0);
    asked_for();
    resident();
    timed_in_turn();
    lab_remove(thresholds);
    told();
    lab_remove(thresholds);
    return gpu_end();
}
