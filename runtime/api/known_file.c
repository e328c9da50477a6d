/*
 * What multigpu.json holds of a context's devices: ratios, and costs as far as their fingerprints
 * are believed.
 */
#define _POSIX_C_SOURCE 200809L
#include "api/known_file.h"

#include "api/context.h"
#include "base/text.h"
#include "costs.h"

#include <string.h>

void syi_default_tag(const syi_workload *workload, sy_dtype dtype, char tag[SYI_TAG])
{
    static const char floats[] = "_f32";
    syi_copy_text(tag, SYI_LONGEST_NAME + 1, syi_workload_tag(workload));
    if (dtype == SY_F32)
        memcpy(tag + strlen(tag), floats, sizeof floats);
}

static const char *dtype_word(sy_dtype dtype)
{
    return dtype == SY_F32 ? "f32" : "f64";
}

syi_fingerprint syi_fingerprint_of(const syi_device *device, const syi_workload *workload,
                                   sy_dtype dtype)
{
    const sy_device_info *info = &device->info;
    syi_fingerprint print = {.format = SYI_COSTS_FORMAT,
                             .compute_major = info->compute_major,
                             .compute_minor = info->compute_minor,
                             .units = info->units,
                             .memory_total = (int64_t)info->memory_total,
                             .workload_version = workload->version,
                             .library_major = SY_VERSION_MAJOR,
                             .library_minor = SY_VERSION_MINOR,
                             .library_patch = SY_VERSION_PATCH,
                             .power_limit_mw = info->power_limit_mw,
                             .clock_mhz = info->clock_max_mhz};
    syi_copy_text(print.dtype, sizeof print.dtype, dtype_word(dtype));
    syi_copy_text(print.driver, sizeof print.driver, info->driver);
    syi_copy_text(print.uuid, sizeof print.uuid, info->uuid);
    syi_copy_text(print.name, sizeof print.name,
                  info->type == SY_DEVICE_SIMULATED ? info->name : info->description);
    syi_copy_text(print.workload, sizeof print.workload, syi_workload_tag(workload));
    if (device->code)
        syi_copy_text(print.code, sizeof print.code, device->code);
    return print;
}

/* What is read for whom. */
typedef struct reading {
    sy_context *context;
    syi_known *known;
    syi_stored_balance stored;
    sy_dtype measured;  /* the dtype that was; another one than is asked for makes a guess of it */
    bool same_workload; /* it is of the known workload */
    bool told;          /* as in syi_known_read() */
} reading;

/* Goes on where the context that wrote the file's entry has ended. */
static void resume(sy_context *context, const syi_known *known, const json_t *entry, int i,
                   syi_known_device *out)
{
    syi_pending pending;
    if (!syi_cost_pending(entry, &pending))
        syi_log_line(&context->log, SY_LOG_WARNING,
                     "'%.300s' has a damaged `pending` of %s for '%s'; going on without it",
                     context->multigpu_path, context->devices.list[i]->info.name, known->tag);
    if (pending.runs && out->guess) { /* a run counts for more than a guess */
        out->drift.slower.value = pending.slower;
        out->guess = 0;
    }
    syi_drift_resume(&out->drift, pending);
    out->stored = syi_drift_pending(&out->drift);
}

static void tell_damaged(const reading *r, const char *device)
{
    if (!r->told)
        syi_log_line(&r->context->log, SY_LOG_WARNING,
                     "'%.300s' has damaged `costs` of %s for '%s'; going on without them; run "
                     "'profile'",
                     r->context->multigpu_path, device, r->stored.balance.tag);
}

static void load_cost(const reading *r, int i)
{
    const syi_known *known = r->known;
    syi_known_device *out = &known->devices[i];
    const syi_device *device = r->context->devices.list[i];
    const json_t *prints = json_object_get(r->stored.fingerprint, "devices");
    const json_t *entry = json_object_get(r->stored.costs, device->info.name);
    syi_fingerprint now = syi_fingerprint_of(device, known->workload, r->measured), then;
    syi_trust trust;
    char what[160];
    double drift;
    if (!out->ratio || !entry)
        return;
    if (!syi_cost_load(entry, &out->cost)) {
        tell_damaged(r, device->info.name);
        return;
    }
    if (!syi_fingerprint_load(json_object_get(prints, device->info.name), &then))
        return;
    trust = syi_fingerprint_compare(&then, &now, what, sizeof what);
    if (trust != SYI_TRUST_FULL)
        syi_log_line(&r->context->log, SY_LOG_INFO, "the profile of %s is %s (%s); run 'profile'",
                     device->info.name, trust == SYI_TRUST_NONE ? "not used" : "only a first guess",
                     what);
    out->has_cost = trust != SYI_TRUST_NONE;
    out->guess = trust == SYI_TRUST_GUESS || r->measured != known->dtype;
    /* The file's times contain what earlier runs have found: apart, it can be taken back. */
    drift = syi_cost_drift(entry);
    syi_cost_scale(&out->cost, 1 / drift);
    out->drift = syi_drift_start(syi_cost_spread(&out->cost), drift);
    out->in_file = out->has_cost && !known->borrowed && !known->home;
    if (out->in_file)
        resume(r->context, known, entry, i, out);
}

