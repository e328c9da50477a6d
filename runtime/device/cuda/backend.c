/*
 * GPUs through the CUDA driver API. A span streams through four slots, so that copies in, kernels
 * and copies out overlap and an array of any size fits: out of memory halves the parts, down to one
 * tile at a time.
 */
#include "base/clock.h"
#include "device/cuda/ending.h"
#include "device/cuda/gather.h"
#include "device/cuda/layout.h"
#include "device/cuda/memory.h"
#include "device/cuda/open.h"
#include "device/cuda/slot.h"
#include "device/cuda/trace.h"
#include "device/cuda/user.h"
#include "device/host.h"
#include "device/registry.h"

#include <string.h>

/* Tiles of a slab: 8 MiB an array keep a PCIe link busy; a big GPU wants millions of columns; and
 * a span is cut into so many slabs that copies and kernels overlap. */
enum { LEAST_TILES = 256, MOST_TILES = 4096, LEAST_SLABS = 8 };

/* ---- running ---- */

static void abandon_all(cuda_device *cuda)
{
    for (int i = 0; i < CUDA_SLOTS; i++)
        syi_cuda_slot_abandon(cuda, &cuda->slots[i]);
}

static int64_t slab_tiles_of(const cuda_device *cuda, const syi_job *job, syi_tiles span)
{
    syi_tiles one = {span.first, span.count};
    syi_slab slab = syi_slab_take(job, &one, 1);
    const cuda_layout tile = syi_cuda_layout_of(cuda, job, &slab);
    const uint64_t room = cuda_room(cuda) / CUDA_SLOTS / tile.end;
    const int64_t staged = (int64_t)(CUDA_STAGING / CUDA_SLOTS / tile.staged_end);
    int64_t tiles = span.count / LEAST_SLABS;
    if (tiles < LEAST_TILES)
        tiles = LEAST_TILES;
    if (tiles > MOST_TILES)
        tiles = MOST_TILES;
    if ((uint64_t)tiles > room)
        tiles = (int64_t)room;
    if (tiles > staged)
        tiles = staged;
    return tiles > 1 ? tiles : 1;
}

/* How a span goes through the device. */
typedef struct pace {
    int64_t tiles; /* of a slab at most */
    int slots;     /* in use */
    int next;      /* the slot to be used next, which holds the oldest slab */
} pace;

/* Out of memory: smaller slabs, then one at a time; 0: there is nothing less. */
static int pace_down(pace *pace)
{
    if (pace->tiles == 1 && pace->slots == 1)
        return 0;
    if (pace->tiles == 1)
        pace->slots = 1;
    else
        pace->tiles /= 2;
    pace->next = 0;
    return 1;
}

/* Finishes the slabs under way in the order they were started. */
static sy_status finish_all(cuda_device *cuda, int next, const syi_job *job, syi_outcome *outcome)
{
    for (int i = 0; i < CUDA_SLOTS; i++) {
        cuda_slot *slot = &cuda->slots[(next + i) % CUDA_SLOTS];
        if (slot->busy)
            SYI_TRY(syi_cuda_slot_finish(cuda, slot, job, outcome));
    }
    return SY_OK;
}

/* Makes room for the next slab of the span. Slabs under way end before memory is given back: the
 * driver would wait for them, and for ever when they hang. */
static sy_status make_room(cuda_device *cuda, const syi_job *job, syi_tiles span, pace *pace,
                           syi_outcome *outcome)
{
    for (;;) {
        syi_tiles rest = span;
        syi_slab slab = syi_slab_take(job, &rest, pace->tiles);
        const cuda_layout layout = syi_cuda_layout_of(cuda, job, &slab);
        int next = pace->next;
        sy_status status;
        if (cuda->slots[next].bytes && !syi_cuda_slot_fits(&cuda->slots[next], &layout))
            SYI_TRY(finish_all(cuda, next, job, outcome));
        status = syi_cuda_slot_reserve(cuda, &cuda->slots[next], &layout, pace->slots);
        if (status != SY_ERR_MEMORY || !pace_down(pace))
            return status;
        SYI_TRY(finish_all(cuda, next, job, outcome));
        for (int i = 0; i < CUDA_SLOTS; i++)
            syi_cuda_slot_clear(cuda, &cuda->slots[i]);
        outcome->retries++;
    }
}

static sy_status stream_span(cuda_device *cuda, CUfunction kernel, const syi_job *job,
                             syi_tiles span, syi_outcome *outcome)
{
    pace pace = {.tiles = slab_tiles_of(cuda, job, span), .slots = CUDA_SLOTS};
    while (span.count) {
        syi_slab slab;
        if (cuda->slots[pace.next].busy)
            SYI_TRY(syi_cuda_slot_finish(cuda, &cuda->slots[pace.next], job, outcome));
        SYI_TRY(make_room(cuda, job, span, &pace, outcome));
        slab = syi_slab_take(job, &span, pace.tiles);
        SYI_TRY(syi_gate_pass(job->gate, 0)); /* what fails is counted where it is done anew */
        SYI_TRY(syi_cuda_slot_start(cuda, &cuda->slots[pace.next], kernel, job, &slab));
        pace.next = (pace.next + 1) % pace.slots;
    }
    return finish_all(cuda, pace.next, job, outcome);
}

