/*
 * The balance of real calls on simulated devices: what is planned from a profile, what is kept of
 * it, and that neither changes a bit. Nothing here looks at how long something took; the profiles
 * are written by hand, so that the plans are exact.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "planned.h"
#include "support/cost_file.h"
#include "support/lab.h"
#include "support/series.h"

enum { COLUMNS = 1000000 };

static double *x;
static char path[64];

static void fill(void)
{
    x = malloc(COLUMNS * sizeof *x);
    cr_assert(x);
    series_fill(SERIES_FLATS, 5, x, COLUMNS);
    snprintf(path, sizeof path, "balance-run-%d.json", (int)getpid());
    lab_remove(path);
}

static void drop(void)
{
    free(x);
    lab_remove(path);
}

TestSuite(balance_run, .init = fill, .fini = drop);

/* A profile of `a` and `b`: nanoseconds per element, and fixed ones. */
static void write_profile(double a_ns, double b_ns, double a_fixed, double b_fixed, int version)
{
    cost_row rows[] = {{"a", a_fixed, a_ns, 0.01, 1}, {"b", b_fixed, b_ns, 0.01, 1}};
    cr_assert(cost_file_write(path, "sma", version, rows, 2));
}

static sy_plan_info explain(sy_context *context, int64_t columns)
{
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = columns};
    sy_plan_info plan = {.struct_size = sizeof plan};
    cr_assert_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    return plan;
}

/* 245 tiles at 10 and 30 ns an element: three quarters and one. */
Test(balance_run, plans_by_the_costs)
{
    sy_context *context;
    sy_plan_info plan;
    write_profile(10, 30, 0, 0, 1);
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    plan = explain(context, 4096 * 200);
    cr_expect_eq(plan.devices[0].tiles, 150);
    cr_expect_eq(plan.devices[1].tiles, 50);
    cr_expect_str_eq(plan.decision, "all");
    /* Two devices: 0.03 ms to start their threads. */
    cr_expect_float_eq(plan.predicted_ms, 0.03 + 150 * 4096 * 10e-6, 1e-9);
    cr_expect_str_eq(plan.devices[0].limited_by, "compute");
    cr_expect_float_eq(plan.devices[1].compute_ms, 50 * 4096 * 30e-6, 1e-9);
    cr_expect(plan.devices[1].copy_in_ms == 0 && plan.devices[1].copy_out_ms == 0);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* Floats have costs of their own, and begin with those of doubles. */
Test(balance_run, floats_begin_as_doubles)
{
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "sma",
                                  .sample_size = 4096,
                                  .runs = 1,
                                  .dtype = SY_F32};
    sy_balance balance = {.struct_size = sizeof balance};
    sy_context *context;
    write_profile(10, 30, 0, 0, 1);
    context = lab_open("sim:a:speed=1e6,sim:b:speed=0.0002", path, NULL);
    cr_assert(context);
    cr_expect_eq(planned_tiles(context, 4096 * 200, SY_F64, 0), 150);
    cr_expect_eq(planned_tiles(context, 4096 * 200, SY_F32, 0), 150);
    cr_assert_eq(sy_profile_auto_balance(context, &options, &balance), SY_OK);
    cr_expect_str_eq(balance.tag, "sma_f32");
    cr_expect_str_eq(balance.workload, "sma");
    cr_expect_eq(balance.dtype, SY_F32);
    sy_balance_clear(&balance);
    cr_expect_eq(planned_tiles(context, 4096 * 200, SY_F64, 0), 150);
    cr_expect_gt(planned_tiles(context, 4096 * 200, SY_F32, 0), 150);
    cr_assert_eq(sy_balance_get(context, "sma", &balance), SY_OK);
    cr_expect_eq(balance.dtype, SY_F64);
    sy_balance_clear(&balance);
    sy_context_destroy(&context);
}

