/* The tiles' parts of `dot` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"
#include "tiles.h"

SYI_INLINE void tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    const syi_fast_terms near = {1, SYI_ASKS_NOT};
    *(double *)partial = syi_fast_sum_terms(segment->in[0] + at, segment->in[1] + at, near, count);
}

SYI_INLINE void far_tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    const syi_fast_terms far = {1, SYI_ASKS_FAR};
    *(double *)partial = syi_fast_sum_terms(segment->in[0] + at, segment->in[1] + at, far, count);
}

sy_status SYI_ISA_NAME(syi_dot_fast_run)(const syi_piece *piece)
{
    return piece->past_cache ? syi_each_tile(piece, sizeof(double), far_tile)
                             : syi_each_tile(piece, sizeof(double), tile);
}
