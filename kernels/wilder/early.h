/* The first average ranges of a row (recurrence/early.h). */
#ifndef SYI_KERNELS_WILDER_EARLY_H
#define SYI_KERNELS_WILDER_EARLY_H

#include "recurrence/early.h"
#include "wilder/state.h"

/* The average at a column of the row, whose first one is x[0], rounded, to *y; 0 if it is not among
 * the first ones, or takes larger integers. */
static inline int syi_atr_settle_early(const syi_wilder_prices *x, int64_t column, double period,
                                       double *y)
{
    const syi_early early = {(int64_t)period, (int64_t)period - 1, 1};
    double ranges[SYI_EARLY_PERIOD + SYI_EARLY_COLUMNS];
    if (early.seeded > SYI_EARLY_PERIOD || column < early.seeded ||
        column > early.seeded + SYI_EARLY_COLUMNS)
        return 0;
    for (int64_t i = 1; i <= column; i++) {
        const syi_dd range = syi_wilder_range(x->high[i], x->low[i], x->close[i - 1]);
        if (!(range.low == 0.0))
            return 0;
        ranges[i - 1] = range.high;
    }
    return syi_early_settle(ranges, column, &early, y);
}

#endif
