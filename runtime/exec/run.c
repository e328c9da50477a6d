/*
 * A worker per device takes packets from one queue until nothing is left. What a device that fails
 * has not done goes back into the queue; when all who take part have failed, the devices that had
 * been left out are called.
 */
#define _POSIX_C_SOURCE 200809L
#include "exec/run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "model/queue.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

/* What the workers share; `lock` is of everything that changes. */
typedef struct crew {
    const syi_devices *devices;
    const syi_job *job;
    syi_log *log;
    syi_tally *tallies;
    int64_t began;
    pthread_mutex_t lock;
    pthread_cond_t news; /* somebody has reported */
    syi_queue *queue;
    bool stop;     /* a failure that nobody else can mend */
    sy_error lost; /* the last one that somebody else could */
} crew;

typedef struct worker {
    crew *crew;
    int index;
    bool takes_part, started;
    syi_packet packet; /* in its hands; count 0: none */
    sy_status status;
    sy_error error;
    pthread_t thread;
    double called_ns; /* when its thread was asked for */
} worker;

static double since_ns(const crew *crew)
{
    return (double)(syi_now_ns() - crew->began);
}

/* Until there is news, or `until_ns`; not shorter than is worth a look at the queue. */
static void wait_for_news(crew *crew, double until_ns)
{
    const double shortest_ns = 200000;
    double least = since_ns(crew) + shortest_ns;
    int64_t at;
    struct timespec until;
    if (isinf(until_ns)) {
        pthread_cond_wait(&crew->news, &crew->lock);
        return;
    }
    at = crew->began + (int64_t)(until_ns > least ? until_ns : least);
    until = (struct timespec){(time_t)(at / 1000000000), (long)(at % 1000000000)};
    pthread_cond_timedwait(&crew->news, &crew->lock, &until);
}

/* Its next packet; 0: there is nothing left for it. */
static int take(worker *self)
{
    crew *crew = self->crew;
    syi_turn turn = SYI_TURN_DONE;
    if (self->packet.count)
        return 1; /* handed out before its thread began */
    pthread_mutex_lock(&crew->lock);
    while (!crew->stop && syi_queue_left(crew->queue) &&
           (turn = syi_queue_next(crew->queue, self->index, since_ns(crew), &self->packet)) ==
               SYI_TURN_WAIT)
        wait_for_news(crew, self->packet.retry_ns);
    if (crew->stop)
        turn = SYI_TURN_DONE;
    pthread_mutex_unlock(&crew->lock);
    return turn == SYI_TURN_TAKE;
}

static int is_redone(sy_status status)
{
    return status == SY_ERR_MEMORY || status == SY_ERR_DEVICE;
}

/* Keeps a failure. `lasting`: nobody else can mend it, so the run ends. */
static void note_failure(worker *self, sy_status status, bool lasting)
{
    self->error = *sy_last_error();
    self->error.device = self->index;
    self->status = lasting ? status : SY_OK;
    self->crew->tallies[self->index].status = status;
}

/* Tells the queue what became of the packet. */
static void report(worker *self, int64_t done, double ns)
{
    crew *crew = self->crew;
    sy_status status;
    pthread_mutex_lock(&crew->lock);
    status = syi_queue_report(crew->queue, self->index, done, ns);
    if (status != SY_OK && self->status == SY_OK)
        note_failure(self, status, true);
    if (crew->tallies[self->index].status != SY_OK) {
        syi_queue_leave(crew->queue, self->index);
        crew->lost = self->error;
    }
    crew->stop = crew->stop || self->status != SY_OK;
    self->packet.count = 0;
    pthread_cond_broadcast(&crew->news);
    pthread_mutex_unlock(&crew->lock);
}

/* What begins beyond the finished prefix will come again from somebody else. */
static void drop_undone_links(const syi_job *job, syi_tiles span, syi_outcome *outcome)
{
    int64_t kept = 0, end = span.first + outcome->tiles_done;
    for (int64_t i = 0; i < outcome->n_links; i++) {
        const syi_link *link = &outcome->links[i];
        int64_t tile = link->row * syi_tiles_per_row(job->columns) + link->first / SYI_TILE;
        if (tile < end)
            outcome->links[kept++] = *link;
    }
    outcome->n_links = kept;
}

