/* The relative strength index on a GPU. */
#include "wilder/stretch.h"

SYI_KERNEL __launch_bounds__(SYI_STRETCH_THREADS, 4) syi_gpu_rsi(const syi_launch launch)
{
    wilder_unit(&launch, 0);
}
