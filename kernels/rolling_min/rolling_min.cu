/* The least value of each window on a GPU. */
#include "extreme/rolling_unit.h"

SYI_KERNEL __launch_bounds__(SYI_WINDOW_UNIT_THREADS, 2)
    syi_gpu_rolling_min(const syi_launch launch)
{
    syi_rolling_unit(&launch, 0);
}
