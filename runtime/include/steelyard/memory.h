/* steelyard: memory that arrays of a work may live in beside plain memory, for programs without a
 * GPU vendor's headers. Conventions: steelyard.h. */
#ifndef STEELYARD_MEMORY_H
#define STEELYARD_MEMORY_H

#include <steelyard/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the place of a device's index: memory of the host that GPUs copy from and to by themselves. */
#define SY_MEMORY_PINNED (-1)

/* `bytes` (> 0) of memory of the device with that index, not initialised; of a device that computes
 * in the host's memory, and pinned where there is no GPU, they are plain memory. A GPU's memory can
 * be handed to every function that takes arrays of a work, and must not be read or written by the
 * program itself. SY_ERR_MEMORY: there is not so much; SY_ERR_DEVICE: the device failed. */
SY_API sy_status sy_memory_alloc(sy_context *context, int device, size_t bytes, void **out);

/* Takes the address, accepts a NULL inside, leaves NULL. SY_ERR_ARGUMENT for what is not from
 * sy_memory_alloc of this context. What is left at its end goes with the context. */
SY_API sy_status sy_memory_free(sy_context *context, void **memory);

/* Copies between any two places, also memory that is not from sy_memory_alloc: the driver knows
 * where an address is. They do not overlap. When it returns the bytes are there. */
SY_API sy_status sy_memory_copy(sy_context *context, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
