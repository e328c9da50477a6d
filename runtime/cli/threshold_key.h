/* The KEY of `thresholds set`. */
#ifndef CLI_THRESHOLD_KEY_H
#define CLI_THRESHOLD_KEY_H

#include <steelyard/steelyard.h>

/* Refuses a key of a workload that the library knows where the library could not read the rest of
 * it: it would be kept, and count for nothing. Of other keys nothing is known. */
int cli_threshold_key_check(sy_context *context, const char *key);

#endif
