/*
 * The least or greatest value of each window, for `rolling_min` and `rolling_max`. Nothing is
 * rounded, so the CPU and a GPU may each put a window together from the parts that suit them.
 */
#ifndef SYI_KERNELS_EXTREME_ROLLING_H
#define SYI_KERNELS_EXTREME_ROLLING_H

#include "window/window.h"

SYI_ISA_DECLARE_AS(sy_status, syi_extreme_roll, (const syi_piece *piece, int greatest));
SYI_ISA_DECLARE(syi_rolling_min_run);
SYI_ISA_DECLARE(syi_rolling_max_run);

#endif
