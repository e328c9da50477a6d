/* Which operations belong together, and the copies that carry them out. */
#include "internal.h"

#include <stdlib.h>

static vn_op *take(vn_world *world, vn_op *op)
{
    vn_op **at = &world->waiting;
    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
    return op;
}

static void drop(vn_op *op)
{
    cuCtxPushCurrent_v2(op->comm->context);
    cuEventDestroy_v2(op->ready);
    cuCtxPopCurrent_v2(NULL);
    free(op);
}

void vni_forget(ncclComm_t comm)
{
    for (vn_op *op = comm->world->waiting, *next; op; op = next) {
        next = op->next;
        if (op->comm == comm)
            drop(take(comm->world, op));
    }
}

static CUdeviceptr address(const void *buffer, size_t offset)
{
    return (CUdeviceptr)(uintptr_t)buffer + offset;
}

/* What rank `to` receives from rank `from` in the operation of all. */
static CUresult move(vn_op *const *ops, int to, int from)
{
    const vn_op *target = ops[to], *source = ops[from];
    size_t offset = target->kind == VN_GATHER ? (size_t)from * source->bytes : 0;
    return cuMemcpyPeerAsync(address(target->recv, offset), target->comm->context,
                             address(source->send, 0), source->comm->context, source->bytes,
                             target->comm->own);
}

static bool receives(vn_op *const *ops, int to, int from)
{
    switch (ops[to]->kind) {
    case VN_GATHER:
        return true;
    case VN_BROADCAST:
        return from == ops[to]->peer;
    default: /* a pair: [0] sends, [1] receives */
        return to == 1 && from == 0;
    }
}

/* The copies into one rank's buffer, behind everybody's `ready`. */
static CUresult start(vn_op *const *ops, int count, int rank, CUevent *done)
{
    ncclComm_t comm = ops[rank]->comm;
    CUresult result = cuCtxPushCurrent_v2(comm->context);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = cuStreamWaitEvent(comm->own, ops[i]->ready, 0);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (receives(ops, rank, i))
            result = move(ops, rank, i);
    if (result == CUDA_SUCCESS)
        result = cuEventCreate(done, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cuEventRecord(*done, comm->own);
    cuCtxPopCurrent_v2(NULL);
    return result;
}

/* A rank goes on when nobody reads its buffer any more. */
static CUresult finish(vn_op *const *ops, int count, int rank, const CUevent *done)
{
    ncclComm_t comm = ops[rank]->comm;
    CUresult result = cuCtxPushCurrent_v2(comm->context);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (done[i])
            result = cuStreamWaitEvent(comm->own, done[i], 0);
    if (result == CUDA_SUCCESS)
        result = cuStreamWriteValue32_v2(comm->own, vni_gate(comm, ops[rank]->gate),
                                         vni_gate_value(ops[rank]->gate), 0);
    cuCtxPopCurrent_v2(NULL);
    return result;
}

/* Carries out a complete set and forgets it. A rank whose device fails has an error from now on;
 * its partners find out by ncclCommGetAsyncError. */
static void carry_out(vn_world *world, vn_op **ops, int count)
{
    CUevent done[VN_MAX_RANKS] = {0};
    bool failed = false;
    for (int i = 0; i < count; i++)
        if (start(ops, count, i, &done[i]) != CUDA_SUCCESS) {
            ops[i]->comm->error = ncclUnhandledCudaError;
            failed = true;
        }
    for (int i = 0; i < count && !failed; i++)
        if (finish(ops, count, i, done) != CUDA_SUCCESS)
            ops[i]->comm->error = ncclUnhandledCudaError;
    for (int i = 0; i < count; i++) {
        cuCtxPushCurrent_v2(ops[i]->comm->context);
        if (done[i])
            cuEventDestroy_v2(done[i]);
        cuCtxPopCurrent_v2(NULL);
        drop(take(world, ops[i]));
    }
}

/* The partner of a send: the oldest receive of that rank from this one. Between two ranks the order
 * of posting decides, so the oldest send must be looked at first, and it is. */
static vn_op *partner(const vn_world *world, const vn_op *send)
{
    for (vn_op *op = world->waiting; op; op = op->next)
        if (op->kind == VN_RECV && op->comm->rank == send->peer && op->peer == send->comm->rank)
            return op;
    return NULL;
}

/* All ranks' operations with the number of this one; false when some are missing. */
static bool everybody(const vn_world *world, const vn_op *first, vn_op **ops)
{
    int found = 0;
    for (vn_op *op = world->waiting; op; op = op->next)
        if (op->kind >= VN_GATHER && op->number == first->number) {
            ops[op->comm->rank] = op;
            found++;
        }
    return found == world->size;
}

static ncclResult_t check_equal(vn_world *world, vn_op **ops, int count)
{
    for (int i = 1; i < count; i++) {
        bool kind = ops[0]->kind == ops[i]->kind || ops[0]->kind == VN_SEND;
        bool root = ops[0]->peer == ops[i]->peer || ops[0]->kind == VN_SEND;
        if (kind && root && ops[0]->bytes == ops[i]->bytes)
            continue;
        ncclResult_t result =
            vni_refuse(ncclInvalidUsage, "ranks %d and %d call it with another %s",
                       ops[0]->comm->rank, ops[i]->comm->rank,
                       !kind   ? "operation"
                       : !root ? "root"
                               : "count");
        for (int j = 0; j < count; j++)
            drop(take(world, ops[j]));
        return result;
    }
    return ncclSuccess;
}

ncclResult_t vni_match(vn_world *world)
{
    for (vn_op *op = world->waiting, *next; op; op = next) {
        vn_op *ops[VN_MAX_RANKS] = {op};
        int count = world->size;
        next = op->next;
        if (op->kind == VN_SEND) {
            count = 2;
            ops[1] = partner(world, op);
        }
        if (op->kind == VN_RECV || (op->kind == VN_SEND && !ops[1]) ||
            (op->kind >= VN_GATHER && !everybody(world, op, ops)))
            continue;
        ncclResult_t result = check_equal(world, ops, count);
        if (result != ncclSuccess)
            return result;
        carry_out(world, ops, count);
        next = world->waiting; /* what came after may be gone */
    }
    return ncclSuccess;
}
