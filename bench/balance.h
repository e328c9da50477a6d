/*
 * What the parts of bench_balance share: unequal machines made of simulated devices, whose perfect
 * time is known, and the players that are compared on them.
 */
#ifndef BENCH_BALANCE_H
#define BENCH_BALANCE_H

#include "harness.h"

enum { MOST_DEVICES = 4, MOST_RUNS = 64, TILE = 4096, MOST_PLAYERS = 16 };

typedef struct machine {
    const char *name;
    int count;
    double weight[MOST_DEVICES];
} machine;

/* A machine in a state: device i is slower[i] times slower than its profile says (NULL: none). */
typedef struct track {
    const char *name; /* of the case */
    const machine *machine;
    const double *slower;
} track;

/* One of those compared: `run(state)` computes all elements once; `wake` and `rest`, before and
 * after it, are not timed (NULL: nothing to do). */
typedef struct player {
    const char *name;
    void *state;
    void (*wake)(void *state);
    void (*rest)(void *state);
    void (*run)(void *state);
    void (*close)(void *state);
    double ms[MOST_RUNS];
} player;

/* Makes the row that is computed, of so many elements; balance_workload becomes `workload`. */
void balance_begin(int64_t elements, const char *workload);
void balance_end(void);
extern int64_t balance_elements;
/* All devices together: so slow that two cores, sleeping most of the time, can play them. */
extern const double balance_whole_speed;

/* What they compute: `light`, a workload so cheap that the devices take what their figures say on a
 * busy machine too, or one of the library's. */
extern const char *balance_workload;

/* The speeds now; `slower` NULL: those of the profile. */
void balance_speeds(const machine *m, const double *slower, double *speeds);
/* Devices first .. first + count - 1 of the machine, named a, b, ... */
sy_context *balance_open(const double *speeds, int first, int count);
/* A context of these devices that knows `light`. */
sy_context *balance_devices(const char *list);
/* Computes a part of the row. */
void balance_compute(sy_context *context, int64_t first, int64_t count, const sy_options *options);

/* Packets handed out to the same devices, by schedulers written for comparison: pure dynamic (equal
 * parts) and HGuided (parts that shrink with the rest, by believed speed). */
player balance_pool(const track *t, int guided);

/* StarPU, calibrated on the machine as its profile is; how many players were added (0: not built
 * with it, or it cannot have so many workers). */
int balance_starpu(const track *t, player *players);

/* Small sizes: the library against itself restricted to each subset of the devices. */
void balance_small(double from, double to);

#endif
