/*
 * The sum of a row's values, for `sum` and `mean`, or of two rows' products, for `dot`. A tile is
 * summed in 32 lanes of double-double; the sum of the magnitudes bounds what is lost. A row whose
 * rounding this does not certify is summed again with an accumulator that holds every sum exactly.
 */
#ifndef SYI_KERNELS_EXACT_TOTAL_H
#define SYI_KERNELS_EXACT_TOTAL_H

#include "element/inputs.h"
#include "exact/approx.h"
#include "kernel.h"

typedef struct syi_total {
    double high, low; /* the sum */
    double size;      /* sum |x|; infinite or NaN when something in it is */
} syi_total;

#define SYI_LANES 32

/*
 * The error of a sum relative to sum |x|. A lane's 128 additions lose nothing but in adding up
 * their 128 errors, each at most 2^-53 of the lane's size, and the products' errors, all of them
 * together as much: below 2^14.1 * 2^-106. The 5 levels of lanes and at most 60 of tiles add less
 * than 4 * 2^-106 each.
 */
#define SYI_TOTAL_LOSS 0x1p-91

/* What a product's error can lose to underflow. */
#define SYI_PRODUCT_LOSS 0x1p-1074

SYI_INLINE syi_total syi_total_add(syi_total a, syi_total b)
{
    double high, low, below, rest;
    syi_two_sum(a.high, b.high, &high, &low);
    syi_two_sum(a.low, b.low, &below, &rest);
    syi_two_sum(high, low + below, &high, &low);
    syi_two_sum(high, low + rest, &high, &low);
    return (syi_total){high, low, a.size + b.size};
}

/* The term of column i: a product, or the value x. */
SYI_INLINE syi_total syi_total_term(const double *x, const double *y, int products, int64_t i)
{
    double term = products ? x[i] * y[i] : x[i];
    return (syi_total){term, products ? fma(x[i], y[i], -term) : 0.0, fabs(term)};
}

/* At most SYI_TILE terms; y is not looked at without `products`. */
SYI_INLINE syi_total syi_total_of(const double *restrict x, const double *restrict y, int products,
                                  int64_t count)
{
    double high[SYI_LANES] = {0}, low[SYI_LANES] = {0}, size[SYI_LANES] = {0};
    syi_total lane[SYI_LANES];
    int64_t whole = count - count % SYI_LANES;
    for (int64_t i = 0; i < whole; i += SYI_LANES)
        for (int k = 0; k < SYI_LANES; k++) {
            double term = products ? x[i + k] * y[i + k] : x[i + k], lost;
            syi_two_sum(high[k], term, &high[k], &lost);
            low[k] += products ? lost + fma(x[i + k], y[i + k], -term) : lost;
            size[k] += fabs(term);
        }
    for (int k = 0; k < SYI_LANES; k++)
        lane[k] = (syi_total){high[k], low[k], size[k]};
    for (int64_t i = whole; i < count; i++)
        lane[i - whole] = syi_total_add(lane[i - whole], syi_total_term(x, y, products, i));
    for (int width = SYI_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] = syi_total_add(lane[k], lane[k + width]);
    return lane[0];
}

void syi_total_combine(void *into, const void *right);
/* A row's sum / divisor; `loss` bounds what the terms themselves have lost. */
double syi_total_finish(const void *partial, int64_t divisor, double loss, int *doubt);
/* The exact sum of `count` values of the first input, with `products` of both inputs' products, /
 * divisor, rounded once. */
double syi_total_exact(const syi_inputs *in, int products, int64_t count, int64_t divisor);

#endif
