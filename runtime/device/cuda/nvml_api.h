/* The part of NVML's ABI that is used, in our own declarations, as api.h has the driver's:
 * names, values and layouts are those of the documented interface. */
#ifndef SYI_DEVICE_CUDA_NVML_API_H
#define SYI_DEVICE_CUDA_NVML_API_H

typedef struct nvmlDevice_st *nvmlDevice_t;

typedef enum nvmlReturn_enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7
} nvmlReturn_t;

typedef struct nvmlUtilization_st {
    unsigned int gpu, memory; /* percent */
} nvmlUtilization_t;

typedef enum nvmlTemperatureSensors_enum { NVML_TEMPERATURE_GPU = 0 } nvmlTemperatureSensors_t;

typedef enum nvmlClockType_enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 } nvmlClockType_t;

/* What two devices have in common, from near to far. */
typedef enum nvmlGpuLevel_enum {
    NVML_TOPOLOGY_INTERNAL = 0,  /* the board */
    NVML_TOPOLOGY_SINGLE = 10,   /* one PCIe switch */
    NVML_TOPOLOGY_MULTIPLE = 20, /* several, below the same port of the host */
    NVML_TOPOLOGY_HOSTBRIDGE = 30
} nvmlGpuTopologyLevel_t;

typedef struct syi_nvml_api {
#define SYI_NVML(need, name, symbol, arguments) nvmlReturn_t(*name) arguments;
#include "device/cuda/nvml_api.def"
#undef SYI_NVML
} syi_nvml_api;

#endif
