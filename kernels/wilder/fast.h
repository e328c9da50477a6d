/* Where the blocks of Wilder's averages in fast accuracy begin. */
#ifndef SYI_KERNELS_WILDER_FAST_H
#define SYI_KERNELS_WILDER_FAST_H

#include "fast/chain.h"

/* (1 - 1 / period)^(70 period) < 2^-100. */
SYI_INLINE syi_chain_cut syi_wilder_cut(double period)
{
    return syi_chain_cut_of(70 * (int64_t)period, 0);
}

#endif
