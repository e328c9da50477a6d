/* The rolling mean on a GPU. */
#include "cuda/window_unit.h"
#include "fast/window_unit.h"

SYI_DEVICE syi_window sma_window(const syi_launch *launch)
{
    return (syi_window){SYI_WINDOW_MEAN, (int64_t)launch->params[0], 0, 0.0};
}

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_sma(const syi_launch launch)
{
    syi_window window = sma_window(&launch);
    syi_window_unit(&launch, &window);
}

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_sma_fast(const syi_launch launch)
{
    syi_window window = sma_window(&launch);
    syi_fast_mean_unit(&launch, &window);
}
