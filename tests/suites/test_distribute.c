/*
 * How a work is split, what the report says about it, and what happens when devices fail. The bits
 * are those of the CPU alone in every case.
 */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "support/lab.h"
#include "support/series.h"

enum { MOST = 1000 * 64 + 12 * 4096 };

static double x[MOST];

static void fill(void)
{
    series_fill(SERIES_TICK, 3, x, MOST);
}

TestSuite(distribute, .init = fill);

/* Runs a copy of `c` on the CPU alone and compares. */
static void same_as_cpu(lab_case *c, const char *about)
{
    sy_context *cpu = lab_open("cpu:threads=1", NULL, NULL);
    lab_case alone = *c;
    int output = 0;
    int64_t at;
    cr_assert(cpu && lab_prepare(&alone));
    cr_assert_eq(lab_run(cpu, &alone, NULL, NULL), SY_OK);
    at = lab_case_difference(&alone, c, &output);
    cr_expect(at < 0, "%s: output %d differs at %lld", about, output, (long long)at);
    lab_release(&alone);
    sy_context_destroy(&cpu);
}

/* What must hold in every report. */
static void check_report(const sy_report *report, const lab_case *c)
{
    int64_t per_row = c->columns ? (c->columns + 4095) / 4096 : 0, tiles = 0, elements = 0;
    double ratios = 0;
    cr_expect_eq(report->rows, c->rows);
    cr_expect_eq(report->columns, c->columns);
    cr_expect_eq(report->tiles, per_row * c->rows);
    for (int i = 0; i < report->n_devices; i++) {
        const sy_device_report *d = &report->devices[i];
        tiles += d->tiles;
        elements += d->elements;
        ratios += d->ratio;
        cr_expect(d->tiles >= 0 && d->tail_tiles >= 0 && d->tail_tiles <= d->tiles);
        cr_expect(d->copy_in_ms >= 0 && d->compute_ms >= 0 && d->copy_out_ms >= 0);
        cr_expect(d->busy_ms >= 0 && d->retries >= 0 && *d->name && *d->id && *d->state);
    }
    cr_expect_eq(tiles, report->tiles, "%lld tiles computed of %lld", (long long)tiles,
                 (long long)report->tiles);
    cr_expect_eq(elements, c->rows * c->columns);
    cr_expect(fabs(ratios - 1) < 1e-12 || report->tiles == 0, "ratios sum to %g", ratios);
    cr_expect(report->wall_ms >= 0 && report->ideal_ms >= 0 && isfinite(report->efficiency));
}

/* The tiles of each device for these forced ratios. */
static void split(const char *devices, int64_t rows, int64_t columns, const sy_ratio *ratios,
                  int n_ratios, int64_t *tiles)
{
    sy_context *context = lab_open(devices, NULL, NULL);
    lab_case c = {.workload = "sma", .rows = rows, .columns = columns, .x = x};
    sy_options options = {.struct_size = sizeof options, .ratios = ratios, .n_ratios = n_ratios};
    sy_report report = {.struct_size = sizeof report};
    cr_assert(context && lab_prepare(&c));
    cr_assert_eq(lab_run(context, &c, &options, &report), SY_OK);
    check_report(&report, &c);
    same_as_cpu(&c, devices);
    for (int i = 0; i < report.n_devices; i++)
        tiles[i] = report.devices[i].tiles;
    sy_report_clear(&report);
    cr_expect(report.devices == NULL && report.n_devices == 0);
    lab_release(&c);
    sy_context_destroy(&context);
}

Test(distribute, short_rows_follow_the_ratios)
{
    static const sy_ratio ratios[] = {{"a", 0.75}, {"b", 0.25}}, scaled[] = {{"b", 1}, {"a", 3}};
    int64_t tiles[2];
    split("sim:a:speed=1e6,sim:b:speed=1e6", 1000, 64, ratios, 2, tiles);
    cr_expect(tiles[0] == 750 && tiles[1] == 250);
    split("sim:a:speed=1e6,sim:b:speed=1e6", 1000, 64, scaled, 2, tiles);
    cr_expect(tiles[0] == 750 && tiles[1] == 250);
}

Test(distribute, one_tile_goes_to_one_device)
{
    static const sy_ratio ratios[] = {{"a", 0.4}, {"b", 0.6}};
    int64_t tiles[2];
    for (int64_t n = 1; n <= 4096; n = n * 3 + 1) {
        split("sim:a:speed=1e6,sim:b:speed=1e6", 1, n, ratios, 2, tiles);
        cr_expect(tiles[0] == 0 && tiles[1] == 1);
    }
}

