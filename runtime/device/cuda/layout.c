#include "device/cuda/layout.h"

#include "device/cuda/gather.h"

/* Arrays begin on their own 256-byte lines, as the driver's allocations do. */
static size_t place(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end = (at + bytes + 255) & ~(size_t)255;
    return at;
}

/* Kernels work on doubles: floats are widened on their way, which the host does. */
static cuda_route route_of(const cuda_device *cuda, const syi_job *job, syi_place place)
{
    if (job->dtype != SY_F64)
        return CUDA_STAGED;
    if (place.kind == SYI_ON_DEVICE)
        return place.home == cuda->base.home         ? CUDA_IN_PLACE
               : cuda_gather_is_direct(cuda->gather) ? CUDA_PEER
                                                     : CUDA_STAGED;
    return place.kind == SYI_PINNED ? CUDA_PINNED : CUDA_STAGED;
}

/* Room for the arrays whose way is, or is not, through the staging memory. */
static void place_arrays(cuda_layout *layout, size_t *offsets, const cuda_route *routes, int count,
                         size_t bytes, int staged)
{
    for (int k = 0; k < count; k++)
        if (routes[k] != CUDA_IN_PLACE && (routes[k] == CUDA_STAGED) == staged)
            offsets[k] = place(&layout->end, bytes);
}

cuda_layout cuda_layout_of(const cuda_device *cuda, const syi_job *job, const syi_slab *slab)
{
    const syi_workload *workload = job->workload;
    const syi_gpu_form *gpu = workload->gpu;
    const int ins = workload->n_inputs, outs = workload->n_outputs;
    cuda_layout layout = {0};
    size_t inputs = (size_t)syi_slab_inputs(slab) * sizeof(double);
    size_t outputs = (size_t)syi_slab_outputs(job, slab) * sizeof(double);
    for (int k = 0; k < ins; k++)
        layout.in_route[k] = route_of(cuda, job, syi_place_in(job, k));
    for (int k = 0; k < outs; k++) /* a reduction's are made by the merge */
        layout.out_route[k] = outputs ? route_of(cuda, job, syi_place_out(job, k)) : CUDA_STAGED;
    layout.unit_columns = gpu->unit_columns;
    if (workload->pattern == SY_PATTERN_RECURRENCE && syi_job_halo(job) / 8 > layout.unit_columns)
        layout.unit_columns = syi_job_halo(job) / 8;
    layout.units_per_row = (slab->columns + layout.unit_columns - 1) / layout.unit_columns;
    layout.units = layout.units_per_row * slab->rows;
    place_arrays(&layout, layout.in, layout.in_route, ins, inputs, 1);
    layout.in_end = layout.end;
    place_arrays(&layout, layout.in, layout.in_route, ins, inputs, 0);
    place_arrays(&layout, layout.out, layout.out_route, outs, outputs, 0);
    layout.out_begin = layout.end;
    place_arrays(&layout, layout.out, layout.out_route, outs, outputs, 1);
    layout.doubts =
        place(&layout.end, workload->user ? 0 : (size_t)layout.units * 2 * sizeof(long long));
    layout.partials = place(&layout.end, (size_t)layout.units * workload->partial_size);
    layout.links = place(&layout.end, workload->pattern == SY_PATTERN_RECURRENCE
                                          ? (size_t)layout.units * 2 * sizeof(syi_carry)
                                          : 0);
    if (!layout.end) /* all in place, and nothing to find out */
        place(&layout.end, 1);
    return layout;
}