/* A device alone has nobody to share with, but its profile tells how long it will take. */
Test(balance_run, predicts_a_device_alone)
{
    static const char *const devices[] = {"sim:a", "cpu"};
    for (int i = 0; i < 2; i++) {
        cost_row rows[] = {{i ? "cpu" : "a", 5000, 10, 0.01, 1}, {"b", 0, 10, 0.01, 1}};
        lab_case c = {.workload = "sma", .rows = 1, .columns = 10000, .x = x};
        sy_report report = {.struct_size = sizeof report};
        lab_log log = {0};
        sy_context *context = lab_open(devices[i], path, &log);
        sy_plan_info plan;
        cr_assert(context && lab_prepare(&c));
        plan = explain(context, 10000);
        cr_expect_lt(plan.predicted_ms, 0, "nothing is known");
        sy_plan_info_clear(&plan);
        cr_assert(cost_file_write(path, "sma", 1, rows, 2));
        plan = explain(context, 10000);
        cr_expect_float_eq(plan.predicted_ms, 0.105, 1e-9);
        cr_expect_float_eq(plan.devices[0].predicted_ms, 0.105, 1e-9);
        cr_expect_str_eq(plan.devices[0].limited_by, "compute");
        cr_expect_str_eq(plan.decision, i ? "cpu" : "one");
        sy_plan_info_clear(&plan);
        cr_assert_eq(lab_run(context, &c, NULL, &report), SY_OK);
        cr_expect_float_eq(report.predicted_ms, 0.105, 1e-9);
        cr_expect_eq(log.warnings, 0, "'%s'", log.last);
        sy_report_clear(&report);
        lab_release(&c);
        sy_context_destroy(&context);
        remove(path);
    }
}

