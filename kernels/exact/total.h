/*
 * The sum of a row, for `sum` and `mean`. A tile is summed in 32 lanes of double-double; the sum of
 * the magnitudes bounds what is lost. A row whose rounding this does not certify is summed again
 * with an accumulator that holds every sum of doubles exactly.
 */
#ifndef SYI_KERNELS_EXACT_TOTAL_H
#define SYI_KERNELS_EXACT_TOTAL_H

#include "exact/approx.h"
#include "kernel.h"

typedef struct syi_total {
    double high, low; /* the sum */
    double size;      /* sum |x|; infinite or NaN when something in it is */
} syi_total;

#define SYI_LANES 32

/*
 * The error of a sum relative to sum |x|. A lane's 128 additions lose nothing but in adding up
 * their 128 errors, each at most 2^-53 of the lane's size: below 2^14 * 2^-106. The 5 levels of
 * lanes and at most 60 of tiles add less than 4 * 2^-106 each.
 */
#define SYI_TOTAL_LOSS 0x1p-91

SYI_INLINE syi_total syi_total_add(syi_total a, syi_total b)
{
    double high, low, below, rest;
    syi_two_sum(a.high, b.high, &high, &low);
    syi_two_sum(a.low, b.low, &below, &rest);
    syi_two_sum(high, low + below, &high, &low);
    syi_two_sum(high, low + rest, &high, &low);
    return (syi_total){high, low, a.size + b.size};
}

/* At most SYI_TILE values. */
SYI_INLINE syi_total syi_total_of(const double *restrict x, int64_t count)
{
    double high[SYI_LANES] = {0}, low[SYI_LANES] = {0}, size[SYI_LANES] = {0};
    syi_total lane[SYI_LANES];
    int64_t whole = count - count % SYI_LANES;
    for (int64_t i = 0; i < whole; i += SYI_LANES)
        for (int k = 0; k < SYI_LANES; k++) {
            double lost;
            syi_two_sum(high[k], x[i + k], &high[k], &lost);
            low[k] += lost;
            size[k] += fabs(x[i + k]);
        }
    for (int k = 0; k < SYI_LANES; k++)
        lane[k] = (syi_total){high[k], low[k], size[k]};
    for (int64_t i = whole; i < count; i++)
        lane[i - whole] = syi_total_add(lane[i - whole], (syi_total){x[i], 0.0, fabs(x[i])});
    for (int width = SYI_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] = syi_total_add(lane[k], lane[k + width]);
    return lane[0];
}

void syi_total_combine(void *into, const void *right);
/* A row's sum / divisor. */
double syi_total_finish(const void *partial, int64_t divisor, int *doubt);
double syi_total_exact(const double *x, int64_t count, int64_t divisor);

#endif
