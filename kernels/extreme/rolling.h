/*
 * The least or greatest value of each window, for `rolling_min` and `rolling_max`. Nothing is
 * rounded, so the CPU and a GPU may each put a window together from the parts that suit them.
 */
#ifndef SYI_KERNELS_EXTREME_ROLLING_H
#define SYI_KERNELS_EXTREME_ROLLING_H

#include "window/window.h"

#include <math.h>

SYI_ISA_DECLARE_AS(sy_status, syi_extreme_roll, (const syi_piece *piece, int greatest));
SYI_ISA_DECLARE(syi_rolling_min_run);
SYI_ISA_DECLARE(syi_rolling_max_run);

/* What is compared: the value, negated for greatest ones; less than any for what is not finite. */
SYI_INLINE double syi_rolling_key(double x, int greatest)
{
    return !syi_is_finite(x) ? -INFINITY : greatest ? -x : x;
}

SYI_INLINE double syi_rolling_value(double key, int greatest)
{
    double value = greatest ? -key : key;
    return syi_is_finite(key) ? value + 0.0 : syi_nan(); /* a zero is +0 */
}

SYI_INLINE double syi_lesser(double a, double b)
{
    return a < b ? a : b;
}

#endif
