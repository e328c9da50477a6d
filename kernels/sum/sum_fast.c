/* The tiles' parts of `sum` and `mean` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"
#include "tiles.h"

SYI_INLINE void tile(const sy_segment *segment, int64_t at, int64_t count, syi_asking asking,
                     void *partial)
{
    const syi_fast_terms terms = {0, asking};
    *(double *)partial = syi_fast_sum_terms(segment->in[0] + at, NULL, terms, count);
}

sy_status SYI_ISA_NAME(syi_sum_fast_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(double), tile,
                         piece->past_cache ? syi_asking_of_plain(piece) : syi_asking_of(piece));
}
