/* Changing multigpu.json: setting and forgetting a tag's ratios. */
#include "multigpu_layout.h"

#include <math.h>
#include <string.h>

/* ---- writing ------------------------------------------------------------------------------ */

/* Copies the two fields that entries and the top level share. */
static sy_status copy_shared(const json_t *from, json_t *to)
{
    SYI_TRY(syi_json_put(to, "ratios", json_deep_copy(json_object_get(from, "ratios"))));
    if (!json_object_get(from, "updated_at")) {
        json_object_del(to, "updated_at");
        return SY_OK;
    }
    return syi_json_put(to, "updated_at", json_copy(json_object_get(from, "updated_at")));
}

static sy_status make_top_level(json_t *root, const char *tag, const json_t *entry)
{
    SYI_TRY(copy_shared(entry, root));
    return syi_json_put(root, "workload_tag", json_string(tag));
}

/* Our version's number, unless a newer one's stands there. */
static sy_status mark_format(json_t *root)
{
    return json_object_get(root, "format")
               ? SY_OK
               : syi_json_put(root, "format", json_integer(SYI_STORE_FORMAT));
}

/* The entry of a tag, made or moved to the end, which is where the most recent one stands. */
static sy_status last_entry(json_t *root, const char *tag, json_t **out)
{
    json_t *profiles, *entry;
    sy_status status;
    SYI_TRY(syi_json_child(root, "profiles", &profiles));
    SYI_TRY(syi_json_child(profiles, tag, &entry));
    json_incref(entry);
    json_object_del(profiles, tag);
    status = syi_json_put(profiles, tag, entry);
    *out = entry;
    return status;
}

/* An older writer's top level becomes an entry before another tag takes its place. */
static sy_status keep_top_level(json_t *root)
{
    const char *tag = syi_multigpu_text(root, "workload_tag");
    json_t *entry;
    if (!*tag || syi_multigpu_object(root, tag) != root)
        return SY_OK;
    SYI_TRY(last_entry(root, tag, &entry));
    json_object_del(entry, "fingerprint"); /* they belonged to the ratios before */
    json_object_del(entry, "costs");
    return copy_shared(root, entry);
}

typedef struct change {
    const syi_store *store;
    const char *tag;
    json_t *ratios, *fingerprint, *costs;
} change;

static sy_status put_or_delete(json_t *object, const char *key, json_t *value)
{
    if (value)
        return syi_json_put(object, key, json_incref(value));
    json_object_del(object, key);
    return SY_OK;
}

static sy_status put_measured(json_t *entry, const change *change)
{
    SYI_TRY(syi_json_put(entry, "ratios", json_incref(change->ratios)));
    SYI_TRY(put_or_delete(entry, "fingerprint", change->fingerprint));
    return put_or_delete(entry, "costs", change->costs);
}

static sy_status edit_set(json_t *root, void *user)
{
    const change *change = user;
    json_t *entry;
    SYI_TRY(mark_format(root));
    SYI_TRY(keep_top_level(root));
    SYI_TRY(last_entry(root, change->tag, &entry));
    SYI_TRY(put_measured(entry, change));
    SYI_TRY(syi_json_stamp(entry));
    return make_top_level(root, change->tag, entry);
}

static sy_status edit_correct(json_t *root, void *user)
{
    const change *change = user;
    json_t *entry = json_object_get(json_object_get(root, "profiles"), change->tag);
    if (!entry)
        return syi_multigpu_no_tag(change->store, change->tag);
    SYI_TRY(put_measured(entry, change));
    return syi_multigpu_top_level_is(root, change->tag) ? copy_shared(entry, root) : SY_OK;
}

static sy_status add_ratio(json_t *object, const sy_ratio *ratio)
{
    SYI_TRY(syi_json_check_text("device's name", ratio->device));
    if (!(ratio->ratio > 0 && isfinite(ratio->ratio)))
        return syi_fail(SY_ERR_ARGUMENT, "the ratio of '%.64s' is %g; give a finite number above 0",
                        ratio->device, ratio->ratio);
    if (json_object_get(object, ratio->device))
        return syi_fail(SY_ERR_ARGUMENT, "'%.64s' has two ratios; give one", ratio->device);
    return syi_json_put(object, ratio->device, json_real(ratio->ratio));
}

