#include "device/cuda/layout.h"

#include "device/cuda/gather.h"

/* Arrays begin on their own 256-byte lines, as the driver's allocations do. */
static size_t place(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end = (at + bytes + 255) & ~(size_t)255;
    return at;
}

static cuda_route route_of(const cuda_device *cuda, syi_place place)
{
    if (place.kind == SYI_ON_DEVICE)
        return place.home == cuda->base.home             ? CUDA_IN_PLACE
               : syi_cuda_gather_is_direct(cuda->gather) ? CUDA_PEER
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

static void find_routes(const cuda_device *cuda, const syi_job *job, int has_outputs,
                        cuda_layout *layout)
{
    for (int k = 0; k < job->workload->n_inputs; k++)
        layout->in_route[k] = route_of(cuda, syi_place_in(job, k));
    for (int k = 0; k < job->workload->n_outputs; k++) /* a reduction's are made by the merge */
        layout->out_route[k] = has_outputs ? route_of(cuda, syi_place_out(job, k)) : CUDA_STAGED;
}

static void cut_units(const syi_job *job, const syi_slab *slab, cuda_layout *layout)
{
    layout->unit_columns = syi_job_unit_columns(job);
    layout->units_per_row = (slab->columns + layout->unit_columns - 1) / layout->unit_columns;
    layout->units = layout->units_per_row * slab->rows;
}

/* What the kernel reads and writes in the place of floats. */
static void place_wide(const syi_job *job, int64_t inputs, int64_t outputs, cuda_layout *layout)
{
    for (int k = 0; job->dtype == SY_F32 && k < job->workload->n_inputs; k++)
        layout->wide_in[k] = place(&layout->end, (size_t)inputs * sizeof(double));
    for (int k = 0; job->dtype == SY_F32 && k < job->workload->n_outputs; k++)
        layout->wide_out[k] = place(&layout->end, (size_t)outputs * sizeof(double));
}

cuda_layout syi_cuda_layout_of(const cuda_device *cuda, const syi_job *job, const syi_slab *slab)
{
    const syi_workload *workload = job->workload;
    const int ins = workload->n_inputs, outs = workload->n_outputs;
    const int64_t inputs = syi_slab_inputs(slab), outputs = syi_slab_outputs(job, slab);
    const size_t in_bytes = (size_t)inputs * syi_element_size(job->dtype);
    const size_t out_bytes = (size_t)outputs * syi_element_size(job->dtype);
    cuda_layout layout = {0};
    find_routes(cuda, job, outputs > 0, &layout);
    cut_units(job, slab, &layout);
    place_arrays(&layout, layout.in, layout.in_route, ins, in_bytes, 1);
    layout.in_end = layout.end;
    place_arrays(&layout, layout.out, layout.out_route, outs, out_bytes, 1);
    layout.doubts =
        place(&layout.end, workload->user ? 0 : (size_t)layout.units * 2 * sizeof(long long));
    layout.partials = place(&layout.end, (size_t)layout.units * workload->partial_size);
    layout.links = place(&layout.end, workload->pattern == SY_PATTERN_RECURRENCE
                                          ? (size_t)layout.units * 2 * sizeof(syi_carry)
                                          : 0);
    if (!layout.end) /* nothing is staged, and nothing is to be found out */
        place(&layout.end, 1);
    layout.staged_end = layout.end;
    place_arrays(&layout, layout.in, layout.in_route, ins, in_bytes, 0);
    place_arrays(&layout, layout.out, layout.out_route, outs, out_bytes, 0);
    place_wide(job, inputs, outputs, &layout);
    return layout;
}

CUdeviceptr syi_cuda_slot_in(const cuda_slot *slot, const syi_view *view, int k)
{
    return slot->layout.in_route[k] == CUDA_IN_PLACE ? cuda_address(view->in[k])
                                                     : slot->memory + slot->layout.in[k];
}

CUdeviceptr syi_cuda_slot_out(const cuda_slot *slot, const syi_view *view, int k)
{
    return slot->layout.out_route[k] == CUDA_IN_PLACE ? cuda_address(view->out[k])
                                                      : slot->memory + slot->layout.out[k];
}