static sy_status run_in_context(cuda_device *cuda, const syi_job *job, syi_tiles span,
                                syi_outcome *outcome)
{
    CUfunction kernel;
    sy_status status;
    SYI_TRY(CU_ENTER(cuda, cuda->context));
    status = job->workload->user
                 ? syi_cuda_user_kernel(cuda, job->workload, &kernel)
                 : CU(cuda, cuModuleGetFunction(&kernel, cuda->module, job->workload->gpu->entry));
    if (status == SY_OK) {
        syi_cuda_trace_begin(cuda, job);
        status = stream_span(cuda, kernel, job, span, outcome);
    }
    if (status != SY_OK) {
        const sy_error why = *sy_last_error();
        abandon_all(cuda);
        syi_error_adopt(&why);
    }
    syi_cuda_trace_end(cuda);
    syi_cuda_leave(cuda);
    return status;
}

/* Rows without a column: there is nothing to start a kernel on, but a reduction has a result. */
static sy_status run_nothing(const syi_job *job, syi_tiles span, syi_outcome *outcome)
{
    const syi_host_options options = {1, syi_isa_detect()};
    while (span.count) {
        const syi_slab slab = syi_slab_take(job, &span, MOST_TILES);
        const syi_view view = syi_view_of_job(job, &slab);
        SYI_TRY(syi_host_run(job, &slab, &view, &options, outcome));
        outcome->tiles_done += slab.tiles;
        SYI_TRY(syi_gate_pass(job->gate, slab.tiles));
    }
    return SY_OK;
}

static sy_status cuda_run(syi_device *device, const syi_job *job, syi_tiles span,
                          syi_outcome *outcome)
{
    cuda_device *cuda = (cuda_device *)device;
    int64_t began = syi_now_ns();
    sy_status status;
    pthread_mutex_lock(&cuda->running);
    status = cuda->hung || device->failed
                 ? syi_fail(SY_ERR_DEVICE, "device %s failed earlier", device->info.name)
                 : syi_cuda_need_settled(cuda); /* or a slot may be in use */
    if (status == SY_OK)
        status = job->columns ? run_in_context(cuda, job, span, outcome)
                              : run_nothing(job, span, outcome);
    pthread_mutex_unlock(&cuda->running);
    outcome->busy_ms = (double)(syi_now_ns() - began) / 1e6;
    return status;
}

/* ---- giving back ---- */

static void unlock_first(const cuda_device *cuda, int count)
{
    for (int i = 0; i < count; i++) {
        cuda_device *part = syi_cuda_of_home(cuda->devices, i, cuda->base.home);
        if (part) {
            pthread_mutex_unlock(&part->port.lock);
            pthread_mutex_unlock(&part->running);
        }
    }
}

static int lock_one(cuda_device *part)
{
    if (pthread_mutex_trylock(&part->running) != 0)
        return 0;
    if (pthread_mutex_trylock(&part->port.lock) == 0)
        return 1;
    pthread_mutex_unlock(&part->running);
    return 0;
}

/* Locks all parts of a GPU where nobody runs anything or copies, or none of them: giving memory
 * back waits for their work, and for ever for what hangs. */
static int lock_idle(const cuda_device *cuda)
{
    for (int i = 0; i < cuda->devices->count; i++) {
        cuda_device *part = syi_cuda_of_home(cuda->devices, i, cuda->base.home);
        if (!part || lock_one(part))
            continue;
        unlock_first(cuda, i);
        return 0;
    }
    return 1;
}

static void cuda_trim(syi_device *device)
{
    cuda_device *cuda = (cuda_device *)device;
    if (!lock_idle(cuda)) /* something is in use, maybe by who calls this */
        return;
    if (cuda->context && syi_cuda_gpu_is_settled(cuda) &&
        syi_cuda_enter(cuda, cuda->context) == CUDA_SUCCESS) {
        for (int i = 0; i < CUDA_SLOTS; i++)
            syi_cuda_slot_clear(cuda, &cuda->slots[i]);
        syi_cuda_port_trim(cuda);
        syi_cuda_leave(cuda);
    }
    unlock_first(cuda, cuda->devices->count);
    if (cuda->gather)
        syi_cuda_gather_trim(cuda->gather);
}

static const char *cuda_obstacle(syi_device *device, const syi_workload *workload)
{
    if (!workload->gpu)
        return "has no form of this workload";
    return workload->user ? syi_cuda_user_obstacle((cuda_device *)device, workload) : NULL;
}

const syi_backend syi_backend_cuda = {
    .prefix = "cuda",
    .type = SY_DEVICE_CUDA,
    .open = syi_cuda_open,
    .open_all = syi_cuda_open_all,
    .close = syi_cuda_close,
    .refresh = syi_cuda_refresh,
    .trim = cuda_trim,
    .obstacle = cuda_obstacle,
    .run = cuda_run,
    .ram = &syi_cuda_ram,
};
