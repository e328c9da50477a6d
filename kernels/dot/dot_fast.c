/* A tile's part of `dot` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"

sy_status SYI_ISA_NAME(syi_dot_fast_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    *(double *)piece->partial = syi_fast_sum(segment->in[0], segment->in[1], 1, segment->count);
    return SY_OK;
}
