/* sy_profile_auto_balance(): every device alone on the same sample, in several sizes; speeds to
 * ratios, times to costs. */
#include "api/context.h"
#include "api/keep.h"
#include "api/known_file.h"
#include "api/sample.h"

#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "costs.h"
#include "model/fit.h"
#include "model/measure.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_RUNS = 5, DEFAULT_WARMUP = 1, MAX_RUNS = 1000 };

/* The measuring of one device after the other. */
typedef struct course {
    sy_context *context;
    const sy_profile_options *options;
    syi_sample_arrays *sample;
    int index;          /* of the present device */
    uint64_t done, all; /* runs of all devices, for the caller's progress */
} course;

/* One call on the present device alone. The phases are scaled so that they add up to the whole,
 * also where they overlap. SY_ERR_DEVICE: somebody else had to do it. */
static sy_status time_call(void *user, int64_t size, syi_times *out)
{
    const course *c = user;
    sy_work work = c->sample->work;
    sy_ratio alone = {c->context->devices.list[c->index]->info.name, 1};
    sy_options options = {.struct_size = sizeof options,
                          .accuracy = c->options->accuracy,
                          .ratios = &alone,
                          .n_ratios = 1};
    sy_report report = {.struct_size = sizeof report};
    const sy_device_report *own;
    sy_status status = SY_OK;
    double sum, scale;
    work.columns = size;
    SYI_TRY(distribute_workload(c->context, &work, &options, &report));
    own = &report.devices[c->index];
    sum = own->copy_in_ms + own->compute_ms + own->copy_out_ms;
    scale = sum > 0 ? 1e6 * own->busy_ms / sum : 0;
    if (own->tiles != report.tiles)
        status = syi_fail(SY_ERR_DEVICE, "another device had to take its part over");
    *out = (syi_times){
        .whole_ns = 1e6 * report.wall_ms,
        .phase_ns = {[SYI_COPY_IN] = own->copy_in_ms * scale,
                     [SYI_COMPUTE] = sum > 0 ? own->compute_ms * scale : 1e6 * own->busy_ms,
                     [SYI_COPY_OUT] = own->copy_out_ms * scale}};
    sy_report_clear(&report);
    return status;
}

/* A caller who cancels is heard meanwhile. */
static sy_status ask_progress(void *user)
{
    const course *c = user;
    const sy_profile_options *options = c->options;
    if (options->progress && options->progress(options->progress_user, c->done, c->all))
        return syi_fail(SY_ERR_CANCELLED, "cancelled by the caller");
    return SY_OK;
}

static sy_status tell_progress(void *user)
{
    ((course *)user)->done++;
    return ask_progress(user);
}

static sy_status fill_sample(void *user, int64_t size)
{
    const course *c = user;
    return syi_sample_fill(c->sample, size, ask_progress, user);
}

static double now_ns(void *user)
{
    (void)user;
    return (double)syi_now_ns();
}

/* `size` 0: the device could not do it. */
static sy_status time_device(course *c, const int64_t *sizes, int n_sizes, syi_measured *out)
{
    const sy_profile_options *options = c->options;
    const double budget_ns = 1e6 * options->budget_ms / c->context->devices.count;
    const syi_meter meter = {.user = c,
                             .ready = fill_sample,
                             .call = time_call,
                             .now_ns = now_ns,
                             .ran = tell_progress,
                             .warmup = options->warmup,
                             .runs = options->runs,
                             .floor_ns = syi_measure_floor((double)syi_clock_step_ns()),
                             .until_ns = budget_ns > 0 ? now_ns(c) + budget_ns : INFINITY};
    sy_status status = syi_measure_sizes(&meter, sizes, n_sizes, out);
    if (status != SY_ERR_NO_DEVICE && status != SY_ERR_DEVICE && status != SY_ERR_MEMORY)
        return status;
    out->size = 0;
    syi_log_line(&c->context->log, SY_LOG_WARNING, "device %s is left out of the profile: %s",
                 c->context->devices.list[c->index]->info.name, sy_last_error()->text);
    return SY_OK;
}

/* ---- storing ------------------------------------------------------------------------------ */

static sy_status describe_device(const syi_device *device, const syi_workload *workload,
                                 sy_dtype dtype, const syi_measured *m, json_t *costs,
                                 json_t *prints)
{
    syi_fingerprint print = syi_fingerprint_of(device, workload, dtype);
    json_t *entry;
    SYI_TRY(syi_json_child(costs, device->info.name, &entry));
    SYI_TRY(syi_json_put(entry, "sample_size", json_integer((json_int_t)m->size)));
    SYI_TRY(syi_json_put(entry, "median_ms", json_real(m->median_ns / 1e6)));
    SYI_TRY(syi_json_put(entry, "ns_per_element", json_real(m->median_ns / (double)m->size)));
    SYI_TRY(syi_cost_store(entry, &m->cost));
    SYI_TRY(syi_json_child(prints, device->info.name, &entry));
    return syi_fingerprint_store(entry, &print);
}

