/*
 * Ties of an average range. With a period of 4, 8, 16 ... its factor has few bits. Behind a bar
 * after which there are no ranges the average is that bar's share and what is left of all before,
 * which is more than nothing and, where prices stood still, far less than a kernel loses. So where
 * the share is the middle between two doubles, the average is above it.
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

/* Whether the average of `count` bars, of which the first one has this range and the others none,
 * lies in the middle between `above` and the double before, if there has been nothing else. */
static inline int syi_atr_is_middle(double range, int64_t count, int64_t period, double above)
{
    const uint64_t by = (uint64_t)period - 1, most = (UINT64_C(1) << 54) - 1;
    const syi_parts parts = syi_split(range);
    const int zeros = parts.mantissa ? __builtin_ctzll(parts.mantissa) : 0;
    const int64_t power = parts.exponent + zeros - count * __builtin_ctzll((uint64_t)period);
    uint64_t share = parts.mantissa >> zeros;
    for (int64_t k = 1; k < count; k++) {
        if (share > most / by)
            return 0;
        share *= by;
    }
    return share >> 53 == 1 && power > -1000 && power < 900 &&
           above == (double)(share + 1) * syi_pow2((int)power);
}

/* Whether column i's average, which rounds to `most` or to less, rounds to `most` as such a tie.
 * Columns from 0 on are looked at, and what is put for them. */
static inline int syi_atr_is_tied(const syi_wilder_prices *x, const double *y, int64_t i,
                                  double period, double most)
{
    const int64_t columns = (int64_t)period;
    int64_t from = i, before;
    syi_dd range;
    if (columns < 4 || (columns & (columns - 1)) != 0)
        return 0;
    while (from > 0 && i - from < SYI_TIED_MOST && syi_atr_stands(x, x->close[from - 1], from))
        from--;
    if (from == 0)
        return 0;
    range = syi_wilder_range(x->high[from], x->low[from], x->close[from - 1]);
    if (range.low != 0.0 || !syi_atr_is_middle(range.high, i - from + 1, columns, most))
        return 0;
    for (before = from; before > 0 && !(y[before - 1] >= SYI_TIED_LEAST);)
        before--;
    return before > 0;
}

#endif
