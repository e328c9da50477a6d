/* The GPU form of a user's own workload. What is his fault ends the run with his error; what is the
 * device's is redone elsewhere. */
#include "device/cuda/user.h"

#include "base/log.h"
#include "base/mem.h"
#include <stdbool.h>
#include <stdio.h>
#include <steelyard/gpu.h>
#include <string.h>

_Static_assert(sizeof((sy_gpu_slab){0}.in) == sizeof((syi_launch){0}.in), "as many arrays");
_Static_assert(sizeof((sy_gpu_slab){0}.params) == sizeof((syi_launch){0}.params), "and parameters");

static sy_status his_fault(const cuda_device *cuda, const syi_workload *workload, CUresult result,
                           const char *what)
{
    return syi_fail_device(SY_ERR_USER, -1, (int)result, "workload '%s': %s on device %s: %s",
                           workload->name, what, cuda->base.info.name,
                           syi_cuda_error_name(&cuda->driver->api, result));
}

/* What another GPU's driver may think of otherwise: the architecture, the PTX's version, or whether
 * PTX is compiled at all. */
static int is_refusal(CUresult result)
{
    static const CUresult refusals[] = {
        CUDA_ERROR_INVALID_IMAGE,
        CUDA_ERROR_INVALID_PTX,
        CUDA_ERROR_NO_BINARY_FOR_GPU,
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
        CUDA_ERROR_JIT_COMPILATION_DISABLED,
        CUDA_ERROR_INVALID_SOURCE,
        CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
        CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (result == refusals[i])
            return 1;
    return 0;
}

static void refuse(cuda_device *cuda, cuda_user_image *image, CUresult result)
{
    snprintf(image->refused, sizeof image->refused, "its driver refuses the GPU image (%.60s)",
             syi_cuda_error_name(&cuda->driver->api, result));
}

/* Whether a kernel that takes a slab and nothing more would go wrong: a launch reads as many
 * arguments as the kernel has. Drivers before 12.4 do not tell. */
static int is_strange(const syi_cuda_api *api, CUfunction kernel)
{
    size_t offset, size;
    if (!api->cuFuncGetParamInfo)
        return 0;
    return (api->cuFuncGetParamInfo(kernel, 0, &offset, &size) == CUDA_SUCCESS &&
            size != sizeof(sy_gpu_slab)) ||
           api->cuFuncGetParamInfo(kernel, 1, &offset, &size) == CUDA_SUCCESS;
}

/* Adds the image to the list: loaded into the context, which is current, refused for good, or
 * without the kernel. */
static sy_status load(cuda_device *cuda, CUcontext context, const syi_workload *workload,
                      cuda_user_image **out)
{
    const syi_cuda_api *api = &cuda->driver->api;
    cuda_user_image *image = syi_alloc(1, sizeof *image);
    CUresult result;
    if (!image)
        return syi_no_memory(sizeof *image);
    image->workload = workload;
    image->context = context;
    result = api->cuModuleLoadData(&image->module, workload->user->gpu_image);
    if (result == CUDA_SUCCESS)
        result =
            api->cuModuleGetFunction(&image->kernel, image->module, workload->user->gpu_kernel);
    if (is_refusal(result)) {
        refuse(cuda, image, result);
    } else if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND) {
        if (image->module)
            api->cuModuleUnload(image->module);
        syi_free(image);
        return syi_cuda_device_check(cuda, result, "the user's GPU image");
    }
    image->is_strange = image->kernel && is_strange(api, image->kernel);
    image->next = cuda->user_images;
    cuda->user_images = *out = image;
    return SY_OK;
}

static sy_status find_image(cuda_device *cuda, CUcontext context, const syi_workload *workload,
                            cuda_user_image **out)
{
    bool is_new;
    sy_status status = SY_OK;
    pthread_mutex_lock(&cuda->images);
    for (*out = cuda->user_images;
         *out && ((*out)->workload != workload || (*out)->context != context);)
        *out = (*out)->next;
    is_new = !*out;
    if (is_new)
        status = load(cuda, context, workload, out);
    pthread_mutex_unlock(&cuda->images);
    if (is_new && status == SY_OK && *(*out)->refused) /* the log's callback may call the library */
        syi_log_line(cuda->log, SY_LOG_WARNING, "%s is left out of workload '%s': %s",
                     cuda->base.info.name, workload->name, (*out)->refused);
    return status;
}

const char *syi_cuda_user_obstacle(cuda_device *cuda, const syi_workload *workload)
{
    cuda_user_image *image = NULL;
    if (workload->user->gpu_launch || cuda->hung || !cuda->context ||
        syi_cuda_enter(cuda, cuda->primary) != CUDA_SUCCESS)
        return NULL;
    if (find_image(cuda, cuda->primary, workload, &image) != SY_OK)
        image = NULL;
    syi_cuda_leave(cuda);
    return image && *image->refused ? image->refused : NULL;
}

