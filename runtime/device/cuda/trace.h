/* What a GPU's streams did in a traced run, on the host's clock. */
#ifndef SYI_DEVICE_CUDA_TRACE_H
#define SYI_DEVICE_CUDA_TRACE_H

#include "device/cuda/device.h"

/* Takes the run's origin, with the device's context current and the device idle. Without one the
 * GPU's streams are left out of the trace; what is wrong with the device, the run will find. */
void syi_cuda_trace_begin(cuda_device *cuda, const syi_job *job);
/* The slab that has ended in slot `stream`. */
void syi_cuda_trace_slab(const cuda_device *cuda, const cuda_slot *slot, const syi_job *job);
void syi_cuda_trace_end(cuda_device *cuda);

#endif
