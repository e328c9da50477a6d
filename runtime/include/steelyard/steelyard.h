/*
 * steelyard: several unequal devices as one fast device.
 *
 * Conventions of the whole header
 *   Units       elements, bytes, milliseconds, unless a name says otherwise.
 *   Shapes      [rows][columns], row-major; a row is an independent series, columns are time.
 *               A 1-D array is one row.
 *   Parameters  structs begin with `struct_size` (set it to sizeof the struct); every other field
 *               may be zero, and zero means the documented default.
 *   Ownership   arguments are borrowed for the call. What a call fills in belongs to the caller and
 *               is given back with the `_clear` or `_destroy` function named beside it.
 *   Errors      every call that can fail returns a sy_status, 0 being success; sy_last_error()
 *               holds the text. Results are written on success only. The one exception is the
 *               contents of the result arrays of a distribution, unspecified after a failure.
 *   Threads     a context may be used from any number of threads at once, unless stated
 *               otherwise. The library never prints, exits or aborts.
 */
#ifndef STEELYARD_STEELYARD_H
#define STEELYARD_STEELYARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SY_API __attribute__((visibility("default")))
#else
#define SY_API
#endif

#define SY_VERSION_MAJOR 0
#define SY_VERSION_MINOR 1
#define SY_VERSION_PATCH 0

/* The version of the library that runs, "0.1.0". Constant. */
SY_API const char *sy_version(void);

/* ---- status and errors ------------------------------------------------------------------- */

typedef enum sy_status {
    SY_OK = 0,
    SY_ERR_ARGUMENT = 1,    /* an argument, parameter or name is wrong */
    SY_ERR_NOT_FOUND = 2,   /* no such workload, tag or key */
    SY_ERR_NO_DEVICE = 3,   /* a device that was asked for is not there, or none is usable */
    SY_ERR_MEMORY = 4,      /* memory of the host or of a device is exhausted */
    SY_ERR_DEVICE = 5,      /* a device failed, and no other could take its part over */
    SY_ERR_IO = 6,          /* a file could not be read, written or locked */
    SY_ERR_CANCELLED = 7,   /* the progress callback asked to stop */
    SY_ERR_USER = 8,        /* a function of the user's own workload returned non-zero */
    SY_ERR_UNSUPPORTED = 9, /* valid, but this build or version cannot do it */
    SY_ERR_INTERNAL = 10    /* a bug in the library */
} sy_status;

/* The status in a few words. Constant, never NULL, also for unknown values. */
SY_API const char *sy_status_string(sy_status status);

typedef struct sy_error {
    sy_status status;
    int device;      /* index of the device concerned, -1 for none */
    int native_code; /* the driver's or the system's own code (errno, CUresult), 0 for none */
    char text[512];  /* one line: what, where, and what to do */
} sy_error;

/* The last failure of a call of this thread; valid until the thread's next failing call. */
SY_API const sy_error *sy_last_error(void);

/* ---- context ----------------------------------------------------------------------------- */

typedef enum sy_log_level { SY_LOG_INFO = 0, SY_LOG_WARNING = 1 } sy_log_level;

/* Called with one line without line feed; from any thread, one call at a time. */
typedef void (*sy_log_fn)(void *user, sy_log_level level, const char *line);

typedef struct sy_config {
    size_t struct_size;
    /* Comma-separated device list: `auto` (default: every usable GPU and the CPU), `cpu`,
     * `cpu:threads=4`, `cuda`, `cuda:0`, and simulated devices
     * `sim:NAME:speed=3.0:memory=6GiB:link=12GB/s:latency=20us:fail=oom@3` (docs/devices.md). */
    const char *devices;
    const char *multigpu_path, *thresholds_path; /* NULL: the order of docs/files.md */
    sy_log_fn log;                               /* NULL: messages are dropped */
    void *log_user;
    const char *cuda_driver; /* path of the CUDA driver's library; NULL: the system's */
    int frozen; /* non-zero: runs do not correct what is known of the devices (docs/balance.md) */
    uint64_t memory_budget; /* bytes of each GPU's memory to use at most; 0: what is free */
    double watchdog_ms;     /* a GPU that has not answered for so long has failed; 0: 30,000 */
} sy_config;

