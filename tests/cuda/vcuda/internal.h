/* The inside of the simulated driver. One lock guards everything; a call takes it in vci_enter and
 * gives it back in vci_leave, and functions named here expect it held unless they say otherwise. */
#ifndef VCUDA_INTERNAL_H
#define VCUDA_INTERNAL_H

#ifdef VCUDA_TOOLKIT_HEADER
#include <cuda.h>
#endif
#include "device/cuda/api.h"
#include "vcuda.h"
#include "../vptx/vptx.h"

#include <pthread.h>
#include <stdbool.h>

#ifndef VCUDA_TOOLKIT_HEADER
#define SYI_CU(need, name, symbol, fallback, arguments) CUresult symbol arguments;
#include "device/cuda/api.def"
#undef SYI_CU
#endif

enum vc_call {
#define SYI_CU(need, name, symbol, fallback, arguments) VC_##symbol,
#include "device/cuda/api.def"
#undef SYI_CU
    VC_CALLS
};

enum { VC_MAX_GPUS = 16, VC_STACK = 16, VC_RED_ZONE = 512, VC_ALIGN = 256 };
enum vc_mode { VC_TIME, VC_LIFO, VC_RANDOM, VC_THREADS };

typedef struct vc_gpu vc_gpu;
typedef struct vc_context vc_context;
typedef struct vc_stream vc_stream;
typedef struct vc_op vc_op;

/* ---- objects and handles: a handle is a number that was never an address ---- */

enum vc_type {
    VC_CONTEXT = 1,
    VC_STREAM,
    VC_EVENT,
    VC_MODULE,
    VC_FUNCTION,
    VC_GREEN,
    VC_PARTITION
};

typedef struct vc_object {
    enum vc_type type;
    void *handle;
    vc_context *context; /* that it dies with */
} vc_object;

void vci_handle_make(vc_object *object, enum vc_type type, vc_context *context);
void *vci_handle_find(enum vc_type type, const void *handle); /* NULL: none such, or no more */
void vci_handle_drop(vc_object *object);
/* The next object of the type that belongs to the context, to destroy it. */
void *vci_handle_of(enum vc_type type, const vc_context *context);
void vci_handles_clear(void);

/* ---- devices and contexts ---- */

struct vc_context {
    vc_object object;
    vc_gpu *gpu;
    unsigned int sms;
    int64_t compute_free; /* when the compute engine is next free */
    vc_stream *null_stream;
    bool green;
    const struct vc_thread *holder; /* of a green one: in whose stack it is, and how often */
    int holds;
    vc_context *next; /* of all that ever were: operations may point to a closed one */
};

struct vc_gpu {
    int index;
    char name[128];
    uint64_t memory;
    double speed, link, bandwidth; /* lane instructions per ns and SM; bytes per ns */
    int64_t latency;
    unsigned int sms;
    int major, minor;
    bool peer;
    bool managed; /* the host may touch managed memory while it works */

    CUresult failed; /* sticky */
    bool lost;
    double slow;
    uint64_t address, cursor, end; /* of its part of the address space; 0 before the first use */
    uint64_t used;
    unsigned int peers; /* bit per GPU whose memory its kernels may touch */
    unsigned int retained;
    vc_context *primary;
    int64_t in_free, out_free;
    vcuda_counts counts;
};

/* A piece of memory that devices know: on a GPU, or pinned on the host. */
typedef struct vc_region {
    vptx_window window; /* for pinned memory base == host */
    vc_gpu *gpu;        /* NULL: host */
    vc_context *context;
    bool managed;       /* with gpu NULL: the host's and the devices' */
    uint64_t mapped;    /* bytes to unmap; 0: the caller's own memory, registered */
    int64_t written_at; /* the last value written by a stream */
    int users;          /* operations that are at it now */
    bool freed;
    struct vc_region *next; /* by address */
} vc_region;

/* ---- operations ---- */

enum vc_op_kind {
    VC_COPY_IN,
    VC_COPY_OUT,
    VC_COPY_DEVICE,
    VC_COPY_PEER,
    VC_FILL,
    VC_KERNEL,
    VC_MARK, /* does nothing: event records and waits */
    VC_HOST_CALL,
    VC_WAIT_VALUE,
    VC_WRITE_VALUE
};
enum vc_op_state { VC_QUEUED, VC_RUNNING, VC_DONE };

typedef struct vc_launch {
    const vptx_kernel *kernel;
    vptx_launch_config config;
    unsigned char *parameters;
} vc_launch;

struct vc_op {
    enum vc_op_kind kind;
    enum vc_op_state state;
    int references;
    int polls; /* how often it was asked for in vain */
    uint64_t number;
    vc_context *context;
    vc_gpu *gpu, *peer; /* peer: where VC_COPY_PEER reads */
    vc_stream *stream;
    vc_op *next;
    vc_op **after; /* must be done first */
    int after_count;
    int64_t submitted, start, end;

    uint64_t to, from, bytes;
    void *host;   /* source or destination on the host */
    void *staged; /* a copy made at the call; freed with the operation */
    bool pinned;  /* `host` must still be pinned when it runs */
    unsigned int value, flags;
    vc_launch *launch;
    CUhostFn function;
    CUstreamCallback callback;
    void *user;

    CUresult fault; /* injected */
    bool hangs;
    int64_t hang_limit;
};

