#include "costs.h"

#include "base/text.h"
#include "store.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- costs -------------------------------------------------------------------------------- */

static const char *const phase_names[SYI_PHASES] = {"copy_in", "compute", "copy_out"};

static json_t *reals(const double *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++)
        if (json_array_append_new(list, json_real(values[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static sy_status store_curve(json_t *phases, const char *name, const syi_curve *curve)
{
    json_t *entry;
    SYI_TRY(syi_json_child(phases, name, &entry));
    SYI_TRY(syi_json_put(entry, "fixed_ns", json_integer((json_int_t)(curve->fixed_ns + 0.5))));
    SYI_TRY(syi_json_put(entry, "per_element_ns", reals(curve->per_element_ns, curve->pieces)));
    SYI_TRY(syi_json_put(entry, "until_elements", reals(curve->until, curve->pieces - 1)));
    return syi_json_put(entry, "spread", json_real(curve->spread));
}

sy_status syi_cost_store(json_t *entry, const syi_cost *cost)
{
    json_t *phases;
    SYI_TRY(syi_json_child(entry, "phases", &phases));
    for (int p = 0; p < SYI_PHASES; p++) {
        if (cost->phase[p].pieces)
            SYI_TRY(store_curve(phases, phase_names[p], &cost->phase[p]));
        else
            json_object_del(phases, phase_names[p]);
    }
    return SY_OK;
}

/* More than any device takes: eleven days. What goes beyond is no measurement, and the arithmetic
 * of a split would leave its range. */
#define MOST_NS 1e15

/* A number from `least` to `most`; NaN: it is none. */
static double number(const json_t *value, double least, double most)
{
    double x = json_is_number(value) ? json_number_value(value) : NAN;
    return x >= least && x <= most ? x : NAN;
}

sy_status syi_cost_store_drift(json_t *entry, double drift)
{
    return syi_json_put(entry, "drift", json_real(drift));
}

/* NaN: it is damaged. */
static double drift_of(const json_t *entry)
{
    const json_t *drift = json_object_get(entry, "drift");
    return drift ? number(drift, 1e-6, 1e6) : 1;
}

double syi_cost_drift(const json_t *entry)
{
    double drift = drift_of(entry);
    return isnan(drift) ? 1 : drift;
}

sy_status syi_cost_store_pending(json_t *entry, syi_pending pending)
{
    json_t *own;
    json_object_del(entry, "pending");
    if (syi_pending_equal(pending, (syi_pending){0}))
        return SY_OK;
    SYI_TRY(syi_json_child(entry, "pending", &own));
    SYI_TRY(syi_json_put(own, "runs", json_integer(pending.runs)));
    SYI_TRY(syi_json_put(own, "drift", json_real(pending.slower)));
    return syi_json_put(own, "idle", json_integer(pending.idle));
}

/* A whole number that an int holds; -1: it is none. */
static int whole(const json_t *value)
{
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
    return n >= 0 && n <= INT_MAX ? (int)n : -1;
}

bool syi_cost_pending(const json_t *entry, syi_pending *out)
{
    const json_t *own = json_object_get(entry, "pending");
    syi_pending found = {whole(json_object_get(own, "runs")),
                         number(json_object_get(own, "drift"), 0, 1e6),
                         whole(json_object_get(own, "idle"))};
    bool sound = own && syi_pending_sound(found);
    *out = sound ? found : (syi_pending){0};
    return sound || !own;
}

static bool load_curve(const json_t *entry, syi_curve *out)
{
    const json_t *slopes = json_object_get(entry, "per_element_ns");
    const json_t *bends = json_object_get(entry, "until_elements");
    size_t pieces = json_array_size(slopes);
    double last = 0;
    if (pieces < 1 || pieces > SYI_PIECES || json_array_size(bends) != pieces - 1)
        return false;
    *out = (syi_curve){.pieces = (int)pieces,
                       .fixed_ns = number(json_object_get(entry, "fixed_ns"), 0, MOST_NS),
                       .spread = number(json_object_get(entry, "spread"), 0, MOST_NS)};
    for (size_t i = 0; i < pieces; i++) {
        out->per_element_ns[i] = number(json_array_get(slopes, i), 1e-9, MOST_NS);
        if (isnan(out->per_element_ns[i]))
            return false;
    }
    for (size_t i = 0; i + 1 < pieces; i++) {
        out->until[i] = number(json_array_get(bends, i), last, 1e19);
        if (!(out->until[i] > last))
            return false;
        last = out->until[i];
    }
    return !isnan(out->fixed_ns) && !isnan(out->spread);
}

bool syi_cost_load(const json_t *entry, syi_cost *out)
{
    const json_t *phases = json_object_get(entry, "phases");
    *out = (syi_cost){0};
    if (isnan(drift_of(entry)))
        return false;
    for (int p = 0; p < SYI_PHASES; p++) {
        const json_t *curve = json_object_get(phases, phase_names[p]);
        if (curve && !load_curve(curve, &out->phase[p]))
            return false;
    }
    return out->phase[SYI_COMPUTE].pieces > 0;
}

/* ---- fingerprints ------------------------------------------------------------------------- */

sy_status syi_fingerprint_store(json_t *entry, const syi_fingerprint *print)
{
    for (int i = 0; i < SYI_FINGERPRINT_FIELDS; i++) {
        const syi_fingerprint_field *field = &syi_fingerprint_fields[i];
        const char *at = (const char *)print + field->offset;
        int64_t value = 0;
        if (!field->text_size)
            memcpy(&value, at, sizeof value);
        SYI_TRY(syi_json_put(entry, field->name,
                             field->text_size ? json_string(at) : json_integer(value)));
    }
    return SY_OK;
}

bool syi_fingerprint_load(const json_t *entry, syi_fingerprint *out)
{
    *out = (syi_fingerprint){0};
    for (int i = 0; i < SYI_FINGERPRINT_FIELDS; i++) {
        const syi_fingerprint_field *field = &syi_fingerprint_fields[i];
        const json_t *value = json_object_get(entry, field->name);
        char *at = (char *)out + field->offset;
        int64_t number = json_integer_value(value);
        if (!value)
            continue;
        if (field->text_size ? !json_is_string(value) : !json_is_integer(value))
            return false;
        if (field->text_size)
            syi_copy_text(at, field->text_size, json_string_value(value));
        else
            memcpy(at, &number, sizeof number);
    }
    return json_is_object(entry);
}
