/*
 * Ties of an average range. With a period of 4, 8, 16 ... its factor has few bits. Behind a bar
 * after which there are no ranges the average is that bar's share and what is left of all before,
 * which is more than nothing and, where prices stood still, far less than a kernel loses. So where
 * the share is the middle between two doubles, the average is above it, but for the first bar that
 * has a range at all.
 */
#ifndef SYI_KERNELS_WILDER_TIED_H
#define SYI_KERNELS_WILDER_TIED_H

#include "exact/bits.h"
#include "wilder/state.h"

/* Bars without a range after which a share of factors of 3/4, the largest, has 54 bits. */
#define SYI_TIED_MOST 34
/* An average that is put so large is none of 0, nor are those after it. */
#define SYI_TIED_LEAST 0x1p-900

SYI_INLINE int syi_atr_stands(const syi_wilder_prices *x, double close, int64_t i)
{
    return x->high[i] == close && x->low[i] == close && x->close[i] == close;
}

/* The share at the end of `count` bars, of which the first one has this range and the others none,
 * as an odd number of 54 bits times 2^*power; 0 if it is none. */
static inline uint64_t syi_atr_middle(double range, int64_t count, int64_t period, int64_t *power)
{
    const uint64_t by = (uint64_t)period - 1, most = (UINT64_C(1) << 54) - 1;
    const syi_parts parts = syi_split(range);
    const int zeros = parts.mantissa ? __builtin_ctzll(parts.mantissa) : 0;
    uint64_t share = parts.mantissa >> zeros;
    *power = parts.exponent + zeros - count * __builtin_ctzll((uint64_t)period);
    for (int64_t k = 1; k < count; k++) {
        if (share > most / by)
            return 0;
        share *= by;
    }
    return share >> 53 == 1 && *power > -1000 && *power < 900 ? share : 0;
}

/* Whether there have been no ranges up to column `last`, the row's first column being column 0. */
static inline int syi_atr_has_stood(const syi_wilder_prices *x, int64_t last)
{
    const double close = x->close[0];
    return syi_count_still(x->close + 1, close, last) == last &&
           syi_count_still(x->high + 1, close, last) == last &&
           syi_count_still(x->low + 1, close, last) == last;
}

/* Whether column i's average, of which is known that it rounds to *y or to less, is such a tie;
 * then *y becomes what it rounds to. Columns from 0 on, which is `first` of the row, are looked at,
 * and what is put for them. */
static inline int syi_atr_settle_tie(const syi_wilder_prices *x, const double *put, int64_t i,
                                     int64_t first, double period, double *y)
{
    const int64_t columns = (int64_t)period;
    int64_t from = i, before, power;
    uint64_t share;
    syi_dd range;
    if (columns < 4 || (columns & (columns - 1)) != 0)
        return 0;
    while (from > 0 && i - from < SYI_TIED_MOST && syi_atr_stands(x, x->close[from - 1], from))
        from--;
    if (from == 0)
        return 0;
    range = syi_wilder_range(x->high[from], x->low[from], x->close[from - 1]);
    share = range.low == 0.0 ? syi_atr_middle(range.high, i - from + 1, columns, &power) : 0;
    if (share == 0 || *y != (double)(share + 1) * syi_pow2((int)power))
        return 0;
    if (first == 0 && syi_atr_has_stood(x, from - 1)) {
        *y = (double)((share + 1) & ~UINT64_C(3)) * syi_pow2((int)power); /* the even one */
        return 1;
    }
    for (before = from; before > 0 && !(put[before - 1] >= SYI_TIED_LEAST);)
        before--;
    return before > 0;
}

#endif
