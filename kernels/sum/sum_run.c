/* The tiles' parts of a row's sum, for `sum` and `mean`. Compiled for several instruction sets. */
#include "exact/total_run.h"
#include "isa.h"

SYI_INLINE void fill(syi_tile tile, int is_floats, void *partial)
{
    *(syi_total *)partial = syi_total_of_tile(tile, 0, is_floats);
}

sy_status SYI_ISA_NAME(syi_sum_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(syi_total), fill, syi_asking_of(piece));
}
