/* The tiles' least values. Compiled for several instruction sets. */
#include "extreme/extreme_run.h"

SYI_INLINE void tile(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                     void *partial)
{
    *(syi_extreme *)partial =
        syi_extreme_of_tile(segment->in[0] + at, count, syi_tile_column(segment, at), 0, asking);
}

sy_status SYI_ISA_NAME(syi_min_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(syi_extreme), tile, syi_asking_of(piece));
}