Test(distribute, devices_not_named_are_left_out)
{
    static const sy_ratio ratios[] = {{"sim:1", 2}};
    int64_t tiles[3];
    split("sim:a:speed=1e6,sim:b:speed=1e6,cpu", 2, 9000, ratios, 1, tiles);
    cr_expect(tiles[0] == 0 && tiles[1] == 6 && tiles[2] == 0);
}

/* Nothing is lost for any shape and number of devices, more devices than tiles included. */
Test(distribute, nothing_is_lost)
{
    static const char *const devices[] = {"sim:a:speed=1e6", "sim:b:speed=1e6", "sim:c:speed=1e6",
                                          "sim:d:speed=1e6", "sim:e:speed=1e6", "cpu:threads=1"};
    uint64_t state = 8;
    for (int round = 0; round < 60; round++) {
        char list[256] = "";
        sy_ratio ratios[6];
        static const char *const names[] = {"a", "b", "c", "d", "e", "cpu"};
        int count = 1 + round % 6;
        int64_t tiles[6], rows = 1 + series_below(&state, 4), columns = series_below(&state, 12000);
        for (int i = 0; i < count; i++) {
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? "," : "",
                     devices[i]);
            ratios[i] = (sy_ratio){
                names[i], ldexp(1 + series_uniform(&state), (int)series_below(&state, 12))};
        }
        split(list, rows, columns, ratios, count, tiles);
    }
}

Test(distribute, extreme_ratios)
{
    static const sy_ratio tiny[] = {{"a", 1e-308}, {"b", 1e308}},
                          huge[] = {{"a", 1e308}, {"b", 1e308}};
    int64_t tiles[2];
    split("sim:a:speed=1e6,sim:b:speed=1e6", 100, 64, tiny, 2, tiles);
    cr_expect(tiles[0] == 0 && tiles[1] == 100);
    split("sim:a:speed=1e6,sim:b:speed=1e6", 100, 64, huge, 2, tiles);
    cr_expect(tiles[0] == 50 && tiles[1] == 50);
}

/* The plan tells the same split without running it. */
Test(distribute, plan_and_run_agree)
{
    static const sy_ratio ratios[] = {{"a", 0.2}, {"cpu", 0.8}};
    sy_context *context = lab_open("sim:a:speed=1e6,sim:b:speed=1e6,cpu", NULL, NULL);
    sy_work work = {.struct_size = sizeof work, .workload = "sma", .rows = 7, .columns = 5000};
    sy_options options = {.struct_size = sizeof options, .ratios = ratios, .n_ratios = 2};
    sy_plan_info plan = {.struct_size = sizeof plan};
    int64_t tiles[3];
    cr_assert(context);
    cr_assert_eq(sy_plan_explain(context, &work, &options, &plan), SY_OK);
    split("sim:a:speed=1e6,sim:b:speed=1e6,cpu", 7, 5000, ratios, 2, tiles);
    cr_assert_eq(plan.n_devices, 3);
    cr_expect_eq(plan.tiles, 14);
    cr_expect_str_eq(plan.decision, "some");
    for (int i = 0; i < 3; i++)
        cr_expect_eq(plan.devices[i].tiles, tiles[i]);
    cr_expect(*plan.devices[1].left_out && !*plan.devices[0].left_out);
    sy_plan_info_clear(&plan);
    sy_context_destroy(&context);
}

/* As the header says it. */
static void chain(const lab_case *c, char text[17])
{
    XXH64_hash_t hash = 0;
    for (int k = 0; k < 3; k++)
        hash =
            XXH3_64bits_withSeed(c->out[k], (size_t)(c->rows * c->columns) * sizeof(double), hash);
    snprintf(text, 17, "%016llx", (unsigned long long)hash);
}

Test(distribute, checksum_is_the_outputs)
{
    static const char *const devices[] = {"cpu", "sim:a:speed=1e6,sim:b:speed=2e6"};
    sy_options options = {.struct_size = sizeof options, .checksum = 1};
    char first[17] = "";
    for (int i = 0; i < 2; i++) {
        sy_context *context = lab_open(devices[i], NULL, NULL);
        lab_case c = {.workload = "bollinger", .rows = 2, .columns = 9000, .x = x};
        sy_report report = {.struct_size = sizeof report};
        cr_assert(context && lab_prepare(&c));
        cr_assert_eq(lab_run(context, &c, &options, &report), SY_OK);
        if (i == 0)
            chain(&c, first);
        cr_expect_str_eq(report.checksum, first);
        sy_report_clear(&report);
        lab_release(&c);
        sy_context_destroy(&context);
    }
}

