#include "device/cuda/gather.h"

#include "base/mem.h"
#include "device/cuda/ending.h"
#include "device/cuda/peers.h"
#include "device/registry.h"

#include <stdio.h>
#include <string.h>

typedef enum way { BY_NCCL, BY_PEER, BY_HOST } way;

struct syi_cuda_gather {
    pthread_mutex_t lock;
    const syi_devices *devices;
    syi_log *log;
    char *nccl_path; /* NULL: none */
    int insists;     /* the caller has named the way */
    _Atomic int way;
    _Atomic int ready; /* the way has been begun */
    int told;          /* that it is NCCL */
    cuda_ranks *ranks;
    int64_t patience_ns;
    char note[768]; /* to be logged when nothing is locked */
    sy_log_level note_level;
};

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
    gather->patience_ns = devices->watchdog_ns;
    /* The system's NCCL has nothing to do with a driver that was named. */
    if (config->nccl_library || !config->cuda_driver) {
        const char *path = config->nccl_library ? config->nccl_library : "libnccl.so.2";
        gather->nccl_path = syi_strdup(path);
        if (!gather->nccl_path) {
            syi_cuda_gather_close(&gather);
            return syi_no_memory(strlen(path) + 1);
        }
    }
    gather->insists = config->gather != SY_GATHER_AUTO;
    gather->way = config->gather == SY_GATHER_HOST   ? BY_HOST
                  : config->gather == SY_GATHER_PEER ? BY_PEER
                                                     : BY_NCCL;
    *out = gather;
    return SY_OK;
}

void syi_cuda_gather_end(syi_cuda_gather *gather)
{
    if (!gather)
        return;
    syi_cuda_ranks_close(&gather->ranks);
    syi_cuda_end_refusing(gather->devices);
}

/* While all devices are there. With a context go its arrays, which others' copies may still use. */
static void find_kept(const syi_devices *devices)
{
    const uint64_t in_use = syi_cuda_homes_in_use(devices, NULL);
    for (int i = 0; i < devices->count; i++) {
        cuda_device *cuda = (cuda_device *)devices->list[i];
        if (cuda->base.info.type != SY_DEVICE_CUDA)
            continue;
        cuda->kept = (in_use & cuda_holdings(cuda)) != 0;
        cuda->left = !syi_cuda_gpu_is_settled(cuda);
    }
}

void syi_cuda_gather_close(syi_cuda_gather **gather)
{
    syi_cuda_gather *old = *gather;
    if (!old)
        return;
    *gather = NULL;
    syi_cuda_gather_end(old);
    find_kept(old->devices);
    syi_free(old->nccl_path);
    pthread_mutex_destroy(&old->lock);
    syi_free(old);
}

void syi_cuda_gather_trim(syi_cuda_gather *gather)
{
    pthread_mutex_lock(&gather->lock);
    if (gather->ranks) {
        syi_cuda_ranks_close(&gather->ranks);
        gather->ready = 0;
    }
    pthread_mutex_unlock(&gather->lock);
}

/* ---- peer copies and the host ------------------------------------------------------------- */

/* Keeps the error record. */
static sy_status wait_for_copy(const cuda_parcel *parcel)
{
    sy_status status = syi_cuda_wait(parcel->from, parcel->stream);
    sy_error why;
    if (status == SY_OK)
        return SY_OK;
    why = *sy_last_error();
    syi_cuda_end(parcel->from, parcel->stream, cuda_home_bit(parcel->to));
    syi_error_adopt(&why);
    return status;
}

