/* Bollinger bands in fast accuracy. Compiled for several instruction sets. */
#define SYI_SPREAD_KIND    SYI_WINDOW_BANDS
#define SYI_SPREAD_OUTPUTS 3
#include "fast/spread_run.h"

SYI_ISA_DECLARE(syi_bollinger_run);

sy_status SYI_ISA_NAME(syi_bollinger_fast_run)(const syi_piece *piece)
{
    const double *params = piece->segment.params;
    syi_window window = {SYI_SPREAD_KIND, (int64_t)params[0], (int64_t)params[2], params[1]};
    if (params[0] > SYI_SCAN_MOST)
        return SYI_ISA_NAME(syi_bollinger_run)(piece);
    return syi_spread_run(piece, &window);
}
