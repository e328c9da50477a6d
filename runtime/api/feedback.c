/* From one call to the next: what the devices took corrects what is known of them, and the file
 * follows when it matters. */
#include "api/context.h"

#include "api/known_file.h"
#include "base/clock.h"
#include "costs.h"

#include <math.h>

static const double drift_limit = 0.1;

/* A device whose speed has been off for some runs, to be told when nothing is locked. */
typedef struct news {
    unsigned signal;
    double slower;
} news;

/* What tells of a device in a run. */
typedef struct sample {
    double elements, packets, ns;
    double doubt_ns; /* of these, what may have another cause */
} sample;

/* The first work of its kind in a context takes longer: code is loaded and threads are started,
 * which its first packet pays for; and new arrays have no memory yet, which all packets do. */
static sample sample_of(const syi_tally *tally, bool warm, bool untouched)
{
    const double once_ns = 2.5e8;
    const syi_outcome *total = &tally->total;
    sample run = {(double)total->elements_done, (double)tally->packets, total->busy_ms * 1e6, 0};
    if (warm)
        return run;
    if (total->elements_done == tally->first_elements) {
        run.doubt_ns = once_ns;
    } else {
        run.elements -= (double)tally->first_elements;
        run.packets--;
        run.ns -= tally->first_ms * 1e6;
    }
    if (untouched)
        run.doubt_ns = INFINITY;
    return run;
}

/* `cost`: the device's where the arrays live, as the plan saw it before it was told how it has
 * drifted. */
static void follow(syi_known_device *device, const syi_cost *cost, const syi_tally *tally,
                   bool untouched, news *out)
{
    const sample run = sample_of(tally, device->warm, untouched);
    double expected;
    if (!device->has_cost || tally->status != SY_OK)
        return;
    if (!tally->total.elements_done) {
        syi_drift_fade(&device->drift);
        return;
    }
    device->warm = true;
    expected = syi_cost_ns(cost, run.elements / run.packets, run.elements);
    if (syi_drift_is_slow(&device->drift, expected, run.ns) &&
        !syi_drift_is_slow(&device->drift, expected, run.ns - run.doubt_ns))
        return;
    if (device->guess) /* the first run counts for more than the guess */
        device->drift.slower = (syi_track){0};
    device->guess = 0;
    out->signal = syi_drift_add(&device->drift, expected, run.ns, drift_limit);
    out->slower = device->drift.slower.value;
}

static bool has_computed(const syi_tally *tally)
{
    return tally->status == SY_OK && tally->total.elements_done && tally->total.busy_ms > 0;
}

/* Without a profile a device's first run is one; as a guess where it has computed no more than the
 * packet that code is loaded in. */
static void begin(syi_known *known, int i, const syi_tally *tally)
{
    const double first_spread = 0.2;
    const sample run = sample_of(tally, false, false);
    syi_known_device *device = &known->devices[i];
    if (!has_computed(tally) || !(run.ns > 0))
        return;
    device->cost = (syi_cost){0};
    device->cost.phase[SYI_COMPUTE] = syi_curve_line(0, run.ns / run.elements);
    device->cost.phase[SYI_COMPUTE].spread = first_spread;
    device->drift = syi_drift_start(first_spread, 1);
    device->guess = run.elements == (double)tally->total.elements_done;
    device->has_cost = 1;
    device->learned = device->warm = true;
    known->costs++;
}

/* The first run of all devices. Who has failed in it would fail again. */
static void begin_all(syi_known *known, const syi_plan *plan, const syi_tally *tallies)
{
    for (int i = 0; i < known->count; i++)
        if (plan->ratios[i] > 0 && tallies[i].status == SY_OK && !has_computed(&tallies[i]))
            return;
    for (int i = 0; i < known->count; i++)
        if (plan->ratios[i] > 0)
            begin(known, i, &tallies[i]);
}

/* Storing takes about a millisecond, which calls of microseconds would feel, and other contexts and
 * processes then read the file again: it gets no more than so small a part of the time. */
enum { SAVING_IS_RARE = 1000 };

