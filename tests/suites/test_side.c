/*
 * CPU or GPU, through the public API: the caller's word, what thresholds.json says, and what the
 * calls themselves take. Simulated devices play the GPUs; what has to come out differs by factors
 * that no disturbance reaches. The rule itself is tested in virtual time (test_decide.c).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/context.h"
#include "support/comma.h"
#include "support/cost_file.h"
#include "support/lab.h"
#include "support/series.h"

enum { COLUMNS = 300 * 4096, SMALL = 10000 };

static double *x;
static char multigpu[64], thresholds[64];

static void drop(void)
{
    free(x);
    lab_remove(multigpu);
    lab_remove(thresholds);
}

static void fill(void)
{
    x = malloc(COLUMNS * sizeof *x);
    cr_assert(x);
    series_fill(SERIES_FLATS, 5, x, COLUMNS);
    snprintf(multigpu, sizeof multigpu, "side-m-%d.json", (int)getpid());
    snprintf(thresholds, sizeof thresholds, "side-t-%d.json", (int)getpid());
    remove(multigpu);
    remove(thresholds);
}

TestSuite(side, .init = fill, .fini = drop);

static sy_context *open_on(const char *devices, int frozen)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices,
                        .multigpu_path = multigpu,
                        .thresholds_path = thresholds,
                        .frozen = frozen};
    sy_context *context = NULL;
    cr_assert_eq(sy_context_create(&config, &context), SY_OK);
    return context;
}

static sy_work work_of(int64_t columns)
{
    return (sy_work){
        .struct_size = sizeof(sy_work), .workload = "sma", .rows = 1, .columns = columns};
}

static sy_plan_info explain(sy_context *context, int64_t columns, const char *device)
{
    sy_work work = work_of(columns);
    sy_options options = {.struct_size = sizeof options, .device = device};
    sy_plan_info plan = {.struct_size = sizeof plan};
    cr_assert_eq(sy_plan_explain(context, &work, &options, &plan), SY_OK);
    return plan;
}

static void expect_decision(sy_context *context, int64_t columns, const char *decision)
{
    sy_plan_info plan = explain(context, columns, NULL);
    cr_expect_str_eq(plan.decision, decision, "%lld columns: %s (%s)", (long long)columns,
                     plan.decision, plan.reason);
    sy_plan_info_clear(&plan);
}

/* One call; all tiles have to be on device `alone` (-1: wherever). */
static void call(sy_context *context, int64_t columns, const char *device, int alone)
{
    lab_case c = {.workload = "sma", .rows = 1, .columns = columns, .x = x};
    sy_options options = {.struct_size = sizeof options, .device = device};
    sy_report report = {.struct_size = sizeof report};
    cr_assert(lab_prepare(&c));
    cr_assert_eq(lab_run(context, &c, &options, &report), SY_OK);
    cr_expect(lab_as_on_cpu(&c));
    if (alone >= 0)
        cr_expect_eq(report.devices[alone].tiles, report.tiles);
    sy_report_clear(&report);
    lab_release(&c);
}

