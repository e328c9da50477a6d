/* The tiles' parts of `dot` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"

SYI_INLINE void fill(syi_tile tile, int is_floats, void *partial)
{
    *(double *)partial = syi_fast_sum_tile(tile, 1, is_floats);
}

sy_status SYI_ISA_NAME(syi_dot_fast_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(double), fill,
                         piece->past_cache ? syi_asking_of_plain(piece) : SYI_ASKS_NOT);
}
