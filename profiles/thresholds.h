/* thresholds.json: how long the same work took on the CPU and on the GPU, as running averages
 * under keys of arbitrary text. Every function reads or changes the file at once. */
#ifndef SYI_PROFILES_THRESHOLDS_H
#define SYI_PROFILES_THRESHOLDS_H

#include "store.h"

#include <stdbool.h>

/* The store of a file at `path`, which is borrowed, as is `log` (NULL: warnings are dropped). */
syi_store syi_threshold_store(const char *path, syi_log *log);

/* Adds one measurement; both times finite and >= 0, the key UTF-8 and not empty. */
sy_status syi_threshold_add(syi_store *store, const char *key, double cpu_ms, double gpu_ms);

/* The same of a call's own, without waiting for the lock: *done tells whether it was free. Of
 * entries that were added so the newest 1,000 stay. */
sy_status syi_threshold_try_add(syi_store *store, const char *key, double cpu_ms, double gpu_ms,
                                bool *done);

sy_status syi_threshold_find(syi_store *store, const char *key, sy_threshold *out);

/* Calls `each` for every key in the file's order, as the file was at the beginning of the call,
 * until it returns non-zero. No lock is held meanwhile. */
sy_status syi_threshold_each(syi_store *store,
                             int (*each)(void *user, const char *key, const sy_threshold *t),
                             void *user);

/* Forgets a key, SY_ERR_NOT_FOUND when it is not there; NULL: all of them. */
sy_status syi_threshold_drop(syi_store *store, const char *key);

/* The usual form of a key: WORKLOAD:{'NAME': VALUE, ..., 'size': SIZE}. Whole values have no
 * decimals, others the shortest digits that read back as the same double. To be given back with
 * syi_free. */
sy_status syi_threshold_key(const char *workload, const char *const *names, const double *values,
                            int n_params, int64_t size, char **out);

/* Whether `key` has this form and is of that workload with those parameters; then also the size.
 * The parameters may stand in any order; one that is missing has its fallback. */
bool syi_threshold_key_read(const char *key, const char *workload, const sy_param_info *params,
                            int n_params, const double *values, int64_t *size);

#endif
