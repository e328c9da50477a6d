/* steelyard: profiles, stored ratios and thresholds. Conventions: steelyard.h. */
#ifndef STEELYARD_PROFILE_H
#define STEELYARD_PROFILE_H

#include <steelyard/distribute.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sy_balance_ratio {
    char device[64];
    double ratio;
    double drift; /* what it takes now by what was measured, as the runs since have found; 1 when
                     they have found nothing; NaN: it was not measured */
} sy_balance_ratio;

typedef struct sy_balance {
    size_t struct_size;
    char tag[64];
    char updated_at[32]; /* ISO 8601, UTC */
    int n_ratios;
    sy_balance_ratio *ratios; /* in the file's order; sum 1 */
    char workload[64];        /* what was measured; empty: not known, or ratios set by hand */
    char kept[160];           /* of sy_profile_auto_balance: why the stored ones stay; else empty */
    sy_accuracy accuracy;     /* of what was measured, and the dtype */
    sy_dtype dtype;
} sy_balance;

typedef struct sy_profile_options {
    size_t struct_size;
    const char *workload; /* default `bollinger` */
    const char *tag;      /* default: the workload's name (see `accuracy`, `dtype`) */
    int64_t sample_size;  /* columns of the sample; default 1,048,576, with `keep_better` as many
                             as the stored profile was measured with, if that was more, up
                             to 2^28; at most 2^40 */
    int runs;             /* timed runs of each size on each device, of which the median counts;
                             at most 1,000, default 5. A short call is repeated in each, and the
                             mean taken */
    int warmup;           /* calls before them, at most 1,000; default 1; -1: none */
    uint64_t seed;        /* of the sample data */
    sy_progress_fn progress;
    void *progress_user;
    double budget_ms;     /* for all devices together, by a smaller sample; 0: no limit */
    int keep_better;      /* non-zero: what is stored stays when it is better supported */
    double keep_within;   /* and when no ratio differs by more than this part, e.g. 0.1 */
    sy_accuracy accuracy; /* of the workload; fast costs are kept apart: the default tag is then
                             the workload's name and `_fast` */
    sy_dtype dtype;       /* of the sample; floats' costs are kept apart, too: `_f32` */
} sy_profile_options;

/* Times every usable device alone on seeded samples of several sizes, and writes costs and the
 * ratios of the speeds (of the largest size) to multigpu.json under the tag.
 * `options` may be NULL; `out` too, else sy_balance_clear. */
SY_API sy_status sy_profile_auto_balance(sy_context *context, const sy_profile_options *options,
                                         sy_balance *out);

/* Stores ratios for a tag (multigpu.json), in the place of what was measured under it, costs
 * included; `reprofile` leaves the tag alone from then on. Every device must be one of the
 * context's. */
SY_API sy_status sy_balance_set(sy_context *context, const char *tag, const sy_ratio *ratios,
                                int n_ratios);
/* The stored ratios of a tag; NULL: the one written last. SY_ERR_NOT_FOUND when there are none. */
SY_API sy_status sy_balance_get(sy_context *context, const char *tag, sy_balance *out);
/* Forgets a tag, SY_ERR_NOT_FOUND when it is not there; NULL: all of them, SY_OK also where there
 * are none. */
SY_API sy_status sy_balance_forget(sy_context *context, const char *tag);
/* Calls `each` for every stored tag (sorted), all as they are at one moment, until it returns
 * non-zero. The balance is the library's, and gone after the call. */
SY_API sy_status sy_balance_list(sy_context *context,
                                 int (*each)(void *user, const sy_balance *balance), void *user);
SY_API void sy_balance_clear(sy_balance *balance);

typedef struct sy_threshold {
    double cpu_ms_avg, gpu_ms_avg; /* NaN: not measured yet */
    int64_t samples;
} sy_threshold;

/* Adds a measurement of the same work on CPU and GPU to the averages of `key`; times >= 0. */
SY_API sy_status sy_threshold_update(sy_context *context, const char *key, double cpu_ms,
                                     double gpu_ms);
/* The averages of a key; SY_ERR_NOT_FOUND when there are none. */
SY_API sy_status sy_threshold_get(sy_context *context, const char *key, sy_threshold *out);
/* Calls `each` for every key in the file's order until it returns non-zero. */
SY_API sy_status sy_threshold_list(sy_context *context,
                                   int (*each)(void *user, const char *key, const sy_threshold *t),
                                   void *user);
/* Forgets a key; NULL and errors as sy_balance_forget. */
SY_API sy_status sy_threshold_forget(sy_context *context, const char *key);

/* Where the two files are for this context; NULL: there is no place (sy_config). Valid as long as
 * the context. */
SY_API const char *sy_multigpu_path(const sy_context *context);
SY_API const char *sy_thresholds_path(const sy_context *context);

#ifdef __cplusplus
}
#endif

#endif
