/* What a context makes of a multigpu.json that does not quite fit, and says about it. */
#define _XOPEN_SOURCE 700
#include <criterion/criterion.h>
#include <limits.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/lab.h"

/* What is stored for another tag is a guess: it says so, and leaves nobody out. */
Test(stored, ratios_of_another_tag)
{
    static const sy_ratio stored[] = {{"a", 0.5}, {"b", 0.5}};
    char path[64];
    lab_log log = {0};
    sy_context *writer, *reader;
    sy_work work = {.struct_size = sizeof work, .workload = "ema", .rows = 100, .columns = 64};
    snprintf(path, sizeof path, "another-tag-%d.json", (int)getpid());
    writer = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(writer);
    cr_assert_eq(sy_balance_set(writer, "sma", stored, 2), SY_OK);
    sy_context_destroy(&writer);
    for (int more = 0; more < 2; more++) {
        sy_plan_info plan = {.struct_size = sizeof plan};
        reader = lab_open(more ? "sim:a,sim:b,sim:c" : "sim:a,sim:b", path, &log);
        cr_assert(reader);
        cr_assert_eq(sy_plan_explain(reader, &work, NULL, &plan), SY_OK);
        for (int i = 0; i < plan.n_devices; i++)
            cr_expect_gt(plan.devices[i].tiles, 20);
        cr_expect(strstr(plan.reason, more ? "nominal" : "another tag, 'sma'"), "%s", plan.reason);
        cr_expect_eq(!!strstr(log.text, "'sma' are a first guess"), 1, "%s", log.text);
        sy_plan_info_clear(&plan);
        sy_context_destroy(&reader);
    }
    lab_remove(path);
}

/* Of a container's user there may be no home folder: profiles are a help, not a condition. */
Test(stored, no_place_for_profiles)
{
    static const char *const variables[] = {
        "STEELYARD_MULTIGPU_PATH",    "STEELYARD_THRESHOLD_PATH", "THREADX_MULTIGPU_PROFILE_PATH",
        "THREADX_GPU_THRESHOLD_PATH", "XDG_STATE_HOME",           "HOME"};
    static const sy_ratio one[] = {{"a", 1}};
    lab_log log = {0};
    sy_config config = {.struct_size = sizeof config,
                        .devices = "cpu,sim:a",
                        .log = lab_remember,
                        .log_user = &log};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 9, .columns = 64};
    sy_profile_options how = {.struct_size = sizeof how, .workload = "sma"};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_context *context = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    if (setreuid(54321, (uid_t)-1) != 0 || getpwuid(54321))
        cr_skip_test("the user's number cannot be another one");
    cr_assert_eq(sy_context_create(&config, &context), SY_OK);
    cr_expect_null(sy_multigpu_path(context));
    cr_expect_null(sy_thresholds_path(context));
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
        sy_plan_info_clear(&plan);
    }
    cr_expect_eq(sy_balance_set(context, "sma", one, 1), SY_ERR_IO);
    cr_expect_eq(sy_profile_auto_balance(context, &how, NULL), SY_ERR_IO);
    cr_expect(strstr(sy_last_error()->text, "set HOME or XDG_STATE_HOME"));
    sy_context_destroy(&context);
    cr_expect_eq(log.warnings, 1, "%s", log.text);
}

static sy_context *within; /* its log's callback, */
static int most_used;      /* at most so often */

/* A log's callback may use the context, which may log again. */
static void use_it(void *user, sy_log_level level, const char *line)
{
    lab_log *log = user;
    sy_work work = {.struct_size = sizeof work, .workload = "macd", .rows = 3, .columns = 64};
    sy_plan_info plan = {.struct_size = sizeof plan};
    lab_remember(user, level, line);
    if (log->warnings <= most_used)
        cr_expect_eq(sy_plan_explain(within, &work, NULL, &plan), SY_OK);
    sy_plan_info_clear(&plan);
}

static void expect_warnings(int most, int expected)
{
    lab_log log = {0};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 3, .columns = 64};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_config config = {.struct_size = sizeof config,
                        .devices = "sim:a,sim:b",
                        .multigpu_path = "/", /* is no file, which each tag's first plan says */
                        .log = use_it,
                        .log_user = &log};
    most_used = most;
    cr_assert_eq(sy_context_create(&config, &within), SY_OK);
    cr_expect_eq(sy_plan_explain(within, &work, NULL, &plan), SY_OK);
    cr_expect_eq(log.warnings, expected, "%s", log.text);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&within);
}

