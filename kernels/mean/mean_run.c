/* A tile's part of a row's mean. Compiled for several instruction sets. */
#include "exact/total.h"
#include "isa.h"

sy_status SYI_ISA_NAME(syi_mean_run)(const syi_piece *piece)
{
    *(syi_total *)piece->partial = syi_total_of(piece->segment.in[0], piece->segment.count);
    return SY_OK;
}
