/* multigpu.json: what is in it. What goes wrong with files is in test_profile_faults.c. The
 * expected contents are read by jansson alone, or written out here. */
#define _XOPEN_SOURCE 700
#include "profile_folder.h"

#include "locked_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- multigpu.json ------------------------------------------------------------------------ */

FOLDER_SUITE(multigpu);

static const sy_ratio two[] = {{"RTX3090", 3}, {"GTX1660", 1}};

#define expect_balance(tag, first, first_ratio, second_ratio)                                      \
    do {                                                                                           \
        syi_stored_balance found;                                                                  \
        cr_assert_eq(syi_multigpu_get(&at.multigpu, tag, &found), SY_OK, "%s",                     \
                     sy_last_error()->text);                                                       \
        cr_expect_eq(found.balance.n_ratios, 2);                                                   \
        cr_expect_str_eq(found.balance.ratios[0].device, first);                                   \
        cr_expect_eq(found.balance.ratios[0].ratio, first_ratio);                                  \
        cr_expect_eq(found.balance.ratios[1].ratio, second_ratio);                                 \
        syi_stored_balance_clear(&found);                                                          \
    } while (0)

static int expect_next(void *user, syi_stored_balance *stored)
{
    const char *const **expected = user;
    cr_assert_not_null(**expected, "%s", stored->balance.tag);
    cr_expect_str_eq(stored->balance.tag, *(*expected)++);
    return 0;
}

static void expect_tags(const char *const *expected)
{
    cr_assert_eq(syi_multigpu_each(&at.multigpu, expect_next, &expected), SY_OK);
    cr_expect_null(*expected);
}

/* The fields of the contract, as other programs see them. */
static void expect_layout(const char *tag, double first, double second)
{
    json_t *root = parse_file(at.multigpu_path), *entry, *object;
    const char *updated_at;
    struct tm parsed;
    cr_assert(root);
    entry = json_object_get(json_object_get(root, "profiles"), tag);
    cr_expect_eq((int)json_integer_value(json_object_get(root, "format")), 1);
    cr_expect_str_eq(json_string_value(json_object_get(root, "workload_tag")), tag);
    updated_at = json_string_value(json_object_get(root, "updated_at"));
    cr_assert(updated_at && strlen(updated_at) == 19);
    cr_expect_eq(strptime(updated_at, "%Y-%m-%dT%H:%M:%S", &parsed), updated_at + 19);
    for (int i = 0; i < 2; i++) {
        object = json_object_get(i ? entry : root, "ratios");
        cr_expect_eq(json_object_size(object), 2);
        cr_expect_eq(json_real_value(json_object_get(object, "RTX3090")), first);
        cr_expect_eq(json_real_value(json_object_get(object, "GTX1660")), second);
    }
    cr_expect(
        json_equal(json_object_get(root, "updated_at"), json_object_get(entry, "updated_at")));
    json_decref(root);
}

Test(multigpu, set_writes_the_contract)
{
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "bollinger", two, 2, NULL, NULL), SY_OK);
    expect_layout("bollinger", 0.75, 0.25);
    expect_balance("bollinger", "RTX3090", 0.75, 0.25);
    expect_balance(NULL, "RTX3090", 0.75, 0.25);
    cr_expect_eq(at.warnings, 0);
    cr_expect_eq(count_files(&at), 2); /* the file and its lock */
}

static const char measured[] =
    "{\"format\": 1, \"workload_tag\": \"b\", \"updated_at\": \"2002-01-01T00:00:00\",\n"
    " \"ratios\": {\"RTX3090\": 0.5, \"GTX1660\": 0.5}, \"profiles\": {\n"
    "  \"a\": {\"updated_at\": \"2001-01-01T00:00:00\", \"ratios\": {\"RTX3090\": 0.5,"
    " \"GTX1660\": 0.5}, \"fingerprint\": {}, \"costs\": {}},\n"
    "  \"b\": {\"updated_at\": \"2002-01-01T00:00:00\", \"ratios\": {\"RTX3090\": 0.5,"
    " \"GTX1660\": 0.5}, \"fingerprint\": {}, \"costs\": {}}}}\n";

