/* sy_profile_auto_balance(): every device alone on the same sample, in several sizes; speeds to
 * ratios, times to costs. */
#include "api/context.h"
#include "api/keep.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/philox.h"
#include "base/text.h"
#include "costs.h"
#include "model/fit.h"
#include "model/stats.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_RUNS = 5, DEFAULT_WARMUP = 1, MAX_RUNS = 1000 };

/* The sample: a walk of prices around 100 on a tick of 1/100, as a function of the seed. */
static void fill_sample(uint64_t seed, int input, int64_t count, sy_dtype dtype, void *values)
{
    int64_t ticks = 10000;
    double price;
    for (int64_t i = 0; i < count; i++) {
        int64_t step = (int64_t)(syi_random(seed, (uint32_t)input, (uint64_t)i) % 21) - 10;
        /* Bounded: a walk of any length stays a price. */
        ticks += ticks + step < 1000 || ticks + step > 100000 ? -step : step;
        price = (double)ticks / 100;
        syi_elements_store(syi_element_out(values, dtype, i), &price, dtype, 1);
    }
}

/* The sample's arrays, and the work that uses them. */
typedef struct sample {
    const void *in[SYI_MAX_ARRAYS];
    void *out[SYI_MAX_ARRAYS];
    sy_work work;
    sy_accuracy accuracy;
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
    const size_t count = (size_t)options->sample_size, size = syi_element_size(options->dtype);
    *s = (sample){.work = {.struct_size = sizeof(sy_work),
                           .workload = workload->name,
                           .rows = 1,
                           .columns = options->sample_size,
                           .dtype = options->dtype},
                  .accuracy = options->accuracy};
    for (int k = 0; k < workload->n_inputs; k++) {
        void *values = syi_alloc(count, size);
        s->in[k] = values;
        if (!values)
            return syi_no_memory(count * size);
        fill_sample(options->seed, k, options->sample_size, options->dtype, values);
    }
    for (int k = 0; k < workload->n_outputs; k++)
        if (!(s->out[k] = syi_alloc(count, size)))
            return syi_no_memory(count * size);
    return SY_OK;
}

/* What one device took for the sizes so far. */
typedef struct measured {
    syi_cost cost;
    int64_t size; /* the largest; 0: the device could not do it */
    double median_ms;
} measured;

/* The timed runs of one device, phase by phase. */
typedef struct record {
    syi_sample *samples[SYI_PHASES]; /* `room` each */
    double *times;                   /* of the current size */
    int count;
} record;

/* Counts the runs of all devices, for the caller's progress, and watches the budget. */
typedef struct course {
    const sy_profile_options *options;
    int64_t sizes[SYI_FIT_SIZES];
    int n_sizes;
    uint64_t done, all;
    double until_ns; /* of the present device; infinite: no limit */
} course;

/* One timed run of `size` elements on device `index` alone. The phases are scaled so that they add
 * up to the whole, also where they overlap. SY_ERR_DEVICE: somebody else had to do it. */
static sy_status time_run(sy_context *context, const sample *s, int index, int64_t size,
                          double *whole_ms, double phases_ms[SYI_PHASES])
{
    sy_work work = s->work;
    sy_ratio alone = {context->devices.list[index]->info.name, 1};
    sy_options options = {
        .struct_size = sizeof options, .accuracy = s->accuracy, .ratios = &alone, .n_ratios = 1};
    sy_report report = {.struct_size = sizeof report};
    const sy_device_report *own;
    sy_status status = SY_OK;
    double sum;
    work.columns = size;
    work.inputs = s->in;
    work.outputs = s->out;
    SYI_TRY(distribute_workload(context, &work, &options, &report));
    own = &report.devices[index];
    sum = own->copy_in_ms + own->compute_ms + own->copy_out_ms;
    if (own->tiles != report.tiles)
        status = syi_fail(SY_ERR_DEVICE, "another device had to take its part over");
    *whole_ms = report.wall_ms;
    phases_ms[SYI_COPY_IN] = sum > 0 ? own->copy_in_ms * own->busy_ms / sum : 0;
    phases_ms[SYI_COMPUTE] = sum > 0 ? own->compute_ms * own->busy_ms / sum : own->busy_ms;
    phases_ms[SYI_COPY_OUT] = sum > 0 ? own->copy_out_ms * own->busy_ms / sum : 0;
    sy_report_clear(&report);
    return status;
}

