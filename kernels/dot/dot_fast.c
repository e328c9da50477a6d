/* The tiles' parts of `dot` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"
#include "tiles.h"

static void tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    *(double *)partial = syi_fast_sum(segment->in[0] + at, segment->in[1] + at, 1, count);
}

sy_status SYI_ISA_NAME(syi_dot_fast_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(double), tile);
}
