/* The tiles' parts of two rows' product on a GPU. */
#include "exact/total_unit.h"
#include "fast/reduce_unit.h"

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_dot(const syi_launch launch)
{
    syi_total_unit(&launch, 1);
}

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_dot_fast(const syi_launch launch)
{
    syi_fast_sum_unit(&launch, 1);
}
