/* Bollinger bands in fast accuracy. Compiled for several instruction sets. */
#include "fast/window.h"

SYI_ISA_DECLARE(syi_bollinger_run);

sy_status SYI_ISA_NAME(syi_bollinger_fast_run)(const syi_piece *piece)
{
    const double *params = piece->segment.params;
    syi_window window = {SYI_WINDOW_BANDS, (int64_t)params[0], (int64_t)params[2], params[1]};
    if (params[0] > SYI_FAST_PERIOD)
        return SYI_ISA_NAME(syi_bollinger_run)(piece);
    return SYI_ISA_NAME(syi_fast_window_run)(piece, &window);
}
