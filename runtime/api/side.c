#define _POSIX_C_SOURCE 200809L
#include "api/context.h"

#include "base/mem.h"
#include "device/place.h"

#include <math.h>
#include <string.h>

enum { SIGNATURES = 256 }; /* that are remembered; a call that is met looks through them in turn */

void syi_sides_init(syi_sides *sides)
{
    pthread_mutex_init(&sides->lock, NULL);
}

static void drop_from(syi_signature **link)
{
    while (*link) {
        syi_signature *next = (*link)->next;
        syi_free(*link);
        *link = next;
    }
}

void syi_sides_destroy(syi_sides *sides)
{
    drop_from(&sides->list);
    pthread_mutex_destroy(&sides->lock);
}

sy_status syi_force_parse(const char *word, syi_force *out)
{
    *out = SYI_FORCE_AUTO;
    if (!word || !*word || !strcmp(word, "auto"))
        return SY_OK;
    *out = !strcmp(word, "cpu") ? SYI_FORCE_CPU : SYI_FORCE_CUDA;
    if (*out == SYI_FORCE_CUDA && strcmp(word, "cuda") != 0)
        return syi_fail(SY_ERR_ARGUMENT, "device '%.64s': use auto, cpu or cuda", word);
    return SY_OK;
}

/* ---- what is remembered ------------------------------------------------------------------- */

static int64_t size_of(const syi_job *job)
{
    return job->rows * job->columns;
}

static syi_signature *find(const syi_sides *sides, const syi_job *job)
{
    size_t bytes = (size_t)job->workload->n_params * sizeof(double);
    syi_signature *s = sides->list;
    while (s && (s->workload != job->workload || s->dtype != job->dtype ||
                 memcmp(s->params, job->params, bytes) != 0))
        s = s->next;
    return s;
}

/* The place of a size, or where it belongs. */
static int place_of(const syi_signature *s, int64_t size)
{
    int at = 0;
    while (at < s->count && s->known[at].size < size)
        at++;
    return at;
}

/* Of the two sizes that are least apart the one of which less is known. */
static int least_missed(const syi_signature *s)
{
    int at = 1;
    const syi_track *upper, *lower;
    for (int i = 2; i < s->count; i++)
        if ((double)s->known[i].size / (double)s->known[i - 1].size <
            (double)s->known[at].size / (double)s->known[at - 1].size)
            at = i;
    upper = s->known[at].ms;
    lower = s->known[at - 1].ms;
    return upper[0].samples + upper[1].samples < lower[0].samples + lower[1].samples ? at : at - 1;
}

static void take_out(syi_signature *s, int at)
{
    size_t after = (size_t)(--s->count - at);
    memmove(s->known + at, s->known + at + 1, after * sizeof *s->known);
    memmove(s->last + at, s->last + at + 1, after * sizeof *s->last);
    memmove(s->stored + at, s->stored + at + 1, after * sizeof *s->stored);
}

/* Makes room for a size, and gives its place. */
static int insert(syi_signature *s, int64_t size)
{
    int at;
    size_t after;
    if (s->count == SYI_SIDE_SIZES)
        take_out(s, least_missed(s));
    at = place_of(s, size);
    after = (size_t)(s->count - at);
    memmove(s->known + at + 1, s->known + at, after * sizeof *s->known);
    memmove(s->last + at + 1, s->last + at, after * sizeof *s->last);
    memmove(s->stored + at + 1, s->stored + at, after * sizeof *s->stored);
    s->known[at] = (syi_timing){.size = size};
    s->last[at] = SYI_SIDE_NONE;
    s->stored[at] = false;
    s->count++;
    return at;
}

/* What was worth storing counts as two at least: enough against what is three times slower. */
static void seed(syi_track *track, double ms, int64_t samples)
{
    if (ms > 0)
        *track = (syi_track){.value = ms,
                             .samples = samples < 2      ? 2
                                        : samples < 1000 ? (int)samples
                                                         : 1000};
}

/* An entry of the file, if it is of this signature. */
static int read_entry(void *user, const char *key, const sy_threshold *entry)
{
    syi_signature *s = user;
    int64_t size;
    int at;
    if (!syi_threshold_key_read(key, syi_workload_tag(s->workload), s->workload->params,
                                s->workload->n_params, s->params, &size))
        return 0;
    at = place_of(s, size);
    if (at < s->count && s->known[at].size == size)
        return 0;
    at = insert(s, size);
    seed(&s->known[at].ms[SYI_SIDE_CPU], entry->cpu_ms_avg, entry->samples);
    seed(&s->known[at].ms[SYI_SIDE_GPU], entry->gpu_ms_avg, entry->samples);
    s->stored[at] = true;
    return 0;
}

