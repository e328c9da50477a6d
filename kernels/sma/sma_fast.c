/* The rolling mean in fast accuracy. Compiled for several instruction sets. */
#include "fast/window.h"

SYI_ISA_DECLARE(syi_sma_run);

sy_status SYI_ISA_NAME(syi_sma_fast_run)(const syi_piece *piece)
{
    const double *params = piece->segment.params;
    if (params[0] > SYI_MEAN_MOST)
        return SYI_ISA_NAME(syi_sma_run)(piece);
    return SYI_ISA_NAME(syi_fast_mean_run)(piece, (int64_t)params[0]);
}