typedef struct sy_context sy_context;

/* Opens the devices. `config` may be NULL. Give back with sy_context_destroy. */
SY_API sy_status sy_context_create(const sy_config *config, sy_context **out);

/* Takes the address, accepts a NULL inside, leaves NULL. No call may be running on it. */
SY_API void sy_context_destroy(sy_context **context);

/* Gives the device and pinned memory back that is kept between calls. */
SY_API void sy_trim(sy_context *context);

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
} sy_device_info;

SY_API int sy_device_count(const sy_context *context);

/* Fills `out` for 0 <= index < sy_device_count(). */
SY_API sy_status sy_device_query(sy_context *context, int index, sy_device_info *out);

/* ---- workloads --------------------------------------------------------------------------- */

typedef enum sy_pattern {
    SY_PATTERN_MAP = 0,        /* out[i] depends on in[i] */
    SY_PATTERN_WINDOW = 1,     /* out[i] depends on in[i - halo .. i] */
    SY_PATTERN_RECURRENCE = 2, /* out[i] depends on in[0 .. i] (built-in workloads only) */
    SY_PATTERN_REDUCE = 3      /* one value a row */
} sy_pattern;

typedef struct sy_param_info {
    const char *name, *summary;
    double min, max, fallback;  /* the allowed range, and the value when it is not given */
    int is_integer;             /* only whole numbers are accepted */
    const char *const *choices; /* NULL-terminated words, or NULL; the value is the word's index */
} sy_param_info;

typedef struct sy_workload_info {
    const char *name, *summary;
    sy_pattern pattern;
    int n_inputs, n_outputs, n_params;
    const char *const *input_names, *const *output_names;
    const sy_param_info *params;
    int built_in;
} sy_workload_info;

SY_API int sy_workload_count(sy_context *context);

/* The strings live as long as the context (those of a user's workload: see sy_workload_def). */
SY_API sy_status sy_workload_query(sy_context *context, int index, sy_workload_info *out);

/* A stretch of one row, handed to the function of a user's workload. It is one canonical tile
 * (4,096 columns by global index, the last one shorter), whatever the devices and ratios are. */
typedef struct sy_segment {
    const double *const *in; /* in[k][i], -left <= i < count: input k at column first + i */
    double *const *out;      /* out[k][i], 0 <= i < count; a reduction must not touch it */
    int64_t first, count;    /* columns first .. first + count - 1 */
    int64_t left;            /* columns to be had before `first`: min(halo, first) */
    int64_t row, columns;    /* the row, and how long a whole row is */
    const double *params;    /* one value per declared parameter, in order */
} sy_segment;

/* A user's own workload. The struct is copied; the strings, arrays and functions it points to must
 * outlive the context. The functions are called from several threads at once; they return 0, or
 * anything else to fail the run. They see tiles, so results never depend on the split; a window
 * may read `halo` columns to its left. */
typedef struct sy_workload_def {
    size_t struct_size;
    const char *name; /* [a-z0-9_]+, not yet taken */
    const char *summary;
    int version; /* change it with the arithmetic: profiles of another version are not believed */
    sy_pattern pattern;      /* MAP, WINDOW or REDUCE */
    int n_inputs, n_outputs; /* 1..8 each */
    const char *const *input_names, *const *output_names;
    const sy_param_info *params;
    int n_params; /* 0..16 */
    /* WINDOW: columns needed to the left, >= 0. */
    int64_t (*halo)(const double *params);
    /* MAP and WINDOW: writes out[k][0 .. count). */
    int (*compute)(const sy_segment *segment);
    /* REDUCE: the tile's partial; the partial's right neighbour folded into it, in one fixed tree;
     * the row's outputs. `partial_size` bytes are zeroed before `reduce`. */
    size_t partial_size;
    int (*reduce)(const sy_segment *segment, void *partial);
    int (*combine)(void *into, const void *right, const double *params);
    int (*finish)(const void *partial, int64_t columns, const double *params, double *outputs);
} sy_workload_def;

SY_API sy_status sy_workload_register(sy_context *context, const sy_workload_def *def);

