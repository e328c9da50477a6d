/* The true range in fast accuracy. */
#ifndef SYI_KERNELS_ATR_FAST_H
#define SYI_KERNELS_ATR_FAST_H

#include "wilder/fast.h"

/* Of a column behind one that closed at `before`. NaN or infinite where something in it is not
 * finite, its own close included. Sizes are in the order of their bits, a NaN the largest one;
 * f64 units, which many GPUs have few of, compare nothing. */
SYI_INLINE double syi_atr_range(double high, double low, double close, double before)
{
    const uint64_t up = syi_bits(fabs(high - before)), down = syi_bits(fabs(low - before));
    const int64_t most = (int64_t)(up > down ? up : down), width = (int64_t)syi_bits(high - low);
    return syi_is_finite(close) ? syi_from_bits((uint64_t)(width > most ? width : most))
                                : syi_nan();
}

/* The sum of what a column 0 adds to the ranges: its close alone counts. */
SYI_INLINE double syi_atr_nothing(double close)
{
    return close * 0.0;
}

#endif
