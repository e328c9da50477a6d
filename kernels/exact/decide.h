/* The correctly rounded values of what can be said about a set of doubles by its exact moments. */
#ifndef SYI_KERNELS_EXACT_DECIDE_H
#define SYI_KERNELS_EXACT_DECIDE_H

#include "exact/big.h"

/* Of `count` integers k, the data being k * 2^exponent. */
typedef struct syi_moments {
    int64_t count, free; /* free = count - ddof > 0 */
    int exponent;
    int negative;   /* sign and magnitude of S = sum k */
    syi_big sum;    /* |S| */
    syi_big spread; /* N = count * sum k^2 - S^2 */
} syi_moments;

/* with_mean * mean + width * deviation, the deviation being sqrt(N / (count * free)): rounded once.
 * |width| < 2^30, count <= 2^24. */
double syi_decide_band(const syi_moments *moments, int with_mean, double width);

/* (-1)^negative * sqrt(number / divisor), rounded once; neither has more than 4,350 bits. */
double syi_decide_root(int negative, const syi_big *number, const syi_big *divisor);

/* (-1)^negative * number * 2^exponent / (first * second), rounded once; destroys the number. */
double syi_decide_quotient(int negative, syi_big *number, int64_t exponent, uint64_t first,
                           uint64_t second);

#endif
