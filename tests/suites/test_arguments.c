/*
 * Wrong arguments of every public function: the right status, one line of text, nothing written.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/lab.h"

enum { N = 100 };

static double x[N];
static sy_context *context;

static void open_it(void)
{
    context = lab_open("sim:a:speed=1e6,cpu:threads=1", NULL, NULL);
    cr_assert(context);
}

static void close_it(void)
{
    sy_context_destroy(&context);
    cr_assert_null(context);
}

TestSuite(arguments, .init = open_it, .fini = close_it);

#define REFUSED(status, call)                                                                      \
    do {                                                                                           \
        sy_status got_ = (call);                                                                   \
        cr_expect_eq(got_, status, "%s: status %d, expected %d", #call, (int)got_, (int)status);   \
        cr_expect(lab_told(status), "%s", #call);                                                  \
    } while (0)

/* One call with these parameters and options; the outputs must stay as they were. */
static sy_status call(const char *workload, const sy_param *params, int n_params,
                      const sy_options *options)
{
    lab_case c = {.workload = "sma", .rows = 1, .columns = N, .x = x};
    const void *in = x;
    void *out[1];
    sy_work work = {.struct_size = sizeof work,
                    .workload = workload,
                    .rows = 1,
                    .columns = N,
                    .inputs = &in,
                    .outputs = out,
                    .params = params,
                    .n_params = n_params};
    sy_status status;
    cr_assert(lab_prepare(&c));
    out[0] = c.out[0];
    status = distribute_workload(context, &work, options, NULL);
    cr_expect(lab_untouched(c.out[0], N) || status == SY_OK);
    cr_expect(lab_guards_intact(c.out[0], N));
    lab_release(&c);
    return status;
}

static sy_status with_period(double period)
{
    const sy_param param = {.name = "period", .value = period};
    return call("sma", &param, 1, NULL);
}

Test(arguments, workload_names)
{
    REFUSED(SY_ERR_NOT_FOUND, call("smaa", NULL, 0, NULL));
    REFUSED(SY_ERR_NOT_FOUND, call("", NULL, 0, NULL));
    REFUSED(SY_ERR_NOT_FOUND, call("two\nlines", NULL, 0, NULL));
    REFUSED(SY_ERR_NOT_FOUND, call(NULL, NULL, 0, NULL));
    cr_expect(strstr(sy_last_error()->text, "bollinger"), "the message lists those there");
}

Test(arguments, periods)
{
    static const double wrong[] = {0, -1, -20, 0.5, 2.5, 1e18, 1e300};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSED(SY_ERR_ARGUMENT, with_period(wrong[i]));
    REFUSED(SY_ERR_ARGUMENT, with_period(NAN));
    REFUSED(SY_ERR_ARGUMENT, with_period(INFINITY));
    REFUSED(SY_ERR_ARGUMENT, with_period(-INFINITY));
    cr_expect_eq(with_period(N + 1), SY_OK, "a period beyond the series is all NaN, not an error");
}

