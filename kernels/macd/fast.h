/* Where the blocks of a MACD in fast accuracy begin. */
#ifndef SYI_KERNELS_MACD_FAST_H
#define SYI_KERNELS_MACD_FAST_H

#include "fast/chain.h"
#include "macd/macd.h"

/* An average forgets in 35 periods (ema/fast.h), the signal after the slow one. */
SYI_INLINE syi_chain_cut syi_macd_cut(const syi_macd *macd)
{
    return syi_chain_cut_of(35 * (int64_t)(macd->slow + macd->signal));
}

#endif
