/* What NVML tells about GPUs, opened at run time. Nothing here fails: what cannot be learned stays
 * as it was, which is unknown. */
#ifndef SYI_DEVICE_CUDA_NVML_H
#define SYI_DEVICE_CUDA_NVML_H

#include "base/error.h"
#include "base/log.h"

typedef struct syi_nvml syi_nvml;
typedef struct nvmlDevice_st *syi_nvml_device;

/* Opens the library at `path` (NULL: libnvidia-ml.so.1); NULL, with the reason in the log, when
 * there is none that works. */
syi_nvml *syi_nvml_open(const char *path, syi_log *log);
/* Takes the address, accepts a NULL inside, leaves NULL. */
void syi_nvml_close(syi_nvml **nvml);

/* The following accept a NULL for the library and for a device. */

/* The device at info->pci; fills in what stays the same: driver, power limit, PCIe link. */
syi_nvml_device syi_nvml_find(const syi_nvml *nvml, sy_device_info *info);
/* Fills in what changes: utilisation, temperature, power, clocks. */
void syi_nvml_refresh(const syi_nvml *nvml, syi_nvml_device device, sy_device_info *info);
/* Whether their ways to the host are known to meet before they reach it. */
int syi_nvml_share_link(const syi_nvml *nvml, syi_nvml_device a, syi_nvml_device b);

#endif
