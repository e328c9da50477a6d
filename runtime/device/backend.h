/*
 * What a kind of device has to offer. The kinds are the rows of backends.def; a device is opened
 * from one item of the device list, and runs spans of tiles until it is closed.
 */
#ifndef SYI_DEVICE_BACKEND_H
#define SYI_DEVICE_BACKEND_H

#include "device/host.h"
#include "device/place.h"
#include "device/trace.h"

typedef struct syi_device syi_device;

typedef struct syi_devices syi_devices;

/* Memory that a kind's devices have of their own, and pinned memory, which their driver knows. An
 * address may be inside an allocation. A read or write that fails with SY_ERR_DEVICE makes the
 * device `lost`. All may be called by several threads, and while the device runs. */
typedef struct syi_ram {
    /* What the driver knows of an address: kind and home, no owner. Fails when it does not answer.
     */
    sy_status (*locate)(syi_device *device, const void *address, size_t bytes, syi_place *out);
    sy_status (*allocate)(syi_device *device, size_t bytes, syi_place_kind kind, void **out);
    /* Whether it is gone. Not while a device that hangs may still be using it: to be tried again.
     */
    int (*release)(syi_device *device, syi_place_kind kind, void *memory);
    sy_status (*read)(syi_device *device, const void *from, size_t bytes, void *to);
    sy_status (*write)(syi_device *device, void *to, size_t bytes, const void *from);
    /* Fails, and the device is `lost`, once what was read from it may be wrong. */
    sy_status (*check)(syi_device *device);
    /* An array on each of these devices, of different homes, in the order of the context: `count`
     * parts of `part` bytes, of which the i-th has the i-th. Afterwards every one has all.
     * SY_ERR_DEVICE: one of them failed. */
    sy_status (*exchange)(syi_device *const *devices, void *const *arrays, int count, size_t part);
} syi_ram;

typedef struct syi_backend {
    const char *prefix; /* `cpu`, `sim`: what an item of the device list begins with */
    sy_device_type type;
    /* Opens what `item` (the whole text, `sim:a:speed=3`) stands for, with syi_devices_add. */
    sy_status (*open)(const char *item, syi_devices *devices);
    /* Opens what `auto` means for this kind; NULL: nothing. SY_ERR_NO_DEVICE: there is none. */
    sy_status (*open_all)(syi_devices *devices);
    void (*close)(syi_device *device);
    /* Brings what changes (free memory) up to date in a copy of the device's info. */
    void (*refresh)(syi_device *device, sy_device_info *info);
    /* Gives memory kept between runs back; NULL: none is kept. */
    void (*trim)(syi_device *device);
    /* Why the device cannot run this workload, for as long as it is open; NULL: it can. No such
     * function: it can run every one. By several threads at once, and while the device runs. */
    const char *(*obstacle)(syi_device *device, const syi_workload *workload);
    /* Computes the span; returns when it is done or the device cannot go on. On failure
     * outcome->tiles_done tells the finished prefix; busy_ms, however it ends, how long it took.
     * SY_ERR_MEMORY and SY_ERR_DEVICE: somebody else may do the rest; anything else ends the run.
     */
    sy_status (*run)(syi_device *device, const syi_job *job, syi_tiles span, syi_outcome *outcome);
    const syi_ram *ram; /* NULL: it computes in the host's memory */
} syi_backend;

/* The part that every kind's device begins with. */
struct syi_device {
    const syi_backend *backend;
    sy_device_info info;
    int index;           /* in the context */
    const char *code;    /* the instruction set that the host computes with; NULL: it does not */
    double nominal_rate; /* elements per second before anything is measured: a first guess */
    _Atomic int failed;  /* not used again in this context */
    int home;         /* whose arrays it uses in place: 1 + the driver's number of its GPU; 0: the
                         host's */
    _Atomic int lost; /* the memory of its home cannot be read any more */
    int bars_managed; /* the host must not touch managed memory while it works */
};

#define SYI_BACKEND(name) extern const syi_backend syi_backend_##name;
#include "device/backends.def"
#undef SYI_BACKEND

#endif
