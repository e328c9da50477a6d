/* The tiles' parts of `sum` and `mean` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"
#include "tiles.h"

SYI_INLINE void sum(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                    void *partial)
{
    const syi_fast_terms terms = {0, asking};
    *(double *)partial = syi_fast_sum_terms(segment->in[0] + at, NULL, terms, count);
}

SYI_INLINE void tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    sum(segment, at, count, SYI_ASKS_NOT, partial);
}

SYI_INLINE void asking_tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    sum(segment, at, count, SYI_ASKS, partial);
}

SYI_INLINE void far_tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    sum(segment, at, count, SYI_ASKS_FAR, partial);
}

sy_status SYI_ISA_NAME(syi_sum_fast_run)(const syi_piece *piece)
{
    if (piece->past_cache)
        return syi_each_tile(piece, sizeof(double), far_tile);
    return piece->asks ? syi_each_tile(piece, sizeof(double), asking_tile)
                       : syi_each_tile(piece, sizeof(double), tile);
}
