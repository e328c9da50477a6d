/* The arithmetic of rsi in fast accuracy, and what a piece tells its neighbours. */
#ifndef SYI_KERNELS_RSI_FAST_H
#define SYI_KERNELS_RSI_FAST_H

#include "fast/chain.h"

/* While nothing has moved. */
#define SYI_RSI_STILL 50.0

/* Where less than this is left of gains and losses, the value before holds. */
#define SYI_RSI_FAINT 0x1p-900

/* Of gains and their sum with the losses, doubles or vectors. */
#define SYI_RSI_OF(gains, total) ((gains) / (total)*100.0)

/* `value`: the one at the end of a piece, or the one assumed before it; `relied`: the piece has
 * made use of it. */
SYI_INLINE void syi_rsi_tell(syi_carry *carry, double value, int relied)
{
    carry->word[2] = value;
    carry->word[3] = relied;
}

static inline int syi_rsi_fast_agrees(const syi_carry *assumed, const syi_carry *end)
{
    return syi_chain_agrees(assumed, end) &&
           (assumed->word[3] == 0.0 || assumed->word[2] == end->word[2]);
}

#endif
