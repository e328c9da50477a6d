/* A tile's least value. Compiled for several instruction sets. */
#include "extreme/extreme.h"

sy_status SYI_ISA_NAME(syi_min_run)(const syi_piece *piece)
{
    const sy_segment *segment = &piece->segment;
    *(syi_extreme *)piece->partial =
        syi_extreme_of(segment->in[0], segment->count, segment->first, 0);
    return SY_OK;
}