static bool correct(const syi_store_look *seen, const char *tag)
{
    json_t *costs = json_object(), *print = json_object();
    bool done = true;
    cr_assert_eq(syi_multigpu_correct(&at.multigpu, seen, tag, two, 2, print, costs, &done), SY_OK);
    json_decref(costs);
    json_decref(print);
    return done;
}

static void expect_corrected(const char *path, const char *field, const char *expected)
{
    json_t *root = parse_file(at.multigpu_path), *object = root;
    if (*path)
        object = json_object_get(json_object_get(root, "profiles"), path);
    cr_expect_str_eq(json_string_value(json_object_get(object, "updated_at")), field);
    object = json_object_get(object, "ratios");
    cr_expect_str_eq(json_real_value(json_object_get(object, "RTX3090")) == 0.75 ? "new" : "old",
                     expected, "%s", path);
    cr_expect_str_eq(json_string_value(json_object_get(root, "workload_tag")), "b");
    json_decref(root);
}

/* What runs find makes a profile no younger, and no other one the last that was profiled. */
Test(multigpu, a_correction_is_no_new_profile)
{
    syi_store_look seen = {.updates = -1};
    put_file(at.multigpu_path, measured);
    syi_store_changed(&at.multigpu, &seen);
    cr_expect(correct(&seen, "a"));
    expect_corrected("a", "2001-01-01T00:00:00", "new");
    expect_corrected("b", "2002-01-01T00:00:00", "old");
    expect_corrected("", "2002-01-01T00:00:00", "old");
    cr_expect(!correct(&seen, "b"), "the file has changed since");
    expect_corrected("b", "2002-01-01T00:00:00", "old");
    syi_store_changed(&at.multigpu, &seen);
    cr_expect(correct(&seen, "b"));
    expect_corrected("b", "2002-01-01T00:00:00", "new");
    expect_corrected("", "2002-01-01T00:00:00", "new");
}

/* Nobody's call waits for whoever has the lock. */
Test(multigpu, a_correction_does_not_wait)
{
    syi_store_look seen = {.updates = -1};
    syi_locked_file file;
    put_file(at.multigpu_path, measured);
    syi_store_changed(&at.multigpu, &seen);
    cr_assert_eq(syi_file_lock(at.multigpu_path, false, 0, &file), SY_OK);
    cr_expect(!correct(&seen, "a"));
    cr_expect(file_is(at.multigpu_path, measured));
    syi_file_unlock(&file);
    cr_expect(correct(&seen, "a"));
}

/* A change waits, but not for ever for somebody who hangs. */
Test(multigpu, a_lock_that_is_never_given_back_is_told)
{
    syi_locked_file file;
    put_file(at.multigpu_path, measured);
    cr_assert_eq(syi_file_lock(at.multigpu_path, false, 0, &file), SY_OK);
    for (at.multigpu.patience_ns = 0; at.multigpu.patience_ns < 4000000;
         at.multigpu.patience_ns += 2000000) {
        cr_expect_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, NULL, NULL), SY_ERR_IO);
        cr_expect(strstr(sy_last_error()->text, with(at.multigpu_path, ".lock'")), "'%s'",
                  sy_last_error()->text);
        cr_expect(strstr(sy_last_error()->text, "end the process"), "'%s'", sy_last_error()->text);
    }
    cr_expect(file_is(at.multigpu_path, measured));
    syi_file_unlock(&file);
    at.multigpu.patience_ns = 0;
    cr_expect_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, NULL, NULL), SY_OK);
}

