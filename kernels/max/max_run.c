/* The tiles' greatest values. Compiled for several instruction sets. */
#include "extreme/extreme_run.h"

SYI_INLINE void fill(syi_tile tile, int is_floats, void *partial)
{
    *(syi_extreme *)partial = syi_extreme_of_tile(tile, 1, is_floats);
}

sy_status SYI_ISA_NAME(syi_max_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(syi_extreme), fill, syi_asking_of(piece));
}
