/* A tile's part of a row's variance in fast accuracy. Compiled for several instruction sets. */
#include "fast/reduce_run.h"
#include "isa.h"

sy_status SYI_ISA_NAME(syi_variance_fast_run)(const syi_piece *piece)
{
    *(syi_fast_spread *)piece->partial =
        syi_fast_spread_of(piece->segment.in[0], piece->segment.count);
    return SY_OK;
}