/* A fixed cost of 1 ms does not pay for 2 tiles that take 0.08 ms elsewhere. */
Test(balance_run, leaves_out_what_does_not_pay)
{
    sy_context *context;
    sy_plan_info plan;
    write_profile(10, 10, 0, 1000000, 1);
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    plan = explain(context, 8192);
    cr_expect_str_eq(plan.decision, "one");
    cr_expect_eq(plan.devices[0].tiles, 2);
    cr_expect(*plan.devices[1].left_out);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* The call's ratios are an order: who is not named is not left out for being slower. */
Test(balance_run, left_out_by_the_ratios_of_the_call)
{
    const sy_ratio ratios[] = {{"a", 1}};
    sy_options options = {.struct_size = sizeof options, .ratios = ratios, .n_ratios = 1};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = 8192};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_context *context;
    write_profile(10, 10, 0, 0, 1);
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    cr_assert_eq(sy_plan_explain(context, &work, &options, &plan), SY_OK);
    cr_expect_str_eq(plan.devices[1].left_out, "has no ratio");
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* A thousand million rows of no columns are shared out as quickly as others, and not to one alone.
 */
Test(balance_run, rows_of_no_columns)
{
    const cost_row rows[] = {{"a", 0, 10, 0.01, 1}, {"b", 0, 30, 0.01, 1}};
    sy_work work = {.struct_size = sizeof work, .workload = "sum", .rows = 1000000000};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_context *context;
    cr_assert(cost_file_write(path, "sum", 1, rows, 2));
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    cr_assert_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    cr_expect_eq(plan.devices[0].tiles, 750000000);
    cr_expect_eq(plan.devices[1].tiles, 250000000);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* The times that a decision compares are those of the profile. */
Test(balance_run, decides_by_predicted_times)
{
    sy_context *context;
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = 8192};
    sy_decision decision = {.struct_size = sizeof decision};
    write_profile(10, 20, 0, 1000000, 1);
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    cr_assert_eq(sy_decide(context, &work, NULL, &decision), SY_OK);
    cr_expect_str_eq(decision.decision, "one");
    cr_expect_str_eq(decision.one_device, "a");
    cr_expect_float_eq(decision.one_ms, 8192 * 10e-6, 1e-9);
    cr_expect_float_eq(decision.split_ms, decision.one_ms, 1e-9);
    cr_expect_lt(decision.cpu_ms, 0);
    work.columns = 8192000;
    cr_assert_eq(sy_decide(context, &work, NULL, &decision), SY_OK);
    cr_expect_str_eq(decision.decision, "all");
    cr_expect_lt(decision.split_ms, decision.one_ms);
    cr_expect_eq(sy_decide(context, NULL, NULL, &decision), SY_ERR_ARGUMENT);
    sy_context_destroy(&context);
}

/* The file is read again when somebody else has written it. */
Test(balance_run, follows_the_file)
{
    sy_context *context;
    sy_plan_info plan;
    write_profile(10, 30, 0, 0, 1);
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    plan = explain(context, 4096 * 200);
    cr_expect_eq(plan.devices[0].tiles, 150);
    sy_plan_info_clear(&plan);
    cr_assert_eq(remove(path), 0);
    plan = explain(context, 4096 * 200);
    cr_expect_eq(plan.devices[0].tiles, 100);
    cr_expect_lt(plan.predicted_ms, 0);
    sy_plan_info_clear(&plan);
    write_profile(30, 10, 0, 0, 1);
    plan = explain(context, 4096 * 200);
    cr_expect_eq(plan.devices[0].tiles, 50);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* Costs of another version of the workload do not count; its ratios are a beginning. */
Test(balance_run, does_not_believe_another_version)
{
    lab_log log = {0};
    sy_context *context;
    sy_plan_info plan;
    write_profile(10, 30, 0, 0, 99);
    context = lab_open("sim:a,sim:b", path, &log);
    cr_assert(context);
    for (int i = 0; i < 3; i++) {
        plan = explain(context, 4096 * 200);
        cr_expect_lt(plan.predicted_ms, 0);
        sy_plan_info_clear(&plan);
    }
    cr_expect_eq(log.infos, 2, "once for each device, not %d lines", log.infos);
    sy_context_destroy(&context);
}

/* A damaged entry is no cost, and no error. So are times that no device takes. */
Test(balance_run, damaged_costs)
{
    static const cost_row damaged[] = {{"a", 0, -10, 0.01, 1},
                                       {"a", 0, 1e300, 0.01, 1},
                                       {"a", 9e18, 10, 0.01, 1e-300},
                                       {"a", 0, 10, 0.01, 1e-308}};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        cost_row rows[] = {damaged[i], damaged[i]};
        sy_context *context;
        sy_plan_info plan;
        rows[1].device = "b";
        cr_assert(cost_file_write(path, "sma", 1, rows, 2));
        context = lab_open("sim:a,sim:b", path, NULL);
        cr_assert(context);
        plan = explain(context, 4096 * 200);
        cr_expect_eq(plan.tiles, 200);
        sy_plan_info_clear(&plan);
        sy_context_destroy(&context);
    }
}

/* The profile says 1:1, the devices are 1:1e4: the fast one does nearly everything, and the bits
 * are the same in every call, whatever is learned. */
Test(balance_run, heals_without_other_bits)
{
    static const char *const workloads[] = {"sma", "ema", "macd", "sum", "variance"};
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++) {
        sy_context *context = lab_open("sim:a:speed=1e6,sim:b:speed=0.1", path, NULL);
        cr_assert(context);
        for (int call = 0; call < 4; call++) {
            lab_case c = {.workload = workloads[w], .rows = 1, .columns = COLUMNS, .x = x};
            sy_report report = {.struct_size = sizeof report};
            cr_assert(lab_prepare(&c));
            cr_assert_eq(lab_run(context, &c, NULL, &report), SY_OK);
            cr_expect_eq(report.devices[0].tiles + report.devices[1].tiles, 245);
            if (call == 0 || call == 3)
                cr_expect(lab_as_on_cpu(&c));
            sy_report_clear(&report);
            lab_release(&c);
        }
        sy_context_destroy(&context);
    }
}

/* The last one's part is less than half a tile, by nominal speed and by what is stored by hand. */
Test(balance_run, only_an_order_leaves_a_device_without_a_tile)
{
    static const sy_ratio ratios[] = {{"a", 50}, {"b", 50}, {"c", 50}, {"d", 1}};
    sy_context *context =
        lab_open("sim:a:speed=50,sim:b:speed=50,sim:c:speed=50,sim:d", path, NULL);
    cr_assert(context);
    cr_expect_eq(planned_tiles(context, 65 * 4096, SY_F64, 0), 21);
    cr_expect_eq(planned_tiles(context, 65 * 4096, SY_F64, 1), 22);
    cr_expect_eq(planned_tiles(context, 65 * 4096, SY_F64, 3), 1);
    cr_expect_eq(planned_tiles(context, 4 * 4096, SY_F64, 3), 1);
    cr_expect_eq(planned_tiles(context, 3 * 4096, SY_F64, 3), 0, "there are fewer than devices");
    cr_assert_eq(sy_balance_set(context, "sma", ratios, 4), SY_OK);
    cr_expect_eq(planned_tiles(context, 65 * 4096, SY_F64, 3), 0);
    sy_context_destroy(&context);
}

