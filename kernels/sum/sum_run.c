/* A tile's part of a row's sum. Compiled for several instruction sets. */
#include "exact/total_run.h"
#include "isa.h"

sy_status SYI_ISA_NAME(syi_sum_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    *(syi_total *)piece->partial = syi_total_of_tile(segment->in[0], NULL, 0, segment->count);
    return SY_OK;
}