/* ---- distributing ------------------------------------------------------------------------ */

typedef struct sy_param {
    const char *name;
    double value;
    const char *text; /* for a parameter with choices: the word; then `value` is not read */
} sy_param;

typedef struct sy_work {
    size_t struct_size;
    const char *workload;
    int64_t rows, columns;       /* rows 0 means 1; columns may be 0: nothing is computed */
    const double *const *inputs; /* one pointer per input, [rows][columns] each */
    double *const *outputs;      /* one per output: [rows][columns], or [rows] for a reduction;
                                    they overlap neither each other nor an input */
    const sy_param *params;
    int n_params;
} sy_work;

typedef enum sy_accuracy {
    SY_ACCURACY_EXACT = 0 /* every output is the correctly rounded mathematical result */
} sy_accuracy;

typedef struct sy_ratio {
    const char *device; /* name, id or uuid */
    double ratio;       /* > 0 and finite; the ratios of a list are normalised to sum 1 */
} sy_ratio;

/* Called now and then from one of the working threads, never two at once; non-zero cancels. */
typedef int (*sy_progress_fn)(void *user, uint64_t tiles_done, uint64_t tiles);

typedef struct sy_options {
    size_t struct_size;
    sy_accuracy accuracy;
    uint64_t seed;          /* key of every random order (docs/determinism.md); exact results do
                               not depend on it */
    const char *tag;        /* whose stored ratios to use; NULL: the workload's name */
    const sy_ratio *ratios; /* this call's ratios; devices not named are left out */
    int n_ratios;
    int checksum; /* non-zero: fill sy_report.checksum */
    sy_progress_fn progress;
    void *progress_user;
} sy_options;

typedef struct sy_device_report {
    char name[64], id[64];
    double ratio;                        /* planned share */
    int64_t tiles, tail_tiles, elements; /* computed here; of them taken in the dynamic tail */
    double copy_in_ms, compute_ms, copy_out_ms, busy_ms;
    int retries;    /* operations repeated after a failure */
    char state[32]; /* `ok`, `left out`, `out of memory`, `failed` */
} sy_device_report;

typedef struct sy_report {
    size_t struct_size;
    int64_t rows, columns, tiles;
    double wall_ms;
    double ideal_ms;       /* the devices' busy time spread evenly by their measured speeds */
    double efficiency;     /* ideal_ms / wall_ms */
    double unaccounted_ms; /* wall_ms less the longest device's busy_ms */
    int used_profile;      /* the ratios came from multigpu.json */
    int64_t repaired;      /* outputs decided by the wide arithmetic */
    char checksum[17];     /* XXH3-64 of the outputs' bytes in order, in hex; empty unless asked */
    int n_devices;
    sy_device_report *devices;
    double predicted_ms; /* < 0: nothing was known */
} sy_report;

/* Splits the work by ratios over the context's devices, computes it, merges in a fixed order.
 * The result's bits depend on the inputs, the parameters and the seed alone. `options` and
 * `report` may be NULL; `report` is given back with sy_report_clear. */
SY_API sy_status distribute_workload(sy_context *context, const sy_work *work,
                                     const sy_options *options, sy_report *report);

SY_API void sy_report_clear(sy_report *report);

/* ---- plans ------------------------------------------------------------------------------- */

typedef struct sy_planned_device {
    char name[64], id[64];
    double ratio;
    int64_t tiles, elements;
    double predicted_ms; /* < 0: nothing known */
    char limited_by[32]; /* `compute`, `copy in`, `copy out`, `latency`; empty: nothing known */
    char left_out[128];  /* why it gets nothing; empty when it gets something */
} sy_planned_device;

typedef struct sy_plan_info {
    size_t struct_size;
    int64_t rows, columns, tiles;
    char decision[8]; /* `cpu`, `one`, `some`, `all`, `none` (no work) */
    char reason[256];
    double predicted_ms; /* < 0: nothing known */
    int n_devices;
    sy_planned_device *devices;
} sy_plan_info;

/* The split that distribute_workload would use for such a work; its arrays are not looked at and
 * may be NULL. Give back with sy_plan_info_clear. */
