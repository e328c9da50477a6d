/*
 * The split: how many tiles each device gets so that the last one to finish finishes as early as
 * possible. A device that would only delay the others gets nothing. Pure.
 */
#ifndef SYI_MODEL_SPLIT_H
#define SYI_MODEL_SPLIT_H

#include "base/error.h"
#include "model/cost.h"

typedef struct syi_split_device {
    const syi_cost *cost; /* NULL: not to be used */
    int link;        /* copies of devices with the same number share its bandwidth; -1: alone */
    double memory;   /* bytes for the arrays of its tiles, more go in chunks; 0: no limit */
    double start_ns; /* due before it begins, unless it is the only one: its thread */
} syi_split_device;

typedef struct syi_split_work {
    int64_t tiles;
    double elements_per_tile; /* the mean */
    double bytes_per_tile;    /* all arrays */
} syi_split_work;

/* What limits a device, or why it gets nothing. */
typedef enum syi_limit {
    SYI_LIMIT_COPY_IN,
    SYI_LIMIT_COMPUTE,
    SYI_LIMIT_COPY_OUT,
    SYI_LIMIT_LATENCY, /* fixed costs are more than half; left out: they alone take too long */
    SYI_LIMIT_MEMORY,  /* left out: not one tile fits */
    SYI_LIMIT_SPEED,   /* left out: it would finish one tile after the others finish everything */
    SYI_LIMIT_UNUSED,  /* left out: no cost was given */
    SYI_LIMIT_NO_WORK  /* left out: there are no more tiles than devices that finish them sooner */
} syi_limit;

typedef struct syi_part {
    int64_t tiles;
    double phase_ns[SYI_PHASES], total_ns; /* predicted; left out: of one tile, 0 if unknown */
    syi_limit limit;
} syi_part;

typedef enum syi_extent {
    SYI_EXTENT_NONE, /* no work */
    SYI_EXTENT_CPU,
    SYI_EXTENT_ONE, /* one device, not the CPU */
    SYI_EXTENT_SOME,
    SYI_EXTENT_ALL
} syi_extent;

/* Fills `shares`, the tiles of each device. SY_ERR_NO_DEVICE when no device has a cost,
 * SY_ERR_MEMORY when none has memory for a tile, or memory for the computation is
 * exhausted. */
sy_status syi_split_make(const syi_split_device *devices, int count, const syi_split_work *work,
                         int64_t *shares);

/* What shares will take, and why: fills in the rest of `parts`, one per device, whose tiles are
 * given. */
sy_status syi_split_predict(const syi_split_device *devices, int count, const syi_split_work *work,
                            syi_part *parts, double *makespan_ns);

/* Of so many devices with tiles, so many of them CPUs, out of those that could have some. */
syi_extent syi_extent_of(int used, int used_cpus, int usable);

/* The words of the plan: `cpu`, `one`, ..., and `compute`, `copy in`, ... */
const char *syi_extent_word(syi_extent extent);
const char *syi_limit_word(syi_limit limit);

#endif
