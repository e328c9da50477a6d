/*
 * A GPU's memory from outside of its runs: what a pointer is, allocations for the caller, and the
 * host's reading and writing. Copies go through a small pinned buffer on a stream of their own, and
 * are waited for by asking, so that a GPU that hangs is noticed here too.
 */
#include "device/cuda/memory.h"

#include "device/cuda/ending.h"
#include "device/cuda/gather.h"

#include <string.h>

enum { PORT_BYTES = 1 << 20 };

/* With the GPU's primary context: a part's own may be current to its worker, and to no other thread
 * then; memory is common to both. */
static sy_status enter(cuda_device *cuda)
{
    if (cuda->hung || cuda->base.lost || !cuda->context)
        return syi_fail(SY_ERR_DEVICE, "device %s failed earlier", cuda->base.info.name);
    return CU_ENTER(cuda, cuda->primary);
}

/* A device whose memory does not answer holds nothing that could be trusted. */
static sy_status judge(cuda_device *cuda, sy_status status)
{
    if (status == SY_ERR_DEVICE)
        cuda->base.lost = cuda->base.failed = 1;
    return status;
}

/* ---- pointers ----------------------------------------------------------------------------- */

static sy_status locate(syi_device *device, const void *address, size_t bytes, syi_place *out)
{
    cuda_device *cuda = (cuda_device *)device;
    unsigned int type = 0, managed = 0;
    int ordinal = -1;
    CUdeviceptr start = 0;
    size_t size = 0;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *answers[] = {&type, &managed, &ordinal, &start, &size};
    sy_status status;
    SYI_TRY(enter(cuda));
    status = CU(cuda, cuPointerGetAttributes(sizeof which / sizeof which[0], which, answers,
                                             cuda_address(address)));
    syi_cuda_leave(cuda);
    SYI_TRY(status);
    *out = (syi_place){.kind = managed ? SYI_MANAGED : SYI_PLAIN};
    if (type == CU_MEMORYTYPE_DEVICE && !managed)
        *out = (syi_place){.kind = SYI_ON_DEVICE,
                           .home = ordinal + 1,
                           .bytes = size ? start + size - cuda_address(address) : bytes};
    else if (type == CU_MEMORYTYPE_HOST && !managed &&
             cuda_address(address) + bytes <= start + size)
        out->kind = SYI_PINNED; /* all of it: a part would be refused */
    return SY_OK;
}

/* ---- allocations -------------------------------------------------------------------------- */

static sy_status allocate(syi_device *device, size_t bytes, syi_place_kind kind, void **out)
{
    cuda_device *cuda = (cuda_device *)device;
    CUdeviceptr memory = 0;
    sy_status status;
    SYI_TRY(enter(cuda));
    if (kind == SYI_ON_DEVICE)
        status = CU(cuda, cuMemAlloc(&memory, bytes));
    else
        status = CU(cuda, cuMemHostAlloc(out, bytes, CU_MEMHOSTALLOC_PORTABLE));
    syi_cuda_leave(cuda);
    if (status == SY_OK && kind == SYI_ON_DEVICE)
        *out = (void *)(uintptr_t)memory;
    cuda->pinned += status == SY_OK && kind == SYI_PINNED;
    return status;
}

/* What work may use that is not known to have ended stays. Without its context it is gone. */
static int release(syi_device *device, syi_place_kind kind, void *memory)
{
    cuda_device *cuda = (cuda_device *)device;
    const syi_cuda_api *api = &cuda->driver->api;
    const uint64_t homes = cuda_home_bit(cuda) | (kind == SYI_PINNED ? CUDA_HOST : 0);
    if (!cuda->context)
        return 1;
    if (syi_cuda_homes_in_use(cuda->devices, NULL) & homes ||
        syi_cuda_enter(cuda, cuda->primary) != CUDA_SUCCESS)
        return 0;
    if (kind == SYI_ON_DEVICE)
        api->cuMemFree(cuda_address(memory));
    else
        api->cuMemFreeHost(memory);
    syi_cuda_leave(cuda);
    cuda->pinned -= kind == SYI_PINNED;
    return 1;
}

/* ---- reading and writing ------------------------------------------------------------------ */

sy_status syi_cuda_port_open(cuda_device *cuda)
{
    sy_status status;
    SYI_TRY(enter(cuda));
    status = CU(cuda, cuStreamCreate(&cuda->port.stream, CU_STREAM_NON_BLOCKING));
    syi_cuda_leave(cuda);
    return status;
}

