/* Running a slab with the host's processor: what the CPU device does, what a simulated device does
 * underneath, and what the executor falls back on. */
#ifndef SYI_DEVICE_HOST_H
#define SYI_DEVICE_HOST_H

#include "device/job.h"

typedef struct syi_host_options {
    int threads; /* >= 1 */
    syi_isa isa;
} syi_host_options;

/* Computes the slab into the view and, on success, adds what was found to `outcome` (doubts,
 * links). */
sy_status syi_host_run(const syi_job *job, const syi_slab *slab, const syi_view *view,
                       const syi_host_options *options, syi_outcome *outcome);

/* Of a reduction: the partials of the slab's tiles, which are not handed on. */
sy_status syi_host_reduce(const syi_job *job, const syi_slab *slab, const syi_view *view,
                          const syi_host_options *options, unsigned char *partials);

/* A slab of one row, as one stretch; `start` as in syi_piece. */
sy_status syi_host_run_stretch(const syi_job *job, const syi_slab *slab, const syi_view *view,
                               const syi_carry *start, syi_isa isa, syi_carry *end,
                               syi_doubts *doubts);

#endif
