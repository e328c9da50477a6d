/* The timeline of a run as the trace function gets it. */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "support/lab.h"
#include "support/series.h"
#include "support/trace.h"

enum { COLUMNS = 40 * 4096 + 17 };

static double x[COLUMNS];
static lab_trace trace;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + (double)now.tv_nsec / 1e6;
}

static void run_traced(const char *devices)
{
    lab_case c = {.workload = "bollinger", .rows = 1, .columns = COLUMNS, .x = x};
    sy_options options = {
        .struct_size = sizeof options, .trace = lab_trace_add, .trace_user = &trace};
    sy_report report = {.struct_size = sizeof report};
    sy_context *context = lab_open(devices, NULL, NULL);
    const char *fault;
    double began;
    series_fill(SERIES_TICK, 3, x, COLUMNS);
    cr_assert(context && lab_prepare(&c));
    began = now_ms();
    cr_assert_eq(lab_run(context, &c, &options, &report), SY_OK);
    fault = lab_trace_fault(&trace, &report, now_ms() - began);
    cr_expect_null(fault, "%s: %s", devices, fault ? fault : "");
    sy_report_clear(&report);
    lab_release(&c);
    sy_context_destroy(&context);
}

Test(trace, cpu_alone)
{
    run_traced("cpu");
}

Test(trace, several_devices)
{
    run_traced("sim:a:speed=2,sim:b:speed=1:link=12GB/s:latency=20us,cpu");
}

Test(trace, a_device_that_fails)
{
    run_traced("sim:a:speed=2,sim:b:fail=oom@2,cpu");
}

static int refuse(const sy_segment *segment)
{
    (void)segment;
    return 7;
}

static void use_the_library(void *context, const sy_trace_event *event)
{
    sy_threshold threshold;
    (void)event;
    cr_expect_eq(sy_threshold_get(context, "none", &threshold), SY_ERR_NOT_FOUND);
}

/* Whatever its trace function does meanwhile, a call that fails says why. */
Test(trace, keeps_the_error_of_the_run)
{
    static const char *const names[] = {"x"};
    const sy_workload_def def = {.struct_size = sizeof def,
                                 .name = "refusing",
                                 .n_inputs = 1,
                                 .n_outputs = 1,
                                 .input_names = names,
                                 .output_names = names,
                                 .compute = refuse};
    const char *const devices[] = {"cpu", "sim:a"};
    for (int i = 0; i < 2; i++) {
        lab_case c = {.workload = "refusing", .rows = 1, .columns = COLUMNS, .x = x};
        sy_context *context = lab_open(devices[i], NULL, NULL);
        sy_options options = {
            .struct_size = sizeof options, .trace = use_the_library, .trace_user = context};
        cr_assert(context && sy_workload_register(context, &def) == SY_OK && lab_prepare(&c));
        cr_expect_eq(lab_run(context, &c, &options, NULL), SY_ERR_USER);
        cr_expect_eq(sy_last_error()->status, SY_ERR_USER);
        cr_expect_eq(sy_last_error()->native_code, 7, "%s", sy_last_error()->text);
        lab_release(&c);
        sy_context_destroy(&context);
    }
}

/* 8 bytes an element in, 24 out, and 20 ns of computing: what a busy host adds is computing. */
Test(trace, a_simulated_device_takes_its_figures_apart)
{
    double in = 0, compute = 0, out = 0;
    run_traced("sim:a:speed=0.5:link=1GB/s");
    for (int i = 0; i < trace.count; i++) {
        const sy_trace_event *event = &trace.events[i];
        const double took = event->end_ms - event->begin_ms;
        in += strcmp(event->what, "copy in") ? 0 : took;
        compute += strcmp(event->what, "compute") ? 0 : took;
        out += strcmp(event->what, "copy out") ? 0 : took;
    }
    cr_expect(in > 0 && fabs(out / in - 3) < 0.02, "%g ms in, %g ms out", in, out);
    cr_expect(compute / in > 2.49, "%g ms in, %g ms of computing", in, compute);
}
