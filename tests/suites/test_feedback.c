/*
 * What one call teaches the next, through the public API: simulated devices that are quicker than
 * their profile says by far more than any disturbance, so that what has to come out does not
 * depend on the machine's load. The rule itself is tested in virtual time (test_model.c).
 */
#define _DEFAULT_SOURCE /* flock, MAP_ANONYMOUS */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/context.h"
#include "base/mem.h"
#include "planned.h"
#include "support/cost_file.h"
#include "support/lab.h"
#include "support/series.h"

enum { TILES = 100, COLUMNS = TILES * 4096, MANY_CALLS = 300, RUNS_BEFORE_SAVING = 3 };

static double *x;
static char path[64], lock_path[80];

static void fill(void)
{
    x = malloc(COLUMNS * sizeof *x);
    cr_assert(x);
    series_fill(SERIES_FLATS, 5, x, COLUMNS);
    snprintf(path, sizeof path, "feedback-%d.json", (int)getpid());
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
}

static void drop(void)
{
    free(x);
    lab_remove(path);
}

TestSuite(feedback, .init = fill, .fini = drop);

/* Both are said to take 4,000 ns an element. In truth `b` takes 100, and `a` the host's few. */
static sy_context *open_deviating(int frozen, int version, lab_log *log)
{
    static const cost_row rows[] = {{"a", 0, 4000, 0.1, 1}, {"b", 0, 4000, 0.1, 1}};
    sy_config config = {.struct_size = sizeof config,
                        .devices = "sim:a:speed=1e6,sim:b:speed=0.1",
                        .multigpu_path = path,
                        .thresholds_path = "no-such/thresholds.json",
                        .log = log ? lab_remember : NULL,
                        .log_user = log,
                        .frozen = frozen};
    sy_context *context = NULL;
    cr_assert(cost_file_write(path, "sma", version, rows, 2));
    cr_assert_eq(sy_context_create(&config, &context), SY_OK);
    return context;
}

static void call(sy_context *context)
{
    lab_case c = {.workload = "sma", .rows = 1, .columns = COLUMNS, .x = x};
    cr_assert(lab_prepare(&c));
    cr_assert_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    cr_assert(lab_as_on_cpu(&c));
    lab_release(&c);
}

/* Tiles that the slower one would get. */
static int64_t planned_for_b(sy_context *context)
{
    return planned_tiles(context, COLUMNS, SY_F64, 1);
}

/* Whether the file is another one than the last time. */
static int was_written(struct stat *last)
{
    struct stat now;
    int same;
    cr_assert_eq(stat(path, &now), 0);
    same = now.st_ino == last->st_ino && now.st_mtim.tv_sec == last->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == last->st_mtim.tv_nsec;
    *last = now;
    return !same;
}

/* Strange runs that go on make the plan follow. */
Test(feedback, plans_follow_the_devices)
{
    sy_context *context = open_deviating(0, 1, NULL);
    int calls = 1;
    cr_expect_eq(planned_for_b(context), TILES / 2);
    call(context);
    while (planned_for_b(context) >= TILES / 2 && calls++ < MANY_CALLS)
        call(context);
    cr_expect_lt(planned_for_b(context), TILES / 2, "after %d runs", calls);
    sy_context_destroy(&context);
}

Test(feedback, frozen_turns_it_off)
{
    sy_context *context = open_deviating(1, 1, NULL);
    struct stat file = {0};
    was_written(&file);
    for (int i = 0; i < 8; i++) {
        call(context);
        cr_expect_eq(planned_for_b(context), TILES / 2);
    }
    cr_expect_not(was_written(&file));
    sy_context_destroy(&context);
}

/* Ratios of a call, and a run that was not asked for its device's share, teach nothing. */
Test(feedback, forced_ratios_teach_nothing)
{
    static const sy_ratio ratios[] = {{"a", 0.5}, {"b", 0.5}};
    sy_options options = {.struct_size = sizeof options, .ratios = ratios, .n_ratios = 2};
    sy_context *context = open_deviating(0, 1, NULL);
    for (int i = 0; i < 8; i++) {
        lab_case c = {.workload = "sma", .rows = 1, .columns = COLUMNS, .x = x};
        cr_assert(lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, &options, NULL), SY_OK);
        lab_release(&c);
        cr_expect_eq(planned_for_b(context), TILES / 2);
    }
    sy_context_destroy(&context);
}

/* The times predicted for an equal split, which do not depend on what starting a device takes: that
 * each context follows for itself. */
static void predict(sy_context *context, double compute_ms[2])
{
    static const sy_ratio equal[] = {{"a", 1}, {"b", 1}};
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 1, .columns = COLUMNS};
    sy_options options = {.struct_size = sizeof options, .ratios = equal, .n_ratios = 2};
    sy_plan_info plan = {.struct_size = sizeof plan};
    cr_assert_eq(sy_plan_explain(context, &work, &options, &plan), SY_OK);
    cr_assert_geq(plan.n_devices, 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_gt(plan.devices[i].compute_ms, 0);
        compute_ms[i] = plan.devices[i].compute_ms;
    }
    sy_plan_info_clear(&plan);
}

