/* The tiles' least values. Compiled for several instruction sets. */
#include "extreme/extreme_run.h"

static void tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    *(syi_extreme *)partial =
        syi_extreme_of_tile(segment->in[0] + at, count, segment->first + at, 0, SYI_ASKS_NOT);
}

static void asking_tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    *(syi_extreme *)partial =
        syi_extreme_of_tile(segment->in[0] + at, count, segment->first + at, 0, SYI_ASKS);
}

sy_status SYI_ISA_NAME(syi_min_run)(const syi_piece *piece)
{
    return piece->asks ? syi_each_tile(piece, sizeof(syi_extreme), asking_tile)
                       : syi_each_tile(piece, sizeof(syi_extreme), tile);
}
