/* Memory of the devices and pinned memory of the host. Device addresses lie in a range that the
 * host cannot touch, with red zones between allocations; what they stand for is elsewhere. Fresh
 * memory holds a poison pattern, and a shadow says which bytes were ever written. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* 1.4e306 as a double: too large to vanish in a sum, and not a NaN that a comparison would skip. */
enum { POISON = 0x7f };
/* Beyond this much of one allocation the poison stops, so that a large virtual GPU costs nothing.
 */
#define POISON_LIMIT (UINT64_C(64) << 20)

static void *map(uint64_t bytes, int protection)
{
    void *memory =
        mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void vci_map_free(void *memory, uint64_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

vc_region *vci_region(uint64_t address, uint64_t bytes)
{
    for (vc_region *region = vc.regions; region; region = region->next)
        if (!region->freed && address >= region->window.base &&
            address - region->window.base <= region->window.size &&
            bytes <= region->window.size - (address - region->window.base))
            return region;
    return NULL;
}

static void insert(vc_region *region)
{
    vc_region **at = &vc.regions;
    while (*at && (*at)->window.base < region->window.base)
        at = &(*at)->next;
    region->next = *at;
    *at = region;
}

static bool reserve(vc_gpu *gpu)
{
    uint64_t size = 2 * gpu->memory + (UINT64_C(64) << 20);
    gpu->address = (uint64_t)(uintptr_t)map(size, PROT_NONE);
    gpu->cursor = gpu->address + VC_RED_ZONE;
    gpu->end = gpu->address ? gpu->address + size : 0;
    return gpu->address != 0;
}

/* Room for `bytes` between two red zones, from `from` on; 0: none. */
static uint64_t room_from(const vc_gpu *gpu, uint64_t from, uint64_t bytes)
{
    for (const vc_region *region = vc.regions; region; region = region->next) {
        uint64_t end = region->window.base + region->window.size + VC_RED_ZONE;
        if (region->gpu != gpu || end <= from)
            continue;
        if (region->window.base >= from + bytes + VC_RED_ZONE)
            break;
        from = (end + VC_ALIGN - 1) / VC_ALIGN * VC_ALIGN;
    }
    return from + bytes + VC_RED_ZONE <= gpu->end ? from : 0;
}

CUresult vci_region_make(vc_context *context, uint64_t bytes, vc_region **out)
{
    vc_gpu *gpu = context->gpu;
    uint64_t size = (bytes + VC_ALIGN - 1) / VC_ALIGN * VC_ALIGN;
    if (bytes > gpu->memory || size > gpu->memory - gpu->used || (!gpu->address && !reserve(gpu)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* Addresses are used again as late as possible, so that a stale one is noticed. */
    uint64_t address = room_from(gpu, gpu->cursor, size);
    if (!address)
        address = room_from(gpu, gpu->address + VC_RED_ZONE, size);
    unsigned char *host = address ? map(size, PROT_READ | PROT_WRITE) : NULL;
    unsigned char *shadow = host ? map(size, PROT_READ | PROT_WRITE) : NULL;
    if (!shadow) {
        vci_map_free(host, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(host, POISON, size < POISON_LIMIT ? size : POISON_LIMIT);
    vc_region *region = vci_alloc(1, sizeof *region);
    *region = (vc_region){.window = {address, bytes, host, shadow, 0},
                          .gpu = gpu,
                          .context = context,
                          .mapped = size};
    insert(region);
    gpu->cursor = address + size + VC_RED_ZONE;
    gpu->used += size;
    if (gpu->used > gpu->counts.peak_bytes)
        gpu->counts.peak_bytes = gpu->used;
    gpu->counts.live_allocations++;
    gpu->counts.live_bytes += (int64_t)bytes;
    *out = region;
    return CUDA_SUCCESS;
}

static void forget(vc_region *region)
{
    vc_region **at = &vc.regions;
    while (*at != region)
        at = &(*at)->next;
    *at = region->next;
    if (region->mapped) {
        vci_map_free(region->window.host, region->mapped);
        vci_map_free(region->window.shadow, region->gpu ? region->mapped : 0);
    }
    free(region);
}

void vci_region_drop(vc_region *region)
{
    if (region->gpu) {
        region->gpu->used -= region->mapped;
        region->gpu->counts.live_allocations--;
        region->gpu->counts.live_bytes -= (int64_t)region->window.size;
    } else {
        region->context->gpu->counts.live_host--;
        region->context->gpu->counts.pinned_bytes -= (int64_t)region->mapped;
    }
    region->freed = true;
    if (!region->users)
        forget(region);
}

void vci_region_release(vc_region *region)
{
    if (--region->users == 0 && region->freed)
        forget(region);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    vc_region *region;
    CUresult result = vci_enter(VC_cuMemAlloc_v2, VC_CURRENT);
    if (result == CUDA_SUCCESS && (!address || !bytes))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = vci_region_make(vci_current(), bytes, &region);
    if (result == CUDA_SUCCESS)
        *address = region->window.base;
    return vci_leave(result);
}

/* The driver may wait here for all work of the device, and usually does; so do we, but for the
 * adversarial orders: there what is still to run finds its memory gone. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = vci_enter(VC_cuMemFree_v2, VC_RELEASE);
    vc_region *region = vci_region(address, 1);
    if (vc.refused || !address)
        return vci_leave(result);
    if (!region || !(region->gpu || region->managed) || region->window.base != address)
        return vci_leave(result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE);
    if (result == CUDA_SUCCESS && (vc.mode == VC_TIME || vc.mode == VC_THREADS))
        result = vci_wait_gpu(region->context->gpu);
    vci_region_drop(region);
    return vci_leave(result);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    CUresult result = vci_enter(VC_cuMemGetInfo_v2, VC_CURRENT);
    if (result == CUDA_SUCCESS && (!free_bytes || !total))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        const vc_gpu *gpu = vci_current()->gpu;
        *free_bytes = gpu->memory - gpu->used;
        *total = gpu->memory;
    }
    return vci_leave(result);
}

/* Makes [host, host + bytes) known as pinned; mapped: ours to unmap. */
static vc_region *pin(vc_context *context, void *host, uint64_t bytes, uint64_t mapped)
{
    vc_region *region = vci_alloc(1, sizeof *region);
    *region = (vc_region){.window = {(uint64_t)(uintptr_t)host, bytes, host, NULL, 0},
                          .context = context,
                          .mapped = mapped};
    insert(region);
    vcuda_counts *counts = &context->gpu->counts;
    counts->live_host++;
    counts->pinned_bytes += (int64_t)mapped;
    if ((uint64_t)counts->pinned_bytes > counts->peak_pinned)
        counts->peak_pinned = (uint64_t)counts->pinned_bytes;
    return region;
}

int vci_is_pinned(const void *host, uint64_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)host;
    for (const vc_region *region = vc.regions; region; region = region->next) {
        uint64_t end = region->window.base + region->window.size;
        if (region->freed || address >= end || address + bytes <= region->window.base)
            continue;
        bool whole = address >= region->window.base && address + bytes <= end;
        return !region->gpu && whole ? 1 : -1;
    }
    return 0;
}

/* Poisoned memory of ours that is pinned; NULL: there is none. */
static vc_region *make_pinned(size_t bytes)
{
    void *mapped = map(bytes, PROT_READ | PROT_WRITE);
    if (!mapped)
        return NULL;
    memset(mapped, POISON, bytes < POISON_LIMIT ? bytes : POISON_LIMIT);
    return pin(vci_current(), mapped, bytes, bytes);
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    CUresult result = vci_enter(VC_cuMemHostAlloc, VC_CURRENT);
    vc_region *region = NULL;
    if (result == CUDA_SUCCESS && (!memory || !bytes || flags & ~7u))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !(region = make_pinned(bytes)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        *memory = region->window.host;
    return vci_leave(result);
}

/* Only what is asked of such an address differs from pinned memory. */
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    CUresult result = vci_enter(VC_cuMemAllocManaged, VC_CURRENT);
    vc_region *region = NULL;
    if (result == CUDA_SUCCESS && (!address || !bytes || flags != CU_MEM_ATTACH_GLOBAL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !(region = make_pinned(bytes)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        region->managed = true;
        *address = region->window.base;
    }
    return vci_leave(result);
}

static CUresult unpin(enum vc_call call, void *memory, bool ours)
{
    CUresult result = vci_enter(call, VC_RELEASE);
    vc_region *region = vci_region((uint64_t)(uintptr_t)memory, 1);
    if (vc.refused)
        return vci_leave(result);
    if (!region || region->gpu || region->managed || region->window.host != memory ||
        ours != (region->mapped > 0)) {
        CUresult unknown = ours ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
        return vci_leave(result != CUDA_SUCCESS ? result : unknown);
    }
    if (result == CUDA_SUCCESS && (vc.mode == VC_TIME || vc.mode == VC_THREADS))
        result = vci_wait_gpu(region->context->gpu);
    vci_region_drop(region);
    return vci_leave(result);
}

CUresult cuMemFreeHost(void *memory)
{
    return unpin(VC_cuMemFreeHost, memory, true);
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned int flags)
{
    CUresult result = vci_enter(VC_cuMemHostRegister_v2, VC_CURRENT);
    if (result == CUDA_SUCCESS && (!memory || !bytes || flags & ~15u))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && vci_is_pinned(memory, bytes))
        result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (result == CUDA_SUCCESS)
        pin(vci_current(), memory, bytes, 0);
    return vci_leave(result);
}

CUresult cuMemHostUnregister(void *memory)
{
    return unpin(VC_cuMemHostUnregister, memory, false);
}
