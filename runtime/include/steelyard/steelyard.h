/*
 * steelyard: several unequal devices as one fast device.
 *
 * Conventions of the whole header
 *   Units       elements, bytes, milliseconds, unless a name says otherwise.
 *   Shapes      [rows][columns], row-major; a row is an independent series, columns are time.
 *               A 1-D array is one row.
 *   Parameters  structs that may grow begin with `struct_size` (set it to sizeof the struct); every
 *               other field may be zero, and zero means the documented default. The other structs
 *               do not change within this soversion: sy_error, sy_device_info, sy_device_report,
 *               sy_planned_device, sy_workload_info, sy_param_info, sy_param, sy_ratio,
 *               sy_balance_ratio, sy_threshold, sy_segment, sy_gpu_slab, sy_gpu_place.
 *   Ownership   arguments are borrowed for the call. What a call fills in belongs to the caller and
 *               is given back with the `_clear` or `_destroy` function named beside it.
 *   Errors      every call that can fail returns a sy_status, 0 being success; sy_last_error()
 *               holds the text. Results are written on success only. The one exception is the
 *               contents of the result arrays of a distribution, unspecified after a failure.
 *   Threads     a context may be used from any number of threads at once, unless stated
 *               otherwise. The library never prints, exits or aborts; only OpenMP's runtime may
 *               end the process near the limit of threads (docs/devices.md). A thread that calls
 *               it, and those of OpenMP (OMP_STACKSIZE), need 1 MiB of stack. It must not be
 *               cancelled (pthread_cancel) in a call. Threads that the library makes, among them
 *               those of OpenMP that a call is the first to need, hold SIGINT, SIGTERM, SIGHUP and
 *               SIGQUIT back: the program's own take them.
 *   Arithmetic  works are computed in the default floating-point environment, whatever the caller's
 *               is. Where exceptions trap, mask them for calls without a work.
 *   Callbacks   (log, progress, trace, the functions of a workload) are called while a call is
 *               under way, which waits for them. They may use the library, but must not run works
 *               or profiles on the same context: its devices may be waiting for the callback.
 *               A GPU's context of the library may be current: make your own current for CUDA.
 *   Forks       the child of a fork makes contexts of its own: the parent's, like what the CUDA
 *               driver holds, are of no use there.
 */
#ifndef STEELYARD_STEELYARD_H
#define STEELYARD_STEELYARD_H

#include <steelyard/status.h>
#include <steelyard/context.h>
#include <steelyard/memory.h>
#include <steelyard/workload.h>
#include <steelyard/distribute.h>
#include <steelyard/profile.h>

#endif
