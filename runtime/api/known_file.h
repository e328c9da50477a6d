/* What is read of multigpu.json for known.c, and what is looked for there. */
#ifndef SYI_API_KNOWN_FILE_H
#define SYI_API_KNOWN_FILE_H

#include "api/known.h"

/* The tag of a profile when the caller gives none: the costs of floats are kept apart. */
void syi_default_tag(const syi_workload *workload, sy_dtype dtype, char tag[SYI_TAG]);

/* What a device is now, for this workload. */
syi_fingerprint syi_fingerprint_of(const syi_device *device, const syi_workload *workload,
                                   sy_dtype dtype);

/* Fills what the file has of the devices of `out`, which has its tag, workload, dtype and home;
 * nothing, where there is no file or it cannot be used. `told`: what it says of these has been, for
 * works of another size. */
sy_status syi_known_read(sy_context *context, syi_known *out, bool told);

#endif
