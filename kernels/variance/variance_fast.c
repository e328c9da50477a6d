/* The tiles' parts of a row's variance in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"

SYI_INLINE void fill(syi_tile tile, int is_floats, void *partial)
{
    *(syi_fast_spread *)partial = syi_fast_spread_of(tile, is_floats);
}

sy_status SYI_ISA_NAME(syi_variance_fast_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(syi_fast_spread), fill, syi_asking_of(piece));
}
