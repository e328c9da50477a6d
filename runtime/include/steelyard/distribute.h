/* steelyard: distributing a work over the devices, and explaining how. Conventions: steelyard.h. */
#ifndef STEELYARD_DISTRIBUTE_H
#define STEELYARD_DISTRIBUTE_H

#include <steelyard/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sy_param {
    const char *name;
    double value;
    const char *text; /* for a parameter with choices: the word; then `value` is not read. Else
                         NULL */
} sy_param;

/* What the elements of a work's arrays are. Parameters are always doubles. */
typedef enum sy_dtype {
    SY_F64 = 0, /* double */
    SY_F32 = 1  /* float: the f64 result, rounded to the nearest float */
} sy_dtype;

typedef struct sy_work {
    size_t struct_size;
    const char *workload;
    int64_t rows, columns;     /* rows 0 means 1; columns may be 0: a reduction gives what it is
                                  of no value (docs/workloads.md), others compute nothing */
    const void *const *inputs; /* one pointer per input, [rows][columns] elements each */
    void *const *outputs;      /* one per output: [rows][columns], or [rows] for a reduction; they
                                  overlap neither each other nor an input, and each begins at a
                                  multiple of its elements' size */
    /* Arrays may be plain memory, pinned memory, or memory of a GPU of the context, in any mixture
     * (memory.h); the CUDA driver knows which. A GPU uses arrays of its own in place, others' are
     * copied to it part by part, and so to the CPU. What a GPU is to read there must be complete
     * when the call is made. In a context without a GPU every pointer counts as the host's. */
    const sy_param *params;
    int n_params;
    sy_dtype dtype; /* of every array */
} sy_work;

typedef enum sy_accuracy {
    SY_ACCURACY_EXACT = 0, /* every output is the correctly rounded mathematical result; macd only
                              where it is not below 2^-50 of the largest input so far, and but
                              for constructed ties of recurrences (docs/determinism.md) */
    SY_ACCURACY_FAST = 1   /* plain arithmetic in a canonical order, the same bits for every split;
                              the error is bounded, for most workloads relative to the largest
                              input of the window or so far (docs/determinism.md) */
} sy_accuracy;

typedef struct sy_ratio {
    const char *device; /* name, id or uuid */
    double ratio;       /* > 0 and finite; the ratios of a list are normalised to sum 1 */
} sy_ratio;

/* Called now and then from one of the working threads, never two at once; non-zero cancels. */
typedef int (*sy_progress_fn)(void *user, uint64_t tiles_done, uint64_t tiles);

/* A stretch of a run's time, for a timeline. */
typedef struct sy_trace_event {
    size_t struct_size;        /* of the library's struct */
    int device;                /* index; -1: the host, which plans and merges */
    int stream;                /* of that device, from 0; -1: the packets that it was given */
    const char *what;          /* `packet`, `copy in`, `compute`, `copy out`; `plan`, `merge` */
    double begin_ms, end_ms;   /* since distribute_workload was called */
    int64_t first_tile, tiles; /* what it was about */
} sy_trace_event;

/* Called when a stretch has ended, from any of the working threads, never two at once; the event is
 * valid during the call. */
typedef void (*sy_trace_fn)(void *user, const sy_trace_event *event);

typedef struct sy_options {
    size_t struct_size;
    sy_accuracy accuracy;
    uint64_t seed;          /* key of every random order (docs/determinism.md); exact results do
                               not depend on it */
    const char *tag;        /* whose stored ratios to use; NULL: as sy_profile_options.tag */
    const sy_ratio *ratios; /* this call's ratios; devices not named are left out */
    int n_ratios;
    int checksum; /* non-zero: fill sy_report.checksum */
    sy_progress_fn progress;
    void *progress_user;
    sy_trace_fn trace; /* NULL: nothing is traced */
    void *trace_user;
    const char *device; /* `cpu`: that alone; `cuda`: only GPUs, but for what GPUs that are lost
                           meanwhile leave; `auto`, NULL: whatever is faster. SY_ERR_NO_DEVICE
                           when there is none at its beginning; not together with ratios */
    /* Of a reduction: what merging with each of the seeds 1 .. n_seeds gives, for the price of the
     * merges; one array per output, [n_seeds][rows], of doubles in the host's memory that overlap
     * no other array (of SY_F32 rounded to floats in exact accuracy, not in fast). All equal to the
     * result in exact accuracy, and those of `min` and `max` in fast, too (so the command refuses
     * them). */
    int64_t n_seeds;
    double *const *seeded;
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
    double wall_ms;        /* of computing and merging; not of planning and the checksum */
    double ideal_ms;       /* the devices' busy time spread evenly by their measured speeds */
    double efficiency;     /* ideal_ms / wall_ms */
    double unaccounted_ms; /* wall_ms less the longest device's busy_ms */
    int used_profile;      /* the ratios came from multigpu.json */
    int64_t repaired;      /* outputs that kernels left in doubt, decided by the wide arithmetic */
    char checksum[17];     /* in hex; empty unless asked. XXH3-64 of the first output's bytes; its
                              value is the seed for the next output's, and so on, those of
                              sy_options.seeded last */
    int n_devices;
    sy_device_report *devices;
    double predicted_ms; /* < 0: nothing was known */
} sy_report;

/* Splits the work by ratios over the context's devices, computes it, merges in a fixed order.
 * The result's bits depend on the inputs, the parameters and the seed alone. `options` and
 * `report` may be NULL; `report` is given back with sy_report_clear. The host takes no more than
 * 64 MiB of memory for it beside the arrays, unless a period of floats is so long itself; GPUs and
 * simulated devices have memory of their own, and a reduction's row that is not certified is
 * fetched from a GPU. */
SY_API sy_status distribute_workload(sy_context *context, const sy_work *work,
                                     const sy_options *options, sy_report *report);

SY_API void sy_report_clear(sy_report *report);

/* ---- plans ------------------------------------------------------------------------------- */

typedef struct sy_planned_device {
    char name[64], id[64];
    double ratio;
    int64_t tiles, elements;
    double predicted_ms;                        /* < 0: nothing known, nor of the phases */
    double copy_in_ms, compute_ms, copy_out_ms; /* its phases, which may overlap */
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

/* The split that distribute_workload would use for such a work. Of its arrays only where they live
 * is looked at; what is NULL counts as in the host's memory. Give back with sy_plan_info_clear. */
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

#ifdef __cplusplus
}
#endif

#endif
