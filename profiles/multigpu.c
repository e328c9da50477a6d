/* Reading multigpu.json: its shape, the ratios of a tag, the tags. */
#include "multigpu_layout.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape -------------------------------------------------------------------------------- */

static bool string_or_absent(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return !value || json_is_string(value);
}

static const char *check_balance(json_t *object)
{
    json_t *ratios = json_object_get(object, "ratios"), *value;
    const char *device;
    if (!string_or_absent(object, "updated_at"))
        return "an updated_at is not text";
    if (ratios && !json_is_object(ratios))
        return "ratios is not an object";
    json_object_foreach(ratios, device, value)
    {
        double ratio = json_number_value(value); /* 0 when it is no number */
        if (!(ratio > 0 && isfinite(ratio)))
            return "a ratio is not a number above 0";
    }
    return NULL;
}

static const char *check(const json_t *root)
{
    json_t *profiles = json_object_get(root, "profiles"), *entry;
    const json_t *format = json_object_get(root, "format"), *fingerprint;
    const char *problem = check_balance((json_t *)root), *tag;
    if (format && !json_is_integer(format))
        return "format is not a whole number";
    if (!string_or_absent(root, "workload_tag"))
        return "workload_tag is not text";
    if (profiles && !json_is_object(profiles))
        return "profiles is not an object";
    json_object_foreach(profiles, tag, entry)
    {
        if (!json_is_object(entry))
            return "a profile is not an object";
        fingerprint = json_object_get(entry, "fingerprint");
        if (fingerprint && !json_is_object(fingerprint))
            return "a fingerprint is not an object";
        if (!problem)
            problem = check_balance(entry);
    }
    return problem;
}

syi_store syi_multigpu_store(const char *path, syi_log *log)
{
    return (syi_store){.path = path,
                       .name = "multigpu.json",
                       .check = check,
                       .log = log,
                       .patience_ns = SYI_STORE_PATIENCE_NS};
}

/* ---- reading ------------------------------------------------------------------------------ */

const char *syi_multigpu_text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

bool syi_multigpu_holds_ratios(const json_t *object)
{
    return json_object_size(json_object_get(object, "ratios")) > 0;
}

bool syi_multigpu_top_level_is(const json_t *root, const char *tag)
{
    return syi_multigpu_holds_ratios(root) &&
           strcmp(syi_multigpu_text(root, "workload_tag"), tag) == 0;
}

static json_t *entry_of(const json_t *root, const char *tag)
{
    json_t *entry = json_object_get(json_object_get(root, "profiles"), tag);
    return syi_multigpu_holds_ratios(entry) ? entry : NULL;
}

json_t *syi_multigpu_object(json_t *root, const char *tag)
{
    json_t *entry = entry_of(root, tag);
    if (!syi_multigpu_top_level_is(root, tag))
        return entry;
    if (entry &&
        strcmp(syi_multigpu_text(entry, "updated_at"), syi_multigpu_text(root, "updated_at")) == 0)
        return entry;
    return root;
}

syi_scale syi_multigpu_scale(json_t *ratios)
{
    syi_scale result = {1, 0};
    double largest = 0;
    const char *device;
    json_t *value;
    json_object_foreach(ratios, device, value)
    {
        result.sum += json_number_value(value);
        largest = fmax(largest, json_number_value(value));
    }
    if (isinf(result.sum)) {
        result = (syi_scale){largest, 0};
        json_object_foreach(ratios, device, value) result.sum += json_number_value(value) / largest;
    }
    if (fabs(result.sum - 1) < 1e-14)
        result.sum = 1; /* normalised before: the ratios keep their bits */
    return result;
}

double syi_multigpu_scaled(syi_scale scale, const json_t *value)
{
    return json_number_value(value) / scale.unit / scale.sum;
}

json_t *syi_multigpu_costs(const json_t *root, const char *tag)
{
    return json_object_get(entry_of(root, tag), "costs");
}