static sy_status load(sy_context *context, const syi_job *job, syi_signature **out)
{
    syi_signature *s = syi_alloc(1, sizeof *s);
    if (!s)
        return syi_no_memory(sizeof *s);
    s->workload = job->workload;
    s->dtype = job->dtype;
    memcpy(s->params, job->params, (size_t)job->workload->n_params * sizeof *s->params);
    /* Without a place for the file: what there is to say is said of the ratios' (known.c). */
    if (s->dtype == SY_F64 && context->thresholds.path &&
        syi_threshold_each(&context->thresholds, read_entry, s) != SY_OK)
        syi_log_line(&context->log, SY_LOG_WARNING, "%s; going on without stored times",
                     sy_last_error()->text);
    *out = s;
    return SY_OK;
}

/* Gives the signature with the lock held; on failure the lock is not held. */
static sy_status lock_signature(sy_context *context, const syi_job *job, syi_signature **out)
{
    syi_sides *sides = &context->sides;
    syi_signature *fresh = NULL, **link;
    int64_t changes;
    int kept = 0;
    pthread_mutex_lock(&sides->lock);
    if (syi_store_changed(&context->thresholds, &sides->look) || sides->doubtful) {
        drop_from(&sides->list);
        sides->changes++;
        sides->doubtful = false;
    }
    changes = sides->changes;
    *out = find(sides, job);
    if (*out)
        return SY_OK;
    /* The log's callback may call the library, so nothing is locked while reading. */
    pthread_mutex_unlock(&sides->lock);
    SYI_TRY(load(context, job, &fresh));
    pthread_mutex_lock(&sides->lock);
    *out = find(sides, job);
    if (*out) { /* another thread was faster */
        syi_free(fresh);
        return SY_OK;
    }
    if (changes != sides->changes) /* good for this call; the next one reads again */
        sides->doubtful = true;
    fresh->next = sides->list;
    sides->list = *out = fresh;
    for (link = &fresh->next; *link && ++kept < SIGNATURES;)
        link = &(*link)->next;
    drop_from(link);
    return SY_OK;
}

/* ---- choosing ----------------------------------------------------------------------------- */

static syi_side side_of(const syi_device *device)
{
    return device->info.type == SY_DEVICE_CPU ? SYI_SIDE_CPU : SYI_SIDE_GPU;
}

bool syi_side_allows(const syi_choice *choice, const syi_device *device)
{
    if (!choice->made)
        return true;
    if (choice->forced && choice->side == SYI_SIDE_GPU)
        return device->info.type == SY_DEVICE_CUDA;
    return side_of(device) == choice->side;
}

static sy_status choose_forced(sy_context *context, const syi_job *job, syi_force force,
                               syi_choice *out)
{
    char names[256];
    *out = (syi_choice){.made = true,
                        .forced = true,
                        .side = force == SYI_FORCE_CPU ? SYI_SIDE_CPU : SYI_SIDE_GPU,
                        .ms = {NAN, NAN}};
    for (int i = 0; i < context->devices.count; i++) {
        syi_device *device = context->devices.list[i];
        if (syi_side_allows(out, device) && !syi_plan_obstacle(device, job->workload))
            return SY_OK;
    }
    syi_devices_names(&context->devices, names, sizeof names);
    return syi_fail(SY_ERR_NO_DEVICE,
                    "device '%s': there is no usable one for %s among: %s; use auto, or open "
                    "other devices",
                    force == SYI_FORCE_CPU ? "cpu" : "cuda", job->workload->name, names);
}

/* Whether there is something to choose between; `gpu`: a real one. */
static bool has_both(sy_context *context, const syi_job *job, bool *gpu)
{
    bool found[2] = {false, false};
    *gpu = false;
    for (int i = 0; i < context->devices.count; i++) {
        syi_device *device = context->devices.list[i];
        if (syi_plan_obstacle(device, job->workload))
            continue;
        found[side_of(device)] = true;
        *gpu = *gpu || device->info.type == SY_DEVICE_CUDA;
    }
    return found[SYI_SIDE_CPU] && found[SYI_SIDE_GPU];
}

/* By the times before. Simulated devices are chosen and timed where times are stored of the work;
 * elsewhere what is asked of them is to take part. */
static sy_status choose_by_times(sy_context *context, const syi_job *job, bool try_both,
                                 syi_choice *out)
{
    syi_signature *s;
    syi_verdict verdict;
    int64_t size = size_of(job);
    int at;
    SYI_TRY(lock_signature(context, job, &s));
    at = syi_timing_alike(s->known, s->count, size);
    verdict = syi_decide(s->known, s->count, size, at >= 0 ? s->last[at] : SYI_SIDE_NONE);
    if (at >= 0 && !verdict.probe)
        s->last[at] = verdict.side;
    try_both = try_both || s->count > 0;
    pthread_mutex_unlock(&context->sides.lock);
    if (verdict.probe && context->frozen && !isnan(verdict.ms[0]) && !isnan(verdict.ms[1])) {
        verdict.probe = false;
        verdict.side =
            verdict.ms[SYI_SIDE_GPU] < verdict.ms[SYI_SIDE_CPU] ? SYI_SIDE_GPU : SYI_SIDE_CPU;
    }
    *out = (syi_choice){.made = verdict.probe ? try_both && !context->frozen : true,
                        .probe = verdict.probe,
                        .side = verdict.side,
                        .ms = {verdict.ms[0], verdict.ms[1]}};
    return SY_OK;
}

