/* What a context holds. */
#ifndef SYI_API_CONTEXT_H
#define SYI_API_CONTEXT_H

#include "api/known.h"
#include "api/side.h"
#include "exec/run.h"
#include "launch.h"
#include "multigpu.h"
#include "plan/plan.h"
#include "thresholds.h"

/* A user's workload: its definition and the kernel row made from it. */
typedef struct syi_registered {
    sy_workload_def def;
    syi_workload workload;
    syi_gpu_form gpu; /* of it */
    struct syi_registered *next;
} syi_registered;

typedef struct syi_block syi_block; /* memory.c */

struct sy_context {
    syi_log log;
    syi_devices devices;
    char *multigpu_path, *thresholds_path;
    syi_store multigpu, thresholds;
    pthread_mutex_t lock; /* of `registered` and `blocks` */
    syi_registered *registered;
    syi_block *blocks;
    syi_memory memory;
    syi_sides sides;
    int frozen;              /* runs correct nothing */
    _Atomic int told_absent; /* stored ratios for devices that are not there: said once */
};

/* The workload of that name; NULL and an error record that lists them when there is none. */
const syi_workload *syi_workload_find(sy_context *context, const char *name);
void syi_registered_clear(sy_context *context);
/* Gives back what the caller has freed while a device that hangs was perhaps using it, and is not
 * any more. */
void syi_blocks_sweep(sy_context *context);
/* Gives the caller's memory back that is still there; what is in use is left to the driver. */
void syi_blocks_clear(sy_context *context);

/* The parameters of a call in the workload's order, checked; `values` has SYI_MAX_PARAMS places. */
sy_status syi_params_resolve(const syi_workload *workload, const sy_param *given, int n_given,
                             double *values);

/* The caller's tag, or else the default one, written to `own`. */
const char *syi_tag_for(const syi_job *job, const sy_options *options, char own[SYI_TAG]);

/* Lets the next plan look at the profile files, however short ago that was done. */
void syi_context_look(sy_context *context);

/* The plan for a job under the call's options. `forecast`: with what it will take. */
sy_status syi_context_plan(sy_context *context, const syi_job *job, const sy_options *options,
                           bool forecast, syi_plan *out);

/* Whether a run of the plan will teach something. */
bool syi_context_learns(const sy_context *context, const syi_plan *plan);
/* After a run of that plan. `untouched`: before it, nobody had used some of the arrays' memory. */
void syi_context_learn(sy_context *context, const syi_job *job, const sy_options *options,
                       const syi_plan *plan, const syi_tally *tallies, bool untouched);

/* Before the context ends: what its runs have found, but not often enough, goes to the file for the
 * next one. */
void syi_context_hand_on(sy_context *context);

/* Everything of a work but its arrays: workload, shape, parameters. */
sy_status syi_work_check(sy_context *context, const sy_work *work, const sy_options *options,
                         double *params, syi_job *out);

/* Everything of the options but the ratios, which the plan checks. */
sy_status syi_options_check(const sy_options *options);
sy_status syi_accuracy_check(sy_accuracy accuracy);
sy_status syi_dtype_check(sy_dtype dtype);

/* The row that computes in that accuracy. */
const syi_workload *syi_workload_for(const syi_workload *workload, sy_accuracy accuracy);

/* Copies a struct of the caller, whose size may be that of an older or newer header. */
#define SYI_ADOPT(to, from)                                                                        \
    do {                                                                                           \
        memset(&(to), 0, sizeof(to));                                                              \
        if (from)                                                                                  \
            memcpy(&(to), (from),                                                                  \
                   (from)->struct_size < sizeof(to) ? (from)->struct_size : sizeof(to));           \
    } while (0)

/* The way back: as much of `from` as the caller's struct has room for. */
#define SYI_GIVE(to, from)                                                                         \
    do {                                                                                           \
        (from).struct_size = (to)->struct_size;                                                    \
        memcpy((to), &(from),                                                                      \
               (to)->struct_size < sizeof(from) ? (to)->struct_size : sizeof(from));               \
    } while (0)

/* SY_ERR_ARGUMENT naming `what` when a struct_size was forgotten, or leaves no room for `least`
 * bytes of it. */
sy_status syi_struct_check(size_t struct_size, size_t least, const char *what);

/* What every struct has, and one with room for the memory that a call gives. */
#define SYI_ANY_STRUCT           sizeof(size_t)
#define SYI_UP_TO(struct, field) (offsetof(struct, field) + sizeof(((struct *)NULL)->field))

#endif