Test(stored, log_callback_uses_the_context)
{
    expect_warnings(1, 2);
    expect_warnings(INT_MAX, 4); /* without end, if nobody ended it */
}

/* Works of other sizes may begin with other guesses, but nothing is told again. */
Test(stored, an_unreadable_file_is_told_once)
{
    lab_log log = {0};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .columns = 64};
    sy_context *context = lab_open("sim:a,sim:b", "/", &log);
    cr_assert(context);
    for (work.rows = 1; work.rows < 1000000; work.rows *= 10) {
        sy_plan_info plan = {.struct_size = sizeof plan};
        cr_expect_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
        sy_plan_info_clear(&plan);
    }
    cr_expect_eq(log.warnings, 1, "%s", log.text);
    sy_context_destroy(&context);
}

static int count_steps(void *user, uint64_t done, uint64_t all)
{
    int *steps = user;
    (void)done, (void)all;
    ++*steps;
    return 0;
}

/* Minutes of measuring are not for nothing. */
Test(stored, what_cannot_be_stored_is_not_measured)
{
    int steps = 0;
    sy_context *context = lab_open("sim:a,sim:b", "/dev/null/multigpu.json", NULL);
    sy_profile_options options = {.struct_size = sizeof options,
                                  .sample_size = 10000,
                                  .progress = count_steps,
                                  .progress_user = &steps};
    cr_assert(context);
    cr_expect_eq(sy_profile_auto_balance(context, &options, NULL), SY_ERR_IO);
    cr_expect_eq(steps, 0);
    sy_context_destroy(&context);
}

static void fail_within(void *user, sy_log_level level, const char *line)
{
    sy_device_info info;
    lab_remember(user, level, line);
    cr_expect_eq(sy_device_query(within, 99, &info), SY_ERR_ARGUMENT);
}

/* The error is that of the call, whatever its log's callback has called meanwhile. */
Test(stored, log_leaves_the_error)
{
    lab_log log = {0};
    char path[64], corrupt[80];
    FILE *file;
    snprintf(path, sizeof path, "damaged-%d.json", (int)getpid());
    snprintf(corrupt, sizeof corrupt, "%s.corrupt", path);
    sy_config config = {.struct_size = sizeof config,
                        .devices = "cpu",
                        .multigpu_path = path,
                        .log = fail_within,
                        .log_user = &log};
    file = fopen(path, "w");
    cr_assert(file && fputs("not json", file) >= 0 && fclose(file) == 0);
    cr_assert_eq(sy_context_create(&config, &within), SY_OK);
    cr_expect_eq(sy_balance_forget(within, "sma"), SY_ERR_NOT_FOUND);
    cr_expect_eq(log.warnings, 1, "%s", log.text);
    cr_expect(lab_told(SY_ERR_NOT_FOUND), "%s", sy_last_error()->text);
    sy_context_destroy(&within);
    remove(corrupt);
    lab_remove(path);
}

/* What a context stores itself counts in its next call, however soon that comes. */
Test(stored, what_is_set_counts_at_once)
{
    char path[64];
    double x[2 * 4096] = {0};
    sy_context *context;
    snprintf(path, sizeof path, "at-once-%d.json", (int)getpid());
    context = lab_open("sim:a:speed=1e6,sim:b:speed=1e6", path, NULL);
    cr_assert(context);
    for (int i = 0; i < 100; i++) {
        lab_case c = {.workload = "sma", .rows = 1, .columns = 2 * 4096, .x = x};
        const sy_ratio only = {i % 2 ? "a" : "b", 1};
        sy_report report = {.struct_size = sizeof report};
        cr_assert_eq(sy_balance_set(context, "sma", &only, 1), SY_OK);
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, NULL, &report), SY_OK);
        cr_expect_eq(report.devices[i % 2 ? 0 : 1].tiles, 2, "call %d", i);
        sy_report_clear(&report);
        lab_release(&c);
    }
    sy_context_destroy(&context);
    lab_remove(path);
}

