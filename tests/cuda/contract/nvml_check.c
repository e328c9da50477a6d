/*
 * Compiled, never run: asserts that our declarations of NVML's ABI (nvml_api.h) are those of its
 * own header: values, sizes, layouts, and the signature of every function. Both use the same names,
 * so ours are called otherwise while they are read.
 */
#include <stddef.h>

#define nvmlDevice_t                 our_device
#define nvmlDevice_st                our_device_struct
#define nvmlReturn_t                 our_return
#define nvmlReturn_enum              our_return_enum
#define nvmlUtilization_t            our_utilization
#define nvmlUtilization_st           our_utilization_struct
#define nvmlTemperatureSensors_t     our_sensor
#define nvmlTemperatureSensors_enum  our_sensor_enum
#define nvmlClockType_t              our_clock
#define nvmlClockType_enum           our_clock_enum
#define nvmlGpuTopologyLevel_t       our_level
#define nvmlGpuLevel_enum            our_level_enum
#define NVML_SUCCESS                 OUR_SUCCESS
#define NVML_ERROR_UNINITIALIZED     OUR_ERROR_UNINITIALIZED
#define NVML_ERROR_INVALID_ARGUMENT  OUR_ERROR_INVALID_ARGUMENT
#define NVML_ERROR_NOT_SUPPORTED     OUR_ERROR_NOT_SUPPORTED
#define NVML_ERROR_NOT_FOUND         OUR_ERROR_NOT_FOUND
#define NVML_ERROR_INSUFFICIENT_SIZE OUR_ERROR_INSUFFICIENT_SIZE
#define NVML_TEMPERATURE_GPU         OUR_TEMPERATURE_GPU
#define NVML_CLOCK_SM                OUR_CLOCK_SM
#define NVML_CLOCK_MEM               OUR_CLOCK_MEM
#define NVML_TOPOLOGY_INTERNAL       OUR_TOPOLOGY_INTERNAL
#define NVML_TOPOLOGY_SINGLE         OUR_TOPOLOGY_SINGLE
#define NVML_TOPOLOGY_MULTIPLE       OUR_TOPOLOGY_MULTIPLE
#define NVML_TOPOLOGY_HOSTBRIDGE     OUR_TOPOLOGY_HOSTBRIDGE
#include "device/cuda/nvml_api.h"
#undef nvmlDevice_t
#undef nvmlDevice_st
#undef nvmlReturn_t
#undef nvmlReturn_enum
#undef nvmlUtilization_t
#undef nvmlUtilization_st
#undef nvmlTemperatureSensors_t
#undef nvmlTemperatureSensors_enum
#undef nvmlClockType_t
#undef nvmlClockType_enum
#undef nvmlGpuTopologyLevel_t
#undef nvmlGpuLevel_enum
#undef NVML_SUCCESS
#undef NVML_ERROR_UNINITIALIZED
#undef NVML_ERROR_INVALID_ARGUMENT
#undef NVML_ERROR_NOT_SUPPORTED
#undef NVML_ERROR_NOT_FOUND
#undef NVML_ERROR_INSUFFICIENT_SIZE
#undef NVML_TEMPERATURE_GPU
#undef NVML_CLOCK_SM
#undef NVML_CLOCK_MEM
#undef NVML_TOPOLOGY_INTERNAL
#undef NVML_TOPOLOGY_SINGLE
#undef NVML_TOPOLOGY_MULTIPLE
#undef NVML_TOPOLOGY_HOSTBRIDGE
#include <nvml.h>

#define SAME(name) _Static_assert((int)OUR_##name == (int)NVML_##name, #name " has another value");
SAME(SUCCESS)
SAME(ERROR_UNINITIALIZED)
SAME(ERROR_INVALID_ARGUMENT)
SAME(ERROR_NOT_SUPPORTED)
SAME(ERROR_NOT_FOUND)
SAME(ERROR_INSUFFICIENT_SIZE)
SAME(TEMPERATURE_GPU)
SAME(CLOCK_SM)
SAME(CLOCK_MEM)
SAME(TOPOLOGY_INTERNAL)
SAME(TOPOLOGY_SINGLE)
SAME(TOPOLOGY_MULTIPLE)
SAME(TOPOLOGY_HOSTBRIDGE)

#define AS_LARGE(ours, theirs)                                                                     \
    _Static_assert(sizeof(ours) == sizeof(theirs), #theirs " has another size")
AS_LARGE(our_device, nvmlDevice_t);
AS_LARGE(our_return, nvmlReturn_t);
AS_LARGE(our_utilization, nvmlUtilization_t);
AS_LARGE(our_sensor, nvmlTemperatureSensors_t);
AS_LARGE(our_clock, nvmlClockType_t);
AS_LARGE(our_level, nvmlGpuTopologyLevel_t);
_Static_assert(offsetof(our_utilization, gpu) == offsetof(nvmlUtilization_t, gpu) &&
                   offsetof(our_utilization, memory) == offsetof(nvmlUtilization_t, memory),
               "layout of the utilization");

#define SYI_NVML(need, name, symbol, arguments)                                                    \
    _Static_assert(_Generic(&symbol, nvmlReturn_t(*) arguments : 1, default : 0),                  \
                   #symbol " has another signature");
#include "device/cuda/nvml_api.def"
#undef SYI_NVML
