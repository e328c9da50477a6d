/* Groups and the operations' entry points. Operations of a group are posted together at its end. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };

static _Thread_local struct {
    int depth;
    vn_op ops[MOST];
    int op_count;
    ncclComm_t joining[VN_MAX_RANKS];
    int joining_count;
    ncclResult_t error; /* the first one inside the group */
} group;

static int hung_rank = -1, hang_after;

void vnccl_hang(int rank, int after)
{
    pthread_mutex_lock(&vn_lock);
    hung_rank = rank;
    hang_after = after;
    pthread_mutex_unlock(&vn_lock);
}

ncclResult_t vni_join(ncclComm_t comm)
{
    if (!group.depth)
        return vni_wait_joined(comm);
    if (group.joining_count == VN_MAX_RANKS)
        return ncclInvalidUsage;
    group.joining[group.joining_count++] = comm;
    return ncclSuccess;
}

/* Takes part no more: posted into nowhere. */
static bool is_hung(const vn_op *op)
{
    return op->comm->rank == hung_rank && hang_after-- <= 0;
}

static ncclResult_t driver(CUresult result, ncclComm_t comm)
{
    if (result != CUDA_SUCCESS)
        comm->error = ncclUnhandledCudaError;
    return comm->error;
}

/* First all `ready` records, then all waits: the operations of a group do not wait for each other.
 */
static ncclResult_t announce(vn_op *op)
{
    ncclComm_t comm = op->comm;
    cuCtxPushCurrent_v2(comm->context);
    CUresult result = cuEventCreate(&op->ready, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cuEventRecord(op->ready, op->stream);
    cuCtxPopCurrent_v2(NULL);
    op->gate = comm->gate_count++;
    op->poster = pthread_self();
    if (op->kind == VN_GATHER || op->kind == VN_BROADCAST)
        op->number = comm->collectives++;
    return driver(result, comm);
}

static ncclResult_t wait_for_gate(const vn_op *op)
{
    cuCtxPushCurrent_v2(op->comm->context);
    CUresult result = cuStreamWaitValue32_v2(op->stream, vni_gate(op->comm, op->gate),
                                             vni_gate_value(op->gate), CU_STREAM_WAIT_VALUE_GEQ);
    cuCtxPopCurrent_v2(NULL);
    return driver(result, op->comm);
}

/* From here on the operation is the world's, event and all. */
static ncclResult_t queue(vn_op *op)
{
    vn_op *copy = malloc(sizeof *copy), **at = &op->comm->world->waiting;
    if (!copy)
        return ncclSystemError;
    *copy = *op;
    op->ready = NULL;
    while (*at)
        at = &(*at)->next;
    *at = copy;
    return ncclSuccess;
}

static void drop_event(const vn_op *op)
{
    if (!op->ready)
        return;
    cuCtxPushCurrent_v2(op->comm->context);
    cuEventDestroy_v2(op->ready);
    cuCtxPopCurrent_v2(NULL);
}

/* A real library hangs when one thread posts for several ranks one after the other. */
static ncclResult_t check_alone(const vn_op *op)
{
    for (const vn_op *other = op->comm->world->waiting; other; other = other->next)
        if (other->comm != op->comm && pthread_equal(other->poster, pthread_self()))
            return vni_refuse(ncclInvalidUsage,
                              "one thread posts for ranks %d and %d without a group",
                              other->comm->rank, op->comm->rank);
    return ncclSuccess;
}

static ncclResult_t post_all(vn_op *ops, int count)
{
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < count && result == ncclSuccess; i++)
        result = announce(&ops[i]);
    for (int i = 0; i < count && result == ncclSuccess; i++)
        if (!is_hung(&ops[i]))
            result = queue(&ops[i]);
    for (int i = 0; i < count && result == ncclSuccess; i++)
        result = wait_for_gate(&ops[i]);
    for (int i = 0; i < count; i++)
        drop_event(&ops[i]); /* of those that were not queued */
    for (int i = 0; i < count && result == ncclSuccess; i++)
        result = vni_match(ops[i].comm->world);
    return result;
}

static bool all_there(ncclComm_t comm)
{
    comm->joined = comm->joined || comm->world->joined == comm->world->size;
    return comm->joined;
}