sy_status syi_side_choose(sy_context *context, const syi_job *job, const sy_options *options,
                          const syi_known *known, syi_choice *out)
{
    syi_force force;
    bool gpu;
    *out = (syi_choice){.made = false};
    SYI_TRY(syi_force_parse(options->device, &force));
    if (force != SYI_FORCE_AUTO)
        return choose_forced(context, job, force, out);
    /* Costs rule where they are stored, and so do ratios of this call or by hand. */
    if (options->n_ratios || (known->ratios && !known->borrowed) || size_of(job) == 0 ||
        syi_job_tiles(job) > SYI_SMALL_TILES || !has_both(context, job, &gpu))
        return SY_OK;
    if (syi_job_addressable(job))
        return choose_by_times(context, job, gpu, out);
    /* The times are those of arrays in the host's memory, and say nothing of one on a GPU. */
    *out = (syi_choice){.made = true, .resident = true, .side = SYI_SIDE_GPU, .ms = {NAN, NAN}};
    return SY_OK;
}

sy_status syi_side_recall(sy_context *context, const syi_job *job, double ms[2])
{
    syi_signature *s;
    syi_verdict verdict;
    SYI_TRY(lock_signature(context, job, &s));
    verdict = syi_decide(s->known, s->count, size_of(job), SYI_SIDE_NONE);
    pthread_mutex_unlock(&context->sides.lock);
    memcpy(ms, verdict.ms, sizeof verdict.ms);
    return SY_OK;
}

/* ---- learning ----------------------------------------------------------------------------- */

/* Both sides are known by now: so that the next process knows as well. While somebody else has the
 * file, the next call tries again; where it cannot be written it is left at that. */
static void store(sy_context *context, const syi_job *job, int64_t size, const double ms[2])
{
    const syi_workload *workload = job->workload;
    const char *names[SYI_MAX_PARAMS];
    char *key = NULL;
    bool done = true;
    sy_status status;
    syi_signature *s;
    int at;
    if (!context->thresholds.path)
        return;
    for (int i = 0; i < workload->n_params; i++)
        names[i] = workload->params[i].name;
    status = syi_threshold_key(syi_workload_tag(workload), names, job->params, workload->n_params,
                               size, &key);
    if (status == SY_OK)
        status = syi_threshold_try_add(&context->thresholds, key, ms[SYI_SIDE_CPU],
                                       ms[SYI_SIDE_GPU], &done);
    syi_free(key);
    if (status != SY_OK)
        syi_log_line(&context->log, SY_LOG_WARNING, "the times of CPU and GPU are not stored: %s",
                     sy_last_error()->text);
    pthread_mutex_lock(&context->sides.lock);
    s = done || status != SY_OK ? NULL : find(&context->sides, job);
    at = s ? place_of(s, size) : 0;
    if (s && at < s->count && s->known[at].size == size)
        s->stored[at] = false;
    if (done)
        syi_store_changed(&context->thresholds, &context->sides.look); /* by ourselves */
    pthread_mutex_unlock(&context->sides.lock);
}

void syi_side_learn(sy_context *context, const syi_job *job, const syi_choice *choice, double ms)
{
    int64_t size = size_of(job);
    bool worth = false;
    double both[2];
    syi_signature *s;
    int at;
    if (!choice->made || choice->forced || choice->resident || context->frozen ||
        lock_signature(context, job, &s) != SY_OK)
        return; /* a correction is a help, not a condition */
    at = syi_timing_alike(s->known, s->count, size);
    if (at < 0 && choice->probe)
        at = insert(s, size);
    if (at >= 0) { /* else it is between sizes that are known */
        syi_timing *timing = &s->known[at];
        syi_timing_add(timing, choice->side, ms * (double)timing->size / (double)size);
        size = timing->size;
        worth = s->dtype == SY_F64 && !s->stored[at] && timing->ms[SYI_SIDE_CPU].samples &&
                timing->ms[SYI_SIDE_GPU].samples &&
                !syi_decide(timing, 1, size, SYI_SIDE_NONE).probe;
        s->stored[at] = s->stored[at] || worth;
        for (int side = 0; side < 2; side++)
            both[side] = timing->ms[side].value;
    }
    pthread_mutex_unlock(&context->sides.lock);
    if (worth)
        store(context, job, size, both);
}
