/*
 * Memory runs out at every place: the k-th allocation of a call fails, for k = 1, 2, .. until the
 * call no longer gets that far. Each time the call gives the right result all the same, or
 * SY_ERR_MEMORY with a message; nothing stays allocated, and the next call works. Exits with 1
 * otherwise. Under AddressSanitizer leaks fail it too.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/lab.h"
#include "support/series.h"

enum { LONG = 40 * 4096, MOST = 100000, HANG_SECONDS = 100 };

#define DEVICES "sim:a:speed=1e6,sim:b:speed=3e6," LAB_CPU(2)

static double x[LONG];
static sy_context *context;
static char multigpu[64], thresholds[64];
static lab_case right, got;
static int failures;

/* One call that may run out of memory; what it created is given back before it returns. A result
 * that is wrong is SY_ERR_INTERNAL. */
typedef sy_status (*operation)(void);

static sy_status create(void)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = DEVICES,
                        .multigpu_path = multigpu,
                        .thresholds_path = thresholds};
    sy_context *made = NULL;
    sy_status status = sy_context_create(&config, &made);
    if ((status == SY_OK) != (made != NULL))
        return SY_ERR_INTERNAL;
    sy_context_destroy(&made);
    return status;
}

static sy_status distribute(void)
{
    const void *in[] = {got.x};
    void *out[LAB_OUTPUTS];
    sy_work work = {.struct_size = sizeof work,
                    .workload = got.workload,
                    .rows = got.rows,
                    .columns = got.columns,
                    .inputs = in,
                    .outputs = out};
    sy_report report = {.struct_size = sizeof report};
    static const sy_ratio ratios[] = {{"a", 0.2}, {"b", 0.2}, {"cpu", 0.6}};
    sy_options options = {
        .struct_size = sizeof options, .checksum = 1, .ratios = ratios, .n_ratios = 3};
    sy_status status;
    int output;
    for (int k = 0; k < got.n_outputs; k++)
        out[k] = got.out[k];
    status = distribute_workload(context, &work, &options, &report);
    if (status != SY_OK && report.devices)
        return SY_ERR_INTERNAL;
    sy_report_clear(&report);
    if (status == SY_OK && lab_case_difference(&right, &got, &output) >= 0)
        return SY_ERR_INTERNAL;
    return status;
}

static float floats[LONG], floats_right[LONG], floats_got[LONG];

static sy_status distribute_floats(sy_context *by, const char *workload, float *to)
{
    const void *in[] = {floats};
    void *out[] = {to};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = workload,
                          .columns = LONG,
                          .inputs = in,
                          .outputs = out,
                          .dtype = SY_F32};
    return distribute_workload(by, &work, NULL, NULL);
}

static const char *float_workload;

static sy_status distribute_float(void)
{
    sy_status status = distribute_floats(context, float_workload, floats_got);
    if (status == SY_OK && memcmp(floats_got, floats_right, sizeof floats_got) != 0)
        return SY_ERR_INTERNAL;
    return status;
}

static sy_status explain(void)
{
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 2, .columns = 9000};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_status status = sy_plan_explain(context, &work, NULL, &plan);
    sy_plan_info_clear(&plan);
    return status;
}

static sy_status set_balance(void)
{
    static const sy_ratio ratios[] = {{"a", 0.5}, {"b", 0.5}};
    return sy_balance_set(context, "memory", ratios, 2);
}

static sy_status get_balance(void)
{
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status = sy_balance_get(context, "memory", &balance);
    if (status == SY_OK && balance.n_ratios != 2)
        return SY_ERR_INTERNAL;
    sy_balance_clear(&balance);
    return status;
}

static sy_status profile(void)
{
    /* No time for repeats: their number, and that of the allocations, would be the machine's. */
    sy_profile_options options = {.struct_size = sizeof options,
                                  .sample_size = 5000,
                                  .runs = 1,
                                  .warmup = -1,
                                  .budget_ms = 1e-6};
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status = sy_profile_auto_balance(context, &options, &balance);
    sy_balance_clear(&balance);
    return status;
}

static sy_status update_threshold(void)
{
    return sy_threshold_update(context, "memory", 2, 1);
}

static sy_status get_threshold(void)
{
    sy_threshold threshold;
    return sy_threshold_get(context, "memory", &threshold);
}