/* What a device takes alone, by its costs. */
static double alone_ms(sy_context *context, const char *device, int64_t columns)
{
    const sy_ratio ratio = {device, 1};
    sy_options options = {.struct_size = sizeof options, .ratios = &ratio, .n_ratios = 1};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .columns = columns};
    sy_plan_info plan = {.struct_size = sizeof plan};
    double ms;
    cr_assert_eq(sy_plan_explain(context, &work, &options, &plan), SY_OK);
    ms = plan.predicted_ms;
    sy_plan_info_clear(&plan);
    return ms;
}

/* What sy_profile_auto_balance writes is what the next plan begins with. */
Test(balance_run, profile_is_used)
{
    sy_context *context = lab_open("sim:a:speed=2,sim:b:speed=0.5", path, NULL);
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "sma",
                                  .sample_size = 100000,
                                  .runs = 2,
                                  .budget_ms = 500};
    sy_plan_info plan;
    lab_case c = {.workload = "sma", .rows = 1, .columns = COLUMNS, .x = x};
    sy_report report = {.struct_size = sizeof report};
    sy_balance balance = {.struct_size = sizeof balance};
    cr_assert(context && lab_prepare(&c));
    cr_assert_eq(sy_profile_auto_balance(context, &options, &balance), SY_OK);
    cr_expect_float_eq(balance.ratios[0].ratio / balance.ratios[1].ratio *
                           alone_ms(context, "a", 100000) / alone_ms(context, "b", 100000),
                       1, 1e-3, "the ratios are not those of the costs");
    sy_balance_clear(&balance);
    plan = explain(context, COLUMNS);
    cr_expect_gt(plan.predicted_ms, 0);
    sy_plan_info_clear(&plan);
    cr_assert_eq(lab_run(context, &c, NULL, &report), SY_OK);
    cr_expect(report.used_profile);
    cr_expect_gt(report.predicted_ms, 0);
    cr_expect(lab_as_on_cpu(&c));
    sy_report_clear(&report);
    lab_release(&c);
    options.budget_ms = -1;
    cr_expect_eq(sy_profile_auto_balance(context, &options, NULL), SY_ERR_ARGUMENT);
    sy_context_destroy(&context);
}

/* Tiles of a call that the first of two devices computed. */
static int64_t first_part_of(sy_context *context, lab_case *c)
{
    sy_report report = {.struct_size = sizeof report};
    int64_t tiles;
    cr_assert_eq(lab_run(context, c, NULL, &report), SY_OK);
    tiles = report.devices[0].tiles;
    sy_report_clear(&report);
    return tiles;
}

/* What a context has stored itself counts in its next call, however soon that comes; what somebody
 * else has stored in one of those that follow, without anything else being asked. */
Test(balance_run, calls_follow_what_is_stored)
{
    static const sy_ratio ratios[2][2] = {{{"a", 0.25}, {"b", 0.75}}, {{"a", 0.75}, {"b", 0.25}}};
    const int64_t patience_ns = 30000000000;
    lab_case c = {.workload = "sma", .rows = 1, .columns = 4 * 4096, .x = x};
    sy_context *context = lab_open("sim:a:speed=1e6,sim:b:speed=1e6", path, NULL);
    sy_context *other = lab_open("sim:a,sim:b", path, NULL);
    int64_t began;
    cr_assert(context && other && lab_prepare(&c));
    for (int k = 0; k < 20; k++) {
        cr_assert_eq(sy_balance_set(context, "sma", ratios[k % 2], 2), SY_OK);
        cr_expect_eq(first_part_of(context, &c), k % 2 ? 3 : 1, "after %d changes", k + 1);
    }
    cr_assert_eq(sy_balance_set(other, "sma", ratios[0], 2), SY_OK);
    began = syi_now_ns();
    while (first_part_of(context, &c) != 1)
        cr_assert_lt(syi_now_ns() - began, patience_ns, "never looked at the file");
    lab_release(&c);
    sy_context_destroy(&other);
    sy_context_destroy(&context);
}
