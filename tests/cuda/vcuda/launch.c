/* Kernel launches: what is refused at the call, and the execution by the interpreter. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED_DEFAULT = 48 << 10, SHARED_MOST = 99 << 10, SHARED_PER_SM = 100 << 10 };

static int dynamic_limit(const vc_function *function)
{
    int fixed = (int)function->info.static_shared_bytes;
    return function->dynamic_limit ? function->dynamic_limit : SHARED_DEFAULT - fixed;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    CUresult result = vci_enter(VC_cuFuncGetAttribute, VC_CURRENT);
    const vc_function *function = vci_handle_find(VC_FUNCTION, handle);
    if (result == CUDA_SUCCESS && !function)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && !value)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    const vc_gpu *gpu = function->object.context->gpu;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)function->info.max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)function->info.static_shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)function->info.local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = function->info.register_count < 255 ? (int)function->info.register_count : 255;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = vptx_target(function->module->ptx);
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 10 * gpu->major + gpu->minor;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = dynamic_limit(function);
        break;
    default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return vci_leave(result);
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    CUresult result = vci_enter(VC_cuFuncGetParamInfo, VC_CURRENT);
    const vc_function *function = vci_handle_find(VC_FUNCTION, handle);
    vptx_parameter parameter;
    if (result == CUDA_SUCCESS && !function)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS &&
        (!offset || index >= function->info.parameter_count ||
         vptx_query_parameter(function->kernel, (uint32_t)index, &parameter) != 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        *offset = parameter.offset;
        if (size) /* the one that may be left out */
            *size = parameter.size;
    }
    return vci_leave(result);
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    CUresult result = vci_enter(VC_cuFuncSetAttribute, VC_CURRENT);
    vc_function *function = vci_handle_find(VC_FUNCTION, handle);
    if (result == CUDA_SUCCESS && !function)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS &&
        (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
         value + (int)function->info.static_shared_bytes > SHARED_MOST))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        function->dynamic_limit = value;
    return vci_leave(result);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int block_size,
                                                     size_t dynamic_shared)
{
    CUresult result = vci_enter(VC_cuOccupancyMaxActiveBlocksPerMultiprocessor, VC_CURRENT);
    const vc_function *function = vci_handle_find(VC_FUNCTION, handle);
    if (result == CUDA_SUCCESS && !function)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (!blocks || block_size <= 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        size_t shared = function->info.static_shared_bytes + dynamic_shared;
        size_t by_shared = shared ? SHARED_PER_SM / shared : 32;
        size_t by_threads = 2048u / (((unsigned)block_size + 31) / 32 * 32);
        size_t most = by_shared < by_threads ? by_shared : by_threads;
        *blocks =
            (unsigned)block_size > function->info.max_threads ? 0 : (int)(most < 32 ? most : 32);
    }
    return vci_leave(result);
}

static CUresult check(const vc_function *function, const unsigned int grid[3],
                      const unsigned int block[3], unsigned int shared)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    bool fits = grid[0] && grid[1] && grid[2] && grid[0] <= INT32_MAX && grid[1] <= 65535 &&
                grid[2] <= 65535 && threads && block[0] <= 1024 && block[1] <= 1024 &&
                block[2] <= 64 && threads <= 1024;
    if (!fits || shared > (unsigned int)dynamic_limit(function))
        return CUDA_ERROR_INVALID_VALUE;
    return threads > function->info.max_threads ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