SY_API sy_status sy_plan_explain(sy_context *context, const sy_work *work,
                                 const sy_options *options, sy_plan_info *out);
SY_API void sy_plan_info_clear(sy_plan_info *info);

typedef struct sy_decision {
    size_t struct_size;
    char decision[8], reason[256];   /* as in sy_plan_info */
    double cpu_ms, one_ms, split_ms; /* predicted for the CPU alone, the best other device alone,
                                        and what was decided; < 0: nothing known */
    char one_device[64];
} sy_decision;

/* What distribute_workload would do with such a work, and what else it could have done. */
SY_API sy_status sy_decide(sy_context *context, const sy_work *work, const sy_options *options,
                           sy_decision *out);

/* ---- profiles ---------------------------------------------------------------------------- */

typedef struct sy_balance {
    size_t struct_size;
    char tag[64];
    char updated_at[32]; /* ISO 8601, UTC */
    int n_ratios;
    struct {
        char device[64];
        double ratio;
    } * ratios;        /* in the file's order; sum 1 */
    char workload[64]; /* what was measured; empty: not known, or ratios set by hand */
    char kept[160];    /* of sy_profile_auto_balance: why the stored ones stay; else empty */
} sy_balance;

typedef struct sy_profile_options {
    size_t struct_size;
    const char *workload; /* default `bollinger` */
    const char *tag;      /* default: the workload's name */
    int64_t sample_size;  /* columns of the sample; default 1,048,576 */
    int runs;             /* timed runs per device, of which the median counts; default 5 */
    int warmup;           /* runs before them; default 1; -1: none */
    uint64_t seed;        /* of the sample data */
    sy_progress_fn progress;
    void *progress_user;
    double budget_ms;   /* for all devices together, by a smaller sample; 0: no limit */
    int keep_better;    /* non-zero: what is stored stays when it is better supported */
    double keep_within; /* and when no ratio differs by more than this part, e.g. 0.1 */
} sy_profile_options;

/* Times every usable device alone on seeded samples of several sizes, and writes costs and the
 * ratios of the speeds (of the largest size) to multigpu.json under the tag.
 * `options` may be NULL; `out` too, else sy_balance_clear. */
SY_API sy_status sy_profile_auto_balance(sy_context *context, const sy_profile_options *options,
                                         sy_balance *out);

/* Stores ratios for a tag (multigpu.json). Every device must be one of the context's. */
SY_API sy_status sy_balance_set(sy_context *context, const char *tag, const sy_ratio *ratios,
                                int n_ratios);
/* The stored ratios of a tag; NULL: the last profiled one. SY_ERR_NOT_FOUND when there are none. */
SY_API sy_status sy_balance_get(sy_context *context, const char *tag, sy_balance *out);
/* Forgets a tag; NULL: all of them. */
SY_API sy_status sy_balance_forget(sy_context *context, const char *tag);
/* The number of stored tags, and the tag of an index (sorted); SY_ERR_NOT_FOUND past the end. */
SY_API sy_status sy_balance_tag(sy_context *context, int index, char tag[64]);
SY_API void sy_balance_clear(sy_balance *balance);

typedef struct sy_threshold {
    double cpu_ms_avg, gpu_ms_avg; /* NaN: not measured yet */
    int64_t samples;
} sy_threshold;

/* Adds a measurement of the same work on CPU and GPU to the averages of `key`; times >= 0. */
SY_API sy_status sy_threshold_update(sy_context *context, const char *key, double cpu_ms,
                                     double gpu_ms);
SY_API sy_status sy_threshold_get(sy_context *context, const char *key, sy_threshold *out);
/* Calls `each` for every key in the file's order until it returns non-zero. */
SY_API sy_status sy_threshold_list(sy_context *context,
                                   int (*each)(void *user, const char *key, const sy_threshold *t),
                                   void *user);
SY_API sy_status sy_threshold_forget(sy_context *context, const char *key); /* NULL: all */

/* Where the two files are for this context. Valid as long as the context. */
SY_API const char *sy_multigpu_path(const sy_context *context);
SY_API const char *sy_thresholds_path(const sy_context *context);

#ifdef __cplusplus
}
#endif

#endif
