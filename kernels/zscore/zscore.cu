/* The rolling z-score on a GPU. */
#include "cuda/window_unit.h"
#include "fast/window_unit.h"

SYI_DEVICE syi_window zscore_window(const syi_launch *launch)
{
    return (syi_window){SYI_WINDOW_SCORE, (int64_t)launch->params[0], (int64_t)launch->params[1],
                        0.0};
}

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_zscore(const syi_launch launch)
{
    syi_window window = zscore_window(&launch);
    syi_window_unit(&launch, &window);
}

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2)
    syi_gpu_zscore_fast(const syi_launch launch)
{
    syi_window window = zscore_window(&launch);
    syi_fast_spread_window_unit(&launch, &window);
}