/* Without a profile the first call is one, also of a device that is believed too slow for a tile.
 */
Test(feedback, the_first_call_tells_of_everybody)
{
    sy_context *context = lab_open("sim:a:speed=1e6,sim:b:speed=0.01", path, NULL);
    double compute_ms[2];
    cr_assert(context);
    call(context);
    predict(context, compute_ms);
    sy_context_destroy(&context);
}

/* One that runs out of memory in it does not keep the others from being known. */
Test(feedback, the_first_call_passes_over_who_failed)
{
    sy_context *context =
        lab_open("sim:a:speed=1,sim:b:speed=1,sim:c:speed=1:memory=1kB", path, NULL);
    double compute_ms[2];
    cr_assert(context);
    cr_expect_gt(planned_tiles(context, COLUMNS, SY_F64, 2), 0);
    call(context);
    predict(context, compute_ms);
    cr_expect_eq(planned_tiles(context, COLUMNS, SY_F64, 2), 0);
    sy_context_destroy(&context);
}

/* Also how long a thread takes to begin, which counts for works that are hardly worth two devices;
 * a context that is frozen goes on with what is assumed. */
Test(feedback, starting_a_device_is_timed)
{
    for (int frozen = 0; frozen < 2; frozen++) {
        sy_context *context = open_deviating(frozen, 1, NULL);
        syi_track before = context->memory.start, now;
        for (int i = 0; i < 6; i++)
            call(context);
        now = context->memory.start;
        cr_expect_eq(now.samples == before.samples && !now.strange, frozen);
        cr_expect_eq(now.value == before.value && !now.strange, frozen);
        cr_expect_gt(now.value, 0);
        sy_context_destroy(&context);
    }
}

/* A device that earlier runs have found too slow to take part gets another chance. */
Test(feedback, who_was_too_slow_is_tried_again)
{
    static const cost_row rows[] = {{"a", 0, 10, 0.1, 1}, {"b", 0, 10 * 4000, 0.1, 4000}};
    sy_context *context;
    int calls = 0;
    cr_assert(cost_file_write(path, "sma", 1, rows, 2));
    context = lab_open("sim:a:speed=1,sim:b:speed=1", path, NULL);
    cr_assert(context);
    cr_expect_eq(planned_for_b(context), 0);
    while (planned_for_b(context) == 0 && calls++ < MANY_CALLS)
        call(context);
    cr_expect_gt(planned_for_b(context), 0);
    cr_expect_gt(calls, 1);
    sy_context_destroy(&context);
}

static void check_same_costs(sy_context *a, sy_context *b)
{
    double of_a[2], of_b[2];
    predict(a, of_a);
    predict(b, of_b);
    for (int i = 0; i < 2; i++)
        cr_expect_float_eq(of_a[i] / of_b[i], 1, 1e-12, "%g and %g ms", of_a[i], of_b[i]);
}

/* The times in the file are the measured ones times the drift that it tells. Gives how many devices
 * are quicker by it. */
static int check_drift(sy_context *context)
{
    json_t *file = json_load_file(path, 0, NULL), *slopes;
    sy_balance balance = {.struct_size = sizeof balance};
    int quicker = 0;
    json_t *costs =
        json_object_get(json_object_get(json_object_get(file, "profiles"), "sma"), "costs");
    cr_assert_eq(sy_balance_get(context, "sma", &balance), SY_OK);
    cr_assert_eq(balance.n_ratios, 2);
    for (int i = 0; i < 2; i++) {
        json_t *phases =
            json_object_get(json_object_get(costs, balance.ratios[i].device), "phases");
        slopes = json_object_get(json_object_get(phases, "compute"), "per_element_ns");
        cr_expect_float_eq(json_number_value(json_array_get(slopes, 0)) / 4000,
                           balance.ratios[i].drift, 1e-12);
        quicker += balance.ratios[i].drift < 1;
    }
    sy_balance_clear(&balance);
    json_decref(file);
    return quicker;
}

/* Not before it has been worth it for some runs, and then so that the next process knows. What a
 * busy machine may have made slow at first is healed by further runs. */
