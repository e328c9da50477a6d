#include "device/cuda/slot.h"

#include "base/clock.h"
#include "device/cuda/convert.h"
#include "device/cuda/ending.h"
#include "device/cuda/gather.h"
#include "device/cuda/layout.h"
#include "device/cuda/trace.h"
#include "device/cuda/user.h"
#include "device/partials.h"

#include <string.h>

/* ---- memory ---- */

static void release_memory(cuda_device *cuda, cuda_slot *slot)
{
    const syi_cuda_api *api = &cuda->driver->api;
    if (slot->memory)
        api->cuMemFree(slot->memory);
    if (slot->staging)
        api->cuMemFreeHost(slot->staging);
    slot->memory = 0;
    slot->staging = NULL;
    slot->bytes = slot->staged = 0;
}

static sy_status open_slot(cuda_device *cuda, cuda_slot *slot)
{
    /* Drivers before 12.5 know a part's streams by the current context alone. */
    if (!slot->stream && cuda->green && cuda->driver->api.cuGreenCtxStreamCreate)
        SYI_TRY(CU(cuda,
                   cuGreenCtxStreamCreate(&slot->stream, cuda->green, CU_STREAM_NON_BLOCKING, 0)));
    else if (!slot->stream)
        SYI_TRY(CU(cuda, cuStreamCreate(&slot->stream, CU_STREAM_NON_BLOCKING)));
    for (int i = 0; i < CUDA_MARKS; i++)
        if (!slot->marks[i])
            SYI_TRY(CU(cuda, cuEventCreate(&slot->marks[i], CU_EVENT_DEFAULT)));
    return SY_OK;
}

static sy_status acquire_memory(cuda_device *cuda, cuda_slot *slot, size_t bytes, size_t staged)
{
    void *staging = NULL;
    sy_status status = CU(cuda, cuMemAlloc(&slot->memory, bytes));
    if (status == SY_OK)
        status = CU(cuda, cuMemHostAlloc(&staging, staged, CU_MEMHOSTALLOC_PORTABLE));
    if (status != SY_OK) {
        release_memory(cuda, slot);
        return status;
    }
    slot->staging = staging;
    slot->bytes = bytes;
    slot->staged = staged;
    return SY_OK;
}

/* What has turned out to be too small becomes larger than is needed, by half as much, within its
 * share of what all slots may take: slabs differ a little from call to call, and giving memory back
 * waits for all that the GPU does. */
static size_t grown(size_t has, size_t needs, uint64_t share)
{
    const size_t more = has >= needs ? has : has ? needs + needs / 2 : needs;
    if (more <= share)
        return more;
    return share > needs ? (size_t)share : needs;
}

int syi_cuda_slot_fits(const cuda_slot *slot, const cuda_layout *layout)
{
    return slot->bytes >= layout->end && slot->staged >= layout->staged_end;
}

sy_status syi_cuda_slot_reserve(cuda_device *cuda, cuda_slot *slot, const cuda_layout *layout,
                                int slots)
{
    const size_t bytes = layout->end, staged = layout->staged_end;
    const size_t most = cuda->budget ? cuda->budget / (size_t)slots : SIZE_MAX;
    const size_t more = grown(slot->bytes, bytes, cuda_room(cuda) / (uint64_t)slots);
    const size_t more_staged = grown(slot->staged, staged, CUDA_STAGING / (uint64_t)slots);
    slot->layout = *layout;
    SYI_TRY(open_slot(cuda, slot));
    if (syi_cuda_slot_fits(slot, layout) && slot->bytes <= most)
        return SY_OK;
    release_memory(cuda, slot);
    if (bytes > most)
        return syi_fail(SY_ERR_MEMORY, "device %s: a part needs %zu bytes, the budget is %zu",
                        cuda->base.info.name, bytes * (size_t)slots, cuda->budget);
    if (more > bytes || more_staged > staged) {
        sy_status status = acquire_memory(cuda, slot, more, more_staged);
        if (status != SY_ERR_MEMORY)
            return status;
    }
    return acquire_memory(cuda, slot, bytes, staged);
}

