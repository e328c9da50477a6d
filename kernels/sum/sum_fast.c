/* The tiles' parts of `sum` and `mean` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"
#include "tiles.h"

static void tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    *(double *)partial = syi_fast_sum(segment->in[0] + at, NULL, 0, count);
}

sy_status SYI_ISA_NAME(syi_sum_fast_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(double), tile);
}
