/* The rolling z-score on a GPU. */
#include "cuda/window_unit.h"

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_zscore(const syi_launch launch)
{
    syi_window window = {SYI_WINDOW_SCORE, (int64_t)launch.params[0], (int64_t)launch.params[1],
                         0.0};
    syi_window_unit(&launch, &window);
}
