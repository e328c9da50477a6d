/* The effects of operations. Addresses are looked up when the operation runs, as a device does:
 * what was freed or unpinned in between is an illegal address. */
#include "internal.h"

#include <string.h>

static int64_t copy_time(const vc_gpu *gpu, uint64_t bytes, double rate)
{
    return (int64_t)(((double)gpu->latency + (double)bytes / rate) * gpu->slow);
}

/* Marks the region as in use; NULL, with the diagnosis, when the address is not valid any more. */
static vc_region *hold(const vc_op *op, uint64_t address)
{
    vc_region *region = vci_region(address, op->bytes);
    if (region) {
        region->users++;
        return region;
    }
    op->gpu->counts.diagnoses++;
    vci_say("device %d: copy or fill of %llu bytes at 0x%llx, which is not allocated any more",
            op->gpu->index, (unsigned long long)op->bytes, (unsigned long long)address);
    return NULL;
}

static void unlock(void)
{
    if (vc.mode == VC_THREADS)
        pthread_mutex_unlock(&vc.lock);
}

static void lock(void)
{
    if (vc.mode == VC_THREADS)
        pthread_mutex_lock(&vc.lock);
}

static unsigned char *at(unsigned char *memory, const vc_region *region, uint64_t address)
{
    return memory + (address - region->window.base);
}

/* Between the host and a device. */
static CUresult transfer(vc_op *op)
{
    bool in = op->kind == VC_COPY_IN;
    uint64_t address = in ? op->to : op->from;
    vc_region *pinned = op->pinned ? hold(op, (uint64_t)(uintptr_t)op->host) : NULL;
    vc_region *region = op->pinned && !pinned ? NULL : hold(op, address);
    if (region) {
        unsigned char *memory = at(region->window.host, region, address);
        unsigned char *shadow = at(region->window.shadow, region, address);
        unlock();
        memcpy(in ? memory : op->host, in ? op->host : memory, op->bytes);
        if (in)
            memset(shadow, 1, op->bytes);
        lock();
        vci_region_release(region);
    }
    if (pinned)
        vci_region_release(pinned);
    return region ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Inside a device, or from one to another. */
static CUresult move(vc_op *op)
{
    vc_region *to = hold(op, op->to), *from = to ? hold(op, op->from) : NULL;
    if (from) {
        unlock();
        memmove(at(to->window.host, to, op->to), at(from->window.host, from, op->from), op->bytes);
        memmove(at(to->window.shadow, to, op->to), at(from->window.shadow, from, op->from),
                op->bytes);
        lock();
        vci_region_release(from);
    }
    if (to)
        vci_region_release(to);
    return from ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

static CUresult fill(vc_op *op)
{
    vc_region *to = hold(op, op->to);
    if (!to)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    unlock();
    memset(at(to->window.host, to, op->to), (int)op->value, op->bytes);
    memset(at(to->window.shadow, to, op->to), 1, op->bytes);
    lock();
    vci_region_release(to);
    return CUDA_SUCCESS;
}

/* The host's own code: never under the lock, and never with the right to call the driver. */
static CUresult call_host(vc_op *op)
{
    vc_thread *self = vci_thread();
    self->in_host_call = true;
    pthread_mutex_unlock(&vc.lock);
    if (op->function)
        op->function(op->user);
    else
        op->callback(op->stream->object.handle, CUDA_SUCCESS, op->user);
    pthread_mutex_lock(&vc.lock);
    self->in_host_call = false;
    return CUDA_SUCCESS;
}

static CUresult value(vc_op *op)
{
    vc_region *region = vci_region(op->to, 4);
    if (!region)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (op->kind == VC_WRITE_VALUE) {
        uint32_t *word = (void *)at(region->window.host, region, op->to);
        __atomic_store_n(word, op->value, __ATOMIC_RELEASE);
        region->written_at = vci_start_of(op);
        if (region->window.shadow)
            memset(at(region->window.shadow, region, op->to), 1, 4);
    } else if (region->written_at > op->submitted) {
        op->submitted = region->written_at; /* not before the write that it waited for */
    }
    return CUDA_SUCCESS;
}

CUresult vci_execute(vc_op *op, int64_t *duration)
{
    vc_gpu *gpu = op->gpu;
    switch (op->kind) {
    case VC_COPY_IN:
        *duration = copy_time(gpu, op->bytes, gpu->link);
        gpu->counts.bytes_in += op->bytes;
        return transfer(op);
    case VC_COPY_OUT:
        *duration = copy_time(gpu, op->bytes, gpu->link);
        gpu->counts.bytes_out += op->bytes;
        return transfer(op);
    case VC_COPY_PEER:
        *duration =
            copy_time(gpu, op->bytes, gpu->link < op->peer->link ? gpu->link : op->peer->link);
        gpu->counts.bytes_peer += op->bytes;
        return move(op);
    case VC_COPY_DEVICE:
        *duration = copy_time(gpu, op->bytes, gpu->bandwidth);
        gpu->counts.bytes_device += op->bytes;
        return move(op);
    case VC_FILL:
        *duration = copy_time(gpu, op->bytes, gpu->bandwidth);
        return fill(op);
    case VC_KERNEL:
        return vci_execute_kernel(op, duration);
    case VC_HOST_CALL:
        return call_host(op);
    case VC_WAIT_VALUE:
    case VC_WRITE_VALUE:
        return value(op);
    default:
        return CUDA_SUCCESS;
    }
}
