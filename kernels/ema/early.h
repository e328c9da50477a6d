/* The first exponential moving averages of a row (recurrence/early.h). */
#ifndef SYI_KERNELS_EMA_EARLY_H
#define SYI_KERNELS_EMA_EARLY_H

#include "ema/ema.h"
#include "recurrence/early.h"

/* The average at a column of the row, whose first one is x[0], rounded, to *y; 0 if it is not among
 * the first ones, or takes larger integers. */
static inline int ema_settle_early(const double *x, int64_t column, const syi_ema *ema, double *y)
{
    const int64_t period = (int64_t)ema->period, shared = 1 + period % 2;
    const syi_early early = {ema->seeded, (period - 1) / shared, 2 / shared};
    return syi_early_settle(x, column + 1, &early, y);
}

#endif