void syi_cuda_port_trim(cuda_device *cuda)
{
    if (cuda->port.buffer)
        cuda->driver->api.cuMemFreeHost(cuda->port.buffer);
    cuda->port.buffer = NULL;
}

void syi_cuda_port_close(cuda_device *cuda)
{
    syi_cuda_port_trim(cuda);
    if (cuda->port.stream)
        cuda->driver->api.cuStreamDestroy(cuda->port.stream);
    cuda->port.stream = NULL;
}

static sy_status need_buffer(cuda_device *cuda)
{
    void *buffer = NULL;
    SYI_TRY(syi_cuda_need_settled(cuda)); /* or it may be in use */
    if (cuda->port.buffer)
        return SY_OK;
    SYI_TRY(CU(cuda, cuMemHostAlloc(&buffer, PORT_BYTES, CU_MEMHOSTALLOC_PORTABLE)));
    cuda->port.buffer = buffer;
    return SY_OK;
}

static sy_status read_parts(cuda_device *cuda, const char *from, size_t bytes, char *to)
{
    cuda_port *port = &cuda->port;
    SYI_TRY(need_buffer(cuda));
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at < PORT_BYTES ? bytes - at : PORT_BYTES;
        SYI_TRY(
            CU(cuda, cuMemcpyDtoHAsync(port->buffer, cuda_address(from + at), part, port->stream)));
        SYI_TRY(syi_cuda_wait(cuda, port->stream));
        memcpy(to + at, port->buffer, part);
    }
    return SY_OK;
}

static sy_status write_parts(cuda_device *cuda, char *to, size_t bytes, const char *from)
{
    cuda_port *port = &cuda->port;
    SYI_TRY(need_buffer(cuda));
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at < PORT_BYTES ? bytes - at : PORT_BYTES;
        memcpy(port->buffer, from + at, part);
        SYI_TRY(
            CU(cuda, cuMemcpyHtoDAsync(cuda_address(to + at), port->buffer, part, port->stream)));
        SYI_TRY(syi_cuda_wait(cuda, port->stream));
    }
    return SY_OK;
}

/* After a failure a copy may be under way to or from the buffer. Keeps the error record. */
static sy_status end_port(cuda_device *cuda, sy_status status)
{
    sy_error why;
    if (status == SY_OK)
        return status;
    why = *sy_last_error();
    syi_cuda_end(cuda, cuda->port.stream, 0);
    syi_error_adopt(&why);
    return status;
}

static sy_status read_memory(syi_device *device, const void *from, size_t bytes, void *to)
{
    cuda_device *cuda = (cuda_device *)device;
    sy_status status;
    pthread_mutex_lock(&cuda->port.lock);
    status = enter(cuda);
    if (status == SY_OK) {
        status = end_port(cuda, read_parts(cuda, from, bytes, to));
        syi_cuda_leave(cuda);
    }
    pthread_mutex_unlock(&cuda->port.lock);
    return judge(cuda, status);
}

static sy_status write_memory(syi_device *device, void *to, size_t bytes, const void *from)
{
    cuda_device *cuda = (cuda_device *)device;
    sy_status status;
    pthread_mutex_lock(&cuda->port.lock);
    status = enter(cuda);
    if (status == SY_OK) {
        status = end_port(cuda, write_parts(cuda, to, bytes, from));
        syi_cuda_leave(cuda);
    }
    pthread_mutex_unlock(&cuda->port.lock);
    return judge(cuda, status);
}

/* Any call tells of a failure that lasts; this one waits for nothing. The null stream is not asked:
 * it stands for the program's own ones as well, and one that is captured must not be asked. */
static sy_status check(syi_device *device)
{
    cuda_device *cuda = (cuda_device *)device;
    CUresult result;
    sy_status status = enter(cuda);
    if (status == SY_OK) {
        result = cuda->driver->api.cuStreamQuery(cuda->port.stream);
        status = result == CUDA_ERROR_NOT_READY
                     ? SY_OK
                     : syi_cuda_device_check(cuda, result, "cuStreamQuery");
        syi_cuda_leave(cuda);
    }
    return judge(cuda, status);
}

const syi_ram syi_cuda_ram = {
    .locate = locate,
    .allocate = allocate,
    .release = release,
    .read = read_memory,
    .write = write_memory,
    .check = check,
    .exchange = syi_cuda_exchange,
};
