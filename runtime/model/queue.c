#include "model/queue.h"

#include "base/mem.h"

#include <math.h>

/* How a packet is cut from what a device should still do until everybody is finished: */
static const double first_part = 0.25; /* of a profiled device's first packet: it is a check */
static const double growth = 4;        /* of the packets of a device that is not yet known */
static const double worth_packet = 20; /* a packet takes as often its own fixed cost at least */
/* This part is kept for further packets even when all is as expected: a device that becomes three
 * times slower in the middle of a packet still does not finish much after the others. */
static const double least_doubt = 0.3;
static const double most_doubt = 0.5;
/* A rest of less than this part of the call, on a device that does as believed, is not cut again:
 * were it three times slower from now on, that would be the loss at most twice over. */
static const double last_part = 0.02;
/* A guess that comes true up to this is one no more. */
static const double came_true = 0.15;
/* Beyond so many spreads a device has changed, and what it did before counts no more. */
static const double many_spreads = 3;

typedef struct run {
    int64_t first, count;
    int owner; /* -1: anybody's */
} run;

typedef struct worker {
    syi_queue_device is; /* as believed by now */
    double rate;         /* 1 / is.ns_per_tile: divisions are most of a packet's price */
    bool known, left;
    double doubt;      /* relative, of the speed */
    syi_packet packet; /* in its hands; count 0: none */
    int64_t before;    /* tiles of the packet before; 0: none */
    double before_ns;
    double end_ns; /* when the packet should be finished */
} worker;

struct syi_queue {
    syi_queue_mode mode;
    int count, n_runs, capacity;
    int64_t left, waiting; /* tiles not done; not even taken */
    run *runs;             /* the first `count` are the devices' own */
    worker workers[];
};

sy_status syi_queue_open(const syi_queue_device *devices, int count, syi_queue_mode mode,
                         syi_queue **out)
{
    syi_queue *queue = syi_alloc(1, sizeof *queue + (size_t)count * sizeof *queue->workers);
    if (queue)
        queue->runs = syi_alloc((size_t)count, sizeof *queue->runs);
    if (!queue || !queue->runs) {
        syi_queue_close(&queue);
        return syi_no_memory((uint64_t)count * sizeof(worker));
    }
    queue->mode = mode;
    queue->count = queue->n_runs = queue->capacity = count;
    for (int i = 0; i < count; i++) {
        worker *w = &queue->workers[i];
        w->is = devices[i];
        w->rate = 1 / devices[i].ns_per_tile;
        w->known = devices[i].spread < 1;
        w->doubt = 2 * devices[i].spread;
        queue->runs[i] = (run){queue->left, devices[i].tiles, i};
        queue->left += devices[i].tiles;
    }
    queue->waiting = queue->left;
    *out = queue;
    return SY_OK;
}

void syi_queue_close(syi_queue **queue)
{
    if (*queue)
        syi_free((*queue)->runs);
    syi_free(*queue);
    *queue = NULL;
}

/* The run to take from: the own one, else what was given back, else the longest. A device whose
 * share is forced owns its run to the end. */
static run *choose_run(syi_queue *queue, int device)
{
    run *best = NULL;
    if (queue->runs[device].count)
        return &queue->runs[device];
    for (int i = queue->n_runs - 1; i >= 0; i--) {
        run *r = &queue->runs[i];
        if (r->count == 0 ||
            (queue->mode == SYI_QUEUE_FORCED && r->owner >= 0 && !queue->workers[r->owner].left))
            continue;
        if (r->owner < 0)
            return r;
        if (!best || r->count >= best->count)
            best = r;
    }
    return best;
}

/* When worker w can begin with its next packet's tiles. */
static double ready_ns(const worker *w, double now)
{
    double free = w->packet.count && w->end_ns > now ? w->end_ns : now;
    return free + w->is.packet_ns;
}

/* The time at which `tiles` are finished when everybody goes on until then. Those who are not ready
 * before it do not take part, which makes it later, so it is found in a few rounds from below. */
