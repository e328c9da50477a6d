/*
 * Promise 4: a failing device costs time, not the answer. Every simulated failure at every
 * operation of each device in turn, small memories, and the case where nobody is left.
 */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/lab.h"
#include "support/series.h"

enum { ROWS = 9, COLUMNS = 5000, OPERATIONS = 8 };

static double x[ROWS * COLUMNS];

static const char *const workloads[] = {"sma", "bollinger", "ema", "macd", "sum", "variance"};
enum { WORKLOADS = 6 };

static lab_case alone[WORKLOADS];

/* What the CPU alone gives. */
static void fill(void)
{
    sy_context *cpu = lab_open("cpu:threads=1", NULL, NULL);
    cr_assert(cpu);
    series_fill(SERIES_FLATS, 3, x, ROWS * COLUMNS);
    for (int w = 0; w < WORKLOADS; w++) {
        alone[w] = (lab_case){.workload = workloads[w], .rows = ROWS, .columns = COLUMNS, .x = x};
        cr_assert(lab_prepare(&alone[w]));
        cr_assert_eq(lab_run(cpu, &alone[w], NULL, NULL), SY_OK);
    }
    sy_context_destroy(&cpu);
}

static void drop(void)
{
    for (int w = 0; w < WORKLOADS; w++)
        lab_release(&alone[w]);
}

TestSuite(failures, .init = fill, .fini = drop);

/* A run over `devices` that must end well, with the CPU's bits. */
static void run_well(const char *devices, int w, sy_report *report)
{
    sy_context *context = lab_open(devices, NULL, NULL);
    lab_case c = alone[w];
    int output = 0;
    int64_t at, tiles = 0;
    cr_assert(context && lab_prepare(&c));
    cr_expect_eq(lab_run(context, &c, NULL, report), SY_OK, "%s on %s", workloads[w], devices);
    at = lab_case_difference(&alone[w], &c, &output);
    cr_expect(at < 0, "%s on %s: output %d differs at %lld", workloads[w], devices, output,
              (long long)at);
    for (int i = 0; i < report->n_devices; i++)
        tiles += report->devices[i].tiles;
    cr_expect_eq(tiles, report->tiles, "%s on %s: %lld tiles in the report", workloads[w], devices,
                 (long long)tiles);
    lab_release(&c);
    sy_context_destroy(&context);
}

/* Three devices of which number `failing` has the fault, and the CPU. */
static void list_devices(char *text, size_t size, int failing, const char *fault, int k)
{
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        used += (size_t)snprintf(text + used, size - used, "sim:%c:speed=1e6", 'a' + i);
        if (i == failing)
            used += (size_t)snprintf(text + used, size - used, ":fail=%s@%d", fault, k);
        used += (size_t)snprintf(text + used, size - used, ",");
    }
    snprintf(text + used, size - used, "cpu:threads=1");
}

static void check_fault(const char *fault, const char *state_when_hit)
{
    for (int failing = 0; failing < 3; failing++)
        for (int k = 1; k <= OPERATIONS; k++)
            for (int w = 0; w < WORKLOADS; w++) {
                char devices[256];
                sy_report report = {.struct_size = sizeof report};
                const sy_device_report *hit;
                list_devices(devices, sizeof devices, failing, fault, k);
                run_well(devices, w, &report);
                cr_assert_eq(report.n_devices, 4);
                hit = &report.devices[failing];
                /* one slab takes three operations: copy in, launch, copy out */
                if (k <= 3) {
                    cr_expect_gt(hit->retries, 0, "%s: no retry reported", devices);
                    cr_expect_str_eq(hit->state, state_when_hit, "%s: state '%s'", devices,
                                     hit->state);
                } else if (hit->retries == 0) {
                    cr_expect_str_eq(hit->state, "ok");
                }
                for (int i = 0; i < 4; i++)
                    if (i != failing)
                        cr_expect_str_eq(report.devices[i].state, "ok");
                sy_report_clear(&report);
            }
}

/* Out of memory once: the device takes smaller parts and stays. */
Test(failures, out_of_memory)
{
    check_fault("oom", "ok");
}

Test(failures, failed_launch)
{
    check_fault("launch", "failed");
}

Test(failures, lost)
{
    check_fault("lost", "failed");
}

Test(failures, all_but_one_are_lost)
{
    for (int w = 0; w < WORKLOADS; w++) {
        sy_report report = {.struct_size = sizeof report};
        run_well("sim:a:speed=1e6:fail=lost@1,sim:b:speed=1e6:fail=launch@2,"
                 "sim:c:speed=1e6:fail=lost@3,sim:d:speed=1e6",
                 w, &report);
        sy_report_clear(&report);
    }
}

