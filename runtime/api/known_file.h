/* Reading multigpu.json for known.c. */
#ifndef SYI_API_KNOWN_FILE_H
#define SYI_API_KNOWN_FILE_H

#include "api/known.h"

/* Fills what the file has of the devices of `out`, which has its tag, workload, dtype and home;
 * nothing, where there is no file or it cannot be used. `told`: what it says of these has been, for
 * works of another size. */
sy_status syi_known_read(sy_context *context, syi_known *out, bool told);

#endif
