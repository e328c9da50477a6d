/* Bollinger bands on a GPU. */
#include "cuda/window_unit.h"
#include "fast/window_unit.h"

SYI_DEVICE syi_window bollinger_window(const syi_launch *launch)
{
    return (syi_window){SYI_WINDOW_BANDS, (int64_t)launch->params[0], (int64_t)launch->params[2],
                        launch->params[1]};
}

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_bollinger(const syi_launch launch)
{
    syi_window window = bollinger_window(&launch);
    syi_window_unit(&launch, &window);
}

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2)
    syi_gpu_bollinger_fast(const syi_launch launch)
{
    syi_window window = bollinger_window(&launch);
    syi_fast_spread_window_unit(&launch, &window);
}