sy_status syi_cuda_user_kernel(cuda_device *cuda, const syi_workload *workload, CUfunction *kernel)
{
    cuda_user_image *image;
    *kernel = NULL;
    if (workload->user->gpu_launch)
        return SY_OK;
    SYI_TRY(find_image(cuda, cuda->context, workload, &image));
    if (*image->refused) /* only now: when the run was planned something else was in the way */
        return syi_fail(SY_ERR_USER, "workload '%s' on device %s: %s", workload->name,
                        cuda->base.info.name, image->refused);
    if (!image->kernel)
        return his_fault(cuda, workload, CUDA_ERROR_NOT_FOUND, "its GPU image has no such kernel");
    if (image->is_strange)
        return his_fault(cuda, workload, CUDA_ERROR_INVALID_VALUE,
                         "its kernel takes something else than one sy_gpu_slab by value");
    *kernel = image->kernel;
    return SY_OK;
}

static sy_gpu_slab slab_of(const cuda_slot *slot, const syi_job *job, const syi_launch *launch)
{
    sy_gpu_slab slab = {.rows = launch->rows,
                        .columns = launch->columns,
                        .left = launch->left,
                        .in_stride = launch->in_stride,
                        .row = slot->slab.row,
                        .first = launch->first,
                        .row_columns = launch->row_columns,
                        .tile_columns = launch->unit_columns,
                        .tiles = slot->layout.units,
                        .tiles_per_row = launch->units_per_row};
    memcpy(slab.in, launch->in, sizeof slab.in);
    memcpy(slab.params, launch->params, sizeof slab.params);
    if (job->workload->pattern == SY_PATTERN_REDUCE)
        slab.partials = launch->partials;
    else
        memcpy(slab.out, launch->out, sizeof slab.out);
    return slab;
}

static sy_status launch_kernel(cuda_device *cuda, const cuda_slot *slot, CUfunction kernel,
                               const syi_job *job, sy_gpu_slab *slab)
{
    const syi_workload *workload = job->workload;
    void *arguments[] = {slab};
    CUresult result = cuda->driver->api.cuLaunchKernel(
        kernel, (unsigned)slab->tiles, 1, 1, (unsigned)workload->gpu->threads, 1, 1,
        (unsigned)workload->user->gpu_shared_bytes, slot->stream, arguments, NULL);
    if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return his_fault(cuda, workload, result, "its kernel cannot be launched so");
    return syi_cuda_device_check(cuda, result, "launching the user's kernel");
}

/* A launcher may return what the driver told it: where the GPU is lost, that is no fault of his. */
static sy_status call_launcher(const cuda_device *cuda, const cuda_slot *slot, const syi_job *job,
                               const sy_gpu_slab *slab)
{
    sy_gpu_place place = {slot->stream, (int)cuda->device, cuda->base.info.units};
    int code = job->workload->user->gpu_launch(&place, slab);
    CUresult answer;
    if (code == 0)
        return SY_OK;
    answer = cuda->driver->api.cuStreamQuery(slot->stream);
    if (answer != CUDA_SUCCESS && answer != CUDA_ERROR_NOT_READY)
        return syi_cuda_device_check(cuda, answer, "the user's launcher");
    return syi_fail_device(SY_ERR_USER, -1, code,
                           "workload '%s': its launcher returned %d on device %s",
                           job->workload->name, code, cuda->base.info.name);
}

sy_status syi_cuda_user_launch(cuda_device *cuda, const cuda_slot *slot, CUfunction kernel,
                               const syi_job *job, const syi_launch *launch)
{
    sy_gpu_slab slab = slab_of(slot, job, launch);
    size_t bytes = (size_t)slot->layout.units * job->workload->partial_size;
    if (slab.partials)
        SYI_TRY(CU(cuda,
                   cuMemsetD8Async(slot->memory + slot->layout.partials, 0, bytes, slot->stream)));
    return kernel ? launch_kernel(cuda, slot, kernel, job, &slab)
                  : call_launcher(cuda, slot, job, &slab);
}

void syi_cuda_user_clear(cuda_device *cuda)
{
    while (cuda->user_images) {
        cuda_user_image *image = cuda->user_images;
        cuda->user_images = image->next;
        if (image->module && cuda->context &&
            syi_cuda_enter(cuda, image->context) == CUDA_SUCCESS) {
            cuda->driver->api.cuModuleUnload(image->module);
            syi_cuda_leave(cuda);
        }
        syi_free(image);
    }
}
