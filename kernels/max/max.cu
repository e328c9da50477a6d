/* A tile's greatest value on a GPU. */
#include "extreme/tile.h"

SYI_KERNEL __launch_bounds__(SYI_TILE_UNIT_THREADS, 3) syi_gpu_max(const syi_launch launch)
{
    syi_extreme_tile(&launch, 1);
}
