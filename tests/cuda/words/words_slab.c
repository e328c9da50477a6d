/* Both get the same bytes: the inputs, and zeroes where they are to write. */
#include "words_slab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int words_failed(const words_gpu *gpu, CUresult result, const char *what)
{
    const char *name = "unknown";
    if (result == CUDA_SUCCESS)
        return 0;
    gpu->driver->api.cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    return 1;
}

int words_gpu_open(words_gpu *gpu, const char *driver)
{
    if (syi_cuda_driver_open(driver, &gpu->driver) != SY_OK) {
        fprintf(stderr, "%s\n", sy_last_error()->text);
        return 1;
    }
    return WORDS_FAILED(gpu, cuDevicePrimaryCtxRetain(&gpu->context, 0)) ||
           WORDS_FAILED(gpu, cuCtxPushCurrent(gpu->context));
}

int words_gpu_load(const words_gpu *gpu, const void *image, CUmodule *out)
{
    return WORDS_FAILED(gpu, cuModuleLoadData(out, image));
}

void words_gpu_close(words_gpu *gpu)
{
    gpu->driver->api.cuCtxPopCurrent(NULL);
    gpu->driver->api.cuDevicePrimaryCtxRelease(0);
    syi_cuda_driver_close(&gpu->driver);
}

static int64_t blocks_of(const words_slab *s)
{
    int64_t per_block = s->job->workload->gpu->units_per_block;
    return (s->slot.layout.units + per_block - 1) / per_block;
}

int words_slab_open(words_slab *s)
{
    static const cuda_device nobody; /* arrays in plain memory concern no device */
    const syi_slab *slab = &s->slot.slab;
    const cuda_layout *at = &s->slot.layout;
    s->slot.layout = syi_cuda_layout_of(&nobody, s->job, slab);
    s->given = calloc(3, at->end);
    if (!s->given) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    s->gpu = s->given + at->end;
    s->host = s->gpu + at->end;
    for (int k = 0; k < s->job->workload->n_inputs; k++)
        syi_input_read(s->job, k, slab->row * s->job->columns + slab->first - slab->left,
                       syi_slab_inputs(slab), s->given + at->in[k]);
    return 0;
}

int words_slab_on_gpu(words_slab *s, const words_gpu *gpu, CUmodule module)
{
    const syi_gpu_form *form = s->job->workload->gpu;
    const syi_view view = syi_view_of_job(s->job, &s->slot.slab);
    const size_t bytes = s->slot.layout.end;
    CUfunction kernel;
    syi_launch launch;
    void *arguments[] = {&launch};
    int failed;
    if (WORDS_FAILED(gpu, cuModuleGetFunction(&kernel, module, form->entry)) ||
        WORDS_FAILED(gpu, cuMemAlloc(&s->slot.memory, bytes)))
        return 1;
    launch = syi_cuda_slot_describe(&s->slot, s->job, &view);
    failed = WORDS_FAILED(gpu, cuMemcpyHtoD(s->slot.memory, s->given, bytes)) ||
             WORDS_FAILED(gpu, cuLaunchKernel(kernel, (unsigned)blocks_of(s), 1, 1,
                                              (unsigned)form->threads, 1, 1, 0, NULL, arguments,
                                              NULL)) ||
             WORDS_FAILED(gpu, cuCtxSynchronize()) ||
             WORDS_FAILED(gpu, cuMemcpyDtoH(s->gpu, s->slot.memory, bytes));
    gpu->driver->api.cuMemFree(s->slot.memory);
    return failed;
}

int words_slab_on_host(words_slab *s, host_kernel kernel)
{
    const syi_view view = syi_view_of_job(s->job, &s->slot.slab);
    syi_launch launch;
    memcpy(s->host, s->given, s->slot.layout.end);
    s->slot.memory = (CUdeviceptr)(uintptr_t)s->host;
    launch = syi_cuda_slot_describe(&s->slot, s->job, &view);
    return host_launch(kernel, &launch, (int)blocks_of(s), s->job->workload->gpu->threads);
}

void words_slab_close(words_slab *s)
{
    free(s->given);
}