/* Who only reads waits for nobody, were it for ever. */
Test(multigpu, a_damaged_file_that_another_has_locked)
{
    const char *damaged = "{\"format\": 1, \"profiles\": {";
    syi_locked_file file;
    syi_stored_balance found;
    put_file(at.multigpu_path, damaged);
    cr_assert_eq(syi_file_lock(at.multigpu_path, false, 0, &file), SY_OK);
    at.multigpu.patience_ns = INT64_MAX / 2;
    for (int i = 0; i < 2; i++)
        cr_expect_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_ERR_NOT_FOUND);
    cr_expect_eq(at.warnings, 1);
    cr_expect(file_is(at.multigpu_path, damaged));
    syi_file_unlock(&file);
}

Test(multigpu, the_date_is_now_in_utc)
{
    syi_stored_balance found;
    struct tm parsed = {0};
    time_t before = time(NULL), stored;
    setenv("TZ", "Asia/Tokyo", 1);
    tzset();
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_OK);
    strptime(found.balance.updated_at, "%Y-%m-%dT%H:%M:%S", &parsed);
    setenv("TZ", "UTC", 1);
    tzset();
    stored = mktime(&parsed);
    cr_expect_geq(stored, before);
    cr_expect_leq(stored, time(NULL));
    syi_stored_balance_clear(&found);
}

Test(multigpu, an_older_writers_file_is_read)
{
    syi_stored_balance found;
    put_file(at.multigpu_path, "{\"updated_at\": \"2026-07-15T14:35:42\", \"workload_tag\": "
                               "\"bollinger_computation\", "
                               "\"ratios\": {\"RTX3090\": 75, \"GTX1660\": 25.0}}");
    expect_balance("bollinger_computation", "RTX3090", 0.75, 0.25);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, NULL, &found), SY_OK);
    cr_expect(found.from_top_level);
    cr_expect_str_eq(found.balance.tag, "bollinger_computation");
    cr_expect_str_eq(found.balance.updated_at, "2026-07-15T14:35:42");
    syi_stored_balance_clear(&found);
    cr_expect_eq(syi_multigpu_get(&at.multigpu, "sma", &found), SY_ERR_NOT_FOUND);
    expect_tags((const char *const[]){"bollinger_computation", NULL});
    cr_expect_eq(count_files(&at), 1); /* reading writes nothing */
}

Test(multigpu, an_older_writers_tag_survives_another_one)
{
    put_file(at.multigpu_path,
             "{\"updated_at\": \"2026-07-15T14:35:42\", \"workload_tag\": \"old\", "
             "\"ratios\": {\"a\": 0.1, \"b\": 0.9}}");
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "new", two, 2, NULL, NULL), SY_OK);
    expect_balance("old", "a", 0.1, 0.9);
    expect_balance(NULL, "RTX3090", 0.75, 0.25);
    expect_tags((const char *const[]){"new", "old", NULL});
}

Test(multigpu, an_older_writer_after_us_wins)
{
    json_t *costs = json_pack("{s:i}", "fixed", 1), *root;
    syi_stored_balance found;
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, costs, costs), SY_OK);
    root = parse_file(at.multigpu_path);
    json_object_set_new(root, "updated_at", json_string("2001-01-01T00:00:00"));
    json_object_set_new(root, "ratios", json_pack("{s:f, s:f}", "x", 0.5, "y", 0.5));
    json_dump_file(root, at.multigpu_path, 0);
    json_decref(root);
    expect_balance("t", "x", 0.5, 0.5);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_OK);
    cr_expect(found.from_top_level && !found.costs);
    syi_stored_balance_clear(&found);
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "u", two, 2, NULL, NULL), SY_OK);
    expect_balance("t", "x", 0.5, 0.5);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_OK);
    cr_expect(!found.from_top_level && !found.costs && !found.fingerprint);
    syi_stored_balance_clear(&found);
    json_decref(costs);
}

