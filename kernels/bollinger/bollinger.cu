/* Bollinger bands on a GPU. */
#include "cuda/window_unit.h"

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_bollinger(const syi_launch launch)
{
    syi_window window = {SYI_WINDOW_BANDS, (int64_t)launch.params[0], (int64_t)launch.params[2],
                         launch.params[1]};
    syi_window_unit(&launch, &window);
}
