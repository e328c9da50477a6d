/*
 * NCCL's ranks: one for each GPU of a context, with a stream of its own, and the transfers between
 * them. Nothing is said to the rank of a GPU that hangs any more: ending it would wait for ever.
 */
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/ranks.h"

#include "base/clock.h"
#include "base/mem.h"
#include "device/cuda/ending.h"
#include "device/cuda/nccl.h"
#include "device/registry.h"

#include <time.h>

/* A GPU's part: one, however many devices of the context share it. */
typedef struct station {
    cuda_device *device;
    CUstream stream;
} station;

struct cuda_ranks {
    syi_nccl *nccl;
    station *stations; /* of the ranks */
    int count;
    int64_t patience_ns;
    uint64_t in_use; /* homes of the GPUs whose arrays a transfer uses that has not ended well */
};

/* NCCL may put a primary context in the place of the thread's current one, and does what the
 * capture of a graph forbids. So it is called with a context of ours on top, which is taken away
 * again. NULL: there is none. */
static const cuda_device *enter_one(const cuda_ranks *ranks)
{
    for (int i = 0; i < ranks->count; i++) {
        const cuda_device *cuda = ranks->stations[i].device;
        if (!cuda->hung && syi_cuda_enter(cuda, cuda->primary) == CUDA_SUCCESS)
            return cuda;
    }
    return NULL;
}

