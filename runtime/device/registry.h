/* Device lists: from text to opened devices. */
#ifndef SYI_DEVICE_REGISTRY_H
#define SYI_DEVICE_REGISTRY_H

#include "base/log.h"
#include "device/backend.h"

struct syi_devices {
    syi_device **list;
    int count;
    int is_auto;             /* every device there is is among them */
    const sy_config *config; /* while they are being opened */
    syi_log *log;
    int64_t watchdog_ns;
    struct syi_cuda_driver *cuda; /* opened with the first GPU */
    struct syi_nvml *nvml;        /* with it; NULL: none */
    struct syi_cuda_gather *gather;
};

/* Opens every item of config->devices (NULL, empty: `auto`). On failure nothing stays open. */
sy_status syi_devices_open(const sy_config *config, syi_log *log, syi_devices *out);
/* Before the caller's memory on them is given back for the last time. */
void syi_devices_end(syi_devices *devices);
void syi_devices_close(syi_devices *devices);

/* For the kinds' open functions: takes the device over (closes it on failure) and makes its name
 * unique. */
sy_status syi_devices_add(syi_devices *devices, syi_device *device);
/* How many devices of a kind there are already. */
int syi_devices_of_type(const syi_devices *devices, sy_device_type type);
/* The CPU's threads; 0: it is none of the devices. */
int syi_devices_threads(const syi_devices *devices);

/* The device of that name, id or uuid; -1: none. */
int syi_devices_find(const syi_devices *devices, const char *word);
/* "a, b, cpu", for error messages. */
void syi_devices_names(const syi_devices *devices, char *text, size_t size);

#endif