Test(arguments, parameters)
{
    const sy_param unknown = {.name = "perod", .value = 20}, unnamed = {.value = 20};
    const sy_param twice[] = {{.name = "period", .value = 20}, {.name = "period", .value = 20}};
    const sy_param word = {.name = "period", .value = 20, .text = "20"};
    const sy_param width = {.name = "width", .value = NAN};
    const sy_param seed = {.name = "seed_with", .text = "last"};
    const sy_param seed_number = {.name = "seed_with", .value = 2};
    const sy_param macd[] = {{.name = "fast", .value = 26}, {.name = "slow", .value = 12}};
    const sy_param ddof[] = {{.name = "period", .value = 5}, {.name = "ddof", .value = 5}};
    REFUSED(SY_ERR_ARGUMENT, call("sma", &unknown, 1, NULL));
    cr_expect(strstr(sy_last_error()->text, "period"), "the message lists those there");
    REFUSED(SY_ERR_ARGUMENT, call("sma", &unnamed, 1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("sma", twice, 2, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("sma", &unknown, -1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("sma", &word, 1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("bollinger", &width, 1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("ema", &seed, 1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("ema", &seed_number, 1, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("macd", macd, 2, NULL));
    REFUSED(SY_ERR_ARGUMENT, call("rolling_std", ddof, 2, NULL));
}

Test(arguments, ratios)
{
    static const sy_ratio zero = {"a", 0}, negative = {"a", -1}, unknown = {"b", 1},
                          none = {NULL, 1}, empty = {"", 1}, twice[] = {{"a", 1}, {"sim:0", 2}};
    const sy_ratio nan = {"a", NAN}, infinite = {"a", INFINITY};
    const sy_ratio *const wrong[] = {&zero, &negative, &unknown, &none, &empty, &nan, &infinite};
    sy_options options = {.struct_size = sizeof options, .n_ratios = 1};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.ratios = wrong[i];
        REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
    }
    options.ratios = twice;
    options.n_ratios = 2;
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
    options.n_ratios = -1;
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
    options.ratios = NULL;
    options.n_ratios = 1;
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
}

Test(arguments, options)
{
    sy_options options = {.struct_size = 0};
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
    options.struct_size = sizeof options;
    options.accuracy = (sy_accuracy)99;
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
    options.accuracy = SY_ACCURACY_EXACT;
    options.tag = "";
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
    options.tag = "a tag of 64 bytes, where the longest one that can be stored is of";
    REFUSED(SY_ERR_ARGUMENT, call("sma", NULL, 0, &options));
}

Test(arguments, works)
{
    const void *in = x, *no_in = NULL;
    double y[N];
    void *out = y, *no_out = NULL;
    sy_work good = {.struct_size = sizeof good,
                    .workload = "sma",
                    .columns = N,
                    .inputs = &in,
                    .outputs = &out};
    sy_work work = good;
    sy_report report = {.struct_size = 0};
    cr_expect_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(NULL, &work, NULL, NULL));
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, NULL, NULL, NULL));
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, &report));
    report.struct_size = offsetof(sy_report, devices);
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, &report));
    work.struct_size = 0;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.rows = -1;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.columns = -1;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.rows = INT64_MAX, work.columns = INT64_MAX;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.dtype = (sy_dtype)99;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.inputs = NULL;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.inputs = &no_in;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.outputs = NULL;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = good, work.outputs = &no_out;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    sy_report_clear(NULL);
}

/* Arrays that lie upon each other, or not at an element. */
Test(arguments, places_of_arrays)
{
    static const struct {
        const char *workload;
        int64_t in, out; /* bytes from the room's beginning */
    } wrong[] = {{"sma", 0, 0}, {"sma", 0, 8},    {"sma", 8, 0},
                 {"sum", 0, 8}, {"sma", 0, 1604}, {"sma", 4, 1608}};
    double room[3 * N] = {0};
    const void *in;
    void *out;
    sy_work work = {.struct_size = sizeof work, .columns = N, .inputs = &in, .outputs = &out};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        work.workload = wrong[i].workload;
        in = (char *)room + wrong[i].in;
        out = (char *)room + wrong[i].out;
        REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    }
    in = room;
    out = room + N;
    cr_expect_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
    work.dtype = SY_F32;
    out = (float *)room + N;
    cr_expect_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
}

/* No columns: nothing is looked at, and nothing is done, however many rows there are. */
Test(arguments, nothing_at_all)
{
    double y = 1;
    void *out = &y;
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = INT64_MAX / 16};
    sy_plan_info plan = {.struct_size = sizeof plan};
    cr_expect_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
    cr_expect_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    sy_plan_info_clear(&plan);
    work.rows = INT64_MAX;
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work = (sy_work){.struct_size = sizeof work, .workload = "sum", .rows = 1};
    REFUSED(SY_ERR_ARGUMENT, distribute_workload(context, &work, NULL, NULL));
    work.outputs = &out;
    cr_expect_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
    cr_expect_eq(y, 0);
}

