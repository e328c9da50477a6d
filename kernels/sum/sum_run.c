/* The tiles' parts of a row's sum, for `sum` and `mean`. Compiled for several instruction sets. */
#include "exact/total_run.h"
#include "isa.h"
#include "tiles.h"

static void tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    *(syi_total *)partial = syi_total_of_values(segment->in[0] + at, count, SYI_ASKS_NOT);
}

static void asking_tile(const sy_segment *segment, int64_t at, int64_t count, void *partial)
{
    *(syi_total *)partial = syi_total_of_values(segment->in[0] + at, count, SYI_ASKS);
}

sy_status SYI_ISA_NAME(syi_sum_run)(const syi_piece *piece)
{
    return piece->asks ? syi_each_tile(piece, sizeof(syi_total), asking_tile)
                       : syi_each_tile(piece, sizeof(syi_total), tile);
}
