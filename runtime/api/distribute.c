/* distribute_workload(): check, plan, run, merge, report. */
#include "api/context.h"

#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/pages.h"
#include "base/text.h"
#include "device/partials.h"
#include "exec/run.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* One of a work's arrays. */
typedef struct array {
    const char *kind, *name;
    uintptr_t at;
    uint64_t bytes;
    size_t size; /* of an element */
} array;

static array array_of(const char *kind, const char *name, const void *at, int64_t elements,
                      size_t size)
{
    return (array){kind, name, (uintptr_t)at, (uint64_t)elements * size, size};
}

/* The inputs, then the outputs, then those of the seeds; gives their number. */
static int list_arrays(const syi_job *job, array *arrays)
{
    const syi_workload *workload = job->workload;
    const size_t size = syi_element_size(job->dtype);
    const int64_t in = job->rows * job->columns;
    const int64_t out = workload->pattern == SY_PATTERN_REDUCE ? job->rows : in;
    int n = 0;
    for (int k = 0; k < workload->n_inputs; k++)
        arrays[n++] = array_of("input", workload->input_names[k], job->in[k], in, size);
    for (int k = 0; k < workload->n_outputs; k++)
        arrays[n++] = array_of("output", workload->output_names[k], job->out[k], out, size);
    for (int k = 0; job->n_seeds && k < workload->n_outputs; k++)
        arrays[n++] =
            array_of("seeded output", workload->output_names[k],
                     job->seeded ? job->seeded[k] : NULL, job->n_seeds * job->rows, sizeof(double));
    return n;
}

static sy_status check_array(const syi_job *job, const array *a)
{
    if (a->bytes && !a->at)
        return syi_fail(SY_ERR_ARGUMENT, "%s: the array of %s '%s' is NULL", job->workload->name,
                        a->kind, a->name);
    if (a->bytes && a->at % a->size != 0)
        return syi_fail(SY_ERR_ARGUMENT,
                        "%s: the array of %s '%s' begins at %#llx, inside an element; its address "
                        "must be a multiple of %zu",
                        job->workload->name, a->kind, a->name, (unsigned long long)a->at, a->size);
    return SY_OK;
}

static sy_status check_apart(const syi_job *job, const array *output, const array *other)
{
    if (!output->bytes || !other->bytes || output->at >= other->at + other->bytes ||
        other->at >= output->at + output->bytes)
        return SY_OK;
    return syi_fail(SY_ERR_ARGUMENT, "%s: %s '%s' overlaps %s '%s'; give it memory of its own",
                    job->workload->name, output->kind, output->name, other->kind, other->name);
}

static sy_status check_arrays(const syi_job *job)
{
    array arrays[3 * SYI_MAX_ARRAYS];
    const int n = list_arrays(job, arrays);
    for (int k = 0; k < n; k++)
        SYI_TRY(check_array(job, &arrays[k]));
    for (int k = job->workload->n_inputs; k < n; k++)
        for (int other = 0; other < k; other++)
            SYI_TRY(check_apart(job, &arrays[k], &arrays[other]));
    return SY_OK;
}

static sy_status hash_addressed(const syi_job *job, int k, int64_t count, uint64_t *hash)
{
    *hash = XXH3_64bits_withSeed(job->out[k], (size_t)count * syi_element_size(job->dtype), *hash);
    return SY_OK;
}

/* The same of an output on a device, piece by piece. */
static sy_status hash_fetched(const syi_job *job, int k, int64_t count, uint64_t *hash)
{
    const int64_t piece = 1 << 17;
    const size_t size = syi_element_size(job->dtype);
    void *buffer = syi_alloc((size_t)piece, size);
    XXH3_state_t *state = XXH3_createState();
    sy_status status = buffer && state ? SY_OK : syi_no_memory((uint64_t)piece * size);
    if (status == SY_OK)
        XXH3_64bits_reset_withSeed(state, *hash);
    for (int64_t at = 0; at < count && status == SY_OK; at += piece) {
        int64_t part = count - at < piece ? count - at : piece;
        status = syi_output_read(job, k, at, part, buffer);
        XXH3_64bits_update(state, buffer, (size_t)part * size);
    }
    if (status == SY_OK)
        *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    syi_free(buffer);
    return status;
}

