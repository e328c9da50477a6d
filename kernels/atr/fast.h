/* The true range in fast accuracy. */
#ifndef SYI_KERNELS_ATR_FAST_H
#define SYI_KERNELS_ATR_FAST_H

#include "wilder/fast.h"

SYI_INLINE double syi_atr_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Of a column behind one that closed at `before`. NaN or infinite where something in it is not
 * finite, its own close included. */
SYI_INLINE double syi_atr_range(double high, double low, double close, double before)
{
    double up = fabs(high - before), down = fabs(low - before);
    /* In this order the NaN of high - low is the larger one. */
    return syi_atr_larger(syi_atr_larger(up, down), high - low) + (close - close);
}

/* The sum of what a column 0 adds to the ranges: its close alone counts. */
SYI_INLINE double syi_atr_nothing(double close)
{
    return close * 0.0;
}

#endif