static void count_packet(syi_tally *tally, const syi_outcome *outcome)
{
    if (tally->packets++ > 0)
        return;
    tally->first_elements = outcome->elements_done;
    tally->first_ms = outcome->busy_ms;
}

static void compute(worker *self)
{
    crew *crew = self->crew;
    syi_device *device = crew->devices->list[self->index];
    syi_tally *tally = &crew->tallies[self->index];
    syi_tiles span = {self->packet.first, self->packet.count};
    syi_outcome outcome = {0};
    syi_trace *trace = crew->job->trace;
    const double began = syi_trace_now(trace);
    sy_status status = device->backend->run(device, crew->job, span, &outcome), merged;
    const double ns = outcome.busy_ms * 1e6;
    int64_t done;
    syi_trace_tell(trace, self->index, SYI_TRACE_PACKETS, "packet", began, syi_trace_now(trace),
                   span);
    /* With a device that holds an array all is lost; and nobody else can mend that. */
    const syi_device *lost = status == SY_ERR_DEVICE ? syi_job_lost(crew->job, 0) : NULL;
    if (status != SY_OK)
        note_failure(self, status, lost || !is_redone(status));
    done = outcome.tiles_done;
    drop_undone_links(crew->job, span, &outcome);
    outcome.elements_done = syi_tiles_elements(crew->job, (syi_tiles){span.first, done});
    count_packet(tally, &outcome);
    merged = syi_outcome_merge(&tally->total, &outcome);
    if (merged != SY_OK && self->status == SY_OK)
        note_failure(self, merged, true);
    tally->tail_tiles += self->packet.tail ? done : 0;
    if (status == SY_ERR_DEVICE && !lost)
        device->failed = 1; /* where another one is lost, this one is not to blame */
    if (is_redone(status) && !lost) {
        tally->total.retries++;
        syi_log_line(crew->log, SY_LOG_WARNING, "%s; %lld of its tiles are left to do",
                     self->error.text, (long long)(span.count - done));
    }
    report(self, done, ns);
}

static void *work(void *argument)
{
    worker *self = argument;
    while (take(self)) {
        compute(self);
        if (self->crew->tallies[self->index].status != SY_OK)
            break;
    }
    return NULL;
}

static void *work_beside(void *argument)
{
    worker *self = argument;
    self->crew->tallies[self->index].start_ns = since_ns(self->crew) - self->called_ns;
    return work(self);
}

/* Who works on the caller's own thread: the CPU, whose team of threads is kept for that one, or
 * else the last one; -1: nobody takes part. */
static int choose_own(const worker *workers, int count)
{
    int own = -1;
    for (int i = 0; i < count; i++) {
        const syi_device *device = workers->crew->devices->list[i];
        if (!workers[i].takes_part)
            continue;
        own = i;
        if (device->info.type == SY_DEVICE_CPU)
            break;
    }
    return own;
}

static void start(worker *self)
{
    crew *crew = self->crew;
    self->called_ns = since_ns(crew);
    self->started = syi_thread_create(&self->thread, work_beside, self) == 0;
    if (self->started)
        return;
    pthread_mutex_lock(&crew->lock);
    syi_queue_leave(crew->queue, self->index);
    pthread_mutex_unlock(&crew->lock);
    if (self->packet.count)
        report(self, 0, 0);
}

/* Everybody gets the first packet before anybody begins, so that no device's part depends on when
 * its thread comes up. Who gets no thread leaves his part to the others. */
