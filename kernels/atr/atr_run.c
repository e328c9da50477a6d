/* The average true range. Compiled for several instruction sets. */
#define IS_RANGE 1
#include "wilder/run.h"

sy_status SYI_ISA_NAME(syi_atr_run)(const syi_piece *piece)
{
    return syi_wilder_run(piece);
}
