/*
 * steelyard: memory that arrays of a work may live in beside plain memory, for programs without a
 * GPU vendor's headers. Where arrays may live, and what that means: docs/devices.md. Conventions:
 * steelyard.h.
 *
 *   Units       bytes. Addresses of allocations on a GPU and pinned ones suit every element type.
 *   Ownership   an allocation belongs to the caller until sy_memory_free, and to the context: what
 *               is left at its end goes with it. It must not be freed while a call uses it. After a
 *               call in which a GPU hung it may be freed: what that GPU's copies may still use is
 *               kept until they have ended (docs/devices.md).
 *   Threads     any number at once, also beside running works; what one call writes, no other call
 *               may use meanwhile.
 *   Errors      SY_ERR_ARGUMENT, SY_ERR_MEMORY (of the host or of a device), SY_ERR_NO_DEVICE (the
 *               device is listed only), SY_ERR_DEVICE (it failed, and what it held is lost).
 *               Results are written on success only; what a copy was to write is unspecified after
 *               a failure.
 */
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

/* The same bytes to `count` arrays, at any places, for a result that every GPU is to go on with.
 * Arrays on different GPUs are given a part each and gather the others' parts from each other, by
 * the ways of sy_config.gather (NCCL's all-gather, where every GPU of the context has one), so that
 * `from` is read once and not once for each. They overlap neither each other nor `from`. When it
 * returns the bytes are there. */
SY_API sy_status sy_memory_spread(sy_context *context, void *const *to, int count, const void *from,
                                  size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
