/* The least value of each window. Compiled for several instruction sets. */
#include "extreme/rolling.h"

sy_status SYI_ISA_NAME(syi_rolling_min_run)(const syi_piece *piece)
{
    return SYI_ISA_NAME(syi_extreme_roll)(piece, 0);
}