Test(multigpu, costs_and_fingerprint_come_back)
{
    json_t *costs = json_pack("{s:{s:f}}", "RTX3090", "per_element", 0.1);
    json_t *print = json_pack("{s:s}", "driver", "555.42");
    syi_stored_balance found;
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, print, costs), SY_OK);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_OK);
    cr_expect(json_equal(found.costs, costs) && json_equal(found.fingerprint, print));
    syi_stored_balance_clear(&found);
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_OK);
    cr_expect(!found.costs && !found.fingerprint);
    syi_stored_balance_clear(&found);
    json_decref(costs);
    json_decref(print);
}

Test(multigpu, unknown_fields_are_kept_at_every_level)
{
    json_t *root;
    put_file(at.multigpu_path,
             "{\"owner\": {\"who\": [1, null, true]}, \"profiles\": {\"t\": {\"note\": \"mine\", "
             "\"ratios\": {\"a\": 1}}, \"other\": {\"deep\": {\"x\": 0.1}}}}");
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", two, 2, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "u", two, 2, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, "u"), SY_OK);
    root = parse_file(at.multigpu_path);
    const char *note = NULL;
    double x = 0;
    int one = 0;
    cr_assert_eq(json_unpack(root, "{s:{s:[i,n,b]}, s:{s:{s:s}, s:{s:{s:f}}}}", "owner", "who",
                             &one, &(int){0}, "profiles", "t", "note", &note, "other", "deep", "x",
                             &x),
                 0);
    cr_expect_eq(one, 1);
    cr_expect_str_eq(note, "mine");
    cr_expect_eq(x, 0.1);
    json_decref(root);
}

Test(multigpu, the_callers_order_is_the_files)
{
    sy_ratio ratios[] = {{"z", 1}, {"a", 2}, {"m", 1}};
    syi_stored_balance found;
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", ratios, 3, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, "t", &found), SY_OK);
    for (int i = 0; i < 3; i++)
        cr_expect_str_eq(found.balance.ratios[i].device, ratios[i].device);
    syi_stored_balance_clear(&found);
}

Test(multigpu, bad_ratios_are_refused_and_nothing_is_written)
{
    const sy_ratio bad[][2] = {
        {{"a", 0}, {"b", 1}},        {{"a", -1}, {"b", 1}},   {{"a", NAN}, {"b", 1}},
        {{"a", INFINITY}, {"b", 1}}, {{"a", 1}, {"a", 1}},    {{"", 1}, {"b", 1}},
        {{NULL, 1}, {"b", 1}},       {{"\xff", 1}, {"b", 1}}, {{"a", 1e-300}, {"b", 1e300}},
    };
    char long_tag[65];
    memset(long_tag, 'x', 64);
    long_tag[64] = '\0';
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(syi_multigpu_set(&at.multigpu, "t", bad[i], 2, NULL, NULL), SY_ERR_ARGUMENT,
                     "case %zu", i);
    cr_expect_eq(syi_multigpu_set(&at.multigpu, "t", two, 0, NULL, NULL), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_multigpu_set(&at.multigpu, "", two, 2, NULL, NULL), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_multigpu_set(&at.multigpu, NULL, two, 2, NULL, NULL), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_multigpu_set(&at.multigpu, "\xc3", two, 2, NULL, NULL), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_multigpu_set(&at.multigpu, long_tag, two, 2, NULL, NULL), SY_ERR_ARGUMENT);
    cr_expect_eq(syi_multigpu_set(&at.multigpu, long_tag + 1, two, 2, NULL, NULL), SY_OK);
    remove(at.multigpu_path);
}

Test(multigpu, huge_ratios_are_normalised)
{
    sy_ratio huge[] = {{"a", 1.5e308}, {"b", 1.5e308}};
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", huge, 2, NULL, NULL), SY_OK);
    expect_balance("t", "a", 0.5, 0.5);
}

