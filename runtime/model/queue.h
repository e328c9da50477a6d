/*
 * Who computes which tiles when, within one call. Each device begins with the run of tiles that
 * the plan gave it and takes it in a few packets; who has finished his own takes from the longest
 * run left. Packet sizes come from the speeds measured in this very call, so a device that is
 * slower than its profile says gets less at once. Pure: the caller brings the time, and the lock.
 *
 * A worker's loop:
 *
 *     while ((turn = syi_queue_next(queue, device, now, &packet)) != SYI_TURN_DONE)
 *         if (turn == SYI_TURN_WAIT)
 *             wait until somebody has reported, or until packet.retry_ns
 *         else
 *             compute the packet, then
 *             syi_queue_report(queue, device, tiles done, how long that took)
 *
 * A device that cannot go on reports the finished prefix (or nothing) and then leaves; the rest of
 * its packet and of its run goes to the others. When everybody has left before the end,
 * syi_queue_left() is not 0.
 */
#ifndef SYI_MODEL_QUEUE_H
#define SYI_MODEL_QUEUE_H

#include "base/error.h"

#include <stdbool.h>

typedef struct syi_queue_device {
    int64_t tiles;      /* its share: the run after those of the devices before it */
    double ns_per_tile; /* believed; > 0 */
    double packet_ns;   /* fixed cost of a packet, believed */
    double spread;      /* relative uncertainty of these; >= 1: not measured, a mere guess */
    int64_t least;      /* tiles in a packet that use all of it (its threads); 0: one does */
} syi_queue_device;

typedef enum syi_queue_mode {
    SYI_QUEUE_BALANCED,
    SYI_QUEUE_FORCED /* everybody computes exactly his share, at once; only what a device that
                        leaves has not done goes to others */
} syi_queue_mode;

typedef enum syi_turn { SYI_TURN_TAKE, SYI_TURN_WAIT, SYI_TURN_DONE } syi_turn;

typedef struct syi_packet {
    int64_t first, count;
    bool tail;       /* from outside its own run */
    double retry_ns; /* of SYI_TURN_WAIT */
} syi_packet;

typedef struct syi_queue syi_queue;

sy_status syi_queue_open(const syi_queue_device *devices, int count, syi_queue_mode mode,
                         syi_queue **out);
void syi_queue_close(syi_queue **queue);

/* The device's next packet. `now_ns` is any clock that starts when the work does, and the same for
 * all devices. WAIT: others will probably be finished sooner, but may fail. */
syi_turn syi_queue_next(syi_queue *queue, int device, double now_ns, syi_packet *out);

/* The device is finished with its packet: the first `done` tiles took `ns`; what is not done goes
 * back. On failure (memory) the queue is as it was. */
sy_status syi_queue_report(syi_queue *queue, int device, int64_t done, double ns);

/* The device takes no more packets. It has none in its hands. */
void syi_queue_leave(syi_queue *queue, int device);

/* A device that had left takes packets again. */
void syi_queue_join(syi_queue *queue, int device);

/* Tiles not yet done. */
int64_t syi_queue_left(const syi_queue *queue);

#endif
