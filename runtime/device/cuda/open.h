/* Opening and closing of GPUs, and what is known of them: the backend's functions (backend.h). */
#ifndef SYI_DEVICE_CUDA_OPEN_H
#define SYI_DEVICE_CUDA_OPEN_H

#include "device/cuda/device.h"

sy_status syi_cuda_open(const char *item, syi_devices *devices);
sy_status syi_cuda_open_all(syi_devices *devices);
void syi_cuda_close(syi_device *device);
void syi_cuda_refresh(syi_device *device, sy_device_info *info);

#endif
