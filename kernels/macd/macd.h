/* The parameters of a MACD. */
#ifndef SYI_KERNELS_MACD_MACD_H
#define SYI_KERNELS_MACD_MACD_H

#include "exact/bits.h"

/* Both averages have their first value at column seeded_slow - 1, being the means of the seeded_*
 * values up to there; the signal starts as the mean of the first seeded_signal differences.
 * seed_with=first is means of one. */
typedef struct syi_macd {
    double fast, slow, signal;
    int64_t seeded_fast, seeded_slow, seeded_signal;
} syi_macd;

SYI_INLINE syi_macd syi_macd_of(const double *params)
{
    int first = params[3] != 0.0;
    return (syi_macd){params[0],
                      params[1],
                      params[2],
                      first ? 1 : (int64_t)params[0],
                      first ? 1 : (int64_t)params[1],
                      first ? 1 : (int64_t)params[2]};
}

/* The first column with values. */
SYI_INLINE int64_t syi_macd_warmup(const syi_macd *macd)
{
    return macd->seeded_slow + macd->seeded_signal - 2;
}

#endif
