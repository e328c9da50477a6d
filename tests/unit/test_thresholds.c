/* thresholds.json: what is in it, and its keys. */
#define _XOPEN_SOURCE 700
#include "profile_folder.h"
#include "support/comma.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

FOLDER_SUITE(thresholds);

static const char *const key = "bollinger_bands:{'period': 20, 'size': 10000}";

static void expect_threshold(const char *name, double cpu, double gpu, int64_t samples)
{
    sy_threshold found;
    cr_assert_eq(syi_threshold_find(&at.thresholds, name, &found), SY_OK);
    cr_expect_eq(found.cpu_ms_avg, cpu);
    cr_expect_eq(found.gpu_ms_avg, gpu);
    cr_expect_eq(found.samples, samples);
}

Test(thresholds, running_average)
{
    json_t *root, *entry;
    cr_assert_eq(syi_threshold_add(&at.thresholds, key, 100, 40), SY_OK);
    expect_threshold(key, 100, 40, 1);
    cr_assert_eq(syi_threshold_add(&at.thresholds, key, 150, 50), SY_OK);
    cr_assert_eq(syi_threshold_add(&at.thresholds, key, 200, 60), SY_OK);
    expect_threshold(key, 150, 50, 3);
    root = parse_file(at.thresholds_path);
    cr_expect(json_is_string(json_object_get(root, "updated_at")));
    entry = json_object_get(json_object_get(root, "entries"), key);
    cr_expect_eq(json_real_value(json_object_get(entry, "cpu_ms_avg")), 150);
    cr_expect_eq(json_real_value(json_object_get(entry, "gpu_ms_avg")), 50);
    cr_expect_eq((int)json_integer_value(json_object_get(entry, "samples")), 3);
    json_decref(root);
}

static const char *numbered(const char *name, int i)
{
    static char text[32];
    snprintf(text, sizeof text, "%s:%d", name, i);
    return text;
}

/* A file of what somebody has stored and a thousand entries of calls. */
static void put_thousand(void)
{
    json_t *root = json_object(), *entries = json_object();
    for (int i = -1; i < 1000; i++) {
        json_t *entry =
            json_pack("{s:f, s:f, s:i}", "cpu_ms_avg", 1.0, "gpu_ms_avg", 2.0, "samples", 1);
        if (i >= 0)
            json_object_set_new(entry, "learned", json_true());
        json_object_set_new(entries, i < 0 ? "own" : numbered("call", i), entry);
    }
    json_object_set_new(root, "entries", entries);
    cr_assert_eq(json_dump_file(root, at.thresholds_path, 0), 0);
    json_decref(root);
}

Test(thresholds, of_what_calls_add_the_newest_thousand_stay)
{
    sy_threshold found;
    bool done;
    put_thousand();
    cr_assert_eq(syi_threshold_try_add(&at.thresholds, "call:5", 3, 4, &done), SY_OK);
    expect_threshold("call:5", 2, 3, 2);                                    /* it was there */
    cr_assert_eq(syi_threshold_add(&at.thresholds, "call:0", 3, 4), SY_OK); /* somebody's now */
    for (int i = 0; i < 3; i++)
        cr_assert_eq(syi_threshold_try_add(&at.thresholds, numbered("new", i), 1, 2, &done), SY_OK);
    expect_threshold("own", 1, 2, 1);
    expect_threshold("call:0", 2, 3, 2);
    for (int i = 1; i < 5; i++)
        cr_expect_eq(syi_threshold_find(&at.thresholds, numbered("call", i), &found),
                     i < 3 ? SY_ERR_NOT_FOUND : SY_OK);
    expect_threshold("new:2", 1, 2, 1);
}

Test(thresholds, equal_and_huge_times)
{
    for (int i = 0; i < 20; i++)
        cr_assert_eq(syi_threshold_add(&at.thresholds, key, 0.1, 1.7e308), SY_OK);
    expect_threshold(key, 0.1, 1.7e308, 20);
}

Test(thresholds, older_and_unknown_fields)
{
    json_t *root;
    sy_threshold found;
    put_file(at.thresholds_path,
             "{\"host\": \"x\", \"entries\": {\"old\": {\"cpu_ms_avg\": 2, \"gpu_ms_avg\": 4.0, "
             "\"note\": [1]}, \"half\": {\"gpu_ms_avg\": null, \"samples\": 7}}}");
    expect_threshold("old", 2, 4, 1);
    cr_assert_eq(syi_threshold_find(&at.thresholds, "half", &found), SY_OK);
    cr_expect(isnan(found.cpu_ms_avg) && isnan(found.gpu_ms_avg) && found.samples == 7);
    cr_assert_eq(syi_threshold_add(&at.thresholds, "old", 4, 8), SY_OK);
    cr_assert_eq(syi_threshold_add(&at.thresholds, "half", 4, 8), SY_OK);
    expect_threshold("old", 3, 6, 2);
    expect_threshold("half", 4, 8, 8);
    root = parse_file(at.thresholds_path);
    cr_expect_eq(json_array_size(json_object_get(
                     json_object_get(json_object_get(root, "entries"), "old"), "note")),
                 1);
    cr_expect(json_is_string(json_object_get(root, "host")));
    json_decref(root);
}

static int gather(void *user, const char *name, const sy_threshold *t)
{
    char *names = user;
    cr_expect_eq(t->samples, 1);
    strcat(names, name);
    return strcmp(name, "stop") == 0;
}

Test(thresholds, list_in_file_order_until_told_to_stop)
{
    char names[64] = "";
    const char *const keys[] = {"z", "a", "\xc3\xa4", "stop", "never"};
    for (int i = 0; i < 5; i++)
        cr_assert_eq(syi_threshold_add(&at.thresholds, keys[i], 1, 1), SY_OK);
    cr_assert_eq(syi_threshold_each(&at.thresholds, gather, names), SY_OK);
    cr_expect_str_eq(names, "za\xc3\xa4stop");
}

