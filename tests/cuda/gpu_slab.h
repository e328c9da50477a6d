/* One slab of a job on the PTX interpreter: what the host does with a slot of a GPU. */
#ifndef TESTS_CUDA_GPU_SLAB_H
#define TESTS_CUDA_GPU_SLAB_H

#include "device/job.h"
#include "vptx/vptx.h"

/* One translation of the kernels. */
typedef struct gpu_flavour {
    const char *path;
    vptx_module *module;
    uint64_t units, doubts, broken; /* of walks: all, in doubt, not joined to the left one */
    uint64_t lane_instructions;
} gpu_flavour;

typedef struct gpu_slab {
    gpu_flavour *flavour;
    const syi_job *job;
    syi_slab slab;
    int64_t unit_columns, units_per_row, units;
    vptx_order order;
    uint64_t seed;
    uint64_t doubts; /* units in doubt */
} gpu_slab;

/* Runs the slab's units and adds what was found to `outcome`. Non-zero: it went wrong, and why is
 * on standard error. */
int gpu_slab_run(gpu_slab *run, syi_outcome *outcome);

#endif
