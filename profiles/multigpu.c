/* The fields of multigpu.json. The top level repeats the last written entry, because existing tools
 * read it, and their writers know of nothing else. Since we always write the two together, a top
 * level that differs from its tag's entry comes from such a writer, after us. */
#include "multigpu.h"

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
    const char *problem = check_balance((json_t *)root), *tag;
    if (!string_or_absent(root, "workload_tag"))
        return "workload_tag is not text";
    if (profiles && !json_is_object(profiles))
        return "profiles is not an object";
    json_object_foreach(profiles, tag, entry)
    {
        if (!json_is_object(entry))
            return "a profile is not an object";
        if (!problem)
            problem = check_balance(entry);
    }
    return problem;
}

syi_store syi_multigpu_store(const char *path, syi_log *log)
{
    return (syi_store){.path = path, .check = check, .log = log};
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A text field, "" when it is not there. */
static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static bool holds_ratios(const json_t *object)
{
    return json_object_size(json_object_get(object, "ratios")) > 0;
}

static bool top_level_is(const json_t *root, const char *tag)
{
    return holds_ratios(root) && strcmp(text(root, "workload_tag"), tag) == 0;
}

static json_t *entry_of(const json_t *root, const char *tag)
{
    json_t *entry = json_object_get(json_object_get(root, "profiles"), tag);
    return holds_ratios(entry) ? entry : NULL;
}

/* The object that holds the ratios of a tag: its entry, the root, or NULL. */
static json_t *find(json_t *root, const char *tag)
{
    json_t *entry = entry_of(root, tag);
    if (!top_level_is(root, tag))
        return entry;
    if (entry && strcmp(text(entry, "updated_at"), text(root, "updated_at")) == 0)
        return entry;
    return root;
}

/* Ratios that add up to 1 already keep their bits. */
static void normalise(double *ratios, size_t stride, int count)
{
    double sum = 0, largest = 0;
    for (int i = 0; i < count; i++) {
        sum += ratios[i * stride];
        largest = fmax(largest, ratios[i * stride]);
    }
    if (!isfinite(sum)) {
        sum = 0;
        for (int i = 0; i < count; i++)
            sum += ratios[i * stride] /= largest;
    }
    for (int i = 0; fabs(sum - 1) > 1e-14 && i < count; i++)
        ratios[i * stride] /= sum;
}
