/* The parameters of an exponential moving average. */
#ifndef SYI_KERNELS_EMA_EMA_H
#define SYI_KERNELS_EMA_EMA_H

#include "exact/bits.h"

typedef struct syi_ema {
    double period;
    int64_t seeded; /* the first value is the mean of so many; seed_with=first is a mean of one */
} syi_ema;

SYI_INLINE syi_ema syi_ema_of(const double *params)
{
    return (syi_ema){params[0], params[1] != 0.0 ? 1 : (int64_t)params[0]};
}

#endif
