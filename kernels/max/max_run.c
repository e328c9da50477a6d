/* A tile's greatest value. Compiled for several instruction sets. */
#include "extreme/extreme.h"

sy_status SYI_ISA_NAME(syi_max_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    *(syi_extreme *)piece->partial =
        syi_extreme_of(segment->in[0], segment->count, segment->first, 1);
    return SY_OK;
}