ncclResult_t vni_post(const vn_op *op)
{
    ncclResult_t result = ncclSuccess;
    if (!op->comm || (op->bytes && !op->recv && op->kind != VN_SEND))
        return vni_refuse(ncclInvalidArgument, "no communicator or no buffer");
    pthread_mutex_lock(&vn_lock);
    if (!all_there(op->comm))
        result = vni_refuse(ncclInvalidArgument, "the communicator is not ready");
    else if (op->comm->error != ncclSuccess)
        result = op->comm->error;
    else if (op->peer < 0 || op->peer >= op->comm->world->size)
        result = vni_refuse(ncclInvalidArgument, "no rank %d", op->peer);
    else if (group.depth && group.op_count == MOST)
        result = vni_refuse(ncclInvalidUsage, "more than %d operations in a group", MOST);
    else if (group.depth)
        group.ops[group.op_count++] = *op;
    else {
        vn_op copy = *op;
        result = check_alone(op);
        if (result == ncclSuccess)
            result = post_all(&copy, 1);
    }
    pthread_mutex_unlock(&vn_lock);
    if (group.depth && group.error == ncclSuccess)
        group.error = result;
    return result;
}

ncclResult_t ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    if (!group.depth)
        return vni_refuse(ncclInvalidUsage, "the end of a group that was not started");
    if (--group.depth)
        return ncclSuccess;
    ncclResult_t result = group.error;
    if (result == ncclSuccess && vni_fails("ncclGroupEnd"))
        result = ncclSystemError;
    for (int i = 0; i < group.joining_count && result == ncclSuccess; i++)
        result = vni_wait_joined(group.joining[i]);
    pthread_mutex_lock(&vn_lock);
    if (result == ncclSuccess)
        result = post_all(group.ops, group.op_count);
    pthread_mutex_unlock(&vn_lock);
    if (group.op_count)
        vni_set_device(group.ops[0].comm);
    group.op_count = group.joining_count = 0;
    group.error = ncclSuccess;
    return result;
}

static size_t size_of(ncclDataType_t type)
{
    static const unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return (unsigned)type < sizeof sizes ? sizes[type] : 0;
}

static ncclResult_t post(enum vn_kind kind, const void *send, void *recv, size_t count,
                         ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream)
{
    if (!size_of(type))
        return vni_refuse(ncclInvalidArgument, "data type %d", (int)type);
    vn_op op = {.kind = kind,
                .comm = comm,
                .send = send,
                .recv = recv,
                .bytes = count * size_of(type),
                .peer = peer,
                .stream = stream};
    return vni_post(&op);
}

ncclResult_t ncclSend(const void *buffer, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, CUstream stream)
{
    if (vni_fails("ncclSend"))
        return ncclSystemError;
    return post(VN_SEND, buffer, NULL, count, type, peer, comm, stream);
}

ncclResult_t ncclRecv(void *buffer, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      CUstream stream)
{
    if (vni_fails("ncclRecv"))
        return ncclSystemError;
    return post(VN_RECV, NULL, buffer, count, type, peer, comm, stream);
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclComm_t comm, CUstream stream)
{
    if (vni_fails("ncclAllGather"))
        return ncclSystemError;
    return post(VN_GATHER, send, recv, count, type, 0, comm, stream);
}

ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, CUstream stream)
{
    return post(VN_BROADCAST, send, recv, count, type, root, comm, stream);
}

static bool failed(ncclComm_t comm)
{
    cuCtxPushCurrent_v2(comm->context);
    CUresult result = cuStreamQuery(comm->own);
    cuCtxPopCurrent_v2(NULL);
    return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out)
{
    if (!comm || !out)
        return ncclInvalidArgument;
    if (vni_fails("ncclCommGetAsyncError"))
        return ncclSystemError;
    pthread_mutex_lock(&vn_lock);
    if (comm->error == ncclSuccess && failed(comm))
        comm->error = ncclUnhandledCudaError;
    for (int i = 0; i < comm->world->size && comm->error == ncclSuccess; i++)
        if (comm->world->ranks[i] && failed(comm->world->ranks[i]))
            comm->error = ncclRemoteError;
    *out = comm->error == ncclSuccess && !all_there(comm) ? ncclInProgress : comm->error;
    pthread_mutex_unlock(&vn_lock);
    return ncclSuccess;
}
