/* The rolling score in fast accuracy. Compiled for several instruction sets. */
#define SYI_SPREAD_KIND    SYI_WINDOW_SCORE
#define SYI_SPREAD_OUTPUTS 1
#include "fast/spread_run.h"

SYI_ISA_DECLARE(syi_zscore_run);

sy_status SYI_ISA_NAME(syi_zscore_fast_run)(const syi_piece *piece)
{
    const double *params = piece->segment.params;
    syi_window window = {SYI_SPREAD_KIND, (int64_t)params[0], (int64_t)params[1], 0.0};
    if (params[0] > SYI_SCAN_MOST)
        return SYI_ISA_NAME(syi_zscore_run)(piece);
    return syi_spread_run(piece, &window);
}
