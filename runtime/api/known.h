/* What multigpu.json and the runs so far tell about the devices, kept in the context and read again
 * when the file has changed. */
#ifndef SYI_API_KNOWN_H
#define SYI_API_KNOWN_H

#include "base/mem.h"
#include "model/drift.h"
#include "model/fingerprint.h"
#include "model/start.h"
#include "plan/plan.h"
#include "store.h"

typedef struct syi_known_device {
    double ratio; /* stored; 0: none */
    int has_cost, guess;
    bool learned;       /* the cost is of a first run, without a profile */
    bool gave_up;       /* was out of memory when it was tried */
    bool in_file;       /* the file has the cost, and what is pending of it */
    bool warm;          /* has had a run that was followed */
    syi_cost cost;      /* of the file; learned: of the first run */
    syi_drift drift;    /* since then */
    syi_pending stored; /* what the file has of that */
} syi_known_device;

/* A tag with its end; a name to which the rest of a default tag can be added. */
enum { SYI_TAG = 64, SYI_LONGEST_NAME = SYI_TAG - sizeof "_f32" - 1 };

/* Of one tag, workload, dtype and home; one place per device of the context. The costs are those of
 * arrays in the host's memory (unless the first run has told them), what the runs have corrected is
 * of arrays with that home: where they live is modelled (plan/residence.h), the rest is learned. */
typedef struct syi_known {
    char tag[SYI_TAG];
    int home;  /* syi_job_home */
    int scale; /* of the works' size: what a first run tells is good for works like it; -1: any, as
                  there is a profile */
    const syi_workload *workload;
    sy_dtype dtype;
    int count, ratios, costs; /* devices; of them with a ratio, with a cost */
    int borrowed;             /* the ratios are another tag's */
    char lender[SYI_TAG];     /* which one's */
    bool is_old;              /* read of a file that has changed since */
    int measured;             /* the ratios come from a profile, not from somebody's hand */
    double start_ns;          /* of a device beside others, as known when this was copied */
    syi_known_device *devices;
    struct syi_known *next;
} syi_known;

/* The context's part. */
typedef struct syi_memory {
    pthread_mutex_t lock;
    syi_store_look look; /* of the file, when `list` was read */
    int64_t changes;     /* of the file, seen so far */
    syi_known *list;
    syi_track start;    /* of a device beside others */
    int64_t save_after; /* on the clock: before that no correction is stored again */
} syi_memory;

typedef struct sy_context sy_context;

void syi_memory_init(syi_memory *memory);
void syi_memory_destroy(syi_memory *memory);

/* A copy in the job's memory. */
sy_status syi_known_get(sy_context *context, const syi_job *job, const char *tag, syi_known *out);
/* What its costs become where the job's arrays live; NULL: they stay as they are. */
sy_status syi_known_costs(const syi_devices *devices, const syi_job *job, const syi_known *known,
                          syi_cost **out);
sy_status syi_known_copy(const syi_known *from, syi_arena *memory, syi_known *out);

/* The context's own record, or NULL; the caller holds the lock. */
syi_known *syi_known_find(sy_context *context, const syi_job *job, const char *tag);

#endif
