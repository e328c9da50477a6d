/*
 * CPU or GPU, all of a work: because the caller says so, or, for small works of which no costs are
 * known, because of the times that both took before. Those come from thresholds.json and from the
 * calls of this context (docs/balance.md).
 */
#ifndef SYI_API_SIDE_H
#define SYI_API_SIDE_H

#include "api/known.h"

/* 69 sizes up to 64 tiles are so far apart that none stands for another (syi_timing_alike); larger
 * ones come from the file. More are thinned out. */
enum { SYI_SIDE_SIZES = 80 };

/* Works of more tiles are divided among all devices, which find their speeds in the first packets.
 * Smaller ones take less than a few times what it costs to start and join the devices. */
enum { SYI_SMALL_TILES = 64 };

/* What is known of one workload with certain parameters; sizes are elements. */
typedef struct syi_signature {
    const syi_workload *workload;
    sy_dtype dtype; /* the file knows only f64 */
    double params[SYI_MAX_PARAMS];
    int count;
    syi_timing known[SYI_SIDE_SIZES]; /* by ascending size */
    syi_side last[SYI_SIDE_SIZES];    /* what was chosen */
    bool stored[SYI_SIDE_SIZES];      /* the file has it */
    struct syi_signature *next;
} syi_signature;

/* The context's part. */
typedef struct syi_sides {
    pthread_mutex_t lock;
    syi_store_look look; /* of the file, when `list` was read */
    int64_t changes;     /* of the file, seen so far */
    bool doubtful;       /* `list` may have something of an older file */
    syi_signature *list;
} syi_sides;

void syi_sides_init(syi_sides *sides);
void syi_sides_destroy(syi_sides *sides);

typedef enum syi_force { SYI_FORCE_AUTO, SYI_FORCE_CPU, SYI_FORCE_CUDA } syi_force;

/* The caller's word: `auto` (also NULL and empty), `cpu`, `cuda`; else SY_ERR_ARGUMENT. */
sy_status syi_force_parse(const char *word, syi_force *out);

/* Chooses for this call; SY_ERR_NO_DEVICE when the side asked for has no usable device. */
sy_status syi_side_choose(sy_context *context, const syi_job *job, const sy_options *options,
                          const syi_known *known, syi_choice *out);
/* Whether a device may take part. */
bool syi_side_allows(const syi_choice *choice, const syi_device *device);

/* What both sides took for such works, in milliseconds; NaN: not known. */
sy_status syi_side_recall(sy_context *context, const syi_job *job, double ms[2]);

/* Remembers what a call took that was made by a choice of ours. */
void syi_side_learn(sy_context *context, const syi_job *job, const syi_choice *choice, double ms);

#endif
