/* Series whose results are nan to the end since some value: right, but seldom what was meant. */
#ifndef CLI_LOST_SERIES_H
#define CLI_LOST_SERIES_H

#include "input.h"

/* Warns of those in one line. `needed`: columns that a result needs; nothing is said of an end as
 * short as that, which one value in a window may cause. */
void cli_warn_of_lost(const sy_workload_info *workload, const cli_input *input,
                      void *const *results, int64_t needed);

#endif
