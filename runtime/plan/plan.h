/*
 * A plan: which device computes which tiles. Made from ratios alone, so it can be made again,
 * printed and compared; nothing in it decides the result's bits.
 */
#ifndef SYI_PLAN_PLAN_H
#define SYI_PLAN_PLAN_H

#include "device/registry.h"
#include "model/decide.h"
#include "model/split.h"

/* Where the ratios came from, strongest first. */
typedef enum syi_source {
    SYI_SOURCE_CALL,    /* the call's own */
    SYI_SOURCE_PROFILE, /* multigpu.json */
    SYI_SOURCE_OTHER,   /* what that has for another tag */
    SYI_SOURCE_NOMINAL  /* nothing is known but what the devices say of themselves */
} syi_source;

/* That a work goes to the CPU or to the GPUs, all of it. */
typedef struct syi_choice {
    bool made;     /* else all devices may take part */
    bool forced;   /* by the caller */
    bool probe;    /* to learn how long it takes there */
    bool resident; /* because an array lives there */
    syi_side side;
    double ms[2]; /* by side, what was known; NaN: nothing */
} syi_choice;

/* What is believed of a device's speed when the work begins. */
typedef struct syi_belief {
    double ns_per_tile, packet_ns;
    double spread; /* relative; 1: a mere guess */
} syi_belief;

/* Its arrays are the job's memory. */
typedef struct syi_plan {
    int64_t tiles;
    int count;       /* devices of the context */
    double *ratios;  /* sum 1; 0: left out */
    int64_t *shares; /* tiles; device i gets the run after those of the devices before it */
    syi_belief *beliefs;
    syi_part *parts;    /* predicted; NULL: not asked for, or no costs are known */
    double makespan_ns; /* the same of the whole */
    syi_source source;
    char lender[64]; /* SYI_SOURCE_OTHER: the tag */
    syi_choice choice;
    bool cold;    /* some device's first work of the kind in this context */
    bool assumed; /* some device's cost is by nominal speeds */
    int exact;    /* the shares are an order; else a beginning, corrected while the work goes on */
} syi_plan;

/* Ratios of a list by name, id or uuid: SY_ERR_ARGUMENT unless every one is finite, > 0, known and
 * named once. Not normalised; devices not named get 0. `ratios` has one place per device. */
sy_status syi_ratios_check(const syi_devices *devices, const sy_ratio *list, int n, double *ratios);

/* The same from a stored list: what is not there is left out and reported in `absent` (the names,
 * comma-separated; empty: none). Gives the number of devices found. */
int syi_ratios_match(const syi_devices *devices, const sy_balance *stored, double *ratios,
                     char *absent, size_t absent_size);

/* `ratios` as above, or NULL: by nominal rate. Devices that failed, cannot be used, or have no form
 * of the workload get nothing. Where a call's own ratios leave none because they name one that has
 * failed, it is by nominal rate as well: the others went on in the call in which that failed, too.
 * SY_ERR_NO_DEVICE when none is left. */
sy_status syi_plan_make(const syi_devices *devices, const syi_job *job, const double *ratios,
                        syi_source source, syi_plan *out);

/* Room for plan->count devices, and the number of tiles. */
sy_status syi_plan_reserve(const syi_job *job, syi_plan *plan);

/* What is known of a device. */
typedef struct syi_experience {
    const syi_cost *cost; /* NULL: nothing */
    int guess;            /* measured on something that is not quite what is there now */
    double start_ns;      /* due before it begins, unless it is the only one: its thread */
} syi_experience;

/* Gives the tiles of the job to the devices so that the last one is finished soonest, by
 * `known` (one per device); SY_ERR_NO_DEVICE when no cost is known of a device that can work.
 * `trials`: whom a guess would leave out gets a tile all the same, to show that it is wrong. */
sy_status syi_plan_balance(const syi_devices *devices, const syi_job *job,
                           const syi_experience *known, bool trials, syi_plan *out);

/* What a plan will take. Without costs of every device with tiles: nothing. */
sy_status syi_plan_predict(const syi_devices *devices, const syi_job *job,
                           const syi_experience *known, syi_plan *plan);

/* How long it will take, in milliseconds; below 0: nothing is known. */
double syi_plan_ms(const syi_plan *plan);

/* Why a device can have no part of the workload; NULL: it can. */
const char *syi_plan_obstacle(syi_device *device, const syi_workload *workload);

#endif
