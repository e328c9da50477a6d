/* Communicators: creation, the meeting of the ranks, the end. */
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A real library would wait for its ranks for ever; a test should end. */
enum { PATIENCE_S = 10 };

pthread_mutex_t vn_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t vn_changed = PTHREAD_COND_INITIALIZER;
static vn_world *worlds;
static char message[256];
static uint64_t ids;
static int live;
static int absent_rank = -1;
static const char *failing;
static int fail_after, failures;

ncclResult_t vni_refuse(ncclResult_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return result;
}

const char *vnccl_message(void)
{
    return message;
}

int vnccl_live(void)
{
    pthread_mutex_lock(&vn_lock);
    int count = live;
    pthread_mutex_unlock(&vn_lock);
    return count;
}

void vnccl_stay_away(int rank)
{
    pthread_mutex_lock(&vn_lock);
    absent_rank = rank;
    pthread_mutex_unlock(&vn_lock);
}

void vnccl_fail(const char *name, int after)
{
    pthread_mutex_lock(&vn_lock);
    failing = name;
    fail_after = after;
    failures = 0;
    pthread_mutex_unlock(&vn_lock);
}

int vnccl_failures(void)
{
    pthread_mutex_lock(&vn_lock);
    int count = failures;
    pthread_mutex_unlock(&vn_lock);
    return count;
}

bool vni_fails(const char *name)
{
    pthread_mutex_lock(&vn_lock);
    bool fails = failing && !strcmp(failing, name) && fail_after-- <= 0;
    failures += fails;
    pthread_mutex_unlock(&vn_lock);
    if (fails)
        vni_refuse(ncclSystemError, "%s was told to fail", name);
    return fails;
}

ncclResult_t ncclGetVersion(int *version)
{
    if (!version)
        return ncclInvalidArgument;
    *version = 22809;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    if (!id)
        return ncclInvalidArgument;
    if (vni_fails("ncclGetUniqueId"))
        return ncclSystemError;
    pthread_mutex_lock(&vn_lock);
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "vnccl-%llu", (unsigned long long)++ids);
    pthread_mutex_unlock(&vn_lock);
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {
        "no error",         "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage",        "remote process error",   "in progress"};
    return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result code";
}

CUdeviceptr vni_gate(ncclComm_t comm, uint32_t number)
{
    return (CUdeviceptr)(uintptr_t)&comm->gates[number % VN_GATES];
}

uint32_t vni_gate_value(uint32_t number)
{
    return number / VN_GATES + 1;
}

static vn_world *world_of(const ncclUniqueId *id, int size)
{
    for (vn_world *world = worlds; world; world = world->next)
        if (!memcmp(&world->id, id, sizeof *id))
            return world;
    vn_world *world = calloc(1, sizeof *world);
    if (world) {
        world->id = *id;
        world->size = size;
        world->next = worlds;
        worlds = world;
    }
    return world;
}

static void drop_world(vn_world *world)
{
    vn_world **at = &worlds;
    if (world->attached)
        return;
    while (*at != world)
        at = &(*at)->next;
    *at = world->next;
    free(world);
}

/* A real library sets CUDA's device back to what it was: a primary context is current then, in the
 * place of whatever was. Which one it is, is of no account here. */
void vni_set_device(ncclComm_t comm)
{
    cuCtxSetCurrent(comm->context);
}

/* What the communicator needs of the device, in the context that is current. */
static bool open_device(ncclComm_t comm)
{
    void *gates = NULL;
    if (cuCtxGetCurrent(&comm->context) != CUDA_SUCCESS || !comm->context ||
        cuCtxGetDevice(&comm->device) != CUDA_SUCCESS ||
        cuMemHostAlloc(&gates, VN_GATES * sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE) !=
            CUDA_SUCCESS)
        return false;
    comm->gates = gates;
    memset(gates, 0, VN_GATES * sizeof(uint32_t));
    if (cuStreamCreate(&comm->own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS)
        return true;
    cuMemFreeHost(gates);
    return false;
}

static void close_device(ncclComm_t comm)
{
    if (cuCtxPushCurrent_v2(comm->context) != CUDA_SUCCESS)
        return;
    cuStreamDestroy_v2(comm->own);
    cuMemFreeHost(comm->gates);
    cuCtxPopCurrent_v2(NULL);
    if (comm->retained)
        cuDevicePrimaryCtxRelease_v2(comm->device);
}

static ncclResult_t attach(ncclComm_t comm, vn_world *world, int size)
{
    if (world->size != size || world->ranks[comm->rank])
        return vni_refuse(ncclInvalidUsage, "rank %d of %d: the others say otherwise", comm->rank,
                          size);
    for (int i = 0; i < size; i++)
        if (world->ranks[i] && world->ranks[i]->device == comm->device)
            return vni_refuse(ncclInvalidUsage, "Duplicate GPU: ranks %d and %d on device %d", i,
                              comm->rank, comm->device);
    comm->world = world;
    world->ranks[comm->rank] = comm;
    world->attached++;
    world->joined += comm->rank != absent_rank;
    live++;
    pthread_cond_broadcast(&vn_changed);
    return ncclSuccess;
}

static ncclResult_t create(ncclComm_t *out, int size, const ncclUniqueId *id, int rank)
{
    if (!out || size < 1 || size > VN_MAX_RANKS || rank < 0 || rank >= size)
        return vni_refuse(ncclInvalidArgument, "rank %d of %d", rank, size);
    ncclComm_t comm = calloc(1, sizeof *comm);
    if (!comm)
        return ncclSystemError;
    comm->rank = rank;
    if (!open_device(comm)) {
        free(comm);
        return vni_refuse(ncclUnhandledCudaError, "rank %d: no usable current context", rank);
    }
    pthread_mutex_lock(&vn_lock);
    vn_world *world = world_of(id, size);
    ncclResult_t result = world ? attach(comm, world, size) : ncclSystemError;
    if (world)
        drop_world(world); /* if this was its first rank, and it was refused */
    pthread_mutex_unlock(&vn_lock);
    if (result == ncclSuccess) {
        *out = comm;
        return ncclSuccess;
    }
    close_device(comm);
    free(comm);
    return result;
}

ncclResult_t vni_wait_joined(ncclComm_t comm)
{
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&vn_lock);
    while (comm->world->joined < comm->world->size && late != ETIMEDOUT)
        late = pthread_cond_timedwait(&vn_changed, &vn_lock, &until);
    comm->joined = comm->world->joined == comm->world->size;
    bool joined = comm->joined;
    pthread_mutex_unlock(&vn_lock);
    return joined ? ncclSuccess
                  : vni_refuse(ncclSystemError,
                               "rank %d waits for ranks that never come (one thread for several "
                               "ranks needs a group)",
                               comm->rank);
}

