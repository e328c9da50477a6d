/* The rolling mean on a GPU. */
#include "cuda/window_unit.h"

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2) syi_gpu_sma(const syi_launch launch)
{
    syi_window window = {SYI_WINDOW_MEAN, (int64_t)launch.params[0], 0, 0.0};
    syi_window_unit(&launch, &window);
}
