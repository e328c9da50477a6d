#define _POSIX_C_SOURCE 200809L
#include "one_call.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/cost_file.h"

enum { PACKET = 4096 };

char one_call_path[64], one_call_lock[80];
const deed b_is_slow = {.slower = {1, 3}, .packets = 4};

void one_call_set_up(void)
{
    snprintf(one_call_path, sizeof one_call_path, "pending-%d.json", (int)getpid());
    snprintf(one_call_lock, sizeof one_call_lock, "%s.lock", one_call_path);
}

void one_call_tear_down(void)
{
    lab_remove(one_call_path);
    cr_expect_eq(syi_mem_alive(), 0, "memory was not given back");
}

void write_profile(double drift_of_b)
{
    const cost_row rows[] = {{"a", 0, 4000, 0.01, 1},
                             {"b", 0, 4000 * drift_of_b, 0.01, drift_of_b}};
    cr_assert(cost_file_write(one_call_path, "sma", 1, rows, 2));
}

void change_driver(void)
{
    json_t *file = json_load_file(one_call_path, 0, NULL);
    json_t *print = json_object_get(json_object_get(file, "profiles"), "sma");
    print = json_object_get(json_object_get(print, "fingerprint"), "devices");
    print = json_object_get(print, "b");
    cr_assert_eq(json_object_set_new(print, "driver", json_string("another")), 0);
    cr_assert_eq(json_dump_file(file, one_call_path, 0), 0);
    json_decref(file);
}

sy_context *open_devices(lab_log *log)
{
    sy_context *context = lab_open("sim:a:speed=0.1,sim:b:speed=0.1", one_call_path, log);
    cr_assert(context);
    return context;
}

void learn(sy_context *context, const deed *did)
{
    const sy_work work = {.struct_size = sizeof work,
                          .workload = "sma",
                          .rows = 1,
                          .columns = did->columns ? did->columns : ONE_CALL_COLUMNS,
                          .dtype = did->dtype};
    const sy_options options = {.struct_size = sizeof options};
    syi_tally tallies[2] = {{.packets = 0}};
    double params[SYI_MAX_PARAMS];
    syi_arena memory;
    syi_plan plan;
    syi_job job;
    syi_arena_open(&memory);
    cr_assert_eq(syi_work_check(context, &work, &options, params, &job), SY_OK);
    job.memory = &memory;
    cr_assert_eq(syi_context_plan(context, &job, &options, false, &plan), SY_OK);
    for (int i = 0; i < 2; i++) {
        const double packet_ms = did->slower[i] * 4000 * PACKET / 1e6;
        if (packet_ms == 0)
            continue;
        tallies[i].packets = did->packets;
        tallies[i].first_elements = PACKET;
        tallies[i].first_ms = (did->warm ? 1 : 10) * packet_ms;
        tallies[i].total.elements_done = did->packets * PACKET;
        tallies[i].total.busy_ms = tallies[i].first_ms + packet_ms * (did->packets - 1);
    }
    syi_context_learn(context, &job, &options, &plan, tallies, did->untouched);
    syi_arena_close(&memory);
}

void one_call(const deed *did, lab_log *log)
{
    sy_context *context = open_devices(log);
    learn(context, did);
    sy_context_destroy(&context);
}

void b_takes(double slower)
{
    one_call(&(deed){.slower = {1, slower}, .packets = 4}, NULL);
}

/* ---- the file ---- */

json_t *entry_of_b(const char *part)
{
    json_t *file = json_load_file(one_call_path, 0, NULL);
    json_t *sma = json_object_get(json_object_get(file, "profiles"), "sma");
    json_t *found = json_object_get(sma, part);
    json_t *deeper = json_object_get(found, "devices");
    found = json_incref(json_object_get(deeper ? deeper : found, "b"));
    json_decref(file);
    cr_assert(found);
    return found;
}

double drift_of_b(void)
{
    json_t *entry = entry_of_b("costs");
    json_t *compute = json_object_get(json_object_get(entry, "phases"), "compute");
    double drift = json_number_value(json_object_get(entry, "drift"));
    json_t *slope = json_array_get(json_object_get(compute, "per_element_ns"), 0);
    cr_expect_float_eq(json_number_value(slope) / 4000, drift, 1e-12);
    json_decref(entry);
    return drift;
}

void expect_pending(int runs, double slower, int idle)
{
    json_t *entry = entry_of_b("costs"), *pending = json_object_get(entry, "pending");
    cr_expect_eq(pending != NULL, runs || idle);
    cr_expect_eq(json_integer_value(json_object_get(pending, "runs")), runs);
    cr_expect_float_eq(json_number_value(json_object_get(pending, "drift")), slower, 1e-9);
    cr_expect_eq(json_integer_value(json_object_get(pending, "idle")), idle);
    json_decref(entry);
}

void expect_the_third_corrects(void)
{
    b_takes(3);
    expect_pending(1, 3, 0);
    b_takes(3);
    expect_pending(2, 3, 0);
    cr_expect_eq(drift_of_b(), 1);
    b_takes(3);
    expect_pending(0, 0, 0);
    cr_expect_float_eq(drift_of_b(), 3, 1e-9);
}

void put_pending(const char *text)
{
    json_t *file = json_load_file(one_call_path, 0, NULL), *sma, *b;
    sma = json_object_get(json_object_get(file, "profiles"), "sma");
    b = json_object_get(json_object_get(sma, "costs"), "b");
    cr_assert_eq(json_object_set_new(b, "pending", json_loads(text, JSON_DECODE_ANY, NULL)), 0);
    cr_assert_eq(json_dump_file(file, one_call_path, 0), 0);
    json_decref(file);
}

struct stat look(void)
{
    struct stat now;
    cr_assert_eq(stat(one_call_path, &now), 0);
    return now;
}

int same(struct stat a, struct stat b)
{
    return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}
