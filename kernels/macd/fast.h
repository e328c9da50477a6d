/* Where the blocks of a MACD in fast accuracy begin, and its arithmetic behind the chains. */
#ifndef SYI_KERNELS_MACD_FAST_H
#define SYI_KERNELS_MACD_FAST_H

#include "fast/chain.h"
#include "macd/macd.h"
#include "exact/dd.h"

/* An average forgets in 35 periods (ema/fast.h), the signal after the slow one. */
SYI_INLINE syi_chain_cut syi_macd_cut(const syi_macd *macd)
{
    return syi_chain_cut_of(35 * (int64_t)macd->slow, 35 * (int64_t)macd->signal);
}

enum { MACD_FAST, MACD_SLOW, MACD_SIGNAL, MACD_CHAINS };

/* The first values of the macd, whose mean the signal begins with. There may be so many that what
 * each addition loses would come to more than their own errors: it is kept. */
SYI_EITHER void syi_macd_seed_add(syi_dd *sum, double value)
{
    const syi_dd next = syi_dd_of_sum(sum->high, value);
    sum->high = next.high;
    sum->low += next.low;
}

/* What the signal begins with, from `count` values' sum. */
SYI_EITHER double syi_macd_signal_seed(const syi_chain *signal, syi_dd sum, int64_t count)
{
    return syi_chain_seed(signal, (sum.high + sum.low) / (double)count);
}

/* The averages' difference, from their z. */
SYI_EITHER void syi_macd_subtract(const syi_chain *chain, const syi_pairs *z, syi_pairs *macd)
{
    const syi_pairs *fast = &z[MACD_FAST], *slow = &z[MACD_SLOW];
    const double of_fast = chain[MACD_FAST].a, of_slow = chain[MACD_SLOW].a;
    for (int k = 0; k < SYI_PARTS; k++) {
        macd->even[k] = syi_plus_zero(fast->even[k] * of_fast - slow->even[k] * of_slow);
        macd->odd[k] = syi_plus_zero(fast->odd[k] * of_fast - slow->odd[k] * of_slow);
    }
}

/* The signal, from its z, and what it leaves of the macd, which is 0 while the price stands still.
 */
SYI_EITHER void syi_macd_rest(const syi_chain *signal, const syi_pairs *macd, syi_pairs *z,
                              syi_pairs *rest)
{
    syi_pairs_scale(z, signal->a);
    for (int k = 0; k < SYI_PARTS; k++) { /* no zero is -0: none of either is */
        rest->even[k] = macd->even[k] - z->even[k];
        rest->odd[k] = macd->odd[k] - z->odd[k];
    }
}

#endif
