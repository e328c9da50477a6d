#include "exec/run.h"

#include "base/mem.h"

#include <pthread.h>
#include <string.h>

/* A span given to a device in this round. */
typedef struct worker {
    syi_device *device;
    const syi_job *job;
    syi_tiles span;
    syi_outcome outcome;
    sy_status status;
    sy_error error;
    pthread_t thread;
    int started;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    self->status = self->device->backend->run(self->device, self->job, self->span, &self->outcome);
    if (self->status != SY_OK)
        self->error = *sy_last_error();
    return NULL;
}

/* The last device with work runs on the caller's own thread, the others on theirs; where no thread
 * can be had, the caller does that part too. */
static void run_round(worker *workers, int count)
{
    int own = -1;
    for (int i = 0; i < count; i++)
        if (workers[i].span.count)
            own = i;
    for (int i = 0; i < own; i++)
        workers[i].started = workers[i].span.count &&
                             pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    for (int i = 0; i < count; i++)
        if (workers[i].span.count && !workers[i].started)
            work(&workers[i]);
    for (int i = 0; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}

static int is_redone(sy_status status)
{
    return status == SY_ERR_MEMORY || status == SY_ERR_DEVICE;
}

/* Books what a worker did and gives what it left undone. */
static sy_status settle(worker *done, int index, syi_log *log, syi_tally *tally, syi_tiles *left)
{
    sy_status merged;
    *left = (syi_tiles){done->span.first + done->outcome.tiles_done,
                       done->span.count - done->outcome.tiles_done};
    done->outcome.elements_done =
        syi_tiles_elements(done->job, (syi_tiles){done->span.first, done->outcome.tiles_done});
    merged = syi_outcome_merge(&tally->total, &done->outcome);
    if (done->span.count == 0 || done->status == SY_OK)
        return merged;
    done->error.device = index;
    syi_error_adopt(&done->error);
    tally->status = done->status;
    if (!is_redone(done->status))
        return done->status;
    if (done->status == SY_ERR_DEVICE)
        done->device->failed = 1;
    tally->total.retries++;
    syi_log_line(log, SY_LOG_WARNING, "%s; its %lld remaining tiles are redone elsewhere",
                 done->error.text, (long long)left->count);
    return merged;
}

/* Gives `left` to the devices that have not failed in this run, by the plan's ratios. A run of
 * tiles is handed on whole to each, so spans stay contiguous. */
static sy_status reassign(const syi_devices *devices, const syi_job *job, const syi_plan *plan,
                          const syi_tally *tallies, syi_tiles left, worker *workers)
{
    double *ratios = syi_alloc((size_t)devices->count, sizeof *ratios);
    syi_plan again = {0};
    sy_status status;
    if (!ratios)
        return syi_no_memory((uint64_t)devices->count * sizeof *ratios);
    for (int i = 0; i < devices->count; i++)
        ratios[i] = tallies[i].status == SY_OK ? (plan->ratios[i] > 0 ? plan->ratios[i] : 1e-9) : 0;
    status = syi_plan_make(devices, job->workload, ratios, plan->source, left.count, &again);
    syi_free(ratios);
    if (status != SY_OK)
        return status;
    for (int i = 0; i < devices->count; i++) {
        workers[i].span = (syi_tiles){left.first, again.shares[i]};
        left.first += again.shares[i];
    }
    syi_plan_clear(&again);
    return SY_OK;
}

/* What is still to be done: at most one span per device and round. */
typedef struct backlog {
    syi_tiles *spans;
    int count;
} backlog;

static sy_status run_assigned(const syi_devices *devices, const syi_job *job, syi_log *log,
                              syi_tally *tallies, worker *workers, backlog *undone)
{
    sy_status status = SY_OK;
    for (int i = 0; i < devices->count; i++) {
        syi_tiles span = workers[i].span;
        workers[i] = (worker){.device = devices->list[i], .job = job, .span = span};
    }
    run_round(workers, devices->count);
    for (int i = 0; i < devices->count; i++) {
        syi_tiles left;
        sy_status settled = settle(&workers[i], i, log, &tallies[i], &left);
        if (left.count)
            undone->spans[undone->count++] = left;
        if (status == SY_OK)
            status = settled; /* the lowest device's failure is the one that is told */
    }
    return status;
}

static int any_usable(const syi_devices *devices, const syi_job *job, const syi_tally *tallies)
{
    for (int i = 0; i < devices->count; i++)
        if (!syi_plan_obstacle(devices->list[i], job->workload) && tallies[i].status == SY_OK)
            return 1;
    return 0;
}

/* The last failure stays the thread's error, with the remedy added. */
static sy_status give_up(void)
{
    sy_error error = *sy_last_error();
    sy_status status = error.status;
    syi_fail_device(status, error.device, error.native_code,
                    "%.400s, and no device is left to take its part over; add cpu to the devices",
                    error.text);
    return status;
}

static sy_status run_rounds(const syi_devices *devices, const syi_job *job, const syi_plan *plan,
                            syi_log *log, syi_tally *tallies, worker *workers, backlog *undone)
{
    SYI_TRY(run_assigned(devices, job, log, tallies, workers, undone));
    while (undone->count) {
        syi_tiles left = undone->spans[--undone->count];
        if (!any_usable(devices, job, tallies))
            return give_up();
        SYI_TRY(reassign(devices, job, plan, tallies, left, workers));
        SYI_TRY(run_assigned(devices, job, log, tallies, workers, undone));
    }
    return SY_OK;
}

sy_status syi_run_plan(const syi_devices *devices, const syi_job *job, const syi_plan *plan,
                       syi_log *log, syi_tally *tallies)
{
    size_t count = (size_t)devices->count;
    worker *workers = syi_alloc(count, sizeof *workers);
    /* Every device fails at most once in a run, so no more spans than devices wait at a time. */
    backlog undone = {syi_alloc(count, sizeof *undone.spans), 0};
    int64_t first = 0;
    sy_status status;
    if (!workers || !undone.spans) {
        status = syi_no_memory(count * sizeof *workers);
    } else {
        for (int i = 0; i < devices->count; i++) {
            workers[i].span = (syi_tiles){first, plan->shares[i]};
            first += plan->shares[i];
        }
        status = run_rounds(devices, job, plan, log, tallies, workers, &undone);
    }
    syi_free(workers);
    syi_free(undone.spans);
    return status;
}