static double common_end(const syi_queue *queue, double now, int64_t tiles)
{
    double end = INFINITY;
    for (int round = 0; round < queue->count; round++) {
        double rate = 0, sum = (double)tiles, next;
        for (int i = 0; i < queue->count; i++) {
            const worker *w = &queue->workers[i];
            double ready = ready_ns(w, now);
            if (w->left || ready >= end)
                continue;
            rate += w->rate;
            sum += ready * w->rate;
        }
        next = rate > 0 ? sum / rate : INFINITY;
        if (next >= end)
            break;
        end = next;
    }
    return end;
}

static bool all_others_idle(const syi_queue *queue, int device)
{
    for (int i = 0; i < queue->count; i++)
        if (i != device && queue->workers[i].packet.count)
            return false;
    return true;
}

/* What has to be kept back because speeds are not known better. Those of the others count as well:
 * when they are faster than believed, this device's packet was too long. */
static double largest_doubt(const syi_queue *queue)
{
    double largest = least_doubt;
    for (int i = 0; i < queue->count; i++)
        if (!queue->workers[i].left && queue->workers[i].doubt > largest)
            largest = queue->workers[i].doubt;
    return largest < most_doubt ? largest : most_doubt;
}

/* Shorter work than this nobody else could take over. */
static double others_packet_ns(const syi_queue *queue, int device)
{
    double least = INFINITY;
    for (int i = 0; i < queue->count; i++)
        if (i != device && !queue->workers[i].left && queue->workers[i].is.packet_ns < least)
            least = queue->workers[i].is.packet_ns;
    return least;
}

/* The tiles of a packet of a device that should do `due` more until the end. */
static double packet_size(const syi_queue *queue, int device, double due, double end)
{
    double not_worth_ns = others_packet_ns(queue, device);
    const worker *w = &queue->workers[device];
    double least = fmax(worth_packet * w->is.packet_ns / w->is.ns_per_tile, (double)w->is.least);
    double size = due * (1 - largest_doubt(queue));
    double own = (double)queue->runs[device].count;
    if (w->known && !w->before)
        size = due * first_part;
    if (!w->known) { /* it may be slower than believed by any factor */
        double grown = w->before ? growth * (double)w->before : fmax(1, (double)w->is.least);
        size = size < grown ? size : grown;
        least = least < grown ? least : grown;
    }
    size = size > least ? size : least;
    if (w->before && w->doubt < least_doubt)
        not_worth_ns = fmax(not_worth_ns, last_part * end);
    if (due - size >= (least > 1 ? least / 2 : 0.5) &&
        !(w->known && (due - size) * w->is.ns_per_tile < not_worth_ns))
        return size;
    /* The rest is not worth a packet of its own, so this is the last one. What the plan gave it is
     * better rounded than what is due, since there all devices were rounded together. */
    return fabs(own - due) <= 1 && own > 0 ? own : due;
}

static void hand_over(syi_queue *queue, int device, double now, int64_t count, run *from,
                      syi_packet *out)
{
    worker *w = &queue->workers[device];
    bool own = from->owner == device;
    count = count < 1 ? 1 : count > from->count ? from->count : count;
    /* Others take from a run's end, so that its owner's packets stay side by side. */
    *out = (syi_packet){.first = own || from->owner < 0 ? from->first
                                                        : from->first + from->count - count,
                        .count = count,
                        .tail = !own};
    if (out->first == from->first)
        from->first += count;
    from->count -= count;
    queue->waiting -= count;
    w->packet = *out;
    w->end_ns = now + w->is.packet_ns + (double)count * w->is.ns_per_tile;
}

