/*
 * The least or greatest value of each window, for `rolling_min` and `rolling_max`, in the same time
 * for any period. Windows are cut at the borders of blocks: what lies before the border is the
 * least value of a block's end, what lies behind it of the next one's beginning.
 */
#ifndef SYI_KERNELS_EXTREME_ROLLING_H
#define SYI_KERNELS_EXTREME_ROLLING_H

#include "window/window.h"

SYI_ISA_DECLARE_AS(syi_extreme_roll, (const syi_piece *piece, int greatest));
SYI_ISA_DECLARE(syi_rolling_min_run);
SYI_ISA_DECLARE(syi_rolling_max_run);

#endif