static sy_status store_device(sy_context *context, const syi_known *known, int i, json_t *prints,
                              json_t *costs)
{
    const syi_device *device = context->devices.list[i];
    const syi_known_device *own = &known->devices[i];
    syi_fingerprint print = syi_fingerprint_of(device, known->workload, known->dtype);
    syi_cost cost = own->cost;
    syi_drift drift = own->drift;
    json_t *entry;
    syi_drift_saved(&drift);
    syi_cost_scale(&cost, own->drift.slower.value);
    SYI_TRY(syi_json_child(prints, device->info.name, &entry));
    SYI_TRY(syi_fingerprint_store(entry, &print));
    SYI_TRY(syi_json_child(costs, device->info.name, &entry));
    SYI_TRY(syi_cost_store_drift(entry, own->drift.slower.value));
    SYI_TRY(syi_cost_store_pending(entry, syi_drift_pending(&drift)));
    return syi_cost_store(entry, &cost);
}

/* The stored profile with its times corrected; ratios stay those of the speeds. */
static sy_status store_all(sy_context *context, const syi_known *known, const syi_store_look *seen,
                           syi_stored_balance *stored, bool *done)
{
    const int count = stored->balance.n_ratios;
    sy_ratio *ratios = syi_alloc((size_t)count, sizeof *ratios);
    json_t *prints;
    sy_status status = ratios ? syi_json_child(stored->fingerprint, "devices", &prints)
                              : syi_no_memory((uint64_t)count * sizeof *ratios);
    for (int i = 0; status == SY_OK && i < known->count; i++)
        if (known->devices[i].in_file)
            status = store_device(context, known, i, prints, stored->costs);
    for (int k = 0; status == SY_OK && k < count; k++) {
        int i = syi_devices_find(&context->devices, stored->balance.ratios[k].device);
        const syi_drift *drift = i >= 0 ? &known->devices[i].drift : NULL;
        double slower = drift && known->devices[i].in_file ? drift->slower.value / drift->saved : 1;
        ratios[k] =
            (sy_ratio){stored->balance.ratios[k].device, stored->balance.ratios[k].ratio / slower};
    }
    if (status == SY_OK)
        status = syi_multigpu_correct(&context->multigpu, seen, known->tag, ratios, count,
                                      stored->fingerprint, stored->costs, done);
    syi_free(ratios);
    return status;
}

/* `seen`: the file that `known` was read from. While another process has the lock, or when it has
 * just written another profile, nothing is stored: a later run will try again. */
static void save(sy_context *context, const syi_job *job, const syi_known *known,
                 const syi_store_look *seen)
{
    const int64_t began = syi_now_ns();
    int64_t ended;
    bool done = true;
    syi_known *own;
    syi_stored_balance stored;
    sy_status status = syi_multigpu_get(&context->multigpu, known->tag, &stored);
    if (status == SY_OK) {
        if (stored.costs && stored.fingerprint)
            status = store_all(context, known, seen, &stored, &done);
        syi_stored_balance_clear(&stored);
    }
    if (status != SY_OK)
        syi_log_line(&context->log, SY_LOG_WARNING, "the corrected profile is not stored: %s",
                     sy_last_error()->text);
    ended = syi_now_ns();
    pthread_mutex_lock(&context->memory.lock);
    context->memory.save_after = ended + SAVING_IS_RARE * (ended - began);
    own = done || status != SY_OK ? syi_known_find(context, job, known->tag) : NULL;
    for (int i = 0; own && i < own->count; i++) {
        syi_drift_saved(&own->devices[i].drift); /* a failure is not said at every run */
        own->devices[i].stored = syi_drift_pending(&own->devices[i].drift);
    }
    pthread_mutex_unlock(&context->memory.lock);
}

/* What was tried will not be again. */
static void give_up(syi_known_device *device)
{
    device->guess = 0;
    device->gave_up = !device->has_cost;
}

/* Applies the run to the context's own record; gives a copy of it in `after` when it is to be
 * saved. */