Test(multigpu, stored_ratios_keep_their_bits)
{
    sy_ratio thirds[] = {{"a", 1}, {"b", 2}};
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "t", thirds, 2, NULL, NULL), SY_OK);
    expect_balance("t", "a", 1.0 / 3.0, 2.0 / 3.0);
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "u", two, 2, NULL, NULL), SY_OK);
    expect_balance("t", "a", 1.0 / 3.0, 2.0 / 3.0);
}

Test(multigpu, forgetting)
{
    syi_stored_balance found;
    sy_ratio other[] = {{"b", 1}, {"c", 1}};
    put_file(
        at.multigpu_path,
        "{\"keep\": 1, \"profiles\": {"
        "\"late\": {\"updated_at\": \"2026-07-15T10:00:01\", \"ratios\": {\"a\": 3, \"b\": 1}},"
        "\"early\": {\"updated_at\": \"2026-07-15T10:00:00\", \"ratios\": {\"a\": 1}}}}");
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "now", other, 2, NULL, NULL), SY_OK);
    cr_expect_eq(syi_multigpu_forget(&at.multigpu, "nobody"), SY_ERR_NOT_FOUND);
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, "now"), SY_OK);
    cr_assert_eq(syi_multigpu_get(&at.multigpu, NULL, &found), SY_OK);
    cr_expect_str_eq(found.balance.tag, "late");
    cr_expect_str_eq(found.balance.updated_at, "2026-07-15T10:00:01");
    syi_stored_balance_clear(&found);
    expect_tags((const char *const[]){"early", "late", NULL});
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, "early"), SY_OK);
    expect_balance(NULL, "a", 0.75, 0.25);
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, "late"), SY_OK);
    cr_expect(file_is(at.multigpu_path, "{\n  \"keep\": 1,\n  \"format\": 1\n}\n"));
    cr_expect_eq(syi_multigpu_get(&at.multigpu, NULL, &found), SY_ERR_NOT_FOUND);
}

/* Of the same second it is who was written last. */
Test(multigpu, forgetting_leaves_the_last_one_on_top)
{
    put_file(
        at.multigpu_path,
        "{\"workload_tag\": \"x\", \"ratios\": {\"a\": 1}, \"profiles\": {"
        "\"v\": {\"updated_at\": \"2026-07-15T10:00:00\", \"ratios\": {\"a\": 1}},"
        "\"w\": {\"updated_at\": \"2026-07-15T10:00:00\", \"ratios\": {\"a\": 3, \"b\": 1}}}}");
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, "x"), SY_OK);
    expect_balance(NULL, "a", 0.75, 0.25);
}

Test(multigpu, forgetting_all)
{
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "a", two, 2, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "b", two, 2, NULL, NULL), SY_OK);
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, NULL), SY_OK);
    cr_expect(file_is(at.multigpu_path, "{\n  \"format\": 1\n}\n"));
    expect_tags((const char *const[]){NULL});
}

Test(multigpu, forgetting_an_older_writers_top_level)
{
    put_file(at.multigpu_path, "{\"workload_tag\": \"old\", \"ratios\": {\"a\": 1}}");
    cr_assert_eq(syi_multigpu_forget(&at.multigpu, "old"), SY_OK);
    cr_expect(file_is(at.multigpu_path, "{\n  \"format\": 1\n}\n"));
}

Test(multigpu, a_newer_format_of_known_shape_is_used_and_stays_newer)
{
    json_t *root;
    put_file(at.multigpu_path, "{\"format\": 2, \"new\": [], \"profiles\": {\"t\": {\"ratios\": "
                               "{\"a\": 0.5, \"b\": 0.5}}}}");
    expect_balance("t", "a", 0.5, 0.5);
    cr_assert_eq(syi_multigpu_set(&at.multigpu, "u", two, 2, NULL, NULL), SY_OK);
    root = parse_file(at.multigpu_path);
    cr_expect_eq((int)json_integer_value(json_object_get(root, "format")), 2);
    json_decref(root);
    cr_expect_eq(at.warnings, 0);
}
