/*
 * States that have become too small for double-double while the inputs stood still: there each step
 * only shrinks them, so they may be held SYI_LIFT times as large, down to where all that comes of
 * them is zero.
 */
#ifndef SYI_KERNELS_RECURRENCE_LIFT_H
#define SYI_KERNELS_RECURRENCE_LIFT_H

#include "recurrence/deviation.h"

#define SYI_LIFT       0x1p+500
#define SYI_UNLIFT     0x1p-500
#define SYI_LIFT_BELOW 0x1p-300
/* What is lifted and smaller becomes subnormal. */
#define SYI_LIFTED_NORMAL 0x1p-522

SYI_INLINE syi_deviation syi_lifted(syi_deviation a)
{
    syi_dd value = {a.value.high * SYI_LIFT, a.value.low * SYI_LIFT};
    return (syi_deviation){value, a.error * SYI_LIFT};
}

/* As it was before, or too small to be held. */
SYI_INLINE syi_deviation syi_unlifted(syi_deviation a)
{
    syi_dd value = {a.value.high * SYI_UNLIFT, a.value.low * SYI_UNLIFT};
    double error = a.error * SYI_UNLIFT, size = fabs(a.value.high);
    if (fabs(value.high) < SYI_FAINT) {
        error = fma(SYI_PER_FINE * 1.0001 * SYI_UNLIFT, size, error);
        value = (syi_dd){0.0, 0.0};
    }
    /* Only exact zeros have no error. */
    return (syi_deviation){value, size + a.error == 0.0 ? 0.0 : error + 0x1p-1000};
}

/* Whether less than 2^-1080 is left of all of them together, which has no other value than zero. */
SYI_INLINE int syi_is_gone(const syi_deviation *lifted, int count)
{
    double size = 0.0, error = 0.0;
    for (int i = 0; i < count; i++) {
        size += fabs(lifted[i].value.high);
        error += lifted[i].error;
    }
    return fma(error, SYI_FINE, size) < 0x1p-580;
}

/* The number nearest to SYI_UNLIFT * value; not 0.0 when in doubt. */
SYI_INLINE double syi_settle_lifted(syi_dd value, double error, double *y)
{
    /* Adding it rounds to a multiple of 2^-574, which becomes the least subnormal. */
    const double to_grid = SYI_LIFTED_NORMAL, unit = 0x1p-574, half = 0x1p-575;
    const double size = fabs(value.high), low = value.high < 0.0 ? -value.low : value.low;
    const int is_normal = size >= to_grid;
    double normal, doubt = syi_dd_settle(value, error, &normal);
    double shifted = (is_normal ? 0.0 : size) + to_grid, rest = (size - (shifted - to_grid)) + low;
    double margin = fma(error + 0.0625 * size, SYI_FINE, 0x1p-1020), more = 0.0;
    uint64_t bits;
    more = rest > half ? unit : more; /* the low part decides */
    more = rest < -half ? -unit : more;
    shifted += more;
    rest -= more;
    /* By its bits, for a product that is subnormal may cost a hundred times as much. */
    bits = syi_bits(shifted) - syi_bits(to_grid);
    bits |= value.high < 0.0 && bits != 0 ? UINT64_C(1) << 63 : 0;
    normal = (is_normal ? normal : 0.0) * SYI_UNLIFT;
    *y = is_normal ? normal : syi_from_bits(bits);
    return is_normal ? doubt : fabs(rest) + margin < half * (1.0 - 0x1p-40) ? 0.0 : 1.0;
}

#endif
