/*
 * What a context knows of its devices: for each tag and workload the ratios and costs that
 * multigpu.json holds, believed as far as their fingerprints allow, and what the runs have
 * corrected since. Read when first asked for, and again when the file has changed.
 */
#define _POSIX_C_SOURCE 200809L
#include "api/context.h"

#include "api/known_file.h"
#include "base/text.h"
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

/* ---- reading ------------------------------------------------------------------------------ */

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
    status = known->devices ? syi_known_read(context, known, told)
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