static void learn(sy_context *context, const syi_job *job, const char *tag, const syi_plan *plan,
                  const syi_tally *tallies, bool untouched, news *found, syi_known *after)
{
    syi_known *known = syi_known_find(context, job, tag);
    syi_cost *costs;
    unsigned signals = 0;
    if (!known || (plan->exact && !known->costs))
        return;
    if (!known->costs) {
        begin_all(known, plan, tallies);
        return;
    }
    if (syi_known_costs(&context->devices, job, known, &costs) != SY_OK)
        return; /* the next run will tell as well */
    for (int i = 0; i < known->count; i++) {
        syi_known_device *device = &known->devices[i];
        if (context->devices.list[i]->failed)
            continue; /* it has no tiles for another reason than its speed */
        if (tallies[i].status == SY_ERR_MEMORY)
            give_up(device);
        else if (!device->has_cost)
            begin(known, i, &tallies[i]);
        else
            follow(device, costs ? &costs[i] : &device->cost, &tallies[i], untouched, &found[i]);
        if (known->home) /* it is the model of where arrays live that was off, not the profile */
            found[i].signal = 0;
        if (!device->in_file) /* nor what nobody has stored, or what is another tag's */
            found[i].signal &= ~(unsigned)SYI_DRIFT_SAVE;
        signals |= found[i].signal;
    }
    if (!(signals & SYI_DRIFT_SAVE) || syi_now_ns() < context->memory.save_after)
        return;
    if (syi_known_copy(known, job->memory, after) != SY_OK)
        return;                             /* the next run will try again */
    context->memory.save_after = INT64_MAX; /* until this is done */
}

/* The quickest start tells most: the others may have waited for a processor that it took. */
static void learn_start(syi_memory *memory, const syi_plan *plan, const syi_tally *tallies)
{
    double least = 0;
    for (int i = 0; i < plan->count; i++)
        if (tallies[i].start_ns > 0 && (least == 0 || tallies[i].start_ns < least))
            least = tallies[i].start_ns;
    syi_start_add(&memory->start, least);
}

/* Forced shares say little: a device alone is not what it is beside the others. */
bool syi_context_learns(const sy_context *context, const syi_plan *plan)
{
    return !context->frozen && plan->count > 1 && plan->source != SYI_SOURCE_CALL &&
           !plan->choice.made;
}

void syi_context_learn(sy_context *context, const syi_job *job, const sy_options *options,
                       const syi_plan *plan, const syi_tally *tallies, bool untouched)
{
    char own[SYI_TAG];
    const char *tag;
    news *found;
    syi_known after = {0};
    syi_store_look seen;
    if (!syi_context_learns(context, plan))
        return;
    found = syi_arena_alloc(job->memory, (size_t)plan->count, sizeof *found);
    if (!found)
        return; /* a correction is a help, not a condition */
    tag = syi_tag_for(job, options, own);
    pthread_mutex_lock(&context->memory.lock);
    learn_start(&context->memory, plan, tallies);
    learn(context, job, tag, plan, tallies, untouched, found, &after);
    seen = context->memory.look;
    pthread_mutex_unlock(&context->memory.lock);
    for (int i = 0; i < plan->count; i++)
        if (found[i].signal & SYI_DRIFT_SAY)
            syi_log_line(&context->log, SY_LOG_INFO,
                         "%s takes %.2f times what its profile for '%s' says; going by what it "
                         "takes now",
                         context->devices.list[i]->info.name, found[i].slower, tag);
    if (after.devices)
        save(context, job, &after, &seen);
}

/* ---- the end of a context ----------------------------------------------------------------- */

static bool is_news(const syi_known_device *device)
{
    return device->in_file && !syi_pending_equal(syi_drift_pending(&device->drift), device->stored);
}

static sy_status edit_pending(json_t *root, void *user)
{
    const sy_context *context = user;
    for (const syi_known *known = context->memory.list; known; known = known->next)
        for (int i = 0; !known->is_old && i < known->count; i++) {
            const syi_known_device *device = &known->devices[i];
            json_t *entry = json_object_get(syi_multigpu_costs(root, known->tag),
                                            context->devices.list[i]->info.name);
            if (entry && is_news(device))
                SYI_TRY(syi_cost_store_pending(entry, syi_drift_pending(&device->drift)));
        }
    return SY_OK;
}

void syi_context_hand_on(sy_context *context)
{
    const sy_error before = *sy_last_error(); /* not this, but what the caller may ask for */
    bool news = false, done;
    for (const syi_known *known = context->memory.list; known; known = known->next)
        for (int i = 0; !known->is_old && i < known->count; i++)
            news = news || is_news(&known->devices[i]);
    if (!news || syi_store_amend(&context->multigpu, &context->memory.look, edit_pending, context,
                                 &done) == SY_OK)
        return;
    syi_log_line(&context->log, SY_LOG_INFO, "what the runs have found is not stored: %s",
                 sy_last_error()->text);
    syi_error_adopt(&before);
}
