#include "device/cuda/convert.h"

#include "cuda/forms.h"
#include "device/cuda/layout.h"

static sy_status convert(cuda_device *cuda, const cuda_slot *slot, const char *name,
                         CUdeviceptr from, CUdeviceptr to, int64_t count)
{
    const int64_t blocks = (count + SYI_ELEMENT_THREADS - 1) / SYI_ELEMENT_THREADS;
    long long elements = count;
    void *arguments[] = {&from, &to, &elements};
    CUfunction kernel;
    SYI_TRY(CU(cuda, cuModuleGetFunction(&kernel, cuda->module, name)));
    return CU(cuda, cuLaunchKernel(kernel, (unsigned)blocks, 1, 1, SYI_ELEMENT_THREADS, 1, 1, 0,
                                   slot->stream, arguments, NULL));
}

sy_status syi_cuda_widen_inputs(cuda_device *cuda, const cuda_slot *slot, const syi_job *job,
                                const syi_view *view)
{
    const int64_t count = syi_slab_inputs(&slot->slab);
    for (int k = 0; job->dtype == SY_F32 && k < job->workload->n_inputs; k++)
        SYI_TRY(convert(cuda, slot, "syi_gpu_widen", syi_cuda_slot_in(slot, view, k),
                        slot->memory + slot->layout.wide_in[k], count));
    return SY_OK;
}

sy_status syi_cuda_narrow_outputs(cuda_device *cuda, const cuda_slot *slot, const syi_job *job,
                                  const syi_view *view)
{
    const int64_t count = syi_slab_outputs(job, &slot->slab);
    for (int k = 0; job->dtype == SY_F32 && count && k < job->workload->n_outputs; k++)
        SYI_TRY(convert(cuda, slot, "syi_gpu_narrow", slot->memory + slot->layout.wide_out[k],
                        syi_cuda_slot_out(slot, view, k), count));
    return SY_OK;
}
