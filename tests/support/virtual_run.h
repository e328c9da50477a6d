/*
 * Runs a queue in virtual time: devices of given true speeds, no threads, no clock. What comes out
 * is exact and always the same, so tests can ask for efficiencies.
 */
#ifndef TESTS_SUPPORT_VIRTUAL_RUN_H
#define TESTS_SUPPORT_VIRTUAL_RUN_H

#include "model/queue.h"

enum { VIRTUAL_DEVICES = 16 };

typedef struct virtual_device {
    double ns_per_tile; /* the truth */
    double packet_ns;
    double noise; /* relative deviation of a packet's time */
    /* From this time on it is `slower` times as slow (0: it stays as it is). */
    double changes_at_ns, slower;
    /* It fails in its k-th packet, half of it done, and leaves (0: never). */
    int fails_at;
} virtual_device;

typedef struct virtual_result {
    double makespan_ns;
    int64_t tiles[VIRTUAL_DEVICES];
    double busy_ns[VIRTUAL_DEVICES];
    int packets[VIRTUAL_DEVICES];
    int once; /* every tile was computed exactly once */
} virtual_result;

/* Runs until nobody gets a packet any more; takes no longer than there are tiles. `seed` is the
 * noise's. */
void virtual_run(syi_queue *queue, const virtual_device *devices, int count, uint64_t seed,
                 virtual_result *out);

/* A number about 0 with deviation 1, of a seed and an index. */
double virtual_noise(uint64_t seed, uint64_t index);
/* A number in [0, 1). */
double virtual_uniform(uint64_t seed, uint64_t index);

#endif