/* An exact result cannot move with the seed of the merge order. */
Test(distribute, seed_does_not_move_exact_results)
{
    static const char *const workloads[] = {"sum", "mean", "variance", "sma", "macd"};
    sy_context *context = lab_open("sim:a:speed=1e6,sim:b:speed=2e6,cpu", NULL, NULL);
    cr_assert(context);
    for (int w = 0; w < 5; w++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            lab_case c = {.workload = workloads[w], .rows = 3, .columns = 20000, .x = x};
            sy_options options = {.struct_size = sizeof options, .seed = seed * 7919};
            cr_assert(lab_prepare(&c));
            cr_assert_eq(lab_run(context, &c, &options, NULL), SY_OK);
            same_as_cpu(&c, workloads[w]);
            lab_release(&c);
        }
    sy_context_destroy(&context);
}

/* A piece that begins where nothing moves knows too little of the state there: it gets to know it
 * from its left neighbour, and not from a decision column by column. */
Test(distribute, cuts_where_a_price_stands_still)
{
    static const char *const workloads[] = {"macd", "atr", "rsi", "ema"};
    for (int64_t still = 500; still < 8000; still = still * 5 / 2)
        for (int w = 0; w < 4; w++) {
            sy_context *context = lab_open(LAB_CPU(2), NULL, NULL);
            lab_case c = {.workload = workloads[w], .rows = 1, .columns = MOST, .x = x};
            sy_report report = {.struct_size = sizeof report};
            for (int64_t i = 0; i < MOST; i++)
                x[i] = (double)(10000 + i / still * 7 % 11) / 100;
            cr_assert(context && lab_prepare(&c));
            cr_expect_eq(lab_run(context, &c, NULL, &report), SY_OK);
            cr_expect_leq(report.repaired, 4, "%s, still for %lld: %lld", workloads[w],
                          (long long)still, (long long)report.repaired);
            same_as_cpu(&c, workloads[w]);
            sy_report_clear(&report);
            lab_release(&c);
            sy_context_destroy(&context);
        }
}

static int stop(void *user, uint64_t done, uint64_t tiles)
{
    int *calls = user;
    (void)done;
    (void)tiles;
    return ++*calls >= 1;
}

static int watch(void *user, uint64_t done, uint64_t tiles)
{
    uint64_t *last = user;
    int wrong = done < *last || done > tiles;
    *last = done;
    return wrong;
}

Test(distribute, progress_cancels)
{
    sy_context *context = lab_open("sim:a:speed=1e6," LAB_CPU(2), NULL, NULL);
    lab_case c = {.workload = "sma", .rows = 12, .columns = 4096, .x = x};
    int calls = 0;
    sy_options options = {.struct_size = sizeof options, .progress = stop, .progress_user = &calls};
    cr_assert(context && lab_prepare(&c));
    cr_expect_eq(lab_run(context, &c, &options, NULL), SY_ERR_CANCELLED);
    cr_expect(lab_told(SY_ERR_CANCELLED));
    cr_expect_geq(calls, 1);
    lab_release(&c);
    /* the context is as good as before */
    cr_assert(lab_prepare(&c));
    cr_expect_eq(lab_run(context, &c, NULL, NULL), SY_OK);
    lab_release(&c);
    sy_context_destroy(&context);
}

/* Beside a first value like that no later one is certified, so the rows are decided afterwards,
 * one by one and for long. */
Test(distribute, progress_cancels_the_merge)
{
    enum { ROWS = 20, COLUMNS = 10000 };
    sy_context *context = lab_open("cpu:threads=1", NULL, NULL);
    double *prices = lab_alloc(ROWS * COLUMNS);
    lab_case c = {.workload = "rsi", .rows = ROWS, .columns = COLUMNS, .x = prices};
    int times = 0;
    sy_options options = {
        .struct_size = sizeof options, .progress = lab_stop_at_the_end, .progress_user = &times};
    cr_assert(context && prices && lab_prepare(&c));
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        prices[i] = i % COLUMNS ? 100 + (double)(i * 7919 % 1000) / 100 : 1e300;
    cr_expect_eq(lab_run(context, &c, &options, NULL), SY_ERR_CANCELLED);
    cr_expect(lab_told(SY_ERR_CANCELLED));
    lab_release(&c);
    lab_free(prices);
    sy_context_destroy(&context);
}

