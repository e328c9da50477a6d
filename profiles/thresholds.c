/* The fields of thresholds.json. */
#include "thresholds.h"

#include <math.h>
#include <stdbool.h>

/* ---- an entry ----------------------------------------------------------------------------- */

/* A time may be missing, or null: not measured yet. */
static bool read_time(const json_t *entry, const char *key, double *ms)
{
    const json_t *value = json_object_get(entry, key);
    *ms = json_is_number(value) ? json_number_value(value) : NAN;
    return !value || json_is_null(value) || (*ms >= 0 && isfinite(*ms));
}

/* What is wrong with it, in a few words; NULL: nothing. An older writer's entry has no count: what
 * it holds is one measurement. */
static const char *read_entry(const json_t *entry, sy_threshold *out)
{
    const json_t *samples = json_object_get(entry, "samples");
    if (!json_is_object(entry))
        return "an entry is not an object";
    if (!read_time(entry, "cpu_ms_avg", &out->cpu_ms_avg) ||
        !read_time(entry, "gpu_ms_avg", &out->gpu_ms_avg))
        return "an average is not a time";
    if (samples && !(json_is_integer(samples) && json_integer_value(samples) >= 0))
        return "a count of samples is not a whole number";
    out->samples = samples ? json_integer_value(samples) : 1;
    return NULL;
}

/* Of a document that has been checked. */
static sy_threshold threshold_of(const json_t *entry)
{
    sy_threshold threshold;
    read_entry(entry, &threshold);
    return threshold;
}

static const char *check(const json_t *root)
{
    json_t *entries = json_object_get(root, "entries"), *entry;
    const json_t *stamp = json_object_get(root, "updated_at");
    const char *key;
    if (stamp && !json_is_string(stamp))
        return "updated_at is not text";
    if (entries && !json_is_object(entries))
        return "entries is not an object";
    json_object_foreach(entries, key, entry)
    {
        sy_threshold threshold;
        const char *problem = read_entry(entry, &threshold);
        if (problem)
            return problem;
    }
    return NULL;
}

syi_store syi_threshold_store(const char *path, syi_log *log)
{
    return (syi_store){.path = path,
                       .name = "thresholds.json",
                       .check = check,
                       .log = log,
                       .patience_ns = SYI_STORE_PATIENCE_NS};
}

/* ---- reading ------------------------------------------------------------------------------ */

static sy_status no_such_key(const syi_store *store, const char *key)
{
    return syi_fail(SY_ERR_NOT_FOUND,
                    "no measurement is stored for '%.120s' in '%.300s'; measure it first, or "
                    "name one that is there",
                    key, store->path);
}

sy_status syi_threshold_find(syi_store *store, const char *key, sy_threshold *out)
{
    json_t *root, *entry;
    sy_status status = SY_OK;
    SYI_TRY(syi_store_read(store, &root));
    entry = json_object_get(json_object_get(root, "entries"), key);
    if (entry)
        *out = threshold_of(entry);
    else
        status = no_such_key(store, key);
    json_decref(root);
    return status;
}