static void run_round(worker *workers, int count)
{
    crew *crew = workers->crew;
    const int own = choose_own(workers, count);
    for (int i = 0; i < count; i++) {
        workers[i].started = false;
        if (workers[i].takes_part &&
            syi_queue_next(crew->queue, i, 0, &workers[i].packet) != SYI_TURN_TAKE)
            workers[i].packet.count = 0;
    }
    for (int i = 0; i < count; i++)
        if (workers[i].takes_part && i != own)
            start(&workers[i]);
    if (own >= 0)
        work(&workers[own]);
    for (int i = 0; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}

/* The last failure becomes the caller's, with the remedy added. */
static sy_status give_up(const crew *crew)
{
    const sy_error *error = &crew->lost;
    return syi_fail_device(
        error->status, error->device, error->native_code,
        "%.400s, and no device is left to take its part over%s", error->text,
        syi_devices_of_type(crew->devices, SY_DEVICE_CPU) ? "" : "; add cpu to the devices");
}

/* Calls everybody who can still work; how many those are. */
static int call_all(crew *crew, worker *workers)
{
    int called = 0;
    for (int i = 0; i < crew->devices->count; i++) {
        workers[i].takes_part = !syi_plan_obstacle(crew->devices->list[i], crew->job->workload) &&
                                crew->tallies[i].status == SY_OK;
        if (workers[i].takes_part) {
            syi_queue_join(crew->queue, i);
            called++;
        }
    }
    return called;
}

static sy_status run_rounds(crew *crew, worker *workers)
{
    const int count = crew->devices->count;
    run_round(workers, count);
    while (syi_queue_left(crew->queue) && !crew->stop) {
        if (!call_all(crew, workers))
            return give_up(crew);
        run_round(workers, count);
    }
    for (int i = 0; i < count; i++) /* the lowest device's failure is the one that is told */
        if (workers[i].status != SY_OK) {
            syi_error_adopt(&workers[i].error);
            return workers[i].status;
        }
    return SY_OK;
}

/* Tiles of a packet that give the whole device something to do, and in which what is computed
 * again to the left of it does not count. */
static int64_t least_packet(const syi_device *device, const syi_job *job)
{
    const int64_t piece_tiles = 16, halo_tiles = syi_job_halo(job) / SYI_TILE;
    int64_t least = device->info.type == SY_DEVICE_CPU && device->info.units > 1
                        ? piece_tiles * device->info.units
                        : 0;
    return least > 8 * halo_tiles ? least : 8 * halo_tiles;
}

static sy_status open_queue(crew *crew, const syi_plan *plan, worker *workers)
{
    syi_queue_device *devices =
        syi_arena_alloc(crew->job->memory, (size_t)plan->count, sizeof *devices);
    sy_status status;
    int taking_part = 0;
    if (!devices)
        return syi_no_memory((uint64_t)plan->count * sizeof *devices);
    for (int i = 0; i < plan->count; i++) {
        const syi_belief *belief = &plan->beliefs[i];
        devices[i] = (syi_queue_device){.tiles = plan->shares[i],
                                        .ns_per_tile = belief->ns_per_tile,
                                        .packet_ns = belief->packet_ns,
                                        .spread = belief->spread,
                                        .least = least_packet(crew->devices->list[i], crew->job)};
        workers[i].crew = crew;
        workers[i].index = i;
        workers[i].takes_part = plan->shares[i] > 0;
        taking_part += workers[i].takes_part;
    }
    /* One alone has nobody to share with. */
    status = syi_queue_open(devices, plan->count,
                            plan->exact || taking_part < 2 ? SYI_QUEUE_FORCED : SYI_QUEUE_BALANCED,
                            &crew->queue);
    for (int i = 0; status == SY_OK && i < plan->count; i++)
        if (!workers[i].takes_part)
            syi_queue_leave(crew->queue, i);
    return status;
}

static void open_news(pthread_cond_t *news)
{
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(news, &how);
    pthread_condattr_destroy(&how);
}

sy_status syi_run_plan(const syi_devices *devices, const syi_job *job, const syi_plan *plan,
                       int64_t began, syi_log *log, syi_tally *tallies)
{
    crew crew = {.devices = devices, .job = job, .log = log, .tallies = tallies, .began = began};
    worker *workers = syi_arena_alloc(job->memory, (size_t)devices->count, sizeof *workers);
    sy_status status;
    if (!workers)
        return syi_no_memory((uint64_t)devices->count * sizeof *workers);
    status = open_queue(&crew, plan, workers);
    if (status == SY_OK) {
        pthread_mutex_init(&crew.lock, NULL);
        open_news(&crew.news);
        status = run_rounds(&crew, workers);
        pthread_cond_destroy(&crew.news);
        pthread_mutex_destroy(&crew.lock);
    }
    syi_queue_close(&crew.queue);
    return status;
}