Test(side, the_callers_word)
{
    static const struct {
        const char *devices, *word;
        sy_status status;
    } rows[] = {{"cpu,sim:a", "gpu", SY_ERR_ARGUMENT},
                {"cpu,sim:a", "CPU", SY_ERR_ARGUMENT},
                {"cpu,sim:a", "cuda:0", SY_ERR_ARGUMENT},
                {"cpu,sim:a", "cuda", SY_ERR_NO_DEVICE},
                {"cpu", "cuda", SY_ERR_NO_DEVICE},
                {"sim:a,sim:b", "cpu", SY_ERR_NO_DEVICE},
                {"cpu,sim:a", "", SY_OK},
                {"cpu,sim:a", "auto", SY_OK},
                {"sim:a,sim:b", "auto", SY_OK},
                {"cpu,sim:a", "cpu", SY_OK}};
    static const sy_ratio ratio[] = {{"cpu", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sy_context *context = open_on(rows[i].devices, 0);
        sy_options options = {.struct_size = sizeof options, .device = rows[i].word};
        sy_plan_info plan = {.struct_size = sizeof plan};
        sy_work work = work_of(SMALL);
        sy_status status = sy_plan_explain(context, &work, &options, &plan);
        cr_expect_eq(status, rows[i].status, "%s on %s", rows[i].word, rows[i].devices);
        if (status != SY_OK) {
            cr_expect(lab_told(status));
            cr_expect(strstr(sy_last_error()->text, rows[i].word));
        }
        sy_plan_info_clear(&plan);
        options.ratios = ratio;
        options.n_ratios = 1;
        if (i == sizeof rows / sizeof *rows - 1)
            cr_expect_eq(sy_plan_explain(context, &work, &options, &plan), SY_ERR_ARGUMENT);
        sy_context_destroy(&context);
    }
}

/* Also where the profile says that the other one is faster. */
Test(side, is_obeyed)
{
    static const cost_row rows[] = {{"cpu", 0, 1000, 0.01, 1}, {"a", 0, 1, 0.01, 1}};
    sy_context *context = open_on("cpu,sim:a:speed=1e6", 0);
    sy_plan_info plan;
    call(context, SMALL, "cpu", 0);
    call(context, COLUMNS, "cpu", 0);
    cr_assert(cost_file_write(multigpu, "sma", 1, rows, 2));
    expect_decision(context, SMALL, "one");
    plan = explain(context, SMALL, "cpu");
    cr_expect_str_eq(plan.decision, "cpu");
    cr_expect_float_eq(plan.predicted_ms, 10, 1e-9);
    cr_expect(strstr(plan.reason, "caller"), "'%s'", plan.reason);
    cr_expect(strstr(plan.devices[1].left_out, "asked"), "'%s'", plan.devices[1].left_out);
    sy_plan_info_clear(&plan);
    for (int i = 0; i < 4; i++) /* alone it is not what it is beside others: nothing is learned */
        call(context, COLUMNS, "cpu", 0);
    plan = explain(context, SMALL, "cpu");
    cr_expect_float_eq(plan.predicted_ms, 10, 1e-9);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

static void store(sy_context *context, const char *key, double cpu_ms, double gpu_ms, int times)
{
    for (int i = 0; i < times; i++)
        cr_assert_eq(sy_threshold_update(context, key, cpu_ms, gpu_ms), SY_OK);
}

/* 0.1 and 0.5 ms at 10,000, 1 and 0.6 at 100,000: equal at 55,000. */
Test(side, the_file_decides_and_so_does_the_line_between_two_sizes)
{
    sy_context *context = open_on("cpu,sim:a", 1);
    sy_decision decision = {.struct_size = sizeof decision};
    sy_work work = work_of(50000);
    sy_param period = {.name = "period", .value = 30};
    sy_plan_info plan;
    plan = explain(context, 50000, NULL);
    cr_expect(strstr(plan.reason, "nominal"), "'%s'", plan.reason);
    sy_plan_info_clear(&plan);
    store(context, "sma:{'period': 20, 'size': 10000}", 0.1, 0.5, 3);
    store(context, "sma:{'size': 100000}", 1, 0.6, 3);
    store(context, "sma:{'period': 30, 'size': 50000}", 2, 0.1, 3);
    store(context, "ema:{'period': 20, 'size': 50000}", 2, 0.1, 3);
    expect_decision(context, 10000, "cpu");
    expect_decision(context, 54000, "cpu");
    expect_decision(context, 56000, "one");
    cr_assert_eq(sy_decide(context, &work, NULL, &decision), SY_OK);
    cr_expect_float_eq(decision.cpu_ms, 0.5, 1e-9);
    cr_expect_float_eq(decision.one_ms, 0.5 + 0.1 * 40 / 90, 1e-9);
    cr_expect_float_eq(decision.split_ms, 0.5, 1e-9);
    cr_expect_str_eq(decision.decision, "cpu");
    cr_expect_str_eq(decision.one_device, "a");
    work.params = &period;
    work.n_params = 1;
    cr_assert_eq(sy_decide(context, &work, NULL, &decision), SY_OK);
    cr_expect_str_eq(decision.decision, "one");
    cr_expect_float_eq(decision.one_ms, 0.1, 1e-9);
    store(context, "sma:{'period': 20, 'size': 1000000}", 1, 0.6, 3);
    expect_decision(context, COLUMNS, "all"); /* is divided, whatever the file says */
    cr_assert_eq(sy_threshold_forget(context, NULL), SY_OK);
    plan = explain(context, 50000, NULL);
    cr_expect(strstr(plan.reason, "nominal"), "'%s'", plan.reason);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* Costs rule where they are known. */
Test(side, a_profile_outweighs_the_file)
{
    static const cost_row rows[] = {{"cpu", 0, 1000, 0.01, 1}, {"a", 0, 1, 0.01, 1}};
    sy_context *context = open_on("cpu,sim:a", 0);
    store(context, "sma:{'period': 20, 'size': 10000}", 0.1, 0.5, 3);
    expect_decision(context, SMALL, "cpu");
    cr_assert(cost_file_write(multigpu, "sma", 1, rows, 2));
    expect_decision(context, SMALL, "one");
    sy_context_destroy(&context);
}

/* The file holds one wrong measurement: both sides are timed, then the faster one stays. The
 * simulated device takes 60 ms, the CPU far less. */
Test(side, calls_correct_the_file)
{
    sy_context *context = open_on("cpu,sim:a:latency=20ms", 0);
    int probes = 0;
    store(context, "sma:{'period': 20, 'size': 10000}", 50, 45, 1);
    while (probes < 20) {
        sy_plan_info plan = explain(context, SMALL, NULL);
        int probing = strstr(plan.reason, "to compare") != NULL;
        sy_plan_info_clear(&plan);
        if (!probing)
            break;
        call(context, SMALL, NULL, -1);
        probes++;
    }
    cr_expect(probes >= 1 && probes <= 12, "%d calls to know", probes);
    for (int i = 0; i < 5; i++) {
        expect_decision(context, SMALL, "cpu");
        call(context, SMALL, NULL, 0);
    }
    sy_context_destroy(&context);
}

/* Nothing is tried for its own sake. */
Test(side, frozen_does_not_probe)
{
    sy_context *context = open_on("cpu,sim:a", 1);
    sy_decision decision = {.struct_size = sizeof decision};
    sy_work work = work_of(SMALL);
    store(context, "sma:{'period': 20, 'size': 10000}", 1, 0.9, 1);
    for (int i = 0; i < 3; i++) {
        expect_decision(context, SMALL, "one");
        call(context, SMALL, NULL, 1);
    }
    cr_assert_eq(sy_decide(context, &work, NULL, &decision), SY_OK);
    cr_expect(decision.cpu_ms == 1 && decision.one_ms == 0.9, "%g and %g: learned from the calls",
              decision.cpu_ms, decision.one_ms);
    expect_decision(context, 10 * SMALL, "all"); /* too far from what is known */
    sy_context_destroy(&context);
}

/* What a plan says has a point in a host with a decimal comma. */
Test(side, a_reason_has_a_point)
{
    sy_context *context = open_on("cpu,sim:a", 1);
    sy_plan_info plan;
    store(context, "sma:{'period': 20, 'size': 10000}", 1.5, 0.25, 1);
    if (!comma_set())
        cr_skip_test("no locale with a decimal comma on this system");
    plan = explain(context, SMALL, NULL);
    cr_expect_str_eq(plan.reason, "the times of earlier calls: CPU 1.5 ms, GPU 0.25 ms");
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* A file with times of larger sizes first, as another program may have written it. */
Test(side, one_of_many_sizes_counts)
{
    static const char entry[] =
        "%s\"sma:{'size': %d}\": {\"cpu_ms_avg\": %d, \"gpu_ms_avg\": %d, \"samples\": 3}";
    FILE *file = fopen(thresholds, "w");
    sy_context *context;
    cr_assert(file);
    fprintf(file, "{\"entries\": {");
    for (int k = 0; k < 200; k++)
        fprintf(file, entry, k ? "," : "", 100000 + 1000 * k, 1, 2);
    fprintf(file, entry, ",", SMALL, 2, 1);
    fprintf(file, "}}");
    cr_assert_eq(fclose(file), 0);
    context = open_on("cpu,sim:a", 0);
    expect_decision(context, SMALL, "one");
    expect_decision(context, 250000, "cpu");
    sy_context_destroy(&context);
}

/* A call that takes 10 ns for each element on the CPU, a tenth of that on the other side; whether
 * it was made on the CPU. */
static bool make_up_call(sy_context *context, int64_t columns)
{
    const sy_work work = work_of(columns);
    const sy_options options = {.struct_size = sizeof options};
    const syi_known nothing = {.count = 0};
    double params[SYI_MAX_PARAMS];
    syi_choice choice;
    syi_job job;
    cr_assert_eq(syi_work_check(context, &work, &options, params, &job), SY_OK);
    cr_assert_eq(syi_side_choose(context, &job, &options, &nothing, &choice), SY_OK);
    cr_assert(choice.made);
    syi_side_learn(context, &job, &choice,
                   (double)columns * (choice.side == SYI_SIDE_CPU ? 1e-5 : 1e-6));
    return choice.side == SYI_SIDE_CPU;
}

/* However many lengths there are, the slow side is not tried for each anew. */
Test(side, many_lengths_are_known_soon)
{
    sy_context *context = open_on("cpu,sim:a", 0);
    int on_cpu = 0;
    store(context, "sma:{'size': 1}", 1e-5, 1e-6, 1); /* or a simulated device would not be timed */
    for (int k = 0; k < 1000; k++)
        on_cpu += make_up_call(context, 100000 + k * 7919 % 1000);
    cr_expect_leq(on_cpu, 3);
    for (int k = 0; k < 10000; k++)
        on_cpu += make_up_call(context, 2 + (int64_t)k * 104729 % (64 * 4096 - 1));
    cr_expect_leq(on_cpu, 30);
    for (int64_t size = 10; size <= 64 * 4096; size += size / 10)
        cr_expect_not(make_up_call(context, size), "%lld", (long long)size);
    sy_context_destroy(&context);
}
