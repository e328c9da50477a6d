#define _POSIX_C_SOURCE 200809L
#include "device/cuda_gather.h"

#include "base/clock.h"
#include "base/mem.h"
#include "device/nccl.h"
#include "device/registry.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef enum way { BY_NCCL, BY_PEER, BY_HOST } way;

/* A GPU's part: one, however many devices of the context share it. */
typedef struct station {
    cuda_device *device;
    CUstream stream;
} station;

struct syi_cuda_gather {
    pthread_mutex_t lock;
    const syi_devices *devices;
    syi_log *log;
    char *nccl_path; /* NULL: none */
    int insists;     /* the caller has named the way */
    _Atomic int way;
    int ready; /* the way has been begun */
    syi_nccl *nccl;
    station *stations; /* of NCCL's ranks */
    int station_count;
    int64_t patience_ns;
    char note[768]; /* to be logged when nothing is locked */
    sy_log_level note_level;
};

#define CU(cuda, call) cuda_check(cuda, (cuda)->driver->api.call, #call)

static const char *const way_names[] = {"NCCL", "peer copies", "copies through the host"};

/* ---- beginning and end -------------------------------------------------------------------- */

sy_status syi_cuda_gather_open(const syi_devices *devices, const sy_config *config, syi_log *log,
                               syi_cuda_gather **out)
{
    syi_cuda_gather *gather = syi_alloc(1, sizeof *gather);
    if (!gather)
        return syi_no_memory(sizeof *gather);
    pthread_mutex_init(&gather->lock, NULL);
    gather->devices = devices;
    gather->log = log;
    gather->patience_ns = (int64_t)(devices->watchdog_ms * 1e6);
    /* The system's NCCL has nothing to do with a driver that was named. */
    if (config->nccl_library || !config->cuda_driver)
        gather->nccl_path =
            syi_strdup(config->nccl_library ? config->nccl_library : "libnccl.so.2");
    gather->insists = config->gather != SY_GATHER_AUTO;
    gather->way = config->gather == SY_GATHER_HOST   ? BY_HOST
                  : config->gather == SY_GATHER_PEER ? BY_PEER
                                                     : BY_NCCL;
    *out = gather;
    return SY_OK;
}

static void close_stations(syi_cuda_gather *gather)
{
    for (int i = 0; i < gather->station_count; i++) {
        cuda_device *cuda = gather->stations[i].device;
        const syi_cuda_api *api = &cuda->driver->api;
        if (!gather->stations[i].stream || cuda->hung ||
            api->cuCtxPushCurrent(cuda->primary) != CUDA_SUCCESS)
            continue;
        api->cuStreamDestroy(gather->stations[i].stream);
        api->cuCtxPopCurrent(NULL);
    }
    syi_free(gather->stations);
    gather->stations = NULL;
    gather->station_count = 0;
}

/* What was switched on for our copies is switched off again. */
static void close_peers(const syi_cuda_gather *gather)
{
    for (int i = 0; i < gather->devices->count; i++) {
        cuda_device *cuda = (cuda_device *)gather->devices->list[i];
        if (cuda->base.info.type != SY_DEVICE_CUDA)
            continue;
        for (int k = 0; k < CUDA_PEERS && cuda->peers[k]; k++) {
            const syi_cuda_api *api = &cuda->driver->api;
            if (cuda->hung || api->cuCtxPushCurrent(cuda->context) != CUDA_SUCCESS)
                continue;
            if (cuda->peer_is_ours[k])
                api->cuCtxDisablePeerAccess(cuda->peers[k]);
            api->cuCtxPopCurrent(NULL);
        }
    }
}

void syi_cuda_gather_close(syi_cuda_gather **gather)
{
    syi_cuda_gather *old = *gather;
    if (!old)
        return;
    *gather = NULL;
    syi_nccl_close(&old->nccl, old->patience_ns);
    close_stations(old);
    close_peers(old);
    syi_free(old->nccl_path);
    pthread_mutex_destroy(&old->lock);
    syi_free(old);
}

int cuda_gather_is_direct(syi_cuda_gather *gather)
{
    return gather->way != BY_HOST;
}

/* ---- NCCL --------------------------------------------------------------------------------- */

static int station_of(const syi_cuda_gather *gather, const cuda_device *cuda)
{
    for (int i = 0; i < gather->station_count; i++)
        if (gather->stations[i].device->base.home == cuda->base.home)
            return i;
    return -1;
}

static sy_status open_stations(syi_cuda_gather *gather)
{
    const int count = gather->devices->count;
    gather->stations = syi_alloc((size_t)count, sizeof *gather->stations);
    if (!gather->stations)
        return syi_no_memory((uint64_t)count * sizeof *gather->stations);
    for (int i = 0; i < count; i++) {
        cuda_device *cuda = (cuda_device *)gather->devices->list[i];
        sy_status status;
        if (cuda->base.info.type != SY_DEVICE_CUDA || !cuda->base.info.usable ||
            cuda->base.failed || cuda->base.lost || station_of(gather, cuda) >= 0)
            continue;
        SYI_TRY(CU(cuda, cuCtxPushCurrent(cuda->primary)));
        gather->stations[gather->station_count] = (station){.device = cuda};
        status = CU(cuda, cuStreamCreate(&gather->stations[gather->station_count].stream,
                                         CU_STREAM_NON_BLOCKING));
        cuda->driver->api.cuCtxPopCurrent(NULL);
        SYI_TRY(status);
        gather->station_count++;
    }
    return SY_OK;
}