/* The parameters are copied at the call. */
static vc_launch *prepare(const vc_function *function, const unsigned int grid[3],
                          const unsigned int block[3], unsigned int shared, void **parameters)
{
    vc_launch *launch = vci_alloc(1, sizeof *launch);
    launch->kernel = function->kernel;
    launch->parameters = vci_alloc(1, function->info.parameter_bytes + 1);
    for (uint32_t i = 0; i < function->info.parameter_count; i++) {
        vptx_parameter parameter;
        vptx_query_parameter(function->kernel, i, &parameter);
        memcpy(launch->parameters + parameter.offset, parameters[i], parameter.size);
    }
    launch->config = (vptx_launch_config){.grid = {grid[0], grid[1], grid[2]},
                                          .block = {block[0], block[1], block[2]},
                                          .dynamic_shared_bytes = shared,
                                          .parameters = launch->parameters};
    return launch;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream_handle,
                        void **parameters, void **extra)
{
    vc_stream *stream;
    unsigned int grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    CUresult result = vci_enter(VC_cuLaunchKernel, VC_CURRENT);
    const vc_function *function = vci_handle_find(VC_FUNCTION, handle);
    if (result == CUDA_SUCCESS)
        result = vci_stream_of(stream_handle, &stream);
    if (result == CUDA_SUCCESS &&
        (!function || function->object.context->gpu != stream->object.context->gpu))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (extra || (function->info.parameter_count && !parameters)))
        result = extra ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = check(function, grid, block, shared);
    if (result != CUDA_SUCCESS)
        return vci_leave(result);
    vc_op *op = vci_op_make(stream, VC_KERNEL);
    op->launch = prepare(function, grid, block, shared, parameters);
    op->gpu->counts.launches++;
    return vci_leave(vci_submit(op));
}

/* ---- execution ---- */

/* What a kernel may touch, as it was when it started. */
typedef struct view {
    vc_region **regions; /* by address */
    size_t count;
} view;

static view make_view(const vc_gpu *gpu)
{
    view result = {0};
    for (vc_region *region = vc.regions; region; region = region->next)
        result.count++;
    result.regions = vci_alloc(result.count + 1, sizeof *result.regions);
    result.count = 0;
    for (vc_region *region = vc.regions; region; region = region->next) {
        unsigned int bit = region->gpu ? 1u << region->gpu->index : 0;
        if (region->freed || (region->gpu && region->gpu != gpu && !(gpu->peers & bit)))
            continue;
        region->users++;
        result.regions[result.count++] = region;
    }
    return result;
}

static const vptx_window *resolve(void *user, uint64_t address, uint32_t size, int is_write,
                                  const char **why_not)
{
    const view *visible = user;
    size_t low = 0, high = visible->count;
    (void)is_write;
    while (low < high) { /* the last one that begins at or before the address */
        size_t middle = (low + high) / 2;
        if (visible->regions[middle]->window.base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const vptx_window *window = low ? &visible->regions[low - 1]->window : NULL;
    if (window && address - window->base < window->size &&
        size <= window->size - (address - window->base))
        return window;
    *why_not = "outside of every allocation of this device";
    return NULL;
}

static CUresult error_of(vptx_fault_kind kind)
{
    switch (kind) {
    case VPTX_OK:
        return CUDA_SUCCESS;
    case VPTX_BAD_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case VPTX_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case VPTX_LIMIT:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

CUresult vci_execute_kernel(vc_op *op, int64_t *duration)
{
    static const vptx_order orders[] = {VPTX_FORWARD, VPTX_REVERSE, VPTX_SHUFFLE, VPTX_FORWARD};
    vc_gpu *gpu = op->gpu;
    view visible = make_view(gpu);
    vptx_report report = {0};
    vptx_launch_config *config = &op->launch->config;
    config->memory = (vptx_memory){resolve, &visible};
    config->order = orders[vc.mode];
    config->seed = vc.mode == VC_RANDOM ? vci_random() : op->number;
    config->shared_limit = SHARED_MOST;
    config->sm_count = op->context->sms;
    if (vc.mode == VC_THREADS)
        pthread_mutex_unlock(&vc.lock);
    vptx_launch(op->launch->kernel, config, &report);
    if (vc.mode == VC_THREADS)
        pthread_mutex_lock(&vc.lock);
    for (size_t i = 0; i < visible.count; i++)
        vci_region_release(visible.regions[i]);
    free(visible.regions);
    gpu->counts.lane_instructions += report.lane_instructions;
    double rate = gpu->speed * op->context->sms;
    *duration =
        (int64_t)(((double)gpu->latency + (double)report.lane_instructions / rate) * gpu->slow);
    if (report.fault.kind != VPTX_OK) {
        gpu->counts.diagnoses++;
        vci_say("device %d: %s", gpu->index, report.fault.text);
    }
    return error_of(report.fault.kind);
}
