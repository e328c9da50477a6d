/*
 * What the files about GPUs work on: a device, its slots, and how a slab lies in one. A slot is one
 * place in a GPU's pipeline: a stream, device memory for one slab and pinned memory to stage it.
 * Several slots make copies in, kernels and copies out overlap. Slots keep their memory between
 * calls.
 */
#ifndef SYI_DEVICE_CUDA_DEVICE_H
#define SYI_DEVICE_CUDA_DEVICE_H

#include "device/backend.h"
#include "device/cuda/driver.h"
#include "device/cuda/nvml.h"
#include "launch.h"

#include <pthread.h>

/* One slab copied in, one computed, one copied out, and one more: the host sees only after a while
 * that a slab has ended. */
enum { CUDA_SLOTS = 4, CUDA_MARKS = 4, CUDA_PEERS = 16, CUDA_MOST_ENDING = 16 };

/* Bytes of staging memory of all slots together, but for what a single tile needs: a core takes
 * some 6 ms to copy a slot's, next to which launching a slab and waiting for it is little, and any
 * host can spare it. */
enum { CUDA_STAGING = 1 << 28 };

/* The host in a set of homes: pinned arrays. */
#define CUDA_HOST UINT64_C(1)

/* How an array's stretch gets to the kernel or back. */
typedef enum cuda_route {
    CUDA_STAGED,  /* through the staging memory */
    CUDA_PINNED,  /* straight from or to the caller's array in the host's memory */
    CUDA_PEER,    /* straight from or to the caller's array on another GPU */
    CUDA_IN_PLACE /* the kernel works in the caller's array on this GPU */
} cuda_route;

/* Where a slab's arrays are in a slot: byte offsets, the same in device and in staging memory,
 * which ends where nothing is staged any more. Arrays in place need no room. */
typedef struct cuda_layout {
    cuda_route in_route[SYI_MAX_ARRAYS], out_route[SYI_MAX_ARRAYS];
    size_t in[SYI_MAX_ARRAYS], out[SYI_MAX_ARRAYS];
    size_t wide_in[SYI_MAX_ARRAYS], wide_out[SYI_MAX_ARRAYS]; /* floats as doubles */
    size_t doubts, partials, links;
    size_t in_end;     /* everything before it comes from the staging memory */
    size_t staged_end; /* everything from there to here goes back to it */
    size_t end;
    int64_t unit_columns, units_per_row, units;
} cuda_layout;

typedef struct cuda_slot {
    CUstream stream;
    CUevent marks[CUDA_MARKS]; /* before the copies in, before and after the kernel, at the end */
    CUdeviceptr memory;
    unsigned char *staging; /* pinned */
    size_t bytes, staged;   /* of memory and of staging memory */
    int busy;               /* a slab is under way */
    uint64_t far;           /* homes whose arrays its copies use, but for its own GPU's */
    syi_slab slab;
    cuda_layout layout;
} cuda_slot;

/* For a trace: a mark on the device's clock and the same moment on the host's. */
typedef struct cuda_origin {
    CUevent mark;
    double at_ns;
} cuda_origin;

/* What the host reads and writes the device's memory through, outside of runs. */
typedef struct cuda_port {
    pthread_mutex_t lock;
    CUstream stream;
    unsigned char *buffer; /* pinned; NULL: none yet */
} cuda_port;

/* What may be under way still (ending.h). */
typedef struct cuda_ending_stream {
    CUstream stream;
    int dropped; /* to be destroyed once it has ended */
} cuda_ending_stream;

typedef struct cuda_ending {
    pthread_mutex_t lock;
    cuda_ending_stream streams[CUDA_MOST_ENDING];
    int count, overflows;
    uint64_t homes; /* whose arrays they may use, beside those of their own GPU */
} cuda_ending;

typedef struct cuda_device {
    syi_device base;
    const syi_cuda_driver *driver;
    const syi_nvml *nvml; /* NULL: none */
    syi_nvml_device management;
    const syi_devices *devices;     /* it is one of */
    struct syi_cuda_gather *gather; /* of all GPUs of the context */
    CUdevice device;
    CUcontext primary; /* for what any thread may do at any time */
    /* The primary one, or the green one's, which can be current to one thread at a time: for the
     * one that has `running` locked, and for opening and closing. NULL: given back. */
    CUcontext context;
    CUgreenCtx green; /* NULL: the whole GPU */
    CUmodule module;
    pthread_mutex_t running; /* one run at a time */
    cuda_slot slots[CUDA_SLOTS];
    cuda_origin origin;     /* of a traced run (trace.h) */
    size_t budget;          /* bytes of device memory to use at most; 0: what is free */
    int parts;              /* that the GPU is opened as */
    pthread_mutex_t images; /* guards the list */
    struct cuda_user_image *user_images; /* user.h */
    struct syi_log *log;
    int64_t watchdog_ns;
    _Atomic int hung; /* nothing but cuStreamQuery is asked of it any more */
    cuda_ending ending;
    _Atomic int pinned; /* blocks of pinned memory that the caller has from it */
    int disowned;       /* a communicator of NCCL was left in its context */
    /* At the end: its context stays, for what it holds is in use; all is left to the driver, for
     * its GPU is not settled. */
    int kept, left;
    cuda_port port;
    CUcontext peers[CUDA_PEERS]; /* whose memory it was asked to reach by itself */
    pthread_mutex_t peering;     /* guards them */
} cuda_device;

sy_status syi_cuda_device_check(const cuda_device *cuda, CUresult result, const char *what);
/* A driver's function by its name in api.def, called and checked. */
#define CU(cuda, call) syi_cuda_device_check(cuda, (cuda)->driver->api.call, #call)

static inline CUdeviceptr cuda_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* Bytes that slabs of all slots take together at most: the budget, or this part's share of an
 * eighth of the memory. */
static inline uint64_t cuda_room(const cuda_device *cuda)
{
    return cuda->budget ? cuda->budget : cuda->base.info.memory_total / 8 / (uint64_t)cuda->parts;
}

/* Its place in a set of homes; home 0 is CUDA_HOST. */
static inline uint64_t cuda_home_bit(const cuda_device *cuda)
{
    return UINT64_C(1) << cuda->base.home % 64;
}

/* The homes of what is in its context. */
static inline uint64_t cuda_holdings(const cuda_device *cuda)
{
    return cuda_home_bit(cuda) | (cuda->pinned ? CUDA_HOST : 0);
}

/* What a thread does with the driver it does between these two, which nest: elsewhere in the
 * process somebody may be capturing a CUDA graph, and would forbid it, and lose the graph by it. It
 * concerns no graph, for all of it is on streams of our own. */
void syi_cuda_relax(const syi_cuda_api *api);
void syi_cuda_restore(const syi_cuda_api *api);
/* The same, with a context of the device current. After a failure nothing is to be left. */
CUresult syi_cuda_enter(const cuda_device *cuda, CUcontext context);
void syi_cuda_leave(const cuda_device *cuda);
#define CU_ENTER(cuda, context)                                                                    \
    syi_cuda_device_check(cuda, syi_cuda_enter(cuda, context), "cuCtxPushCurrent")

/* Waits until the stream is empty, at most as long as the watchdog says. */
sy_status syi_cuda_wait(cuda_device *cuda, CUstream stream);

/* The i-th device of the list if it is a part of the GPU with that home, or that GPU; else NULL. */
cuda_device *syi_cuda_of_home(const syi_devices *devices, int i, int home);

#endif