static sy_status describe(const syi_devices *devices, const syi_workload *workload,
                          const sy_profile_options *options, const syi_measured *all, json_t *costs,
                          json_t *fingerprint)
{
    json_t *prints;
    /* Absent: exact, and f64, as in files of older writers. */
    if (options->accuracy == SY_ACCURACY_FAST)
        SYI_TRY(syi_json_put(fingerprint, "accuracy", json_string("fast")));
    if (options->dtype == SY_F32)
        SYI_TRY(syi_json_put(fingerprint, "dtype", json_string("f32")));
    SYI_TRY(syi_json_put(fingerprint, "library", json_string(sy_version())));
    SYI_TRY(syi_json_put(fingerprint, "workload", json_string(workload->name)));
    SYI_TRY(syi_json_put(fingerprint, "workload_version", json_integer(workload->version)));
    SYI_TRY(syi_json_child(fingerprint, "devices", &prints));
    for (int i = 0; i < devices->count; i++)
        if (all[i].size)
            SYI_TRY(describe_device(devices->list[i], workload, options->dtype, &all[i], costs,
                                    prints));
    return SY_OK;
}

/* Stores the new profile, unless the stored one is to stay: then `kept` says why. */
static sy_status replace(sy_context *context, const sy_profile_options *options,
                         const sy_ratio *ratios, int n, json_t *fingerprint, json_t *costs,
                         char kept[SYI_KEEP_TEXT])
{
    syi_stored_balance stored;
    bool keep = false;
    if (options->keep_better) {
        sy_status status = syi_multigpu_get(&context->multigpu, options->tag, &stored);
        if (status != SY_OK && status != SY_ERR_NOT_FOUND)
            return status;
        if (status == SY_OK) {
            keep =
                syi_keep_stored(&stored, ratios, n, costs, fingerprint, options->keep_within, kept);
            syi_stored_balance_clear(&stored);
        }
    }
    if (keep)
        return SY_OK;
    *kept = '\0';
    return syi_multigpu_set(&context->multigpu, options->tag, ratios, n, fingerprint, costs);
}

/* With the whole sample, by the costs: a disturbed median, or a budget that ended with a smaller
 * one, does not spoil it. */
static double speed(const syi_measured *measured, const sy_profile_options *options)
{
    return 1 / syi_cost_ns(&measured->cost, 0, (double)options->sample_size);
}

static sy_status store(sy_context *context, const syi_workload *workload,
                       const sy_profile_options *options, const syi_measured *all,
                       char kept[SYI_KEEP_TEXT])
{
    const syi_devices *devices = &context->devices;
    sy_ratio *ratios = syi_alloc((size_t)devices->count, sizeof *ratios);
    json_t *costs = json_object(), *fingerprint = json_object();
    sy_status status = SY_OK;
    int n = 0;
    for (int i = 0; ratios && i < devices->count; i++)
        if (all[i].size)
            ratios[n++] = (sy_ratio){devices->list[i]->info.name, speed(&all[i], options)};
    if (!ratios || !costs || !fingerprint)
        status = syi_no_memory((uint64_t)devices->count * sizeof *ratios);
    else if (n == 0)
        status = syi_fail(SY_ERR_NO_DEVICE, "no device could run the sample; nothing was stored");
    if (status == SY_OK)
        status = describe(devices, workload, options, all, costs, fingerprint);
    if (status == SY_OK)
        status = replace(context, options, ratios, n, fingerprint, costs, kept);
    json_decref(costs);
    json_decref(fingerprint);
    syi_free(ratios);
    return status;
}

static sy_status profile_devices(sy_context *context, const syi_workload *workload,
                                 const sy_profile_options *options, syi_sample_arrays *s,
                                 char kept[SYI_KEEP_TEXT])
{
    const double ladder_factor = 4;
    const int count = context->devices.count;
    int64_t least = options->sample_size < SYI_TILE ? options->sample_size : SYI_TILE;
    int64_t sizes[SYI_FIT_SIZES];
    int n_sizes = syi_ladder(least, options->sample_size, ladder_factor, sizes, SYI_FIT_SIZES);
    syi_measured *all = syi_alloc((size_t)count, sizeof *all);
    course c = {.context = context, .options = options, .sample = s};
    sy_status status = all ? SY_OK : syi_no_memory((uint64_t)count * sizeof *all);
    c.all = (uint64_t)count * (uint64_t)n_sizes * (uint64_t)(options->runs + options->warmup);
    for (c.index = 0; status == SY_OK && c.index < count; c.index++)
        status = time_device(&c, sizes, n_sizes, &all[c.index]);
    if (status == SY_OK)
        status = store(context, workload, options, all, kept);
    syi_free(all);
    return status;
}