sy_status syi_threshold_each(syi_store *store,
                             int (*each)(void *user, const char *key, const sy_threshold *t),
                             void *user)
{
    json_t *root, *entry;
    const char *key;
    SYI_TRY(syi_store_read(store, &root));
    json_object_foreach(json_object_get(root, "entries"), key, entry)
    {
        sy_threshold threshold = threshold_of(entry);
        if (each(user, key, &threshold))
            break;
    }
    json_decref(root);
    return SY_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Entries that calls have added, at most: a program may try parameters without end, and every look
 * reads the whole file. */
enum { LEARNED = 1000 };

typedef struct change {
    const syi_store *store;
    const char *key;
    double cpu_ms, gpu_ms;
    bool learned; /* by a call */
} change;

/* The running average (old * samples + ms) / (samples + 1), in a form that cannot overflow and
 * that keeps equal times exactly equal. */
static double averaged(double old, int64_t samples, double ms)
{
    return isnan(old) ? ms : old + (ms - old) / ((double)samples + 1);
}

/* The oldest stand first. */
static void drop_oldest(json_t *entries)
{
    int count = 0;
    json_t *entry;
    const char *key;
    void *next;
    json_object_foreach(entries, key, entry)
    {
        count += json_is_true(json_object_get(entry, "learned"));
    }
    json_object_foreach_safe(entries, next, key, entry)
    {
        if (count <= LEARNED)
            break;
        if (json_is_true(json_object_get(entry, "learned"))) {
            json_object_del(entries, key);
            count--;
        }
    }
}

/* What somebody stores stays, also where a call had found it out before. */
static sy_status mark_learned(json_t *entries, json_t *entry, bool is_new, bool learned)
{
    if (!learned)
        json_object_del(entry, "learned");
    else if (is_new)
        SYI_TRY(syi_json_put(entry, "learned", json_true()));
    if (learned && is_new)
        drop_oldest(entries);
    return SY_OK;
}

static sy_status edit_add(json_t *root, void *user)
{
    const change *change = user;
    json_t *entries, *entry;
    sy_threshold old = {NAN, NAN, 0};
    int64_t samples;
    bool is_new;
    SYI_TRY(syi_json_child(root, "entries", &entries));
    is_new = !json_object_get(entries, change->key);
    if (!is_new)
        old = threshold_of(json_object_get(entries, change->key));
    samples = old.samples < INT64_MAX ? old.samples + 1 : old.samples;
    SYI_TRY(syi_json_child(entries, change->key, &entry));
    SYI_TRY(syi_json_put(entry, "cpu_ms_avg",
                         json_real(averaged(old.cpu_ms_avg, old.samples, change->cpu_ms))));
    SYI_TRY(syi_json_put(entry, "gpu_ms_avg",
                         json_real(averaged(old.gpu_ms_avg, old.samples, change->gpu_ms))));
    SYI_TRY(syi_json_put(entry, "samples", json_integer(samples)));
    SYI_TRY(mark_learned(entries, entry, is_new, change->learned));
    return syi_json_stamp(root);
}

static sy_status check_addition(const char *key, double cpu_ms, double gpu_ms)
{
    SYI_TRY(syi_json_check_text("key", key));
    if (!(cpu_ms >= 0 && isfinite(cpu_ms)) || !(gpu_ms >= 0 && isfinite(gpu_ms)))
        return syi_fail(SY_ERR_ARGUMENT,
                        "the times of '%.120s' are %g and %g ms; give finite numbers from 0", key,
                        cpu_ms, gpu_ms);
    return SY_OK;
}

sy_status syi_threshold_add(syi_store *store, const char *key, double cpu_ms, double gpu_ms)
{
    change change = {store, key, cpu_ms, gpu_ms, false};
    SYI_TRY(check_addition(key, cpu_ms, gpu_ms));
    return syi_store_update(store, edit_add, &change);
}

sy_status syi_threshold_try_add(syi_store *store, const char *key, double cpu_ms, double gpu_ms,
                                bool *done)
{
    change change = {store, key, cpu_ms, gpu_ms, true};
    SYI_TRY(check_addition(key, cpu_ms, gpu_ms));
    return syi_store_amend(store, NULL, edit_add, &change, done);
}

static sy_status edit_drop(json_t *root, void *user)
{
    const change *change = user;
    json_t *entries;
    SYI_TRY(syi_json_child(root, "entries", &entries));
    if (!change->key)
        json_object_clear(entries);
    else if (json_object_del(entries, change->key) != 0)
        return no_such_key(change->store, change->key);
    return syi_json_stamp(root);
}

sy_status syi_threshold_drop(syi_store *store, const char *key)
{
    change change = {.store = store, .key = key};
    return syi_store_update(store, edit_drop, &change);
}
