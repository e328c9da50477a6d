/* A series that is too short for any result is most likely a mistake: a run refuses it. */
#ifndef CLI_SHORT_SERIES_H
#define CLI_SHORT_SERIES_H

#include "context.h"
#include "input.h"

/* Before the computation: whether a window is longer than the series. */
int cli_series_check(const sy_workload_info *workload, const sy_param *params, int n_params,
                     const cli_input *input);

/* After it, for the other workloads, whose warm-up the library does not tell: of finite values they
 * make nothing but nan only for want of more of them. */
int cli_series_explain(const sy_workload_info *workload, const sy_param *params, int n_params,
                       const cli_input *input, void *const *results);

#endif