Test(arguments, contexts)
{
    static const char *const malformed[] = {"cpu,",
                                            ",",
                                            "cpu,,sim:a",
                                            "cpu,cpu",
                                            "sim:",
                                            "sim",
                                            "sim:cpu",
                                            "sim:a:speed",
                                            "sim:a:speed=0",
                                            "sim:a:speed=-1",
                                            "sim:a:speed=nan",
                                            "sim:a:speed=x",
                                            "sim:a:memory=0",
                                            "sim:a:memory=6QiB",
                                            "sim:a:link=12",
                                            "sim:a:latency=20",
                                            "sim:a:latency=-1us",
                                            "sim:a:fail=oom",
                                            "sim:a:fail=oom@0",
                                            "sim:a:fail=boom@3",
                                            "sim:a:colour=red",
                                            "cpu:threads=0",
                                            "cpu:threads=-1",
                                            "cpu:threads=x",
                                            "cpu:isa=v9",
                                            "cpu:cores=2"};
    static const char *const absent[] = {"cuda:9", "gpu", "CPU", "opencl"};
    sy_config config = {.struct_size = sizeof config, .multigpu_path = "no-such/multigpu.json"};
    sy_context *out = NULL;
    REFUSED(SY_ERR_ARGUMENT, sy_context_create(&config, NULL));
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        config.devices = malformed[i];
        REFUSED(SY_ERR_ARGUMENT, sy_context_create(&config, &out));
        cr_expect_null(out, "%s", malformed[i]);
    }
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        config.devices = absent[i];
        REFUSED(SY_ERR_NO_DEVICE, sy_context_create(&config, &out));
        cr_expect(strstr(sy_last_error()->text, "cpu"), "the message lists those there");
        cr_expect_null(out, "%s", absent[i]);
    }
    config.devices = "cpu";
    config.struct_size = 0;
    REFUSED(SY_ERR_ARGUMENT, sy_context_create(&config, &out));
    sy_context_destroy(NULL);
    sy_context_destroy(&out);
}

Test(arguments, least_columns)
{
    static const sy_param period = {"period", 0, NULL};
    int64_t columns = -1;
    REFUSED(SY_ERR_ARGUMENT, sy_workload_least_columns(NULL, "sma", NULL, 0, &columns));
    REFUSED(SY_ERR_ARGUMENT, sy_workload_least_columns(context, "sma", NULL, 0, NULL));
    REFUSED(SY_ERR_NOT_FOUND, sy_workload_least_columns(context, "smaa", NULL, 0, &columns));
    REFUSED(SY_ERR_ARGUMENT, sy_workload_least_columns(context, "sma", &period, 1, &columns));
    cr_expect_eq(columns, -1);
}

Test(arguments, queries)
{
    sy_device_info device;
    sy_workload_info workload;
    cr_expect_eq(sy_device_count(context), 2);
    cr_expect_eq(sy_device_query(context, 1, &device), SY_OK);
    cr_expect_str_eq(device.id, "cpu");
    REFUSED(SY_ERR_ARGUMENT, sy_device_query(context, 2, &device));
    REFUSED(SY_ERR_ARGUMENT, sy_device_query(context, -1, &device));
    REFUSED(SY_ERR_ARGUMENT, sy_device_query(NULL, 0, &device));
    REFUSED(SY_ERR_ARGUMENT, sy_device_query(context, 0, NULL));
    cr_expect_geq(sy_workload_count(context), 8);
    REFUSED(SY_ERR_ARGUMENT, sy_workload_query(context, -1, &workload));
    REFUSED(SY_ERR_ARGUMENT, sy_workload_query(context, sy_workload_count(context), &workload));
    REFUSED(SY_ERR_ARGUMENT, sy_workload_query(NULL, 0, &workload));
    REFUSED(SY_ERR_ARGUMENT, sy_workload_query(context, 0, NULL));
    for (int i = 0; i < sy_workload_count(context); i++) {
        cr_expect_eq(sy_workload_query(context, i, &workload), SY_OK);
        cr_expect(*workload.name && *workload.summary && workload.built_in);
        cr_expect_eq(!workload.has_fast,
                     strstr(workload.name, "min") || strstr(workload.name, "max"));
    }
    cr_expect_not_null(strchr(sy_version(), '.'));
    cr_expect_str_neq(sy_status_string((sy_status)-7), "");
    cr_expect_str_neq(sy_status_string((sy_status)1000), "");
}