void syi_cuda_slot_clear(cuda_device *cuda, cuda_slot *slot)
{
    const syi_cuda_api *api = &cuda->driver->api;
    release_memory(cuda, slot);
    for (int i = 0; i < CUDA_MARKS; i++)
        if (slot->marks[i])
            api->cuEventDestroy(slot->marks[i]);
    if (slot->stream)
        api->cuStreamDestroy(slot->stream);
    *slot = (cuda_slot){0};
}

/* ---- one slab ---- */

syi_launch syi_cuda_slot_describe(const cuda_slot *slot, const syi_job *job, const syi_view *view)
{
    const syi_slab *slab = &slot->slab;
    const cuda_layout *at = &slot->layout;
    syi_launch launch = {.rows = slab->rows,
                         .columns = slab->columns,
                         .left = slab->left,
                         .in_stride = slab->left + slab->columns,
                         .first = slab->first,
                         .row_columns = job->columns,
                         .unit_columns = at->unit_columns,
                         .units_per_row = at->units_per_row};
    const int wide = job->dtype == SY_F32; /* arrays are made doubles */
    for (int k = 0; k < job->workload->n_inputs; k++)
        launch.in[k] = (const double *)(uintptr_t)(wide ? slot->memory + at->wide_in[k]
                                                        : syi_cuda_slot_in(slot, view, k));
    for (int k = 0; k < job->workload->n_outputs; k++)
        launch.out[k] = (double *)(uintptr_t)(wide ? slot->memory + at->wide_out[k]
                                                   : syi_cuda_slot_out(slot, view, k));
    memcpy(launch.params, job->params, (size_t)job->workload->n_params * sizeof(double));
    launch.doubts = (long long *)(uintptr_t)(slot->memory + at->doubts);
    launch.partials = (unsigned char *)(uintptr_t)(slot->memory + at->partials);
    launch.links = (syi_carry *)(uintptr_t)(slot->memory + at->links);
    return launch;
}

static sy_status stage_inputs(const cuda_slot *slot, const syi_job *job)
{
    const syi_slab *slab = &slot->slab;
    const cuda_layout *at = &slot->layout;
    int64_t from = slab->row * job->columns + slab->first - slab->left;
    for (int k = 0; k < job->workload->n_inputs; k++)
        if (at->in_route[k] == CUDA_STAGED)
            SYI_TRY(syi_input_read(job, k, from, syi_slab_inputs(slab), slot->staging + at->in[k]));
    return SY_OK;
}

static sy_status copy_in(cuda_device *cuda, cuda_slot *slot, const syi_job *job,
                         const syi_view *view)
{
    const cuda_layout *at = &slot->layout;
    size_t bytes = (size_t)syi_slab_inputs(&slot->slab) * syi_element_size(job->dtype);
    if (at->in_end)
        SYI_TRY(CU(cuda, cuMemcpyHtoDAsync(slot->memory, slot->staging, at->in_end, slot->stream)));
    for (int k = 0; k < job->workload->n_inputs; k++) {
        CUdeviceptr to = slot->memory + at->in[k];
        if (at->in_route[k] == CUDA_PINNED) {
            slot->far |= CUDA_HOST;
            SYI_TRY(CU(cuda, cuMemcpyHtoDAsync(to, view->in[k], bytes, slot->stream)));
        } else if (at->in_route[k] == CUDA_PEER) {
            cuda_device *owner = (cuda_device *)syi_place_in(job, k).owner;
            slot->far |= cuda_home_bit(owner);
            SYI_TRY(syi_cuda_peer_fetch(cuda, owner, cuda_address(view->in[k]), to, bytes,
                                        slot->stream));
        }
    }
    return SY_OK;
}