Test(thresholds, forgetting)
{
    sy_threshold found;
    syi_threshold_add(&at.thresholds, "a", 1, 1);
    syi_threshold_add(&at.thresholds, "b", 1, 1);
    cr_expect_eq(syi_threshold_drop(&at.thresholds, "c"), SY_ERR_NOT_FOUND);
    cr_assert_eq(syi_threshold_drop(&at.thresholds, "a"), SY_OK);
    cr_expect_eq(syi_threshold_find(&at.thresholds, "a", &found), SY_ERR_NOT_FOUND);
    expect_threshold("b", 1, 1, 1);
    cr_assert_eq(syi_threshold_drop(&at.thresholds, NULL), SY_OK);
    cr_expect_eq(syi_threshold_find(&at.thresholds, "b", &found), SY_ERR_NOT_FOUND);
}

Test(thresholds, bad_arguments)
{
    const double bad[] = {-1, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(syi_threshold_add(&at.thresholds, "k", bad[i], 1), SY_ERR_ARGUMENT);
        cr_expect_eq(syi_threshold_add(&at.thresholds, "k", 1, bad[i]), SY_ERR_ARGUMENT);
    }
    cr_expect_eq(syi_threshold_add(&at.thresholds, "", 1, 1), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_threshold_add(&at.thresholds, NULL, 1, 1), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_threshold_add(&at.thresholds, "\xf0\x28", 1, 1), SY_ERR_ARGUMENT);
    cr_expect_eq(count_files(&at), 0);
}

static void expect_key(const char *expected, const char *name, double value)
{
    const char *names[] = {"period", name};
    double values[] = {20, value};
    char *made = NULL;
    sy_status status =
        syi_threshold_key("bollinger_bands", names, values, 1 + (name != NULL), 10000, &made);
    cr_assert_eq(status, SY_OK);
    cr_expect_str_eq(made, expected);
    syi_free(made);
}

/* Expected texts: what Python 3 prints for the dict. */
Test(thresholds, keys)
{
    comma_set(); /* must change nothing */
    expect_key(key, NULL, 0);
    expect_key("bollinger_bands:{'period': 20, 'width': 2, 'size': 10000}", "width", 2);
    expect_key("bollinger_bands:{'period': 20, 'width': 2.5, 'size': 10000}", "width", 2.5);
    expect_key("bollinger_bands:{'period': 20, 'width': 0.1, 'size': 10000}", "width", 0.1);
    expect_key("bollinger_bands:{'period': 20, 'width': -3, 'size': 10000}", "width", -3);
    expect_key("bollinger_bands:{'period': 20, 'width': 1e-05, 'size': 10000}", "width", 1e-5);
    expect_key("bollinger_bands:{'period': 20, 'w': 0.30000000000000004, 'size': 10000}", "w",
               0.1 + 0.2);
    expect_key("bollinger_bands:{'period': 20, 'w': 1e+300, 'size': 10000}", "w", 1e300);
}

/* ---- threads of one process --------------------------------------------------------------- */

static void *add_many(void *user)
{
    for (int i = 0; i < 50; i++)
        if (syi_threshold_add(&at.thresholds, key, 3, 2) != SY_OK)
            return user;
    return NULL;
}

Test(thresholds, threads_lose_nothing)
{
    pthread_t threads[4];
    void *failed;
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, add_many, &at), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_eq(failed, NULL);
    }
    expect_threshold(key, 3, 2, 200);
}

/* Any order, what is missing is the default, and nothing but this form. */
Test(thresholds, keys_are_read)
{
    static const sy_param_info params[] = {{.name = "period", .fallback = 20},
                                           {.name = "width", .fallback = 2}};
    static const struct {
        const char *key;
        double period, width;
        int64_t size; /* 0: not of this signature */
    } rows[] = {
        {"b:{'period': 20, 'width': 2, 'size': 10000}", 20, 2, 10000},
        {"b:{'size': 10000, 'width': 2, 'period': 20}", 20, 2, 10000},
        {"b:{'period': 20, 'size': 10000}", 20, 2, 10000},
        {"b:{'size': 7}", 20, 2, 7},
        {"b:{'period': 5, 'width': 2.5, 'size': 1e4}", 5, 2.5, 10000},
        {"b:{'period': 20, 'size': 10000}", 20, 3, 0},
        {"b:{'period': 20, 'size': 10000}", 21, 2, 0},
        {"b:{'period': 20}", 20, 2, 0},
        {"b:{'size': 0}", 20, 2, 0},
        {"b:{'size': 7.5}", 20, 2, 0},
        {"b:{'size': 5, 'ddof': 1}", 20, 2, 0},
        {"b:{'size': 5} ", 20, 2, 0},
        {"b:{'size': 5", 20, 2, 0},
        {"b:{'size: 5}", 20, 2, 0},
        {"b:{'size': five}", 20, 2, 0},
        {"b:{'size': 5; }", 20, 2, 0},
        {"b:{", 20, 2, 0},
        {"b", 20, 2, 0},
        {"bb:{'size': 5}", 20, 2, 0},
        {"", 20, 2, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double values[] = {rows[i].period, rows[i].width};
        int64_t size = -1;
        bool is = syi_threshold_key_read(rows[i].key, "b", params, 2, values, &size);
        cr_expect_eq(is, rows[i].size > 0, "%s", rows[i].key);
        if (is)
            cr_expect_eq(size, rows[i].size, "%s", rows[i].key);
    }
}