Test(arguments, plans)
{
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 10, .columns = 64};
    sy_plan_info plan = {.struct_size = sizeof plan};
    cr_expect_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    cr_expect_eq(plan.tiles, 10);
    sy_plan_info_clear(&plan);
    sy_plan_info_clear(NULL);
    REFUSED(SY_ERR_ARGUMENT, sy_plan_explain(NULL, &work, NULL, &plan));
    REFUSED(SY_ERR_ARGUMENT, sy_plan_explain(context, NULL, NULL, &plan));
    REFUSED(SY_ERR_ARGUMENT, sy_plan_explain(context, &work, NULL, NULL));
    plan.struct_size = 0;
    REFUSED(SY_ERR_ARGUMENT, sy_plan_explain(context, &work, NULL, &plan));
    plan.struct_size = offsetof(sy_plan_info, devices); /* no room for what is to be given back */
    REFUSED(SY_ERR_ARGUMENT, sy_plan_explain(context, &work, NULL, &plan));
    work.workload = "none";
    plan.struct_size = sizeof plan;
    REFUSED(SY_ERR_NOT_FOUND, sy_plan_explain(context, &work, NULL, &plan));
}

static int list_none(void *user, const sy_balance *balance)
{
    (void)user;
    cr_expect(0, "%s is stored", balance->tag);
    return 0;
}

Test(arguments, profiles)
{
    static const sy_ratio good = {"a", 1}, zero = {"a", 0}, unknown = {"b", 1};
    sy_balance balance = {.struct_size = 0};
    sy_profile_options options = {.struct_size = 0};
    sy_threshold threshold;
    REFUSED(SY_ERR_ARGUMENT, sy_balance_set(NULL, "t", &good, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_set(context, NULL, &good, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_set(context, "t", &zero, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_set(context, "t", &unknown, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_set(context, "t", NULL, 0));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_get(context, "t", &balance));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_get(context, "t", NULL));
    balance.struct_size = offsetof(sy_balance, ratios);
    REFUSED(SY_ERR_ARGUMENT, sy_balance_get(context, "t", &balance));
    balance.struct_size = sizeof balance;
    REFUSED(SY_ERR_ARGUMENT, sy_balance_get(NULL, "t", &balance));
    REFUSED(SY_ERR_NOT_FOUND, sy_balance_get(context, "t", &balance));
    REFUSED(SY_ERR_NOT_FOUND, sy_balance_get(context, NULL, &balance));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_forget(NULL, NULL));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_list(NULL, list_none, NULL));
    REFUSED(SY_ERR_ARGUMENT, sy_balance_list(context, NULL, NULL));
    cr_expect_eq(sy_balance_list(context, list_none, NULL), SY_OK);
    REFUSED(SY_ERR_ARGUMENT, sy_profile_auto_balance(NULL, NULL, NULL));
    REFUSED(SY_ERR_ARGUMENT, sy_profile_auto_balance(context, &options, NULL));
    options.struct_size = sizeof options;
    options.tag = "a tag of more bytes than there are places for in a multigpu.json of ours";
    REFUSED(SY_ERR_ARGUMENT, sy_profile_auto_balance(context, &options, NULL));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_update(NULL, "k", 1, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_update(context, NULL, 1, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_update(context, "k", -1, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_update(context, "k", 1, NAN));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_update(context, "k", INFINITY, 1));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_get(context, "k", NULL));
    REFUSED(SY_ERR_NOT_FOUND, sy_threshold_get(context, "k", &threshold));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_list(context, NULL, NULL));
    REFUSED(SY_ERR_ARGUMENT, sy_threshold_forget(NULL, NULL));
    sy_balance_clear(NULL);
}
