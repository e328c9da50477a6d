/*
 * What a context knows of its devices: for each tag and workload the ratios and costs that
 * multigpu.json holds, believed as far as their fingerprints allow, and what the runs have
 * corrected since. Read when first asked for, and again when the file has changed.
 */
#define _POSIX_C_SOURCE 200809L
#include "api/context.h"

#include "base/text.h"
#include "costs.h"
#include "device/place.h"
#include "plan/residence.h"

#include <math.h>
#include <string.h>

void syi_memory_init(syi_memory *memory)
{
    pthread_mutex_init(&memory->lock, NULL);
    memory->start = syi_start_assumed();
}

static void drop(syi_known *known)
{
    if (known)
        syi_free(known->devices);
    syi_free(known);
}

static void drop_all(syi_memory *memory)
{
    while (memory->list) {
        syi_known *next = memory->list->next;
        drop(memory->list);
        memory->list = next;
    }
}

void syi_memory_destroy(syi_memory *memory)
{
    drop_all(memory);
    pthread_mutex_destroy(&memory->lock);
}

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

/* ---- reading ------------------------------------------------------------------------------ */

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

/* `measured`: the dtype that was; another one than is asked for makes a guess of it. */
static void load_cost(sy_context *context, const syi_known *known, sy_dtype measured,
                      const syi_stored_balance *stored, int i, syi_known_device *out)
{
    const syi_device *device = context->devices.list[i];
    const json_t *prints = json_object_get(stored->fingerprint, "devices");
    syi_fingerprint now = syi_fingerprint_of(device, known->workload, measured), then;
    syi_trust trust;
    char what[160];
    double drift;
    if (!out->ratio ||
        !syi_cost_load(json_object_get(stored->costs, device->info.name), &out->cost))
        return;
    if (!syi_fingerprint_load(json_object_get(prints, device->info.name), &then))
        return;
    trust = syi_fingerprint_compare(&then, &now, what, sizeof what);
    if (trust != SYI_TRUST_FULL)
        syi_log_line(&context->log, SY_LOG_INFO, "the profile of %s is %s (%s); run 'profile'",
                     device->info.name, trust == SYI_TRUST_NONE ? "not used" : "only a first guess",
                     what);
    out->has_cost = trust != SYI_TRUST_NONE;
    out->guess = trust == SYI_TRUST_GUESS || measured != known->dtype;
    /* The file's times contain what earlier runs have found: apart, it can be taken back. */
    drift = syi_cost_drift(json_object_get(stored->costs, device->info.name));
    syi_cost_scale(&out->cost, 1 / drift);
    out->drift = syi_drift_start(syi_cost_spread(&out->cost), drift);
    out->in_file = out->has_cost && !known->borrowed && !known->home;
    if (out->in_file)
        resume(context, known, json_object_get(stored->costs, device->info.name), i, out);
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
 * device alone gets everything, whatever the others' ratios were. */
static void tell_absent(sy_context *context, const syi_known *known, const char *absent)
{
    if (!*absent || known->count == 1 || !known->ratios || known->borrowed || context->told_absent)
        return;
    context->told_absent = 1;
    syi_log_line(&context->log, context->devices.is_auto ? SY_LOG_WARNING : SY_LOG_INFO,
                 "the ratios of '%s' in %s are also for devices that are not here: %s; the others "
                 "share the work; run 'profile' where they will not come back",
                 known->tag, context->multigpu_path, absent);
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

/* `told`: what the file says of these has been, for works of another size. */
static sy_status read_file(sy_context *context, syi_known *out, bool told)
{
    syi_stored_balance stored;
    sy_dtype measured = out->dtype;
    sy_status status = syi_multigpu_get(&context->multigpu, out->tag, &stored);
    char absent[ABSENT];
    bool same_workload = true;
    /* What doubles take tells much of floats. */
    if (status == SY_ERR_NOT_FOUND && out->dtype != SY_F64) {
        char tag[SYI_TAG];
        measured = SY_F64;
        syi_default_tag(out->workload, measured, tag);
        status = syi_multigpu_get(&context->multigpu, tag, &stored);
        out->borrowed = 1;
    }
    /* What another workload measured is a better guess than the devices' nominal speeds. */
    if (status == SY_ERR_NOT_FOUND) {
        same_workload = false;
        status = syi_multigpu_get(&context->multigpu, NULL, &stored);
        out->borrowed = 1;
    }
    if (status == SY_ERR_NOT_FOUND)
        return SY_OK;
    if (status == SY_ERR_IO) { /* a profile is a help, not a condition */
        if (!told)
            syi_log_line(&context->log, SY_LOG_WARNING, "%s; going on without stored ratios",
                         sy_last_error()->text);
        return SY_OK;
    }
    SYI_TRY(status);
    out->measured = stored.costs != NULL;
    syi_copy_text(out->lender, sizeof out->lender, stored.balance.tag);
    status = match_ratios(context, &stored, out, absent);
    for (int i = 0; status == SY_OK && same_workload && i < out->count; i++) {
        load_cost(context, out, measured, &stored, i, &out->devices[i]);
        out->costs += out->devices[i].has_cost;
    }
    /* What somebody has set for doubles is no order for floats. */
    if (status == SY_OK && (!same_workload || (out->measured ? !out->costs : out->borrowed)))
        doubt_ratios(context, out, told ? NULL : stored.balance.tag);
    if (status == SY_OK)
        tell_absent(context, out, absent);
    syi_stored_balance_clear(&stored);
    return status;
}

/* Works up to eight times as large have the same. */
static int scale_of(const syi_job *job)
{
    return ilogb(fmax((double)job->rows * (double)job->columns, 1)) / 3;
}

static sy_status load(sy_context *context, const syi_job *job, const char *tag, bool told,
                      syi_known **out)
{
    syi_known *known = syi_alloc(1, sizeof *known);
    sy_status status;
    if (!known)
        return syi_no_memory(sizeof *known);
    known->home = syi_job_home(job);
    known->workload = job->workload;
    known->dtype = job->dtype;
    known->count = context->devices.count;
    syi_copy_text(known->tag, sizeof known->tag, tag);
    known->devices = syi_alloc((size_t)known->count, sizeof *known->devices);
    status = known->devices ? read_file(context, known, told)
                            : syi_no_memory((uint64_t)known->count * sizeof *known->devices);
    if (status == SY_OK) {
        known->scale = known->costs ? -1 : scale_of(job);
        *out = known;
        return SY_OK;
    }
    drop(known);
    return status;
}

/* ---- the context's memory ----------------------------------------------------------------- */

/* Whether it is of these, in works of whatever size. */
static bool is_of(const syi_known *known, const syi_workload *workload, sy_dtype dtype, int home,
                  const char *tag)
{
    return known->workload == workload && known->dtype == dtype && known->home == home &&
           strncmp(known->tag, tag, sizeof known->tag - 1) == 0;
}

syi_known *syi_known_find(sy_context *context, const syi_job *job, const char *tag)
{
    const int home = syi_job_home(job), scale = scale_of(job);
    syi_known *known = context->memory.list;
    while (known && (known->is_old || (known->scale >= 0 && known->scale != scale) ||
                     !is_of(known, job->workload, job->dtype, home, tag)))
        known = known->next;
    return known;
}

/* Whether they are known in works of some size, so that what the file says of them has been told.
 */
static bool is_told(const syi_memory *memory, const syi_job *job, const char *tag)
{
    const int home = syi_job_home(job);
    const syi_known *known = memory->list;
    while (known && (known->is_old || !is_of(known, job->workload, job->dtype, home, tag)))
        known = known->next;
    return known != NULL;
}

sy_status syi_known_copy(const syi_known *from, syi_arena *memory, syi_known *out)
{
    size_t bytes = (size_t)from->count * sizeof *from->devices;
    syi_known_device *devices = syi_arena_alloc(memory, (size_t)from->count, sizeof *devices);
    if (!devices)
        return syi_no_memory(bytes);
    *out = *from;
    out->devices = memcpy(devices, from->devices, bytes);
    out->next = NULL;
    return SY_OK;
}

sy_status syi_known_costs(const syi_devices *devices, const syi_job *job, const syi_known *known,
                          syi_cost **out)
{
    *out = NULL;
    if (syi_job_addressable(job))
        return SY_OK;
    *out = syi_arena_alloc(job->memory, (size_t)known->count, sizeof **out);
    if (!*out)
        return syi_no_memory((uint64_t)known->count * sizeof **out);
    for (int i = 0; i < known->count; i++)
        (*out)[i] = known->devices[i].cost;
    syi_residence_apply(devices, job, *out);
    for (int i = 0; i < known->count; i++)
        if (known->devices[i].learned) /* where they live */
            (*out)[i] = known->devices[i].cost;
    return SY_OK;
}

/* What was read of an older file is looked for no more, but what runs have told beside it stays. */
static void retire(syi_memory *memory)
{
    syi_known **at = &memory->list;
    while (*at) {
        syi_known *known = *at;
        if (known->is_old || known->scale >= 0) {
            *at = known->next;
            drop(known);
        } else {
            known->is_old = true;
            at = &known->next;
        }
    }
}

/* Devices that neither file has a profile of. */
static void inherit(const syi_memory *memory, syi_known *fresh)
{
    const syi_known *old = memory->list;
    while (old &&
           !(old->is_old && is_of(old, fresh->workload, fresh->dtype, fresh->home, fresh->tag)))
        old = old->next;
    for (int i = 0; old && fresh->scale < 0 && i < fresh->count; i++)
        if (!fresh->devices[i].has_cost && (old->devices[i].learned || old->devices[i].gave_up)) {
            const double ratio = fresh->devices[i].ratio;
            fresh->devices[i] = old->devices[i];
            fresh->devices[i].ratio = ratio;
            fresh->costs += fresh->devices[i].has_cost;
        }
}

/* Takes the last one out of a list that has become too long to be searched in every call. */
static syi_known *forget_oldest(syi_memory *memory)
{
    enum { MOST = 256 };
    syi_known **last = &memory->list, *oldest;
    int count = 1;
    for (; *last && (*last)->next; count++)
        last = &(*last)->next;
    if (count <= MOST)
        return NULL;
    oldest = *last;
    *last = NULL;
    return oldest;
}

sy_status syi_known_get(sy_context *context, const syi_job *job, const char *tag, syi_known *out)
{
    syi_memory *memory = &context->memory;
    syi_known *known, *fresh = NULL;
    sy_status status = SY_OK;
    int64_t changes;
    pthread_mutex_lock(&memory->lock);
    if (syi_store_changed(&context->multigpu, &memory->look)) {
        retire(memory);
        memory->changes++;
    }
    changes = memory->changes;
    known = syi_known_find(context, job, tag);
    if (!known) {
        const bool told = is_told(memory, job, tag);
        /* The log's callback may call the library, so nothing is locked while reading. */
        pthread_mutex_unlock(&memory->lock);
        SYI_TRY(load(context, job, tag, told, &fresh));
        pthread_mutex_lock(&memory->lock);
        known = syi_known_find(context, job, tag);
    }
    if (!known)
        inherit(memory, fresh);
    if (!known && changes == memory->changes) {
        fresh->next = memory->list;
        memory->list = known = fresh;
        fresh = forget_oldest(memory);
    }
    /* What may be of an older file than others have seen by now is good for this call alone. */
    status = syi_known_copy(known ? known : fresh, job->memory, out);
    out->start_ns = memory->start.value;
    pthread_mutex_unlock(&memory->lock);
    drop(fresh); /* forgotten; or another thread was faster */
    return status;
}
