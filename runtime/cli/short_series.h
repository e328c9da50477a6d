/* A series that is too short for any result is most likely a mistake: a run refuses it. `needed`:
 * columns for a result.
 */
#ifndef CLI_SHORT_SERIES_H
#define CLI_SHORT_SERIES_H

#include "context.h"
#include "input.h"

int cli_series_check(sy_context *context, const sy_workload_info *workload, const sy_param *params,
                     int n_params, const cli_input *input, int64_t *needed);

#endif