static sy_status join(syi_cuda_gather *gather)
{
    const syi_cuda_api *api = &gather->devices->cuda->api;
    CUcontext *contexts;
    sy_status status;
    SYI_TRY(open_stations(gather));
    contexts = syi_alloc((size_t)gather->station_count, sizeof *contexts);
    if (!contexts)
        return syi_no_memory((uint64_t)gather->station_count * sizeof *contexts);
    for (int i = 0; i < gather->station_count; i++)
        contexts[i] = gather->stations[i].device->primary;
    status = syi_nccl_join(gather->nccl, api, contexts, gather->station_count, gather->patience_ns);
    syi_free(contexts);
    return status;
}

static sy_status begin_nccl(syi_cuda_gather *gather)
{
    if (!gather->nccl_path)
        return syi_fail(SY_ERR_UNSUPPORTED, "no NCCL was named beside the CUDA driver");
    SYI_TRY(syi_nccl_open(gather->nccl_path, &gather->nccl));
    return join(gather);
}

/* Nothing of it is under way any more when this returns, unless a GPU hangs itself, which its next
 * wait notices. */
static void end_nccl(syi_cuda_gather *gather)
{
    if (gather->nccl)
        syi_nccl_abort(gather->nccl);
    for (int i = 0; i < gather->station_count; i++) {
        cuda_device *cuda = gather->stations[i].device;
        const syi_cuda_api *api = &cuda->driver->api;
        if (cuda->hung || api->cuCtxPushCurrent(cuda->primary) != CUDA_SUCCESS)
            continue;
        cuda_wait(cuda, gather->stations[i].stream);
        api->cuCtxPopCurrent(NULL);
    }
    syi_nccl_close(&gather->nccl, gather->patience_ns);
    close_stations(gather);
}

static CUresult query(const station *at)
{
    const syi_cuda_api *api = &at->device->driver->api;
    CUresult result = api->cuCtxPushCurrent(at->device->primary);
    if (result != CUDA_SUCCESS)
        return result;
    result = api->cuStreamQuery(at->stream);
    api->cuCtxPopCurrent(NULL);
    return result;
}

static sy_status wait_for_both(const syi_cuda_gather *gather, const station *from,
                               const station *to)
{
    const struct timespec nap = {0, 20000};
    const int64_t began = syi_now_ns(), quick_ns = 100000;
    for (;;) {
        CUresult sent = query(from), received = query(to);
        int64_t waited = syi_now_ns() - began;
        if (sent != CUDA_ERROR_NOT_READY && received != CUDA_ERROR_NOT_READY) {
            SYI_TRY(cuda_check(from->device, sent, "cuStreamQuery"));
            SYI_TRY(cuda_check(to->device, received, "cuStreamQuery"));
            return syi_nccl_check(gather->nccl);
        }
        if (waited > quick_ns) {
            SYI_TRY(syi_nccl_check(gather->nccl));
            nanosleep(&nap, NULL);
        }
        if (waited > gather->patience_ns)
            return syi_fail(SY_ERR_DEVICE, "NCCL: a transfer from %s to %s has taken %.1f s",
                            from->device->base.info.name, to->device->base.info.name,
                            (double)waited / 1e9);
    }
}

static sy_status carry_by_nccl(syi_cuda_gather *gather, const cuda_parcel *parcel)
{
    int sender = station_of(gather, parcel->from), receiver = station_of(gather, parcel->to);
    const station *at = gather->stations;
    if (sender < 0 || receiver < 0)
        return syi_fail(SY_ERR_DEVICE, "NCCL: %s or %s has no rank", parcel->from->base.info.name,
                        parcel->to->base.info.name);
    SYI_TRY(syi_nccl_move(gather->nccl, (syi_nccl_end){sender, parcel->source, at[sender].stream},
                          (syi_nccl_end){receiver, parcel->target, at[receiver].stream},
                          parcel->bytes, gather->patience_ns));
    return wait_for_both(gather, &at[sender], &at[receiver]);
}

/* ---- peer copies and the host ------------------------------------------------------------- */

/* Copies work without it, by way of the host's memory; where it can be had they go straight. */
static void enable_peer(cuda_device *cuda, const cuda_device *other)
{
    const syi_cuda_api *api = &cuda->driver->api;
    int can = 0, k = 0;
    if (cuda->green || other->green)
        return; /* not to be had for a part of a GPU */
    while (k < CUDA_PEERS && cuda->peers[k] && cuda->peers[k] != other->context)
        k++;
    if (k == CUDA_PEERS || cuda->peers[k])
        return;
    cuda->peers[k] = other->context;
    if (api->cuDeviceCanAccessPeer(&can, cuda->device, other->device) == CUDA_SUCCESS && can)
        cuda->peer_is_ours[k] = api->cuCtxEnablePeerAccess(other->context, 0) == CUDA_SUCCESS;
}