static void leave_one(const cuda_device *cuda)
{
    if (cuda)
        syi_cuda_leave(cuda);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void close_stations(cuda_ranks *ranks)
{
    for (int i = 0; i < ranks->count; i++) {
        cuda_device *cuda = ranks->stations[i].device;
        if (!ranks->stations[i].stream || syi_cuda_enter(cuda, cuda->primary) != CUDA_SUCCESS)
            continue;
        syi_cuda_stream_drop(cuda, ranks->stations[i].stream);
        syi_cuda_leave(cuda);
    }
    syi_free(ranks->stations);
    ranks->stations = NULL;
    ranks->count = 0;
}

static void disown_hung(const cuda_ranks *ranks)
{
    for (int i = 0; ranks->nccl && i < ranks->count; i++)
        if (ranks->stations[i].device->hung) {
            syi_nccl_disown(ranks->nccl, i);
            ranks->stations[i].device->disowned = 1;
        }
}

static void end_transfer(const station *at, uint64_t homes)
{
    cuda_device *cuda = at->device;
    if (syi_cuda_enter(cuda, cuda->primary) != CUDA_SUCCESS) {
        syi_cuda_end_unseen(cuda, at->stream, homes);
        return;
    }
    syi_cuda_end(cuda, at->stream, homes);
    syi_cuda_leave(cuda);
}

void syi_cuda_ranks_abort(cuda_ranks **ranks)
{
    cuda_ranks *old = *ranks;
    const cuda_device *entered;
    if (!old)
        return;
    disown_hung(old);
    entered = enter_one(old);
    if (old->nccl)
        syi_nccl_abort(old->nccl);
    leave_one(entered);
    for (int i = 0; i < old->count; i++)
        end_transfer(&old->stations[i], old->in_use);
    syi_cuda_ranks_close(ranks);
}

void syi_cuda_ranks_close(cuda_ranks **ranks)
{
    cuda_ranks *old = *ranks;
    const cuda_device *entered;
    if (!old)
        return;
    *ranks = NULL;
    disown_hung(old);
    entered = enter_one(old);
    syi_nccl_close(&old->nccl, old->patience_ns);
    leave_one(entered);
    close_stations(old);
    syi_free(old);
}

/* ---- the beginning ------------------------------------------------------------------------ */

static int station_of(const cuda_ranks *ranks, const cuda_device *cuda)
{
    for (int i = 0; i < ranks->count; i++)
        if (ranks->stations[i].device->base.home == cuda->base.home)
            return i;
    return -1;
}

static sy_status open_stations(cuda_ranks *ranks, const syi_devices *devices)
{
    ranks->stations = syi_alloc((size_t)devices->count, sizeof *ranks->stations);
    if (!ranks->stations)
        return syi_no_memory((uint64_t)devices->count * sizeof *ranks->stations);
    for (int i = 0; i < devices->count; i++) {
        cuda_device *cuda = (cuda_device *)devices->list[i];
        station *next = &ranks->stations[ranks->count];
        sy_status status;
        if (cuda->base.info.type != SY_DEVICE_CUDA || !cuda->base.info.usable ||
            cuda->base.failed || cuda->base.lost || cuda->hung || station_of(ranks, cuda) >= 0)
            continue;
        SYI_TRY(CU_ENTER(cuda, cuda->primary));
        next->device = cuda;
        status = CU(cuda, cuStreamCreate(&next->stream, CU_STREAM_NON_BLOCKING));
        syi_cuda_leave(cuda);
        SYI_TRY(status);
        ranks->count++;
    }
    return SY_OK;
}

static sy_status join(cuda_ranks *ranks, const syi_devices *devices)
{
    const cuda_device *entered;
    CUcontext *contexts;
    sy_status status;
    SYI_TRY(open_stations(ranks, devices));
    contexts = syi_alloc((size_t)ranks->count, sizeof *contexts);
    if (!contexts)
        return syi_no_memory((uint64_t)ranks->count * sizeof *contexts);
    for (int i = 0; i < ranks->count; i++)
        contexts[i] = ranks->stations[i].device->primary;
    entered = enter_one(ranks);
    status =
        syi_nccl_join(ranks->nccl, &devices->cuda->api, contexts, ranks->count, ranks->patience_ns);
    leave_one(entered);
    syi_free(contexts);
    return status;
}

sy_status syi_cuda_ranks_open(const syi_devices *devices, const char *library, int64_t patience_ns,
                              cuda_ranks **out)
{
    cuda_ranks *ranks = syi_alloc(1, sizeof *ranks);
    sy_status status;
    sy_error why;
    if (!ranks)
        return syi_no_memory(sizeof *ranks);
    ranks->patience_ns = patience_ns;
    status = syi_nccl_open(library, &ranks->nccl);
    if (status == SY_OK)
        status = join(ranks, devices);
    if (status == SY_OK) {
        *out = ranks;
        return SY_OK;
    }
    why = *sy_last_error();
    syi_cuda_ranks_abort(&ranks);
    syi_error_adopt(&why);
    return status;
}

int syi_cuda_ranks_version(const cuda_ranks *ranks)
{
    return syi_nccl_version(ranks->nccl);
}

/* ---- transfers ---------------------------------------------------------------------------- */

static CUresult query(const station *at)
{
    CUresult result = syi_cuda_enter(at->device, at->device->primary);
    if (result != CUDA_SUCCESS)
        return result;
    result = at->device->driver->api.cuStreamQuery(at->stream);
    syi_cuda_leave(at->device);
    return result;
}

/* Whether all are ready, or one of them failed. */
static sy_status ask(const station *const *all, int count, int *ready)
{
    *ready = 1;
    for (int i = 0; i < count; i++) {
        CUresult result = query(all[i]);
        if (result == CUDA_ERROR_NOT_READY)
            *ready = 0;
        else
            SYI_TRY(syi_cuda_device_check(all[i]->device, result, "cuStreamQuery"));
    }
    return SY_OK;
}

static sy_status wait_for(cuda_ranks *ranks, const station *const *all, int count)
{
    const struct timespec nap = {0, 20000};
    const int64_t began = syi_now_ns(), quick_ns = 100000;
    int ready;
    for (;;) {
        int64_t waited = syi_now_ns() - began;
        SYI_TRY(ask(all, count, &ready));
        if (ready) {
            ranks->in_use = 0;
            return syi_nccl_check(ranks->nccl);
        }
        if (waited > quick_ns) {
            SYI_TRY(syi_nccl_check(ranks->nccl));
            nanosleep(&nap, NULL);
        }
        if (waited > ranks->patience_ns)
            return syi_fail(SY_ERR_DEVICE, "NCCL: a transfer between %s and %s has taken %.1f s",
                            all[0]->device->base.info.name, all[count - 1]->device->base.info.name,
                            (double)waited / 1e9);
    }
}

sy_status syi_cuda_ranks_carry(cuda_ranks *ranks, const cuda_parcel *parcel)
{
    int sender = station_of(ranks, parcel->from), receiver = station_of(ranks, parcel->to);
    const station *at = ranks->stations;
    const cuda_device *entered;
    sy_status status;
    if (sender < 0 || receiver < 0)
        return syi_fail(SY_ERR_DEVICE, "NCCL: %s or %s has no rank", parcel->from->base.info.name,
                        parcel->to->base.info.name);
    ranks->in_use = cuda_home_bit(parcel->from) | cuda_home_bit(parcel->to);
    entered = enter_one(ranks);
    status = syi_nccl_move(ranks->nccl, (syi_nccl_end){sender, parcel->source, at[sender].stream},
                           (syi_nccl_end){receiver, parcel->target, at[receiver].stream},
                           parcel->bytes, ranks->patience_ns);
    leave_one(entered);
    SYI_TRY(status);
    return wait_for(ranks, (const station *[]){&at[sender], &at[receiver]}, 2);
}

int syi_cuda_ranks_are(const cuda_ranks *ranks, syi_device *const *devices, int count)
{
    for (int i = 0; i < count && count == ranks->count; i++)
        if (ranks->stations[i].device->base.home != devices[i]->home)
            return 0;
    return count == ranks->count;
}

sy_status syi_cuda_ranks_exchange(cuda_ranks *ranks, void *const *arrays, size_t part)
{
    const int count = ranks->count;
    CUdeviceptr *addresses = syi_alloc((size_t)count, sizeof *addresses);
    CUstream *streams = syi_alloc((size_t)count, sizeof *streams);
    const station **all = syi_alloc((size_t)count, sizeof *all);
    const cuda_device *entered;
    sy_status status =
        addresses && streams && all ? SY_OK : syi_no_memory((uint64_t)count * sizeof *addresses);
    for (int i = 0; i < count && status == SY_OK; i++) {
        addresses[i] = cuda_address(arrays[i]);
        streams[i] = ranks->stations[i].stream;
        all[i] = &ranks->stations[i];
        ranks->in_use |= cuda_home_bit(all[i]->device);
    }
    entered = enter_one(ranks);
    if (status == SY_OK)
        status = syi_nccl_gather_all(ranks->nccl, addresses, streams, part, ranks->patience_ns);
    leave_one(entered);
    if (status == SY_OK)
        status = wait_for(ranks, all, count);
    syi_free(addresses);
    syi_free(streams);
    syi_free((void *)all);
    return status;
}
