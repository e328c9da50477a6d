/* Executing a plan: one worker per device, what fails is redone elsewhere, then the merge. */
#ifndef SYI_EXEC_RUN_H
#define SYI_EXEC_RUN_H

#include "plan/plan.h"

/* What a device did in a run. */
typedef struct syi_tally {
    syi_outcome total;
    int64_t tail_tiles; /* of another device's share, or of what was left over */
    int64_t packets;
    /* The first packet pays for what is done once. */
    int64_t first_elements;
    double first_ms;
    double start_ns;  /* until its thread began; 0: it had none of its own */
    sy_status status; /* of its last failure, SY_OK: none */
} syi_tally;

/* Runs the job, begun at `began` of syi_now_ns(); `tallies` has one place per device, zeroed by the
 * caller, to be given back with syi_outcome_clear. On success the outputs are complete but for the
 * merge. */
sy_status syi_run_plan(const syi_devices *devices, const syi_job *job, const syi_plan *plan,
                       int64_t began, syi_log *log, syi_tally *tallies);

/* Makes the outputs final: chains the recurrences' pieces, folds the reductions' partials, decides
 * the doubts. Its order depends on the work alone. `repaired` counts what the doubts covered. */
sy_status syi_merge(const syi_job *job, syi_tally *tallies, int count, int64_t *repaired);

#endif