/* Chained: the value of each array is the seed for the next one. */
static sy_status checksum(const syi_job *job, char text[17])
{
    int64_t per_row = job->workload->pattern == SY_PATTERN_REDUCE ? 1 : job->columns;
    uint64_t hash = 0;
    for (int k = 0; k < job->workload->n_outputs; k++) {
        int on_device = syi_place_out(job, k).kind == SYI_ON_DEVICE;
        SYI_TRY((on_device ? hash_fetched : hash_addressed)(job, k, job->rows * per_row, &hash));
    }
    for (int k = 0; job->n_seeds && k < job->workload->n_outputs; k++)
        hash = XXH3_64bits_withSeed(job->seeded[k],
                                    (size_t)(job->n_seeds * job->rows) * sizeof(double), hash);
    snprintf(text, 17, "%016llx", (unsigned long long)hash);
    return SY_OK;
}

/* A device that failed at the end may have handed out garbage before anybody noticed. */
static sy_status check_places(const syi_job *job)
{
    const syi_device *lost = syi_job_lost(job, 1);
    if (lost)
        return syi_fail(SY_ERR_DEVICE, "an array lives on %s, which failed during the run",
                        lost->info.name);
    return SY_OK;
}

static const char *state_of(const syi_tally *tally, const syi_device *device, double ratio)
{
    if (tally->status == SY_ERR_MEMORY)
        return "out of memory";
    if (device->failed)
        return "failed";
    return ratio > 0 || tally->total.tiles_done ? "ok" : "left out";
}

static void fill_device(const syi_plan *plan, const syi_device *device, int i,
                        const syi_tally *tally, sy_device_report *out)
{
    syi_copy_text(out->name, sizeof out->name, device->info.name);
    syi_copy_text(out->id, sizeof out->id, device->info.id);
    out->ratio = plan->ratios[i];
    out->tiles = tally->total.tiles_done;
    out->tail_tiles = tally->tail_tiles;
    out->elements = tally->total.elements_done;
    out->copy_in_ms = tally->total.copy_in_ms;
    out->compute_ms = tally->total.compute_ms;
    out->copy_out_ms = tally->total.copy_out_ms;
    out->busy_ms = tally->total.busy_ms;
    out->retries = tally->total.retries;
    syi_copy_text(out->state, sizeof out->state, state_of(tally, device, plan->ratios[i]));
}

/* The devices' measured speeds together, had every one been busy to the end. */
static void fill_times(double wall_ms, sy_report *out)
{
    double speed = 0, longest = 0;
    for (int i = 0; i < out->n_devices; i++) {
        const sy_device_report *device = &out->devices[i];
        if (device->tiles && device->busy_ms > 0)
            speed += (double)device->tiles / device->busy_ms;
        if (device->busy_ms > longest)
            longest = device->busy_ms;
    }
    out->wall_ms = wall_ms;
    out->ideal_ms = speed > 0 ? (double)out->tiles / speed : wall_ms;
    out->efficiency = wall_ms > 0 ? out->ideal_ms / wall_ms : 1;
    out->unaccounted_ms = wall_ms - longest;
}

static sy_status fill_report(sy_context *context, const syi_job *job, const syi_plan *plan,
                             const syi_tally *tallies, double wall_ms, sy_report *out)
{
    sy_device_report *devices = syi_alloc((size_t)plan->count, sizeof *devices);
    if (!devices)
        return syi_no_memory((uint64_t)plan->count * sizeof *devices);
    out->rows = job->rows;
    out->columns = job->columns;
    out->tiles = plan->tiles;
    out->used_profile = plan->source == SYI_SOURCE_PROFILE || plan->source == SYI_SOURCE_OTHER;
    out->n_devices = plan->count;
    out->predicted_ms = syi_plan_ms(plan);
    out->devices = devices;
    for (int i = 0; i < plan->count; i++)
        fill_device(plan, context->devices.list[i], i, &tallies[i], &devices[i]);
    fill_times(wall_ms, out);
    return SY_OK;
}

/* Whether the time of the call is that of the plan's devices. */
static bool took_part_as_planned(const syi_plan *plan, const syi_tally *tallies)
{
    for (int i = 0; i < plan->count; i++)
        if (tallies[i].status != SY_OK)
            return false;
    return true;
}

/* Whether some array has memory that nobody has used. */
static bool has_untouched(const syi_job *job)
{
    const syi_workload *workload = job->workload;
    const size_t row = (size_t)job->rows * syi_element_size(job->dtype);
    const size_t in = row * (size_t)job->columns;
    const size_t out = workload->pattern == SY_PATTERN_REDUCE ? row : in;
    for (int k = 0; k < workload->n_inputs && job->columns; k++)
        if (!syi_pages_present(job->in[k], in))
            return true;
    for (int k = 0; k < workload->n_outputs; k++)
        if (!syi_pages_present(job->out[k], out))
            return true;
    return false;
}