static sy_status fill_ratios(json_t *object, const sy_ratio *ratios, int n_ratios)
{
    const char *device;
    json_t *value;
    syi_scale scale;
    if (n_ratios < 1)
        return syi_fail(SY_ERR_ARGUMENT, "no ratios are given; give at least one");
    for (int i = 0; i < n_ratios; i++)
        SYI_TRY(add_ratio(object, &ratios[i]));
    scale = syi_multigpu_scale(object);
    json_object_foreach(object, device, value)
    {
        json_real_set(value, syi_multigpu_scaled(scale, value));
        if (!(json_real_value(value) > 0))
            return syi_fail(SY_ERR_ARGUMENT,
                            "the ratio of '%.64s' vanishes beside the others; leave it out",
                            device);
    }
    return SY_OK;
}

sy_status syi_multigpu_check_tag(const char *tag)
{
    SYI_TRY(syi_json_check_text("tag", tag));
    if (!syi_multigpu_tag_fits(tag))
        return syi_fail(SY_ERR_ARGUMENT, "the tag '%.70s...' is longer than 63 bytes; shorten it",
                        tag);
    return SY_OK;
}

sy_status syi_multigpu_set(syi_store *store, const char *tag, const sy_ratio *ratios, int n_ratios,
                           json_t *fingerprint, json_t *costs)
{
    change change = {store, tag, json_object(), fingerprint, costs};
    sy_status status = change.ratios ? syi_multigpu_check_tag(tag) : syi_json_no_memory();
    if (status == SY_OK)
        status = fill_ratios(change.ratios, ratios, n_ratios);
    if (status == SY_OK)
        status = syi_store_update(store, edit_set, &change);
    json_decref(change.ratios);
    return status;
}

sy_status syi_multigpu_correct(syi_store *store, const syi_store_look *seen, const char *tag,
                               const sy_ratio *ratios, int n_ratios, json_t *fingerprint,
                               json_t *costs, bool *done)
{
    change change = {store, tag, json_object(), fingerprint, costs};
    sy_status status = change.ratios ? SY_OK : syi_json_no_memory();
    *done = false;
    if (status == SY_OK)
        status = fill_ratios(change.ratios, ratios, n_ratios);
    if (status == SY_OK)
        status = syi_store_amend(store, seen, edit_correct, &change, done);
    json_decref(change.ratios);
    return status;
}

/* ---- forgetting --------------------------------------------------------------------------- */

static sy_status promote_most_recent(json_t *root)
{
    const char *tag, *best = NULL;
    json_t *entry, *newest = NULL;
    json_object_foreach(json_object_get(root, "profiles"), tag, entry)
    {
        if (!syi_multigpu_holds_ratios(entry) ||
            (newest && strcmp(syi_multigpu_text(entry, "updated_at"),
                              syi_multigpu_text(newest, "updated_at")) < 0))
            continue;
        best = tag;
        newest = entry;
    }
    if (newest)
        return make_top_level(root, best, newest);
    json_object_del(root, "ratios");
    json_object_del(root, "workload_tag");
    json_object_del(root, "updated_at");
    if (json_object_size(json_object_get(root, "profiles")) == 0)
        json_object_del(root, "profiles");
    return SY_OK;
}

static sy_status edit_forget(json_t *root, void *user)
{
    const change *change = user;
    bool was_top = !change->tag || syi_multigpu_top_level_is(root, change->tag);
    if (!change->tag)
        json_object_del(root, "profiles");
    else if (syi_multigpu_object(root, change->tag))
        json_object_del(json_object_get(root, "profiles"), change->tag);
    else
        return syi_multigpu_no_tag(change->store, change->tag);
    SYI_TRY(mark_format(root));
    return was_top ? promote_most_recent(root) : SY_OK;
}

sy_status syi_multigpu_forget(syi_store *store, const char *tag)
{
    change change = {.store = store, .tag = tag};
    return syi_store_update(store, edit_forget, &change);
}