static sy_status step(course *c)
{
    const sy_profile_options *options = c->options;
    c->done++;
    if (options->progress && options->progress(options->progress_user, c->done, c->all))
        return syi_fail(SY_ERR_CANCELLED, "cancelled by the caller");
    return SY_OK;
}

/* The runs of one size. */
static sy_status time_size(sy_context *context, const sample *s, int index, int64_t size, course *c,
                           record *r, double *median_ms)
{
    for (int run = -c->options->warmup; run < c->options->runs; run++) {
        double whole_ms, phases_ms[SYI_PHASES];
        SYI_TRY(time_run(context, s, index, size, &whole_ms, phases_ms));
        SYI_TRY(step(c));
        if (run < 0)
            continue;
        for (int p = 0; p < SYI_PHASES; p++)
            r->samples[p][r->count] = (syi_sample){(double)size, phases_ms[p] * 1e6};
        r->times[run] = whole_ms;
        r->count++;
    }
    *median_ms = syi_median(r->times, c->options->runs);
    return SY_OK;
}

/* A phase that took no time does not take place. */
static sy_status fit_phases(const record *r, syi_cost *out)
{
    *out = (syi_cost){0};
    for (int p = 0; p < SYI_PHASES; p++) {
        int timed = 0;
        for (int i = 0; i < r->count; i++)
            if (r->samples[p][i].ns > 0)
                r->samples[p][timed++] = r->samples[p][i];
        if (timed)
            SYI_TRY(syi_fit(r->samples[p], timed, &out->phase[p]));
    }
    return SY_OK;
}

/* From small sizes to large ones, as far as the budget goes; the first size in any case. */
static sy_status time_sizes(sy_context *context, const sample *s, int index, course *c, record *r,
                            measured *out)
{
    double rounds = c->options->runs + c->options->warmup;
    for (int k = 0; k < c->n_sizes; k++) {
        double next_ns =
            k ? out->median_ms * 1e6 * rounds * (double)c->sizes[k] / (double)c->sizes[k - 1] : 0;
        if (k && (double)syi_now_ns() + next_ns > c->until_ns)
            break;
        SYI_TRY(time_size(context, s, index, c->sizes[k], c, r, &out->median_ms));
        out->size = c->sizes[k];
    }
    return fit_phases(r, &out->cost);
}

static sy_status time_device(sy_context *context, const sample *s, int index, course *c, record *r,
                             measured *out)
{
    double budget_ms = c->options->budget_ms / context->devices.count;
    sy_status status;
    c->until_ns = budget_ms > 0 ? (double)syi_now_ns() + budget_ms * 1e6 : INFINITY;
    r->count = 0;
    status = time_sizes(context, s, index, c, r, out);
    if (status != SY_ERR_NO_DEVICE && status != SY_ERR_DEVICE && status != SY_ERR_MEMORY)
        return status;
    out->size = 0;
    syi_log_line(&context->log, SY_LOG_WARNING, "device %s is left out of the profile: %s",
                 context->devices.list[index]->info.name, sy_last_error()->text);
    return SY_OK;
}

/* ---- storing ------------------------------------------------------------------------------ */

static sy_status describe_device(const syi_device *device, const syi_workload *workload,
                                 sy_dtype dtype, const measured *m, json_t *costs, json_t *prints)
{
    syi_fingerprint print = syi_fingerprint_of(device, workload, dtype);
    json_t *entry;
    SYI_TRY(syi_json_child(costs, device->info.name, &entry));
    SYI_TRY(syi_json_put(entry, "sample_size", json_integer((json_int_t)m->size)));
    SYI_TRY(syi_json_put(entry, "median_ms", json_real(m->median_ms)));
    SYI_TRY(syi_json_put(entry, "ns_per_element", json_real(m->median_ms * 1e6 / (double)m->size)));
    SYI_TRY(syi_cost_store(entry, &m->cost));
    SYI_TRY(syi_json_child(prints, device->info.name, &entry));
    return syi_fingerprint_store(entry, &print);
}

