/* The rolling z-score. Compiled for several instruction sets. */
#include "window/window.h"

sy_status SYI_ISA_NAME(syi_zscore_run)(const syi_piece *piece)
{
    const double *params = piece->segment.params;
    syi_window window = {
        .kind = SYI_WINDOW_SCORE, .period = (int64_t)params[0], .ddof = (int64_t)params[1]};
    return SYI_ISA_NAME(syi_window_run)(piece, &window);
}