/* The names of devices that are stored, but not here. */
enum { ABSENT = 256 };

static sy_status match_ratios(sy_context *context, const syi_stored_balance *stored, syi_known *out,
                              char absent[ABSENT])
{
    double *ratios = syi_alloc((size_t)out->count, sizeof *ratios);
    if (!ratios)
        return syi_no_memory((uint64_t)out->count * sizeof *ratios);
    out->ratios = syi_ratios_match(&context->devices, &stored->balance, ratios, absent, ABSENT);
    for (int i = 0; i < out->count; i++)
        out->devices[i].ratio = ratios[i];
    syi_free(ratios);
    return SY_OK;
}

/* What is no news: where the caller has chosen the devices, that others are not among them; and a
 * device alone gets everything, whatever the others' ratios were. `matched` devices have one. */
static void tell_absent(sy_context *context, const syi_known *known, int matched,
                        const char *absent)
{
    const bool is_believed = known->ratios || !matched;
    if (!*absent || known->count == 1 || !is_believed || known->borrowed || context->told_absent)
        return;
    context->told_absent = 1;
    syi_log_line(&context->log, context->devices.is_auto ? SY_LOG_WARNING : SY_LOG_INFO,
                 "the ratios of '%s' in %s are %s for devices that are not here: %s; %s; run "
                 "'profile' where they will not come back",
                 known->tag, context->multigpu_path, matched ? "also" : "only", absent,
                 matched ? "the others share the work" : "nominal speeds take their place");
}

/* The ratios, of tag `from`, are of another workload, or of devices as they are not any more: no
 * reason to leave somebody out. NULL: that has been told. */
static void doubt_ratios(sy_context *context, syi_known *known, const char *from)
{
    for (int i = 0; i < known->count; i++)
        known->ratios = known->ratios && known->devices[i].ratio > 0;
    for (int i = 0; i < known->count && !known->ratios; i++)
        known->devices[i].ratio = 0;
    if (known->ratios && known->borrowed && from)
        syi_log_line(
            &context->log, SY_LOG_INFO,
            "nothing is stored for the tag '%s'; the ratios of '%s' are a first guess; run "
            "'profile'",
            known->tag, from);
}

/* What is stored for the tag; else of doubles, which tells much of floats; else of another
 * workload, a better guess than the devices' nominal speeds. */
static sy_status find_stored(reading *r)
{
    syi_store *file = &r->context->multigpu;
    syi_known *out = r->known;
    sy_status status = syi_multigpu_get(file, out->tag, &r->stored);
    if (status == SY_ERR_NOT_FOUND && out->dtype != SY_F64) {
        char tag[SYI_TAG];
        r->measured = SY_F64;
        syi_default_tag(out->workload, SY_F64, tag);
        status = syi_multigpu_get(file, tag, &r->stored);
        out->borrowed = 1;
    }
    if (status == SY_ERR_NOT_FOUND) {
        r->same_workload = false;
        status = syi_multigpu_get(file, NULL, &r->stored);
        out->borrowed = 1;
    }
    return status;
}

static sy_status take_stored(const reading *r)
{
    const syi_stored_balance *stored = &r->stored;
    syi_known *out = r->known;
    char absent[ABSENT];
    int matched;
    out->measured = stored->costs != NULL;
    syi_copy_text(out->lender, sizeof out->lender, stored->balance.tag);
    SYI_TRY(match_ratios(r->context, stored, out, absent));
    matched = out->ratios;
    for (int i = 0; r->same_workload && i < out->count; i++) {
        load_cost(r, i);
        out->costs += out->devices[i].has_cost;
    }
    /* What somebody has set for doubles is no order for floats. */
    if (!r->same_workload || (out->measured ? !out->costs : out->borrowed))
        doubt_ratios(r->context, out, r->told ? NULL : stored->balance.tag);
    tell_absent(r->context, out, matched, absent);
    return SY_OK;
}

sy_status syi_known_read(sy_context *context, syi_known *out, bool told)
{
    reading r = {.context = context,
                 .known = out,
                 .measured = out->dtype,
                 .same_workload = true,
                 .told = told};
    sy_status status = find_stored(&r);
    if (status == SY_ERR_NOT_FOUND)
        return SY_OK;
    if (status == SY_ERR_IO) { /* a profile is a help, not a condition */
        if (!told)
            syi_log_line(&context->log, SY_LOG_WARNING, "%s; going on without stored ratios",
                         sy_last_error()->text);
        return SY_OK;
    }
    SYI_TRY(status);
    status = take_stored(&r);
    syi_stored_balance_clear(&r.stored);
    return status;
}