static sy_status describe(const syi_devices *devices, const syi_workload *workload,
                          const sy_profile_options *options, const measured *all, json_t *costs,
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
            keep = syi_keep_stored(&stored, ratios, n, costs, options->keep_within, kept);
            syi_stored_balance_clear(&stored);
        }
    }
    if (keep)
        return SY_OK;
    *kept = '\0';
    return syi_multigpu_set(&context->multigpu, options->tag, ratios, n, fingerprint, costs);
}

static sy_status store(sy_context *context, const syi_workload *workload,
                       const sy_profile_options *options, const measured *all,
                       char kept[SYI_KEEP_TEXT])
{
    const syi_devices *devices = &context->devices;
    sy_ratio *ratios = syi_alloc((size_t)devices->count, sizeof *ratios);
    json_t *costs = json_object(), *fingerprint = json_object();
    sy_status status = SY_OK;
    int n = 0;
    for (int i = 0; ratios && i < devices->count; i++)
        if (all[i].size)
            ratios[n++] =
                (sy_ratio){devices->list[i]->info.name, (double)all[i].size / all[i].median_ms};
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

static sy_status open_record(const course *c, record *r)
{
    size_t runs = (size_t)c->options->runs, room = runs * (size_t)c->n_sizes;
    int complete = !!(r->times = syi_alloc(runs, sizeof *r->times));
    for (int p = 0; p < SYI_PHASES; p++)
        complete &= !!(r->samples[p] = syi_alloc(room, sizeof *r->samples[p]));
    return complete ? SY_OK : syi_no_memory(room * sizeof(syi_sample));
}

static void close_record(record *r)
{
    syi_free(r->times);
    for (int p = 0; p < SYI_PHASES; p++)
        syi_free(r->samples[p]);
}

static sy_status profile_devices(sy_context *context, const syi_workload *workload,
                                 const sy_profile_options *options, const sample *s,
                                 char kept[SYI_KEEP_TEXT])
{
    const double ladder_factor = 4;
    int count = context->devices.count;
    int64_t least = options->sample_size < SYI_TILE ? options->sample_size : SYI_TILE;
    measured *all = syi_alloc((size_t)count, sizeof *all);
    record r = {0};
    course c = {.options = options};
    sy_status status;
    c.n_sizes = syi_ladder(least, options->sample_size, ladder_factor, c.sizes, SYI_FIT_SIZES);
    c.all = (uint64_t)count * (uint64_t)c.n_sizes * (uint64_t)(options->runs + options->warmup);
    status = all ? open_record(&c, &r) : syi_no_memory((uint64_t)count * sizeof *all);
    for (int i = 0; status == SY_OK && i < count; i++)
        status = time_device(context, s, i, &c, &r, &all[i]);
    if (status == SY_OK)
        status = store(context, workload, options, all, kept);
    close_record(&r);
    syi_free(all);
    return status;
}

static sy_status fill_defaults(sy_profile_options *options)
{
    if (!options->workload)
        options->workload = "bollinger";
    if (options->sample_size == 0)
        options->sample_size = INT64_C(1) << 20;
    if (options->runs == 0)
        options->runs = DEFAULT_RUNS;
    if (options->warmup == 0)
        options->warmup = DEFAULT_WARMUP;
    else if (options->warmup == -1)
        options->warmup = 0;
    if (options->sample_size < 1 || options->sample_size > INT64_C(1) << 40)
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
    char kept[SYI_KEEP_TEXT] = "", tag[SYI_TAG];
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
    workload = syi_workload_for(workload, copy.accuracy);
    if (!copy.tag) {
        syi_default_tag(workload, copy.dtype, tag);
        copy.tag = tag;
    }
    status = sample_make(workload, &copy, &s);
    if (status == SY_OK)
        status = profile_devices(context, workload, &copy, &s, kept);
    sample_clear(&s);
    if (status == SY_OK && out)
        status = sy_balance_get(context, copy.tag, out);
    if (status == SY_OK && out && out->struct_size >= sizeof *out)
        syi_copy_text(out->kept, sizeof out->kept, kept);
    return status;
}
