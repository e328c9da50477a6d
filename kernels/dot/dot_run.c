/* A tile's part of two rows' product. Compiled for several instruction sets. */
#include "exact/total_run.h"
#include "isa.h"

sy_status SYI_ISA_NAME(syi_dot_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    *(syi_total *)piece->partial =
        syi_total_of_tile(segment->in[0], segment->in[1], 1, segment->count);
    return SY_OK;
}
