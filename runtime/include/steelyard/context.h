/* steelyard: the context and its devices. Conventions: steelyard.h. */
#ifndef STEELYARD_CONTEXT_H
#define STEELYARD_CONTEXT_H

#include <steelyard/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sy_log_level { SY_LOG_INFO = 0, SY_LOG_WARNING = 1 } sy_log_level;

/* Called with one line without line feed; from any thread, one call at a time, and within it for
 * what the library has to say to calls of its own: four times at most, then that is dropped. */
typedef void (*sy_log_fn)(void *user, sy_log_level level, const char *line);

/* How results that belong on a GPU get there from the others: the first way that is tried. One that
 * is not to be had, fails, or hangs past the watchdog is given up for the next one, and the log
 * says so. */
typedef enum sy_gather {
    SY_GATHER_AUTO = 0, /* as SY_GATHER_NCCL, but its absence is not worth a warning */
    SY_GATHER_NCCL = 1, /* NCCL's send and receive, and all-gather (sy_memory_spread) */
    SY_GATHER_PEER = 2, /* the driver's copies from GPU to GPU */
    SY_GATHER_HOST = 3  /* through the host's memory, the inputs too */
} sy_gather;

typedef struct sy_config {
    size_t struct_size;
    /* Comma-separated device list: `auto` (default: every usable GPU and the CPU), `cpu`,
     * `cpu:threads=4`, `cuda`, `cuda:0`, parts of a GPU `cuda:0/96+36`, and simulated devices
     * `sim:NAME:speed=3.0:memory=6GiB:link=12GB/s:latency=20us:fail=oom@3` (docs/devices.md). */
    const char *devices;
    /* NULL: the order of docs/files.md. Where that finds no place, for a user without a home
     * folder, works are computed as without profiles, which the log says; whatever reads or stores
     * a profile or a threshold fails with SY_ERR_IO. */
    const char *multigpu_path, *thresholds_path;
    sy_log_fn log; /* NULL: messages are dropped */
    void *log_user;
    const char *cuda_driver; /* path of the CUDA driver's library; NULL: the system's */
    int frozen; /* non-zero: runs do not correct what is known of the devices (docs/balance.md) */
    uint64_t memory_budget; /* bytes of each GPU's memory that the parts of a work under way take
                               together at most; 0: as a rule an eighth of it */
    double watchdog_ms;     /* a GPU that has not answered for so long has failed; 0, negative or
                               NaN: 30,000 */
    const char *nvml; /* path of NVML's library; NULL: the system's, none beside a `cuda_driver` */
    sy_gather gather;
    const char *nccl_library; /* path of the NCCL library; NULL: the system's, and none where
                                 cuda_driver is given */
} sy_config;

typedef struct sy_context sy_context;

/* Opens the devices. `config` may be NULL. Give back with sy_context_destroy. */
SY_API sy_status sy_context_create(const sy_config *config, sy_context **out);

/* Takes the address, accepts a NULL inside, leaves NULL. No call may be running on it. What its
 * runs have found of the devices goes to multigpu.json for the next context (docs/balance.md). */
SY_API void sy_context_destroy(sy_context **context);

/* Gives the device and pinned memory back that is kept between calls, NCCL's too, of GPUs that do
 * not run a work meanwhile. NULL is accepted. */
SY_API void sy_trim(sy_context *context);

/* The same by itself when the scope ends, whichever way it is left:
 *
 *     {
 *         SY_TRIM_AT_SCOPE_END(context);
 *         ...
 *     }
 *
 * `context` is the variable, looked at only then: a context destroyed meanwhile is NULL, and fine.
 * With GCC and Clang, in C and C++; not defined elsewhere. */
#if defined(__GNUC__)
static inline void sy_trim_scope_ends(sy_context *const **guard)
{
    sy_trim(**guard);
}
#define SY_TRIM_GUARD_(context, line)                                                              \
    __attribute__((cleanup(sy_trim_scope_ends), unused)) sy_context *const *sy_trim_guard_##line = \
        &(context)
#define SY_TRIM_GUARD_AT_(context, line) SY_TRIM_GUARD_(context, line)
#define SY_TRIM_AT_SCOPE_END(context)    SY_TRIM_GUARD_AT_(context, __LINE__)
#endif

/* ---- devices ----------------------------------------------------------------------------- */

typedef enum sy_device_type {
    SY_DEVICE_CPU = 0,
    SY_DEVICE_CUDA = 1,
    SY_DEVICE_SIMULATED = 2
} sy_device_type;

typedef struct sy_device_info {
    char id[64];   /* `cpu`, `cuda:0`, `sim:0` */
    char name[64]; /* what ratios call it: `cpu`, `RTX3090`, `RTX3090#2`, a simulated NAME */
    char description[128]; /* the vendor's model name */
    char uuid[48];         /* empty where there is none */
    sy_device_type type;
    uint64_t memory_total, memory_free; /* bytes; 0: unknown */
    int compute_major, compute_minor;   /* compute capability; 0.0 where there is none */
    int units;                          /* threads of a CPU, multiprocessors of a GPU */
    int usable;                         /* 0: listed only */
    char reason[192];                   /* why it is not usable; empty otherwise */
    /* Of GPUs, as far as the driver and NVML (where it is) tell; unless said otherwise, 0 and the
     * empty text mean: not known. */
    char driver[32]; /* the vendor's version, `580.65.06`; without NVML `CUDA 13.0` */
    char pci[16];    /* `0000:65:00.0` */
    int link;        /* devices with the same number share their way to the host; 0: nothing is
                        known of such a neighbour */
    int pcie_generation, pcie_lanes; /* the most that the GPU and its slot can do */
    int clock_max_mhz;               /* of the multiprocessors: the highest */
    int clock_mhz, memory_clock_mhz; /* at the moment of the query, as all that follows */
    int utilization_percent;         /* of the last second or less, the part in which kernels of
                                        anybody ran; -1: not known */
    int temperature_c;               /* degrees Celsius; -1: not known */
    int power_mw, power_limit_mw;    /* milliwatts: drawn, and at most */
} sy_device_info;

SY_API int sy_device_count(const sy_context *context);

/* Fills `out` for 0 <= index < sy_device_count(); SY_ERR_ARGUMENT for another index. */
SY_API sy_status sy_device_query(sy_context *context, int index, sy_device_info *out);

#ifdef __cplusplus
}
#endif

#endif