static sy_status copy_ratios(json_t *ratios, sy_balance *out)
{
    const size_t count = json_object_size(ratios);
    const syi_scale scale = syi_multigpu_scale(ratios);
    const char *device;
    json_t *value;
    out->ratios = syi_alloc(count, sizeof *out->ratios);
    if (!out->ratios)
        return syi_no_memory(count * sizeof *out->ratios);
    json_object_foreach(ratios, device, value)
    {
        syi_copy_text(out->ratios[out->n_ratios].device, sizeof out->ratios->device, device);
        out->ratios[out->n_ratios++].ratio = syi_multigpu_scaled(scale, value);
    }
    return SY_OK;
}

sy_status syi_multigpu_no_tag(const syi_store *store, const char *tag)
{
    if (!tag)
        return syi_fail(SY_ERR_NOT_FOUND, "no ratios are stored in '%.300s'; profile first",
                        store->path);
    return syi_fail(SY_ERR_NOT_FOUND,
                    "no ratios are stored for the tag '%.64s' in '%.300s'; profile it first, or "
                    "name one that is there",
                    tag, store->path);
}

static sy_status get(const syi_store *store, json_t *root, const char *tag, syi_stored_balance *out)
{
    json_t *found = syi_multigpu_object(root, tag ? tag : syi_multigpu_text(root, "workload_tag"));
    syi_stored_balance result = {.balance.struct_size = sizeof result.balance};
    if (!found)
        return syi_multigpu_no_tag(store, tag);
    SYI_TRY(copy_ratios(json_object_get(found, "ratios"), &result.balance));
    syi_copy_text(result.balance.tag, sizeof result.balance.tag,
                  tag ? tag : syi_multigpu_text(root, "workload_tag"));
    syi_copy_text(result.balance.updated_at, sizeof result.balance.updated_at,
                  syi_multigpu_text(found, "updated_at"));
    result.from_top_level = found == root;
    if (found != root) {
        result.fingerprint = json_incref(json_object_get(found, "fingerprint"));
        result.costs = json_incref(json_object_get(found, "costs"));
    }
    *out = result;
    return SY_OK;
}

sy_status syi_multigpu_get(syi_store *store, const char *tag, syi_stored_balance *out)
{
    json_t *root;
    sy_status status;
    SYI_TRY(syi_store_read(store, &root));
    status = get(store, root, tag, out);
    json_decref(root);
    return status;
}

void syi_stored_balance_clear(syi_stored_balance *stored)
{
    syi_free(stored->balance.ratios);
    json_decref(stored->fingerprint);
    json_decref(stored->costs);
    *stored = (syi_stored_balance){.balance.struct_size = sizeof stored->balance};
}

/* ---- tags --------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool syi_multigpu_tag_fits(const char *tag)
{
    return *tag && strlen(tag) < sizeof((sy_balance *)0)->tag;
}

/* The tags that have ratios, sorted; they live in the document. `tags` has room for all. */
static int list_tags(json_t *root, const char **tags)
{
    const char *tag, *top = syi_multigpu_text(root, "workload_tag");
    json_t *entry;
    int count = 0;
    json_object_foreach(json_object_get(root, "profiles"), tag, entry)
    {
        if (syi_multigpu_tag_fits(tag) && syi_multigpu_holds_ratios(entry))
            tags[count++] = tag;
    }
    if (syi_multigpu_tag_fits(top) && syi_multigpu_holds_ratios(root) && !entry_of(root, top))
        tags[count++] = top;
    qsort(tags, (size_t)count, sizeof *tags, by_text);
    return count;
}

sy_status syi_multigpu_each(syi_store *store, int (*each)(void *user, syi_stored_balance *stored),
                            void *user)
{
    const char **tags;
    json_t *root;
    size_t room;
    sy_status status;
    SYI_TRY(syi_store_read(store, &root));
    room = json_object_size(json_object_get(root, "profiles")) + 1;
    tags = syi_alloc(room, sizeof *tags);
    status = tags ? SY_OK : syi_no_memory(room * sizeof *tags);
    for (int i = 0, stop = 0, count = tags ? list_tags(root, tags) : 0; i < count && !stop; i++) {
        syi_stored_balance stored;
        status = get(store, root, tags[i], &stored);
        stop = status != SY_OK || each(user, &stored);
        if (status == SY_OK)
            syi_stored_balance_clear(&stored);
    }
    syi_free(tags);
    json_decref(root);
    return status;
}
