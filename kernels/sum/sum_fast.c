/* A tile's part of `sum` in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"

sy_status SYI_ISA_NAME(syi_sum_fast_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    *(double *)piece->partial = syi_fast_sum(segment->in[0], NULL, 0, segment->count);
    return SY_OK;
}