static sy_status fill_defaults(sy_profile_options *options)
{
    if (!options->workload)
        options->workload = "bollinger";
    if (options->runs == 0)
        options->runs = DEFAULT_RUNS;
    if (options->warmup == 0)
        options->warmup = DEFAULT_WARMUP;
    else if (options->warmup == -1)
        options->warmup = 0;
    if (options->sample_size < 0 || options->sample_size > INT64_C(1) << 40)
        return syi_fail(SY_ERR_ARGUMENT, "sample size %lld: must be from 1 to 2^40",
                        (long long)options->sample_size);
    if (!(options->keep_within >= 0))
        return syi_fail(SY_ERR_ARGUMENT, "a difference of %g to keep: must not be negative",
                        options->keep_within);
    if (!(options->budget_ms >= 0))
        return syi_fail(SY_ERR_ARGUMENT, "a budget of %g ms: must not be negative",
                        options->budget_ms);
    SYI_TRY(syi_accuracy_check(options->accuracy));
    SYI_TRY(syi_dtype_check(options->dtype));
    if (options->runs < 1 || options->runs > MAX_RUNS)
        return syi_fail(SY_ERR_ARGUMENT, "%d runs: must be from 1 to %d, or 0 for %d",
                        options->runs, MAX_RUNS, DEFAULT_RUNS);
    if (options->warmup < 0 || options->warmup > MAX_RUNS)
        return syi_fail(SY_ERR_ARGUMENT,
                        "%d runs for warm-up: must be from 1 to %d, 0 for %d, or -1 for none",
                        options->warmup, MAX_RUNS, DEFAULT_WARMUP);
    return SY_OK;
}

/* The sample where none was asked for; what is to stay if it is better is met by its like. */
static int64_t default_sample(sy_context *context, const sy_profile_options *options)
{
    const int64_t usual = INT64_C(1) << 20, most = INT64_C(1) << 28;
    syi_stored_balance stored;
    int64_t sample;
    if (!options->keep_better ||
        syi_multigpu_get(&context->multigpu, options->tag, &stored) != SY_OK)
        return usual;
    sample = syi_stored_sample(&stored);
    syi_stored_balance_clear(&stored);
    return sample < usual ? usual : sample < most ? sample : most;
}

sy_status sy_profile_auto_balance(sy_context *context, const sy_profile_options *options,
                                  sy_balance *out)
{
    sy_profile_options copy;
    char kept[SYI_KEEP_TEXT] = "", tag[SYI_TAG];
    const syi_workload *workload;
    syi_arithmetic saved;
    syi_sample_arrays s;
    sy_status status;
    if (!context)
        return syi_fail(SY_ERR_ARGUMENT, "sy_profile_auto_balance: context is NULL");
    if (options)
        SYI_TRY(syi_struct_check(options->struct_size, SYI_ANY_STRUCT, "sy_profile_options"));
    if (out)
        SYI_TRY(syi_struct_check(out->struct_size, SYI_UP_TO(sy_balance, ratios), "sy_balance"));
    SYI_ADOPT(copy, options);
    SYI_TRY(fill_defaults(&copy));
    workload = syi_workload_find(context, copy.workload);
    if (!workload)
        return SY_ERR_NOT_FOUND;
    workload = syi_workload_for(workload, copy.accuracy);
    if (!copy.tag) {
        syi_default_tag(workload, copy.dtype, tag);
        copy.tag = tag;
    }
    SYI_TRY(syi_multigpu_check_tag(copy.tag)); /* before minutes are spent */
    SYI_TRY(syi_store_prepare(&context->multigpu));
    if (copy.sample_size == 0)
        copy.sample_size = default_sample(context, &copy);
    saved = syi_arithmetic_enter();
    status = syi_sample_make(workload, &copy, &s);
    if (status == SY_OK)
        status = profile_devices(context, workload, &copy, &s, kept);
    syi_arithmetic_leave(saved);
    syi_sample_clear(&s);
    if (status == SY_OK && out)
        status = sy_balance_get(context, copy.tag, out);
    if (status == SY_OK && out && out->struct_size >= SYI_UP_TO(sy_balance, kept))
        syi_copy_text(out->kept, sizeof out->kept, kept);
    return status;
}