Test(distribute, progress_never_goes_back)
{
    sy_context *context = lab_open("sim:a:speed=1e6," LAB_CPU(2), NULL, NULL);
    lab_case c = {.workload = "sma", .rows = 12, .columns = 4096, .x = x};
    uint64_t last = 0;
    sy_options options = {.struct_size = sizeof options, .progress = watch, .progress_user = &last};
    cr_assert(context && lab_prepare(&c));
    cr_expect_eq(lab_run(context, &c, &options, NULL), SY_OK);
    cr_expect_geq(last, 1); /* so short a call is asked once, whoever is first */
    lab_release(&c);
    sy_context_destroy(&context);
}

Test(distribute, auto_falls_back_with_one_line)
{
    lab_log log = {0};
    sy_context *context = lab_open("auto", NULL, &log);
    sy_device_info info;
    int gpus = 0;
    cr_assert(context);
    for (int i = 0; i < sy_device_count(context); i++) {
        cr_assert_eq(sy_device_query(context, i, &info), SY_OK);
        gpus += info.type == SY_DEVICE_CUDA && info.usable;
    }
    cr_expect_eq(log.infos + log.warnings, gpus ? 0 : 1, "%s", log.text);
    sy_context_destroy(&context);
}

/* Who names a driver expects a GPU; where none is installed, nobody does. */
Test(distribute, a_driver_that_is_named_and_not_there_is_a_warning)
{
    lab_log log = {0};
    sy_config config = {.struct_size = sizeof config,
                        .cuda_driver = "no-such/libcuda.so.1",
                        .log = lab_remember,
                        .log_user = &log};
    sy_context *context = NULL;
    cr_assert_eq(sy_context_create(&config, &context), SY_OK);
    cr_expect_eq(log.warnings, 1, "%s", log.text);
    cr_expect(strstr(log.last, "no usable GPU"), "%s", log.last);
    sy_context_destroy(&context);
}

Test(distribute, devices_are_named_once)
{
    sy_context *context = lab_open("sim:a,sim:a,sim:a,cpu", NULL, NULL);
    static const char *const names[] = {"a", "a#2", "a#3", "cpu"};
    static const char *const ids[] = {"sim:0", "sim:1", "sim:2", "cpu"};
    cr_assert(context);
    cr_assert_eq(sy_device_count(context), 4);
    for (int i = 0; i < 4; i++) {
        sy_device_info info;
        cr_assert_eq(sy_device_query(context, i, &info), SY_OK);
        cr_expect_str_eq(info.name, names[i]);
        cr_expect_str_eq(info.id, ids[i]);
    }
    sy_context_destroy(&context);
}

/* Stored ratios of a device that is not there: ignored, the rest renormalised. That is told once: a
 * warning where every device there is takes part. */
Test(distribute, stored_ratios)
{
    static const sy_ratio stored[] = {{"a", 0.5}, {"b", 0.3}, {"c", 0.2}};
    char path[64];
    lab_log log = {0};
    sy_context *writer, *reader;
    lab_case c = {.workload = "sma", .rows = 100, .columns = 64, .x = x};
    sy_report report = {.struct_size = sizeof report};
    snprintf(path, sizeof path, "stored-ratios-%d.json", (int)getpid());
    writer = lab_open("sim:a,sim:b,sim:c", path, NULL);
    cr_assert(writer && lab_prepare(&c));
    cr_assert_eq(sy_balance_set(writer, "sma", stored, 3), SY_OK);
    sy_context_destroy(&writer);
    reader = lab_open("sim:a:speed=1e6,sim:c:speed=1e6,cpu", path, &log);
    cr_assert(reader);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lab_run(reader, &c, NULL, &report), SY_OK);
        check_report(&report, &c);
        cr_expect(report.used_profile);
        /* planned 5/7 and 2/7; who takes the last tiles is the run's business */
        cr_expect(fabs(report.devices[0].ratio - 5.0 / 7) < 1e-12);
        cr_expect(fabs(report.devices[1].ratio - 2.0 / 7) < 1e-12);
        cr_expect_eq(report.devices[2].ratio, 0);
        sy_report_clear(&report);
    }
    cr_expect_eq(log.warnings, 0, "%s", log.text);
    cr_expect_eq(log.infos, 1, "%s", log.text);
    cr_expect(strstr(log.text, "not here: b;"), "%s", log.text);
    sy_context_destroy(&reader);
    reader = lab_open("sim:a:speed=1e6,sim:c:speed=1e6,auto", path, &log);
    cr_assert(reader);
    cr_assert_eq(lab_run(reader, &c, NULL, NULL), SY_OK);
    cr_expect(strstr(log.last, "not here: b;"), "%s", log.text);
    same_as_cpu(&c, "stored ratios");
    lab_release(&c);
    sy_context_destroy(&reader);
    lab_remove(path);
}
