/*
 * Where the arrays of a job live, and how the host gets at those that it cannot address. The
 * devices that have memory of their own know what a pointer is (syi_ram in backend.h), so a caller
 * hands over pointers to anything.
 */
#ifndef SYI_DEVICE_PLACE_H
#define SYI_DEVICE_PLACE_H

#include "device/job.h"

struct syi_device;
struct syi_devices;

typedef enum syi_place_kind {
    SYI_PLAIN,     /* the host's memory */
    SYI_PINNED,    /* the host's memory, and devices copy to and from it by themselves */
    SYI_ON_DEVICE, /* the host cannot address it */
    SYI_MANAGED    /* it moves between devices and the host; of an array it counts as plain */
} syi_place_kind;

typedef struct syi_place {
    syi_place_kind kind;
    /* SYI_ON_DEVICE */
    int home;                 /* as in syi_device */
    size_t bytes;             /* from the address to its allocation's end */
    struct syi_device *owner; /* a device of that home, through which the host reads and writes */
} syi_place;

typedef struct syi_places {
    syi_place in[SYI_MAX_ARRAYS], out[SYI_MAX_ARRAYS];
} syi_places;

/* Asks the devices about every array; what is NULL counts as plain. Gives the job its places:
 * `room`, or none when no device has memory of its own. SY_ERR_ARGUMENT for an array on a device
 * that is not among them, or in managed memory that one of them keeps the host from, SY_ERR_DEVICE
 * for one on a device that failed. */
sy_status syi_places_find(const struct syi_devices *devices, syi_job *job, syi_places *room);

/* The same for one address; `bytes` from there on belong to the array. `what` names it. */
sy_status syi_place_find(const struct syi_devices *devices, const void *address, size_t bytes,
                         const char *what, syi_place *out);

/* SYI_PLAIN for a job without places. */
syi_place syi_place_in(const syi_job *job, int k);
syi_place syi_place_out(const syi_job *job, int k);
int syi_job_addressable(const syi_job *job);
/* The home of the first array that lives on a device; 0: none does. */
int syi_job_home(const syi_job *job);

/* The device whose memory one of the arrays is in and cannot be read any more; NULL: none. With
 * `ask` every such device is asked whether it still answers; without, what is known counts. */
struct syi_device *syi_job_lost(const syi_job *job, int ask);

/* `count` elements from element `at` of the whole array on, from or to the host's memory. */
sy_status syi_input_read(const syi_job *job, int k, int64_t at, int64_t count, void *to);
sy_status syi_output_read(const syi_job *job, int k, int64_t at, int64_t count, void *to);
sy_status syi_output_write(const syi_job *job, int k, int64_t at, int64_t count, const void *from);

/* A slab of which the host can address everything: `view` is that of the job, but where an array
 * lives on a device it is a copy of the slab's stretch. */
typedef struct syi_stage {
    syi_view view;
    int has_copies;                                 /* 0: where they would be is not set */
    void *in[SYI_MAX_ARRAYS], *out[SYI_MAX_ARRAYS]; /* the copies; NULL: none was needed */
} syi_stage;

/* Columns that are fetched at a time where there is a choice: 8 MiB. */
#define SYI_FETCHED (256 * SYI_TILE)

/* Fetches the inputs, and with `outputs` what the outputs hold now. */
sy_status syi_stage_open(const syi_job *job, const syi_slab *slab, int outputs, syi_stage *out);
/* Writes the outputs that are copies back. */
sy_status syi_stage_write(const syi_job *job, const syi_slab *slab, const syi_stage *stage);
void syi_stage_close(syi_stage *stage);

#endif