syi_turn syi_queue_next(syi_queue *queue, int device, double now_ns, syi_packet *out)
{
    worker *w = &queue->workers[device];
    run *from = w->left ? NULL : choose_run(queue, device);
    double end, due, size;
    bool untried;
    if (queue->left == 0 || w->left)
        return SYI_TURN_DONE;
    if (!from) {
        out->retry_ns = INFINITY;
        return SYI_TURN_WAIT;
    }
    if (queue->mode == SYI_QUEUE_FORCED && from->owner == device) {
        hand_over(queue, device, now_ns, from->count, from, out);
        return SYI_TURN_TAKE;
    }
    end = common_end(queue, now_ns, queue->waiting);
    due = (end - ready_ns(w, now_ns)) / w->is.ns_per_tile;
    /* A guess that it is too slow is checked with a tile of its own, or it would stay one. */
    untried = from->owner == device && !w->known && !w->before;
    if (due < 0.5 && !untried && !all_others_idle(queue, device)) {
        out->retry_ns = end;
        return SYI_TURN_WAIT;
    }
    due = due < (double)queue->waiting ? due : (double)queue->waiting;
    size = packet_size(queue, device, due, end);
    hand_over(queue, device, now_ns, (int64_t)(size + 0.5), from, out);
    return SYI_TURN_TAKE;
}

/* Corrects what is believed of the device by what its packet took. */
static void learn(worker *w, int64_t tiles, double ns)
{
    double expected = w->is.packet_ns + (double)tiles * w->is.ns_per_tile;
    double off = fabs(ns / expected - 1), per_tile = ns - w->is.packet_ns;
    if (!w->known && tiles >= 2 * w->before && w->before > 0) {
        /* Two packets of different length tell the fixed cost from the rest. */
        double fixed =
            (w->before_ns * (double)tiles - ns * (double)w->before) / (double)(tiles - w->before);
        fixed = fixed > 0 ? fixed : 0;
        w->is.packet_ns = fixed < w->before_ns / 2 || tiles < 8 ? fixed : w->before_ns / 2;
        per_tile = ns - w->is.packet_ns;
    }
    per_tile = (per_tile > ns / 8 ? per_tile : ns / 8) / (double)tiles;
    if (!w->known || off > many_spreads * w->is.spread)
        w->is.ns_per_tile = per_tile;
    else
        w->is.ns_per_tile += (per_tile - w->is.ns_per_tile) / 2 * (1 - w->is.packet_ns / ns);
    w->rate = 1 / w->is.ns_per_tile;
    w->doubt = !w->known ? most_doubt : off > w->doubt ? off : (w->doubt + off) / 2;
    w->known = w->known || (off < came_true && w->before);
    w->before = tiles;
    w->before_ns = ns;
}

static sy_status give_back(syi_queue *queue, int64_t first, int64_t count)
{
    int at = queue->count;
    while (at < queue->n_runs && queue->runs[at].count)
        at++;
    if (at == queue->capacity) {
        int capacity = 2 * queue->capacity;
        run *runs = syi_realloc(queue->runs, (size_t)capacity, sizeof *runs);
        if (!runs)
            return syi_no_memory((uint64_t)capacity * sizeof *runs);
        queue->runs = runs;
        queue->capacity = capacity;
    }
    queue->runs[at] = (run){first, count, -1};
    queue->n_runs += at == queue->n_runs;
    queue->waiting += count;
    return SY_OK;
}

sy_status syi_queue_report(syi_queue *queue, int device, int64_t done, double ns)
{
    worker *w = &queue->workers[device];
    syi_packet packet = w->packet;
    if (done < packet.count)
        SYI_TRY(give_back(queue, packet.first + done, packet.count - done));
    w->packet.count = 0;
    queue->left -= done;
    if (done > 0 && ns > 0)
        learn(w, done, ns);
    return SY_OK;
}

void syi_queue_leave(syi_queue *queue, int device)
{
    queue->workers[device].left = true;
}

void syi_queue_join(syi_queue *queue, int device)
{
    queue->workers[device].left = false;
}

int64_t syi_queue_left(const syi_queue *queue)
{
    return queue->left;
}
