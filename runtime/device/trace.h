/* The timeline of a run: what every device's streams were busy with, told to the caller's trace
 * function as it ends. */
#ifndef SYI_DEVICE_TRACE_H
#define SYI_DEVICE_TRACE_H

#include "device/job.h"

/* The host as a device; and the stream of a device that shows the packets it was given. */
enum { SYI_TRACE_HOST = -1, SYI_TRACE_PACKETS = -1 };

/* SY_OK and NULL without a function: then nothing is told and nothing is timed for it. */
sy_status syi_trace_create(sy_trace_fn tell, void *user, syi_trace **out);
void syi_trace_destroy(syi_trace **trace);

/* The time for syi_trace_tell; 0 for a NULL trace, which does not look at it. */
double syi_trace_now(const syi_trace *trace);

/* A stretch of time (syi_trace_now) in which `device` (an index, or SYI_TRACE_HOST) did `what` (a
 * constant) to `span`. A NULL trace takes it and does nothing. */
void syi_trace_tell(syi_trace *trace, int device, int stream, const char *what, double begin_ns,
                    double end_ns, syi_tiles span);

#endif