struct vc_stream {
    vc_object object;
    bool blocking; /* waits for the null stream, and it for this one */
    bool closed;   /* destroyed; forgotten once it is empty */
    bool idle;     /* its thread is gone */
    bool threaded;
    const struct vc_thread *capturer; /* NULL: it is not captured */
    CUstreamCaptureMode capture;
    bool spoiled;       /* the capture is void */
    vc_op *head, *last; /* last: the newest, done or not */
    int64_t tail;       /* when the last done one ended */
    vc_stream *next;
};

typedef struct vc_event {
    vc_object object;
    bool timed;
    vc_op *recorded;
} vc_event;

/* ---- the machine ---- */

struct vc_fault {
    int device, call; /* -1: any */
    uint64_t after, times;
    bool forever, sticky, async, hang, lost;
    CUresult error;
    int64_t limit;
    double slow;
};

struct vc_machine {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t epoch;    /* counts resets: older threads' states are void */
    uint64_t activity; /* counts everything, to tell a stall from progress */
    bool described, started;
    int driver;
    int stall_ms; /* without any call, before a wait with nothing to run is a deadlock */
    int gpu_count;
    vc_gpu gpus[VC_MAX_GPUS];
    enum vc_mode mode;
    uint64_t seed, random;
    uint64_t operations;
    vc_context *contexts;
    vc_stream *streams;
    vc_region *regions;
    struct vc_fault *faults;
    int fault_count;
    enum vc_call call; /* the present one */
    bool refused;      /* it may not be made here and now: nothing is given back either */
    uint64_t calls[VC_CALLS];
    vcuda_counts loose; /* of no device */
    char message[512];
};
extern struct vc_machine vc;

typedef struct vc_thread {
    uint64_t epoch;
    int64_t now;
    int polls; /* in a row */
    int depth;
    CUcontext stack[VC_STACK];
    bool in_host_call;
    CUstreamCaptureMode mode;
} vc_thread;
vc_thread *vci_thread(void);

/* entry.c. `who` is a device or one of these: */
enum { VC_NOBODY = -1, VC_CURRENT = -2, VC_RELEASE = -3, VC_BAD_DEVICE = -4 };
/* Counts the call, moves the clock, applies planned faults and refuses what must not go on. With
 * VC_RELEASE a failed device does not refuse: what is given back is gone, whatever is returned. */
CUresult vci_enter(enum vc_call call, int who);
CUresult vci_leave(CUresult result);
int vci_who(CUdevice device);
vc_context *vci_current(void); /* NULL: none */

/* context.c */
vc_context *vci_context_open(vc_gpu *gpu, unsigned int sms);
void vci_context_close(vc_context *context);
void vci_contexts_clear(void);

/* memory.c */
vc_region *vci_region(uint64_t address, uint64_t bytes); /* all of it inside one; NULL: no */
CUresult vci_region_make(vc_context *context, uint64_t bytes, vc_region **out);
void vci_region_drop(vc_region *region);
void vci_region_release(vc_region *region); /* ends one use */
/* 1: pinned, 0: plain memory, -1: partly pinned, or a device's. */
int vci_is_pinned(const void *host, uint64_t bytes);
void vci_map_free(void *memory, uint64_t bytes);

/* schedule.c */
vc_op *vci_op_make(vc_stream *stream, enum vc_op_kind kind);
void vci_op_after(vc_op *op, vc_op *earlier);
void vci_op_release(vc_op *op);
CUresult vci_submit(vc_op *op); /* takes the operation over */
CUresult vci_wait(vc_op *op);   /* NULL: nothing to wait for */
CUresult vci_poll(vc_op *op);
CUresult vci_wait_gpu(vc_gpu *gpu);
void vci_run(vc_op *op);
bool vci_ready(const vc_op *op);
/* Lets others work for a moment: until something changes, at most a few milliseconds. */
void vci_pause(void);

/* capture.c: what others' captures forbid, which are void after it. */
CUresult vci_capture_check(enum vc_call call);
CUresult vci_capture_meet(vc_stream *stream); /* that something is asked of, or put into */

/* choose.c */
vc_op *vci_choose(const vc_op *target, int64_t not_after);
int64_t vci_start_of(const vc_op *op);
uint64_t vci_random(void);

/* execute.c, launch.c: the effect of an operation, and how long it took. May let go of the lock. */
CUresult vci_execute(vc_op *op, int64_t *duration);
CUresult vci_execute_kernel(vc_op *op, int64_t *duration);

/* stream.c */
CUresult vci_stream_of(CUstream handle, vc_stream **out); /* NULL: the current context's */
vc_stream *vci_stream_open(vc_context *context, bool blocking);
void vci_stream_close(vc_stream *stream);
void vci_streams_reap(void);

/* event.c, module.c, green.c: destruction with the context */
void vci_event_close(vc_event *event);
void vci_module_close(void *module);
void vci_green_close(void *green);

/* fault.c */
CUresult vci_fault_check(int device); /* for the present call */
void vci_fault_mark(vc_op *op);       /* for the operation that it submits */
void vci_fail(vc_gpu *gpu, CUresult error);
bool vci_faults_from(const char *list); /* separated by `;`; NULL: none */
void vci_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
CUresult vci_error_named(const char *text); /* CUDA_SUCCESS: no such */

/* fatbin.c: the PTX inside an image; NULL with the error in *why. */
const char *vci_image_ptx(const void *image, const vc_gpu *gpu, size_t *length, CUresult *why);

/* control.c */
void vci_defaults(void);
void *vci_alloc(size_t count, size_t size); /* zeroed; ends the test when memory is out */
void *vci_grow(void *block, size_t count, size_t size);
bool vci_number(const char *text, double *out); /* with a unit */

#endif
