/* Where the blocks of an exponential moving average in fast accuracy begin. */
#ifndef SYI_KERNELS_EMA_FAST_H
#define SYI_KERNELS_EMA_FAST_H

#include "fast/chain.h"

/* (1 - 2 / (period + 1))^(35 period) < 2^-100. */
SYI_INLINE syi_chain_cut syi_ema_cut(double period)
{
    return syi_chain_cut_of(35 * (int64_t)period, 0);
}

#endif