Test(feedback, the_file_follows_when_it_matters)
{
    sy_context *context = open_deviating(0, 1, NULL), *next;
    struct stat file = {0};
    int calls = 0, since = 0, quicker = 0;
    was_written(&file);
    while ((!quicker || planned_for_b(context) >= TILES / 2) && calls++ < MANY_CALLS) {
        call(context);
        since++;
        if (!was_written(&file))
            continue;
        cr_expect_geq(since, RUNS_BEFORE_SAVING, "written again after %d runs", since);
        since = 0;
        next = lab_open("sim:a:speed=1e6,sim:b:speed=0.1", path, NULL);
        cr_assert(next);
        check_same_costs(next, context);
        sy_context_destroy(&next);
        quicker = check_drift(context);
    }
    cr_expect_lt(planned_for_b(context), TILES / 2, "%d are quicker after %d runs", quicker, calls);
    cr_expect_gt(quicker, 0);
    sy_context_destroy(&context);
}

/* A process that hangs with the lock in its hands holds up no call; once it is gone, what has been
 * learned is stored. */
Test(feedback, a_save_does_not_wait_for_the_lock)
{
    lab_log log = {0};
    sy_context *context = open_deviating(0, 1, &log);
    struct stat file = {0};
    int calls = 0, lock = open(lock_path, O_RDWR | O_CREAT, 0600);
    cr_assert(lock >= 0 && flock(lock, LOCK_EX) == 0);
    was_written(&file);
    while (planned_for_b(context) >= TILES / 2 && calls++ < MANY_CALLS)
        call(context);
    for (int i = 0; i < 2 * RUNS_BEFORE_SAVING; i++)
        call(context);
    cr_expect_not(was_written(&file));
    cr_expect_eq(log.warnings, 0, "'%s'", log.last);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(context->memory.list->devices[i].drift.saved, 1, "taken for stored");
    close(lock);
    context->memory.save_after = 0; /* however long that has taken */
    for (calls = 0; !was_written(&file) && calls < MANY_CALLS; calls++)
        call(context);
    cr_expect_lt(calls, MANY_CALLS, "not written in %d runs", calls);
    sy_context_destroy(&context);
}

/* However strange the runs are, as long as the last save was too short ago. */
Test(feedback, a_save_waits_for_its_time)
{
    sy_context *context = open_deviating(0, 1, NULL);
    struct stat file = {0};
    int calls = 0;
    was_written(&file);
    context->memory.save_after = INT64_MAX;
    while (planned_for_b(context) >= TILES / 2 && calls++ < MANY_CALLS)
        call(context);
    cr_expect_not(was_written(&file));
    context->memory.save_after = 0;
    for (calls = 0; !was_written(&file) && calls < MANY_CALLS; calls++)
        call(context);
    cr_expect_lt(calls, MANY_CALLS, "not written in %d runs", calls);
    cr_expect_gt(context->memory.save_after, 0);
    sy_context_destroy(&context);
}

/* The file cannot be locked: the calls go on, with what they have learned. */
Test(feedback, a_failing_save_costs_one_line)
{
    lab_log log = {0};
    int64_t alive = syi_mem_alive();
    sy_context *context = open_deviating(0, 1, &log);
    struct stat file = {0};
    int calls = 0;
    cr_assert_eq(mkdir(lock_path, 0777), 0);
    was_written(&file);
    while (log.warnings == 0 && calls++ < MANY_CALLS)
        call(context);
    cr_expect_eq(log.warnings, 1);
    cr_expect(strstr(log.last, "not stored"), "'%s'", log.last);
    cr_expect(strstr(log.last, path), "'%s' does not name the file", log.last);
    for (int i = 0; i < 2; i++) /* a third strange run in a row would be news of its own */
        context->memory.list->devices[i].drift.slower.strange = 0;
    for (int i = 1; i < RUNS_BEFORE_SAVING; i++)
        call(context);
    cr_expect_eq(log.warnings, 1, "said again by the next runs");
    cr_expect_not(was_written(&file));
    sy_context_destroy(&context);
    cr_expect_eq(syi_mem_alive(), alive, "memory is lost");
}

/* Devices ten times slower than their profile says, or more; whether the file was written. */
static int slow_run_writes(double *out)
{
    static const cost_row rows[] = {{"a", 0, 10, 0.01, 1}, {"b", 0, 10, 0.01, 1}};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .rows = 1,
                    .columns = COLUMNS,
                    .inputs = (const void *[]){x},
                    .outputs = (void *[]){out}};
    struct stat file = {0};
    sy_context *context;
    cr_assert(cost_file_write(path, "sma", 1, rows, 2));
    was_written(&file);
    context = lab_open("sim:a:speed=0.1,sim:b:speed=0.1", path, NULL);
    cr_assert(context);
    cr_assert_eq(distribute_workload(context, &work, NULL, NULL), SY_OK);
    sy_context_destroy(&context);
    return was_written(&file);
}

/* To get memory takes longer than to compute. */
Test(feedback, one_run_tells_of_slow_devices_unless_its_arrays_are_new)
{
    const size_t size = COLUMNS * sizeof(double);
    double *out = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(out != MAP_FAILED);
    cr_expect_not(slow_run_writes(out));
    cr_expect(slow_run_writes(out));
    munmap(out, size);
}