/* Whether the failure that was ordered is still to come: then it comes within k allocations. */
static int not_reached(int64_t k)
{
    int pending = 0;
    for (int64_t i = 0; i < k && !pending; i++) {
        void *block = syi_alloc(1, 1);
        pending = !block;
        syi_free(block);
    }
    syi_mem_fail_at(0);
    return pending;
}

static void complain(const char *name, int64_t k, const char *what)
{
    fprintf(stderr, "%s, allocation %lld fails: %s (last error: %s)\n", name, (long long)k, what,
            sy_last_error()->text);
    failures++;
}

static void starve(const char *name, operation run)
{
    int64_t k, refused = 0;
    for (k = 1; k < MOST; k++) {
        int64_t before = syi_mem_alive();
        sy_status status;
        int pending;
        alarm(HANG_SECONDS); /* a call that hangs ends the program */
        syi_mem_fail_at(k);
        status = run();
        pending = not_reached(k);
        refused += status != SY_OK;
        if (status != SY_OK && status != SY_ERR_MEMORY)
            complain(name, k, sy_status_string(status));
        if (status == SY_ERR_MEMORY && !lab_told(SY_ERR_MEMORY))
            complain(name, k, "no message");
        if (syi_mem_alive() != before)
            complain(name, k, "memory stays allocated");
        if (run() != SY_OK)
            complain(name, k, "the next call fails");
        if (pending || failures > 20)
            break;
    }
    if (k == MOST)
        complain(name, k, "never ends");
    printf("%-20s %lld allocations, %lld refusals\n", name, (long long)k - 1, (long long)refused);
}

static void starve_workload(const char *workload, int64_t rows, int64_t columns)
{
    sy_context *alone = lab_open("cpu:threads=1", NULL, NULL);
    right = (lab_case){.workload = workload, .rows = rows, .columns = columns, .x = x};
    got = right;
    if (!alone || !lab_prepare(&right) || !lab_prepare(&got) ||
        lab_run(alone, &right, NULL, NULL) != SY_OK)
        complain(workload, 0, "cannot be set up");
    else
        starve(workload, distribute);
    lab_release(&right);
    lab_release(&got);
    sy_context_destroy(&alone);
}

static void starve_floats(const char *workload)
{
    sy_context *alone = lab_open("cpu:threads=1", NULL, NULL);
    float_workload = workload;
    for (int i = 0; i < LONG; i++)
        floats[i] = (float)x[i];
    if (!alone || distribute_floats(alone, workload, floats_right) != SY_OK)
        complain(workload, 0, "cannot be set up for floats");
    else
        starve(workload, distribute_float);
    sy_context_destroy(&alone);
}

int main(void)
{
    static const char *const workloads[] = {"sma",  "rolling_std", "bollinger", "ema",
                                            "macd", "sum",         "mean",      "variance"};
    int64_t alive = syi_mem_alive();
    sy_config config = {.struct_size = sizeof config,
                        .devices = DEVICES,
                        .multigpu_path = multigpu,
                        .thresholds_path = thresholds};
    setvbuf(stdout, NULL, _IOLBF, 0); /* tells how far it came when it hangs */
    snprintf(multigpu, sizeof multigpu, "alloc-fail-%d-multigpu.json", (int)getpid());
    snprintf(thresholds, sizeof thresholds, "alloc-fail-%d-thresholds.json", (int)getpid());
    series_fill(SERIES_FLATS, 6, x, LONG); /* makes roundings in doubt, too */
    starve("context", create);
    if (sy_context_create(&config, &context) != SY_OK)
        return 1;
    for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; w++)
        starve_workload(workloads[w], 2, 9000);
    /* one row in several pieces on several devices and threads */
    starve_workload("ema", 1, LONG);
    starve_workload("macd", 1, LONG);
    starve_workload("bollinger", 1, LONG);
    starve_floats("sma");
    starve_floats("ema");
    starve("explain", explain);
    starve("set_balance", set_balance);
    starve("get_balance", get_balance);
    starve("profile", profile);
    starve("update_threshold", update_threshold);
    starve("get_threshold", get_threshold);
    sy_context_destroy(&context);
    if (syi_mem_alive() != alive)
        complain("all", 0, "blocks are left at the end");
    lab_remove(multigpu);
    lab_remove(thresholds);
    return failures != 0;
}