/* Runs the checked job and fills the report, if one is wanted. */
static sy_status run_job(sy_context *context, syi_job *job, const syi_plan *plan,
                         const sy_options *options, syi_tally *tallies, sy_report *report)
{
    const bool untouched = plan->cold && has_untouched(job);
    const int64_t began = syi_now_ns();
    int64_t repaired;
    double wall_ms, merging;
    SYI_TRY(syi_run_plan(&context->devices, job, plan, began, &context->log, tallies));
    merging = syi_trace_now(job->trace);
    SYI_TRY(syi_merge(job, tallies, plan->count, &repaired));
    wall_ms = (double)(syi_now_ns() - began) / 1e6;
    syi_trace_tell(job->trace, SYI_TRACE_HOST, 0, "merge", merging, syi_trace_now(job->trace),
                   (syi_tiles){0, plan->tiles});
    syi_context_learn(context, job, options, plan, tallies, untouched);
    if (took_part_as_planned(plan, tallies))
        syi_side_learn(context, job, &plan->choice, wall_ms);
    if (report && options->checksum)
        SYI_TRY(checksum(job, report->checksum));
    SYI_TRY(check_places(job));
    if (!report)
        return SY_OK;
    report->repaired = repaired;
    return fill_report(context, job, plan, tallies, wall_ms, report);
}

static sy_status run_with_memory(sy_context *context, syi_job *job, const syi_plan *plan,
                                 const sy_options *options, sy_report *report)
{
    syi_tally *tallies = syi_arena_alloc(job->memory, (size_t)plan->count, sizeof *tallies);
    sy_status status = SY_OK;
    syi_gate gate;
    if (!tallies)
        return syi_no_memory((uint64_t)plan->count * sizeof *tallies);
    if (job->workload->pattern == SY_PATTERN_REDUCE)
        status = syi_partials_create(job, &job->partials);
    syi_gate_init(&gate, options->progress, options->progress_user, plan->tiles);
    job->gate = &gate;
    if (status == SY_OK)
        status = run_job(context, job, plan, options, tallies, report);
    for (int i = 0; i < plan->count; i++)
        syi_outcome_clear(&tallies[i].total);
    syi_gate_destroy(&gate);
    syi_partials_destroy(&job->partials);
    return status;
}

static sy_status plan_and_run(sy_context *context, syi_job *job, const sy_options *options,
                              sy_report *report)
{
    const double began = syi_trace_now(job->trace);
    syi_plan plan;
    SYI_TRY(syi_context_plan(context, job, options, report != NULL, &plan));
    syi_trace_tell(job->trace, SYI_TRACE_HOST, 0, "plan", began, syi_trace_now(job->trace),
                   (syi_tiles){0, plan.tiles});
    return run_with_memory(context, job, &plan, options, report);
}

/* `outside`: the arithmetic of the caller. */
static sy_status distribute(sy_context *context, const sy_work *work, const sy_options *options,
                            const syi_arithmetic *outside, sy_report *report)
{
    double params[SYI_MAX_PARAMS];
    syi_places places;
    syi_arena memory;
    syi_job job;
    sy_status status;
    SYI_TRY(syi_work_check(context, work, options, params, &job));
    SYI_TRY(check_arrays(&job));
    SYI_TRY(syi_places_find(&context->devices, &job, &places));
    SYI_TRY(syi_trace_create(options->trace, options->trace_user, &job.trace));
    syi_arena_open(&memory);
    job.memory = &memory;
    job.outside = outside;
    job.threads = syi_devices_threads(&context->devices);
    status = plan_and_run(context, &job, options, report);
    syi_arena_close(&memory);
    syi_trace_destroy(&job.trace);
    return status;
}

sy_status distribute_workload(sy_context *context, const sy_work *work, const sy_options *options,
                              sy_report *report)
{
    sy_options copy;
    sy_report result = {0};
    syi_arithmetic saved;
    sy_status status;
    if (!context || !work)
        return syi_fail(SY_ERR_ARGUMENT, "distribute_workload: context or work is NULL");
    if (options)
        SYI_TRY(syi_struct_check(options->struct_size, SYI_ANY_STRUCT, "sy_options"));
    if (report)
        SYI_TRY(syi_struct_check(report->struct_size, SYI_UP_TO(sy_report, devices), "sy_report"));
    SYI_ADOPT(copy, options);
    SYI_TRY(syi_options_check(&copy));
    saved = syi_arithmetic_enter();
    status = distribute(context, work, &copy, &saved, report ? &result : NULL);
    syi_arithmetic_leave(saved);
    if (status == SY_OK && report)
        SYI_GIVE(report, result);
    else
        sy_report_clear(&result);
    return status;
}

void sy_report_clear(sy_report *report)
{
    if (!report)
        return;
    syi_free(report->devices);
    report->devices = NULL;
    report->n_devices = 0;
}