Test(failures, all_are_lost)
{
    for (int w = 0; w < WORKLOADS; w++) {
        sy_context *context =
            lab_open("sim:a:speed=1e6:fail=lost@1,sim:b:speed=1e6:fail=lost@2", NULL, NULL);
        lab_case c = alone[w];
        sy_report report = {.struct_size = sizeof report};
        cr_assert(context && lab_prepare(&c));
        cr_expect_eq(lab_run(context, &c, NULL, &report), SY_ERR_DEVICE);
        cr_expect(lab_told(SY_ERR_DEVICE));
        cr_expect(strstr(sy_last_error()->text, sy_last_error()->device ? "device b" : "device a"),
                  "device %d: %s", sy_last_error()->device, sy_last_error()->text);
        cr_expect_null(report.devices, "written on success only");
        /* they stay lost, and say so */
        cr_expect_neq(lab_run(context, &c, NULL, NULL), SY_OK);
        lab_release(&c);
        sy_context_destroy(&context);
    }
}

/* A device that was lost is not asked again in this context, and the work goes on. */
Test(failures, a_lost_device_stays_out)
{
    lab_log log = {0};
    sy_context *context = lab_open("sim:a:speed=1e6:fail=lost@1,cpu:threads=1", NULL, &log);
    sy_report report = {.struct_size = sizeof report};
    cr_assert(context);
    for (int i = 0; i < 3; i++) {
        lab_case c = alone[0];
        int output = 0;
        cr_assert(lab_prepare(&c));
        cr_expect_eq(lab_run(context, &c, NULL, &report), SY_OK);
        cr_expect_lt(lab_case_difference(&alone[0], &c, &output), 0);
        cr_expect_eq(report.devices[0].tiles, 0);
        cr_expect_str_neq(report.devices[0].state, "ok");
        sy_report_clear(&report);
        lab_release(&c);
    }
    cr_expect_eq(log.warnings, 1, "said once, not %d times: %s", log.warnings, log.last);
    sy_context_destroy(&context);
}

/* The same where only the lost device has a ratio, stored or of the call: the others go on. */
static void check_goes_on(int is_stored)
{
    const sy_ratio only = {"a", 1.0};
    const sy_options order = {.struct_size = sizeof order, .ratios = &only, .n_ratios = 1};
    char path[64];
    sy_context *context;
    snprintf(path, sizeof path, "lost-%d.json", (int)getpid());
    context = lab_open("sim:a:speed=1e6:fail=lost@1,sim:b:speed=1e6", path, NULL);
    cr_assert(context);
    if (is_stored)
        cr_assert_eq(sy_balance_set(context, "sma", &only, 1), SY_OK);
    for (int i = 0; i < 3; i++) {
        lab_case c = alone[0];
        int output = 0;
        cr_assert(lab_prepare(&c));
        cr_expect_eq(lab_run(context, &c, is_stored ? NULL : &order, NULL), SY_OK, "call %d", i);
        cr_expect_lt(lab_case_difference(&alone[0], &c, &output), 0);
        lab_release(&c);
    }
    sy_context_destroy(&context);
    lab_remove(path);
}

Test(failures, others_go_on_without_ratios_of_theirs)
{
    check_goes_on(0);
    check_goes_on(1);
}

/* A memory too small for the whole share: the device works in chunks. */
Test(failures, small_memory_means_chunks)
{
    for (int w = 0; w < WORKLOADS; w++) {
        sy_report report = {.struct_size = sizeof report};
        run_well("sim:a:speed=1e6:memory=300kB,sim:b:speed=1e6", w, &report);
        cr_expect_gt(report.devices[0].tiles, 0, "%s", workloads[w]);
        cr_expect_str_eq(report.devices[0].state, "ok");
        sy_report_clear(&report);
    }
}

/* Not even one tile fits: the others take it. */
Test(failures, too_small_memory)
{
    for (int w = 0; w < WORKLOADS; w++) {
        sy_report report = {.struct_size = sizeof report};
        run_well("sim:a:speed=1e6:memory=1kB,cpu:threads=1", w, &report);
        cr_expect_eq(report.devices[0].tiles, 0);
        cr_expect_str_eq(report.devices[0].state, "out of memory");
        sy_report_clear(&report);
    }
}

Test(failures, too_small_memory_everywhere)
{
    sy_context *context = lab_open("sim:a:speed=1e6:memory=1kB", NULL, NULL);
    lab_case c = alone[0];
    cr_assert(context && lab_prepare(&c));
    cr_expect_eq(lab_run(context, &c, NULL, NULL), SY_ERR_MEMORY);
    cr_expect(lab_told(SY_ERR_MEMORY));
    lab_release(&c);
    sy_context_destroy(&context);
}