static sy_status launch(cuda_device *cuda, const cuda_slot *slot, CUfunction kernel,
                        const syi_job *job, const syi_view *view)
{
    const syi_gpu_form *gpu = job->workload->gpu;
    syi_launch description = syi_cuda_slot_describe(slot, job, view);
    void *arguments[] = {&description};
    int64_t blocks = (slot->layout.units + gpu->units_per_block - 1) / gpu->units_per_block;
    if (job->workload->user)
        return syi_cuda_user_launch(cuda, slot, kernel, job, &description);
    return CU(cuda, cuLaunchKernel(kernel, (unsigned)blocks, 1, 1, (unsigned)gpu->threads, 1, 1, 0,
                                   slot->stream, arguments, NULL));
}

sy_status syi_cuda_slot_start(cuda_device *cuda, cuda_slot *slot, CUfunction kernel,
                              const syi_job *job, const syi_slab *slab)
{
    const syi_view view = syi_view_of_job(job, slab);
    size_t out_bytes;
    slot->slab = *slab;
    slot->far = 0;
    out_bytes = slot->layout.staged_end - slot->layout.in_end;
    SYI_TRY(stage_inputs(slot, job));
    slot->busy = 1; /* from here on the stream may be using the slot */
    SYI_TRY(CU(cuda, cuEventRecord(slot->marks[0], slot->stream)));
    SYI_TRY(copy_in(cuda, slot, job, &view));
    SYI_TRY(CU(cuda, cuEventRecord(slot->marks[1], slot->stream)));
    SYI_TRY(syi_cuda_widen_inputs(cuda, slot, job, &view));
    SYI_TRY(launch(cuda, slot, kernel, job, &view));
    SYI_TRY(syi_cuda_narrow_outputs(cuda, slot, job, &view));
    SYI_TRY(CU(cuda, cuEventRecord(slot->marks[2], slot->stream)));
    SYI_TRY(
        CU(cuda, cuMemcpyDtoHAsync(slot->staging + slot->layout.in_end,
                                   slot->memory + slot->layout.in_end, out_bytes, slot->stream)));
    return CU(cuda, cuEventRecord(slot->marks[3], slot->stream));
}

static double between(const cuda_device *cuda, const cuda_slot *slot, int from)
{
    float ms = 0;
    if (cuda->driver->api.cuEventElapsedTime(&ms, slot->marks[from], slot->marks[from + 1]) !=
        CUDA_SUCCESS)
        return 0;
    return ms;
}

/* A tile that did not fit the GPU's arithmetic. */
static sy_status reduce_here(const syi_job *job, int64_t tile, unsigned char *partial)
{
    const syi_host_options options = {1, syi_isa_detect()};
    syi_tiles span = {tile, 1};
    syi_slab slab = syi_slab_take(job, &span, 1);
    syi_stage stage;
    sy_status status;
    SYI_TRY(syi_stage_open(job, &slab, 0, &stage));
    status = syi_host_reduce(job, &slab, &stage.view, &options, partial);
    syi_stage_close(&stage);
    return status;
}

static sy_status collect_doubts(const cuda_slot *slot, const syi_job *job, syi_outcome *outcome)
{
    const long long *stretch = (const void *)(slot->staging + slot->layout.doubts);
    unsigned char *partials = slot->staging + slot->layout.partials;
    if (job->workload->user)
        return SY_OK;
    for (int64_t unit = 0; unit < slot->layout.units; unit++, stretch += 2) {
        int64_t row = slot->slab.row + unit / slot->layout.units_per_row;
        if (stretch[1] <= stretch[0])
            continue;
        if (job->workload->pattern == SY_PATTERN_REDUCE)
            SYI_TRY(reduce_here(job, slot->slab.tile + unit,
                                partials + (size_t)unit * job->workload->partial_size));
        else
            SYI_TRY(syi_doubts_add_stretch(&outcome->doubts, row, slot->slab.first + stretch[0],
                                           slot->slab.first + stretch[1]));
    }
    return SY_OK;
}

