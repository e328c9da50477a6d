/* sy_profile_auto_balance(): every device alone on the same sample, speeds to ratios. */
#include "api/context.h"

#include "base/mem.h"
#include "base/philox.h"
#include "base/text.h"
#include "model/stats.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_RUNS = 5, DEFAULT_WARMUP = 1, MAX_RUNS = 1000 };

/* The sample: a walk of prices around 100 on a tick of 1/100, as a function of the seed. */
static void fill_sample(uint64_t seed, int input, int64_t count, double *values)
{
    int64_t ticks = 10000;
    for (int64_t i = 0; i < count; i++) {
        int64_t step = (int64_t)(syi_random(seed, (uint32_t)input, (uint64_t)i) % 21) - 10;
        /* Bounded: a walk of any length stays a price. */
        ticks += ticks + step < 1000 || ticks + step > 100000 ? -step : step;
        values[i] = (double)ticks / 100;
    }
}

/* The sample's arrays, and the work that uses them. */
typedef struct sample {
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
    sy_work work;
} sample;

static void sample_clear(sample *s)
{
    for (int k = 0; k < SYI_MAX_ARRAYS; k++) {
        syi_free((void *)s->in[k]);
        syi_free(s->out[k]);
    }
}

static sy_status sample_make(const syi_workload *workload, const sy_profile_options *options,
                             sample *s)
{
    size_t count = (size_t)options->sample_size;
    *s = (sample){.work = {.struct_size = sizeof(sy_work),
                           .workload = workload->name,
                           .rows = 1,
                           .columns = options->sample_size}};
    for (int k = 0; k < workload->n_inputs; k++) {
        double *values = syi_alloc(count, sizeof *values);
        s->in[k] = values;
        if (!values)
            return syi_no_memory(count * sizeof *values);
        fill_sample(options->seed, k, options->sample_size, values);
    }
    for (int k = 0; k < workload->n_outputs; k++)
        if (!(s->out[k] = syi_alloc(count, sizeof *s->out[k])))
            return syi_no_memory(count * sizeof *s->out[k]);
    return SY_OK;
}

/* One timed run on device `index` alone; *ms < 0: the device could not do it. */
static sy_status time_run(sy_context *context, const sample *s, int index, double *ms)
{
    sy_work work = s->work;
    sy_ratio alone = {context->devices.list[index]->info.name, 1};
    sy_options options = {.struct_size = sizeof options, .ratios = &alone, .n_ratios = 1};
    sy_report report = {.struct_size = sizeof report};
    work.inputs = s->in;
    work.outputs = s->out;
    SYI_TRY(distribute_workload(context, &work, &options, &report));
    *ms = report.devices[index].tiles == report.tiles ? report.wall_ms : -1;
    sy_report_clear(&report);
    return SY_OK;
}

/* Counts the runs of all devices, for the caller's progress. */
typedef struct course {
    const sy_profile_options *options;
    uint64_t done, all;
} course;

static sy_status step(course *c)
{
    const sy_profile_options *options = c->options;
    c->done++;
    if (options->progress && options->progress(options->progress_user, c->done, c->all))
        return syi_fail(SY_ERR_CANCELLED, "cancelled by the caller");
    return SY_OK;
}

/* The median time of a device; < 0: it could not do it. */
static sy_status time_device(sy_context *context, const sample *s, int index, double *times,
                             course *c, double *median)
{
    const sy_profile_options *options = c->options;
    for (int run = -options->warmup; run < options->runs; run++) {
        sy_status status = time_run(context, s, index, median);
        if (status == SY_ERR_NO_DEVICE || status == SY_ERR_DEVICE || status == SY_ERR_MEMORY)
            *median = -1;
        else if (status != SY_OK)
            return status;
        if (*median < 0) {
            syi_log_line(&context->log, SY_LOG_WARNING, "device %s is left out of the profile: %s",
                         context->devices.list[index]->info.name, sy_last_error()->text);
            return SY_OK;
        }
        if (run >= 0)
            times[run] = *median;
        SYI_TRY(step(c));
    }
    *median = syi_median(times, options->runs);
    return SY_OK;
}

static json_t *describe_costs(const syi_devices *devices, const double *medians,
                              int64_t sample_size)
{
    json_t *costs = json_object();
    for (int i = 0; costs && i < devices->count; i++)
        if (medians[i] > 0)
            json_object_set_new(costs, devices->list[i]->info.name,
                                json_pack("{s:I,s:f,s:f}", "sample_size", (json_int_t)sample_size,
                                          "median_ms", medians[i], "ns_per_element",
                                          medians[i] * 1e6 / (double)sample_size));
    return costs;
}