/* Whoever was compiled with a sy_balance that ends with `kept` is told so, too. */
Test(stored, kept_for_older_callers)
{
    char path[64];
    sy_balance balance = {.struct_size = offsetof(sy_balance, kept) + sizeof balance.kept};
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = "sma",
                                  .sample_size = 8192,
                                  .runs = 1,
                                  .keep_better = 1,
                                  .keep_within = 1e9}; /* whatever the machine is busy with */
    sy_context *context;
    snprintf(path, sizeof path, "kept-%d.json", (int)getpid());
    context = lab_open("sim:a,sim:b", path, NULL);
    cr_assert(context);
    cr_assert_eq(sy_profile_auto_balance(context, &options, NULL), SY_OK);
    cr_assert_eq(sy_profile_auto_balance(context, &options, &balance), SY_OK);
    cr_expect_neq(balance.kept[0], 0);
    sy_balance_clear(&balance);
    sy_context_destroy(&context);
    lab_remove(path);
}

/* Another instruction set is another CPU: its profile does not count. */
Test(stored, instruction_set_of_the_cpu)
{
    char path[64];
    lab_log log = {0};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = 100000};
    sy_plan_info plan = {.struct_size = sizeof plan};
    sy_profile_options options = {
        .struct_size = sizeof options, .workload = "sma", .sample_size = 8192, .runs = 1};
    sy_context *context;
    snprintf(path, sizeof path, "instructions-%d.json", (int)getpid());
    context = lab_open("cpu:threads=1:isa=v3,sim:a", path, NULL);
    if (!context) /* the processor has no more than one */
        return;
    cr_assert_eq(sy_profile_auto_balance(context, &options, NULL), SY_OK);
    sy_context_destroy(&context);
    context = lab_open("cpu:threads=1:isa=base,sim:a", path, &log);
    cr_assert(context);
    cr_assert_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    cr_expect(strstr(log.text, "code: v3, now base"), "%s", log.text);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
    lab_remove(path);
}

static sy_context *other; /* of the same file */

static void set_shares(double a)
{
    const sy_ratio stored[] = {{"a", a}, {"b", 1 - a}, {"c", 1}};
    cr_assert_eq(sy_balance_set(other, "sma", stored, 3), SY_OK);
}

static int64_t tiles_of_first(const char *workload)
{
    sy_work work = {.struct_size = sizeof work, .workload = workload, .rows = 100, .columns = 64};
    sy_plan_info plan = {.struct_size = sizeof plan};
    int64_t tiles;
    cr_assert_eq(sy_plan_explain(within, &work, NULL, &plan), SY_OK);
    tiles = plan.devices[0].tiles;
    sy_plan_info_clear(&plan);
    return tiles;
}

static void change_it(void *user, sy_log_level level, const char *line)
{
    lab_log *log = user;
    lab_remember(user, level, line);
    if (strstr(line, "not here: c;") && log->infos == 1) {
        set_shares(0.25);
        tiles_of_first("macd"); /* has seen the change */
    }
}

/* The file changes while a plan is being made of it, and another plan is made of the new one: the
 * old ratios are not kept. */
Test(stored, file_changes_while_it_is_used)
{
    lab_log log = {0};
    char path[64];
    snprintf(path, sizeof path, "changing-%d.json", (int)getpid());
    sy_config config = {.struct_size = sizeof config,
                        .devices = "sim:a,sim:b",
                        .multigpu_path = path,
                        .log = change_it,
                        .log_user = &log};
    other = lab_open("sim:a,sim:b,sim:c", path, NULL);
    cr_assert(other);
    set_shares(0.5);
    cr_assert_eq(sy_context_create(&config, &within), SY_OK);
    cr_expect_eq(tiles_of_first("sma"), 50);
    cr_expect(strstr(log.text, "not here: c;"), "%s", log.text);
    cr_expect_eq(tiles_of_first("sma"), 25);
    sy_context_destroy(&within);
    sy_context_destroy(&other);
    lab_remove(path);
}

/* A context forgets what it has not been asked for longest: calls under ever new tags take no more
 * and more memory. */
Test(stored, many_tags)
{
    sy_context *context = lab_open("sim:a,sim:b", NULL, NULL);
    int64_t alive = 0;
    cr_assert(context);
    for (int i = 0; i < 600; i++) {
        char tag[16];
        sy_options options = {.struct_size = sizeof options, .tag = tag};
        sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 3, .columns = 64};
        sy_plan_info plan = {.struct_size = sizeof plan};
        snprintf(tag, sizeof tag, "tag %d", i);
        cr_assert_eq(sy_plan_explain(context, &work, &options, &plan), SY_OK);
        sy_plan_info_clear(&plan);
        if (i == 299)
            alive = syi_mem_alive();
    }
    cr_expect_eq(syi_mem_alive(), alive);
    sy_context_destroy(&context);
}