static sy_status collect_links(const cuda_slot *slot, const syi_job *job, syi_outcome *outcome)
{
    const syi_carry *carries = (const void *)(slot->staging + slot->layout.links);
    int64_t unit_columns = slot->layout.unit_columns;
    if (job->workload->pattern != SY_PATTERN_RECURRENCE || job->columns <= unit_columns)
        return SY_OK;
    for (int64_t unit = 0; unit < slot->layout.units; unit++) {
        int64_t at = unit % slot->layout.units_per_row * unit_columns;
        int64_t left = slot->slab.columns - at;
        syi_link link = {.row = slot->slab.row + unit / slot->layout.units_per_row,
                         .first = slot->slab.first + at,
                         .columns = left < unit_columns ? left : unit_columns,
                         .assumed = carries[2 * unit],
                         .end = carries[2 * unit + 1]};
        SYI_TRY(syi_outcome_add_link(outcome, &link));
    }
    return SY_OK;
}

/* Outputs that go straight to the caller's arrays go once the kernel is known to have ended: a
 * device that hangs must not write there when the call is over. */
static sy_status deliver(cuda_device *cuda, cuda_slot *slot, const syi_job *job)
{
    const syi_view view = syi_view_of_job(job, &slot->slab);
    size_t bytes = (size_t)syi_slab_outputs(job, &slot->slab) * syi_element_size(job->dtype);
    int copies = 0;
    slot->busy = 1; /* whatever fails here is waited for */
    for (int k = 0; k < job->workload->n_outputs; k++) {
        CUdeviceptr from = slot->memory + slot->layout.out[k];
        if (slot->layout.out_route[k] == CUDA_PEER)
            SYI_TRY(syi_cuda_gather_parcel(
                &(cuda_parcel){cuda, (cuda_device *)syi_place_out(job, k).owner, from,
                               cuda_address(view.out[k]), bytes, slot->stream}));
        if (slot->layout.out_route[k] != CUDA_PINNED)
            continue;
        copies++;
        slot->far |= CUDA_HOST;
        SYI_TRY(CU(cuda, cuMemcpyDtoHAsync(view.out[k], from, bytes, slot->stream)));
    }
    if (copies)
        SYI_TRY(syi_cuda_wait(cuda, slot->stream));
    slot->busy = 0;
    return SY_OK;
}

static sy_status copy_results(const cuda_slot *slot, const syi_job *job)
{
    const syi_workload *workload = job->workload;
    const syi_slab *slab = &slot->slab;
    int64_t at = slab->row * job->columns + slab->first;
    for (int k = 0; k < workload->n_outputs; k++)
        if (slot->layout.out_route[k] == CUDA_STAGED)
            SYI_TRY(syi_output_write(job, k, at, syi_slab_outputs(job, slab),
                                     slot->staging + slot->layout.out[k]));
    return SY_OK;
}

sy_status syi_cuda_slot_finish(cuda_device *cuda, cuda_slot *slot, const syi_job *job,
                               syi_outcome *outcome)
{
    int64_t ended;
    SYI_TRY(syi_cuda_wait(cuda, slot->stream)); /* else it stays busy, and is waited for again */
    outcome->copy_in_ms += between(cuda, slot, 0);
    outcome->compute_ms += between(cuda, slot, 1);
    outcome->copy_out_ms += between(cuda, slot, 2);
    syi_cuda_trace_slab(cuda, slot, job);
    ended = syi_now_ns();
    SYI_TRY(deliver(cuda, slot, job));
    SYI_TRY(copy_results(slot, job));
    outcome->copy_out_ms += syi_job_addressable(job) ? 0 : (double)(syi_now_ns() - ended) / 1e6;
    SYI_TRY(collect_doubts(slot, job, outcome));
    SYI_TRY(collect_links(slot, job, outcome));
    if (job->workload->pattern == SY_PATTERN_REDUCE)
        SYI_TRY(syi_partials_put(job, slot->slab.tile, slot->slab.tiles,
                                 slot->staging + slot->layout.partials));
    outcome->tiles_done += slot->slab.tiles;
    syi_outcome_join_links(outcome, job->workload);
    return syi_gate_pass(job->gate, slot->slab.tiles);
}

void syi_cuda_slot_abandon(cuda_device *cuda, cuda_slot *slot)
{
    if (slot->busy)
        syi_cuda_end(cuda, slot->stream, slot->far);
    slot->busy = 0;
}