static sy_status carry_by_peer(const cuda_parcel *parcel)
{
    cuda_device *from = parcel->from;
    syi_cuda_peers_enable(from, parcel->to);
    SYI_TRY(CU(from, cuMemcpyPeerAsync(parcel->target, parcel->to->primary, parcel->source,
                                       from->primary, parcel->bytes, parcel->stream)));
    return wait_for_copy(parcel);
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

/* From a way that does not do to another one; the calling thread's error says why. What NCCL has
 * under way is ended. */
static void turn(syi_cuda_gather *gather, way from, way to, sy_log_level level)
{
    char why[320];
    snprintf(why, sizeof why, ", not by %s (%.256s)", way_names[from], sy_last_error()->text);
    syi_cuda_ranks_abort(&gather->ranks);
    gather->way = (int)to;
    gather->ready = 1;
    note(gather, level, way_names[to], why);
}

static sy_status begin_nccl(syi_cuda_gather *gather)
{
    if (!gather->nccl_path)
        return syi_fail(SY_ERR_UNSUPPORTED, "no NCCL was named beside the CUDA driver");
    return syi_cuda_ranks_open(gather->devices, gather->nccl_path, gather->patience_ns,
                               &gather->ranks);
}

static void begin(syi_cuda_gather *gather)
{
    const char *as_said = ", as the context's configuration says";
    char why[96];
    int version;
    if (gather->ready)
        return;
    gather->ready = 1;
    if (gather->way != BY_NCCL) {
        note(gather, SY_LOG_INFO, way_names[gather->way], as_said);
    } else if (begin_nccl(gather) != SY_OK) {
        turn(gather, BY_NCCL, BY_PEER, gather->insists ? SY_LOG_WARNING : SY_LOG_INFO);
    } else {
        version = syi_cuda_ranks_version(gather->ranks);
        snprintf(why, sizeof why, " %d.%d.%d%s", version / 10000, version / 100 % 100,
                 version % 100, gather->insists ? as_said : ", which was found");
        if (!gather->told)
            note(gather, SY_LOG_INFO, way_names[BY_NCCL], why);
        gather->told = 1;
    }
}

int syi_cuda_gather_is_direct(syi_cuda_gather *gather)
{
    if (gather->way == BY_HOST && !gather->ready) {
        pthread_mutex_lock(&gather->lock);
        begin(gather);
        unlock(gather);
    }
    return gather->way != BY_HOST;
}

static sy_status carry(syi_cuda_gather *gather, const cuda_parcel *parcel)
{
    switch ((way)gather->way) {
    case BY_NCCL:
        return syi_cuda_ranks_carry(gather->ranks, parcel);
    case BY_PEER:
        return carry_by_peer(parcel);
    default:
        return carry_by_host(parcel);
    }
}

/* By a copy of a byte, which waits no longer than the watchdog: a GPU that hangs is known from then
 * on, and nothing waits for it. */
static int answers(cuda_device *cuda, CUdeviceptr address)
{
    char byte;
    return cuda->base.backend->ram->read(&cuda->base, (const void *)(uintptr_t)address, 1, &byte) !=
           SY_ERR_DEVICE;
}

/* Whether both still answer: then it was the way that failed. Keeps the error record. */
static int both_answer(const cuda_parcel *parcel)
{
    sy_error why = *sy_last_error();
    int from = answers(parcel->from, parcel->source), to = answers(parcel->to, parcel->target);
    syi_error_adopt(&why);
    return from && to;
}

/* Turns to the next way after a failure; whether it is to be tried: not when a GPU failed. With a
 * lost GPU NCCL is of no use any more, and may be writing still. Keeps the error record. */
static int go_on(syi_cuda_gather *gather, int healthy)
{
    sy_error why = *sy_last_error();
    way failed = (way)gather->way;
    if (failed == BY_HOST || (!healthy && failed != BY_NCCL))
        return 0;
    turn(gather, failed, failed == BY_NCCL ? BY_PEER : BY_HOST, SY_LOG_WARNING);
    syi_error_adopt(&why);
    return healthy;
}

sy_status syi_cuda_gather_parcel(const cuda_parcel *parcel)
{
    syi_cuda_gather *gather = parcel->from->gather;
    sy_status status;
    pthread_mutex_lock(&gather->lock);
    begin(gather);
    do
        status = carry(gather, parcel);
    while (status == SY_ERR_DEVICE && go_on(gather, both_answer(parcel)));
    unlock(gather);
    return status;
}

sy_status syi_cuda_peer_fetch(cuda_device *to, cuda_device *from, CUdeviceptr source,
                              CUdeviceptr target, size_t bytes, CUstream stream)
{
    const cuda_parcel parcel = {from, to, source, target, bytes, stream};
    syi_cuda_gather *gather = to->gather;
    sy_status status;
    syi_cuda_peers_enable(to, from);
    status = CU(to, cuMemcpyPeerAsync(target, to->primary, source, from->primary, bytes, stream));
    if (status != SY_ERR_DEVICE || !both_answer(&parcel))
        return status;
    pthread_mutex_lock(&gather->lock);
    if (gather->way != BY_HOST)
        turn(gather, BY_PEER, BY_HOST, SY_LOG_WARNING);
    unlock(gather);
    return carry_by_host(&parcel);
}

/* ---- everybody's part to everybody -------------------------------------------------------- */

/* Keeps the error record. */
static int all_answer(syi_device *const *devices, void *const *arrays, int count)
{
    sy_error why = *sy_last_error();
    int healthy = 1;
    for (int i = 0; i < count; i++)
        healthy &= answers((cuda_device *)devices[i], cuda_address(arrays[i]));
    syi_error_adopt(&why);
    return healthy;
}

/* By NCCL, where its ranks are these GPUs; whether that was done, or need not be tried any more. */
static int exchange_by_nccl(syi_cuda_gather *gather, syi_device *const *devices,
                            void *const *arrays, int count, size_t part, sy_status *status)
{
    int done = 0;
    pthread_mutex_lock(&gather->lock);
    begin(gather);
    if (gather->way == BY_NCCL && syi_cuda_ranks_are(gather->ranks, devices, count)) {
        *status = syi_cuda_ranks_exchange(gather->ranks, arrays, part);
        done = *status != SY_ERR_DEVICE || !go_on(gather, all_answer(devices, arrays, count));
    }
    unlock(gather);
    return done;
}

static sy_status send_part(syi_device *const *devices, void *const *arrays, int count, size_t part,
                           int from)
{
    cuda_device *sender = (cuda_device *)devices[from];
    const size_t at = (size_t)from * part;
    cuda_parcel parcel = {.from = sender, .source = cuda_address(arrays[from]) + at, .bytes = part};
    sy_status status = CU(sender, cuStreamCreate(&parcel.stream, CU_STREAM_NON_BLOCKING));
    if (status != SY_OK)
        return status;
    for (int i = 0; i < count && status == SY_OK; i++) {
        parcel.to = (cuda_device *)devices[i];
        parcel.target = cuda_address(arrays[i]) + at;
        if (i != from)
            status = syi_cuda_gather_parcel(&parcel);
    }
    syi_cuda_stream_drop(sender, parcel.stream);
    return status;
}

/* One part after the other to one GPU after the other. */
static sy_status exchange_by_parcels(syi_device *const *devices, void *const *arrays, int count,
                                     size_t part)
{
    sy_status status = SY_OK;
    for (int i = 0; i < count && status == SY_OK; i++) {
        cuda_device *sender = (cuda_device *)devices[i];
        if (sender->hung)
            return syi_fail(SY_ERR_DEVICE, "device %s failed earlier", sender->base.info.name);
        SYI_TRY(CU_ENTER(sender, sender->primary));
        status = send_part(devices, arrays, count, part, i);
        syi_cuda_leave(sender);
    }
    return status;
}

sy_status syi_cuda_exchange(syi_device *const *devices, void *const *arrays, int count, size_t part)
{
    const cuda_device *first = (const cuda_device *)devices[0];
    sy_status status = SY_OK;
    syi_cuda_relax(&first->driver->api);
    if (!exchange_by_nccl(first->gather, devices, arrays, count, part, &status)) {
        status = exchange_by_parcels(devices, arrays, count, part);
        if (status == SY_ERR_DEVICE)
            all_answer(devices, arrays, count);
    }
    syi_cuda_restore(&first->driver->api);
    return status;
}
