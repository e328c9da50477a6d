/* The tiles' parts of a row's variance in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"
#include "tiles.h"

SYI_INLINE void tile(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                     void *partial)
{
    *(syi_fast_spread *)partial = syi_fast_spread_of(segment->in[0] + at, count, asking);
}

sy_status SYI_ISA_NAME(syi_variance_fast_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(syi_fast_spread), tile, syi_asking_of(piece));
}
