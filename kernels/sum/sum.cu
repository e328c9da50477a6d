/* The tiles' parts of sums on a GPU, for `sum` and `mean`. */
#include "exact/total_unit.h"
#include "fast/reduce_unit.h"

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_total(const syi_launch launch)
{
    syi_total_unit(&launch, 0);
}

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_total_fast(const syi_launch launch)
{
    syi_fast_sum_unit(&launch, 0);
}