static json_t *describe_fingerprint(const syi_devices *devices, const syi_workload *workload)
{
    json_t *kinds = json_object();
    for (int i = 0; kinds && i < devices->count; i++)
        json_object_set_new(kinds, devices->list[i]->info.name,
                            json_string(devices->list[i]->info.description));
    return json_pack("{s:s,s:s,s:i,s:o*}", "library", sy_version(), "workload", workload->name,
                     "workload_version", workload->version, "devices", kinds);
}

static sy_status store(sy_context *context, const syi_workload *workload,
                       const sy_profile_options *options, const double *medians)
{
    const syi_devices *devices = &context->devices;
    sy_ratio *ratios = syi_alloc((size_t)devices->count, sizeof *ratios);
    json_t *costs = describe_costs(devices, medians, options->sample_size);
    json_t *fingerprint = describe_fingerprint(devices, workload);
    sy_status status;
    int n = 0;
    for (int i = 0; ratios && i < devices->count; i++)
        if (medians[i] > 0)
            ratios[n++] = (sy_ratio){devices->list[i]->info.name, 1 / medians[i]};
    if (!ratios || !costs || !fingerprint)
        status = syi_no_memory((uint64_t)devices->count * sizeof *ratios);
    else if (n == 0)
        status = syi_fail(SY_ERR_NO_DEVICE, "no device could run the sample; nothing was stored");
    else
        status = syi_multigpu_set(&context->multigpu, options->tag, ratios, n, fingerprint, costs);
    json_decref(costs);
    json_decref(fingerprint);
    syi_free(ratios);
    return status;
}

static sy_status profile_devices(sy_context *context, const syi_workload *workload,
                                 const sy_profile_options *options, const sample *s)
{
    int count = context->devices.count;
    double *medians = syi_alloc((size_t)count, sizeof *medians);
    double *times = syi_alloc((size_t)options->runs, sizeof *times);
    course c = {options, 0, (uint64_t)count * (uint64_t)(options->runs + options->warmup)};
    sy_status status = SY_OK;
    if (!medians || !times)
        status = syi_no_memory((uint64_t)(count + options->runs) * sizeof *times);
    for (int i = 0; status == SY_OK && i < count; i++)
        status = time_device(context, s, i, times, &c, &medians[i]);
    if (status == SY_OK)
        status = store(context, workload, options, medians);
    syi_free(medians);
    syi_free(times);
    return status;
}

static sy_status fill_defaults(sy_profile_options *options)
{
    if (options->sample_size == 0)
        options->sample_size = INT64_C(1) << 20;
    if (options->runs == 0)
        options->runs = DEFAULT_RUNS;
    if (options->warmup == 0)
        options->warmup = DEFAULT_WARMUP;
    else if (options->warmup == -1)
        options->warmup = 0;
    if (!options->workload)
        options->workload = "bollinger";
    if (!options->tag)
        options->tag = options->workload;
    if (options->sample_size < 1 || options->sample_size > INT64_C(1) << 40)
        return syi_fail(SY_ERR_ARGUMENT, "sample size %lld: must be from 1 to 2^40",
                        (long long)options->sample_size);
    if (options->runs < 1 || options->runs > MAX_RUNS || options->warmup < 0 ||
        options->warmup > MAX_RUNS)
        return syi_fail(SY_ERR_ARGUMENT, "%d runs after %d for warm-up: must be from 1 to %d",
                        options->runs, options->warmup, MAX_RUNS);
    return SY_OK;
}

sy_status sy_profile_auto_balance(sy_context *context, const sy_profile_options *options,
                                  sy_balance *out)
{
    sy_profile_options copy;
    const syi_workload *workload;
    sample s;
    sy_status status;
    if (!context)
        return syi_fail(SY_ERR_ARGUMENT, "sy_profile_auto_balance: context is NULL");
    if (options)
        SYI_TRY(syi_struct_check(options->struct_size, "sy_profile_options"));
    if (out)
        SYI_TRY(syi_struct_check(out->struct_size, "sy_balance"));
    SYI_ADOPT(copy, options);
    SYI_TRY(fill_defaults(&copy));
    workload = syi_workload_find(context, copy.workload);
    if (!workload)
        return SY_ERR_NOT_FOUND;
    status = sample_make(workload, &copy, &s);
    if (status == SY_OK)
        status = profile_devices(context, workload, &copy, &s);
    sample_clear(&s);
    if (status == SY_OK && out)
        status = sy_balance_get(context, copy.tag, out);
    return status;
}