static sy_status carry_by_peer(const cuda_parcel *parcel)
{
    cuda_device *from = parcel->from;
    enable_peer(from, parcel->to);
    SYI_TRY(CU(from, cuMemcpyPeerAsync(parcel->target, parcel->to->context, parcel->source,
                                       from->context, parcel->bytes, parcel->stream)));
    return cuda_wait(from, parcel->stream);
}

static sy_status carry_by_host(const cuda_parcel *parcel)
{
    const syi_ram *ram = parcel->from->base.backend->ram;
    void *buffer = syi_alloc(parcel->bytes, 1);
    sy_status status;
    if (!buffer)
        return syi_no_memory(parcel->bytes);
    status = ram->read(&parcel->from->base, (const void *)(uintptr_t)parcel->source, parcel->bytes,
                       buffer);
    if (status == SY_OK)
        status =
            ram->write(&parcel->to->base, (void *)(uintptr_t)parcel->target, parcel->bytes, buffer);
    syi_free(buffer);
    return status;
}

/* ---- choosing ----------------------------------------------------------------------------- */

static void note(syi_cuda_gather *gather, sy_log_level level, const char *way, const char *why)
{
    size_t used = strlen(gather->note);
    snprintf(gather->note + used, sizeof gather->note - used,
             "%sarrays on GPUs are gathered by %s%s", used ? "; " : "", way, why);
    if (level > gather->note_level)
        gather->note_level = level;
}

/* Takes the note along. */
static void unlock(syi_cuda_gather *gather)
{
    char text[sizeof gather->note];
    sy_log_level level = gather->note_level;
    memcpy(text, gather->note, sizeof text);
    gather->note[0] = '\0';
    gather->note_level = SY_LOG_INFO;
    pthread_mutex_unlock(&gather->lock);
    if (text[0])
        syi_log_line(gather->log, level, "%s", text);
}

/* From the present way to another one, and why. */
static void turn_to(syi_cuda_gather *gather, way next, sy_log_level level)
{
    char why[320];
    snprintf(why, sizeof why, ", not by %s (%.256s)", way_names[gather->way],
             sy_last_error()->text);
    if (gather->way == BY_NCCL)
        end_nccl(gather);
    gather->way = (int)next;
    gather->ready = 1;
    note(gather, level, way_names[next], why);
}

static void begin(syi_cuda_gather *gather)
{
    char version[32];
    int number;
    if (gather->ready)
        return;
    gather->ready = 1;
    if (gather->way != BY_NCCL) {
        note(gather, SY_LOG_INFO, way_names[gather->way], ", as the context's configuration says");
    } else if (begin_nccl(gather) != SY_OK) {
        turn_to(gather, BY_PEER, gather->insists ? SY_LOG_WARNING : SY_LOG_INFO);
    } else {
        number = syi_nccl_version(gather->nccl);
        snprintf(version, sizeof version, " %d.%d.%d", number / 10000, number / 100 % 100,
                 number % 100);
        note(gather, SY_LOG_INFO, way_names[BY_NCCL], version);
    }
}

static sy_status carry(syi_cuda_gather *gather, const cuda_parcel *parcel)
{
    switch ((way)gather->way) {
    case BY_NCCL:
        return carry_by_nccl(gather, parcel);
    case BY_PEER:
        return carry_by_peer(parcel);
    default:
        return carry_by_host(parcel);
    }
}

/* Whether both still answer: then it was the way that failed. Keeps the error record if so. */
static int both_answer(cuda_device *a, cuda_device *b)
{
    const syi_ram *ram = a->base.backend->ram;
    sy_error why = *sy_last_error();
    if (ram->check(&a->base) != SY_OK || ram->check(&b->base) != SY_OK)
        return 0;
    syi_error_adopt(&why);
    return 1;
}

sy_status cuda_gather(const cuda_parcel *parcel)
{
    syi_cuda_gather *gather = parcel->from->gather;
    sy_status status;
    pthread_mutex_lock(&gather->lock);
    begin(gather);
    while ((status = carry(gather, parcel)) == SY_ERR_DEVICE && gather->way != BY_HOST &&
           both_answer(parcel->from, parcel->to))
        turn_to(gather, (way)(gather->way + 1), SY_LOG_WARNING);
    unlock(gather);
    return status;
}

sy_status cuda_peer_fetch(cuda_device *to, cuda_device *from, CUdeviceptr source,
                          CUdeviceptr target, size_t bytes, CUstream stream)
{
    syi_cuda_gather *gather = to->gather;
    sy_status status;
    enable_peer(to, from);
    status = CU(to, cuMemcpyPeerAsync(target, to->context, source, from->context, bytes, stream));
    if (status != SY_ERR_DEVICE || !both_answer(from, to))
        return status;
    pthread_mutex_lock(&gather->lock);
    if (gather->way != BY_HOST)
        turn_to(gather, BY_HOST, SY_LOG_WARNING);
    unlock(gather);
    return status;
}
