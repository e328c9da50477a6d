/* The description of a simulated device, `NAME:speed=3.0:memory=6GiB:link=12GB/s:...`. */
#ifndef SYI_DEVICE_SIM_OPTIONS_H
#define SYI_DEVICE_SIM_OPTIONS_H

#include "base/error.h"

typedef enum sim_fault {
    SIM_FAULT_NONE,
    SIM_FAULT_OOM,    /* the k-th operation finds no memory, once */
    SIM_FAULT_LAUNCH, /* the k-th operation fails, once */
    SIM_FAULT_LOST    /* the device is gone from the k-th operation on */
} sim_fault;

typedef struct sim_options {
    char name[48];
    double speed;            /* 1 = 1e8 elements per second; infinite: takes no time */
    double memory;           /* bytes; infinite: no limit */
    double bytes_per_second; /* of the link; infinite: copies take only the latency */
    double latency_ns;       /* of a launch, and of a copy */
    sim_fault fault;
    int64_t fault_at;
} sim_options;

/* Parses what follows `sim:`. Options that are not named take no time and have no limit; speed
 * is 1. */
sy_status syi_sim_parse_options(const char *text, sim_options *out);

#endif
