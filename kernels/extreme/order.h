/*
 * Numbers as integers of the same order, a greatest one the least: many GPUs have few units for
 * f64, in which they compare, too.
 */
#ifndef SYI_KERNELS_EXTREME_ORDER_H
#define SYI_KERNELS_EXTREME_ORDER_H

#include "cuda/device.h"

/* Beyond those of all numbers. */
#define SYI_ORDER_LEAST INT64_MIN
#define SYI_ORDER_MOST  INT64_MAX

/* Bits in the numbers' order, and the other way round. A choice, since of a shift with sign and a
 * mask some releases of clang make an extraction of bits without. */
SYI_DEVICE int64_t order_turned(int64_t bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

/* Of an x that is no NaN; zeros are equal. */
SYI_DEVICE int64_t syi_order_of(double x, int greatest)
{
    const int64_t bits = (int64_t)syi_bits(x);
    const int64_t order = order_turned(bits == INT64_MIN ? 0 : bits);
    return greatest ? ~order : order;
}

/* And back; a zero is +0. */
SYI_DEVICE double syi_of_order(int64_t order, int greatest)
{
    return syi_from_bits((uint64_t)order_turned(greatest ? ~order : order));
}

#endif
