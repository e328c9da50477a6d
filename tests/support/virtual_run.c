#include "support/virtual_run.h"

#include <stdlib.h>

#include "base/philox.h"

double virtual_uniform(uint64_t seed, uint64_t index)
{
    return (double)(syi_random(seed, 7, index) >> 11) * 0x1p-53;
}

double virtual_noise(uint64_t seed, uint64_t index)
{
    double sum = -6;
    for (uint64_t k = 0; k < 12; k++)
        sum += virtual_uniform(seed, 12 * index + k);
    return sum;
}

typedef struct hand {
    syi_packet packet;
    double free_ns, took_ns;
    int state; /* 0 waits, 1 computes, 2 gone */
    int fails;
} hand;

static double packet_time(const virtual_device *d, const hand *h, uint64_t seed, uint64_t index)
{
    double work = (double)h->packet.count * d->ns_per_tile, ns = d->packet_ns + work;
    if (d->slower > 0) { /* what is done before the change keeps its speed */
        double before = d->changes_at_ns - h->free_ns;
        before = before < 0 ? 0 : before > ns ? ns : before;
        ns = before + (ns - before) * d->slower;
    }
    return ns * (1 + d->noise * virtual_noise(seed, index));
}

static void finish(syi_queue *queue, hand *h, int device, unsigned char *seen, virtual_result *out)
{
    int64_t done = h->fails ? h->packet.count / 2 : h->packet.count;
    for (int64_t t = 0; t < done; t++)
        seen[h->packet.first + t]++;
    out->tiles[device] += done;
    out->packets[device]++;
    out->busy_ns[device] += h->took_ns;
    out->makespan_ns = h->free_ns > out->makespan_ns ? h->free_ns : out->makespan_ns;
    if (syi_queue_report(queue, device, done, h->took_ns) != SY_OK || h->fails) {
        syi_queue_leave(queue, device);
        h->state = 2;
    } else {
        h->state = 0;
    }
}

void virtual_run(syi_queue *queue, const virtual_device *devices, int count, uint64_t seed,
                 virtual_result *out)
{
    hand hands[VIRTUAL_DEVICES] = {0};
    int64_t tiles = syi_queue_left(queue);
    unsigned char *seen = calloc((size_t)tiles + 1, 1);
    uint64_t index = 0;
    double now = 0;
    *out = (virtual_result){.once = seen != NULL};
    while (seen) {
        int next = -1;
        for (int i = 0; i < count; i++) { /* whoever is free asks, lower index first */
            if (hands[i].state != 0 ||
                syi_queue_next(queue, i, now, &hands[i].packet) != SYI_TURN_TAKE)
                continue;
            hands[i].state = 1;
            hands[i].free_ns = now;
            hands[i].fails = devices[i].fails_at && devices[i].fails_at == out->packets[i] + 1;
            hands[i].took_ns = packet_time(&devices[i], &hands[i], seed, index++);
            hands[i].free_ns = now + hands[i].took_ns;
        }
        for (int i = 0; i < count; i++)
            if (hands[i].state == 1 && (next < 0 || hands[i].free_ns < hands[next].free_ns))
                next = i;
        if (next < 0)
            break;
        now = hands[next].free_ns;
        finish(queue, &hands[next], next, seen, out);
    }
    for (int64_t t = 0; seen && t < tiles; t++)
        out->once = out->once && seen[t] == 1;
    free(seen);
}