ncclResult_t ncclCommInitRank(ncclComm_t *out, int size, ncclUniqueId id, int rank)
{
    ncclResult_t result = create(out, size, &id, rank);
    return result == ncclSuccess ? vni_join(*out) : result;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    if (config && config->magic != 0xcafebeef)
        return vni_refuse(ncclInvalidArgument, "the configuration was not initialised");
    if (vni_fails("ncclCommInitRankConfig"))
        return ncclSystemError;
    if (!config || config->blocking != 0)
        return ncclCommInitRank(out, size, id, rank);
    ncclResult_t result = create(out, size, &id, rank);
    return result == ncclSuccess ? ncclInProgress : result;
}

static ncclResult_t init_one(ncclComm_t *out, int count, const ncclUniqueId *id, int rank,
                             CUdevice device)
{
    CUcontext context;
    if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return vni_refuse(ncclUnhandledCudaError, "device %d cannot be used", device);
    cuCtxPushCurrent_v2(context);
    ncclResult_t result = create(out, count, id, rank);
    cuCtxPopCurrent_v2(NULL);
    if (result == ncclSuccess)
        (*out)->retained = true;
    else
        cuDevicePrimaryCtxRelease_v2(device);
    return result;
}

ncclResult_t ncclCommInitAll(ncclComm_t *out, int count, const int *devices)
{
    ncclUniqueId id;
    ncclResult_t result = ncclSuccess;
    if (!out || count < 1 || count > VN_MAX_RANKS)
        return ncclInvalidArgument;
    for (int i = 0; devices && i < count; i++)
        for (int j = 0; j < i; j++)
            if (devices[i] == devices[j])
                return vni_refuse(ncclInvalidUsage, "device %d twice", devices[i]);
    ncclGetUniqueId(&id);
    int made = 0;
    while (result == ncclSuccess && made < count) {
        result = init_one(&out[made], count, &id, made, devices ? devices[made] : made);
        made += result == ncclSuccess;
    }
    for (int i = 0; i < made; i++) {
        out[i]->joined = true;
        if (result != ncclSuccess)
            ncclCommAbort(out[i]);
    }
    return result;
}

/* Leaves the world and opens every gate, so that what waits on a stream goes on. */
static void leave(ncclComm_t comm)
{
    pthread_mutex_lock(&vn_lock);
    vni_forget(comm);
    for (int i = 0; i < VN_GATES; i++) /* the largest in the driver's cyclic order */
        __atomic_store_n(&comm->gates[i], INT32_MAX, __ATOMIC_RELEASE);
    comm->world->ranks[comm->rank] = NULL;
    comm->world->attached--;
    drop_world(comm->world);
    live--;
    pthread_mutex_unlock(&vn_lock);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    if (comm && vni_fails("ncclCommFinalize"))
        return ncclSystemError;
    return comm ? ncclSuccess : ncclInvalidArgument;
}

static ncclResult_t end(ncclComm_t comm, bool wait)
{
    ncclResult_t result = ncclSuccess;
    if (!comm)
        return ncclInvalidArgument;
    CUresult pushed = cuCtxPushCurrent_v2(comm->context);
    if (pushed == CUDA_SUCCESS && wait && cuStreamSynchronize(comm->own) != CUDA_SUCCESS)
        result = ncclUnhandledCudaError;
    leave(comm);
    if (pushed == CUDA_SUCCESS) {
        cuCtxSynchronize(); /* nobody looks at the gates any more */
        cuCtxPopCurrent_v2(NULL);
    }
    close_device(comm);
    vni_set_device(comm);
    free(comm);
    return result;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return end(comm, true);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return end(comm, false);
}
