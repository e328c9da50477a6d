/* The relative strength index. Compiled for several instruction sets. */
#define IS_RANGE 0
#include "wilder/run.h"

sy_status SYI_ISA_NAME(syi_rsi_run)(const syi_piece *piece)
{
    return syi_wilder_run(piece);
}
