/* The tiles' parts of two rows' product. Compiled for several instruction sets. */
#include "exact/total_run.h"
#include "isa.h"
#include "tiles.h"

SYI_INLINE void tile(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                     void *partial)
{
    const syi_total_terms terms = {segment->in[0] + at, segment->in[1] + at, 1, asking};
    *(syi_total *)partial = syi_total_of_tile(terms, count);
}

sy_status SYI_ISA_NAME(syi_dot_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(syi_total), tile, syi_asking_of(piece));
}
