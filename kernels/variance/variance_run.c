/* A tile's part of a row's variance. Compiled for several instruction sets. */
#include "exact/wide.h"
#include "isa.h"
#include "variance/moments.h"

static void store(uint64_t *to, int limbs, syi_u256 value)
{
    const uint64_t limb[4] = {(uint64_t)value.low, (uint64_t)(value.low >> 64),
                              (uint64_t)value.high, (uint64_t)(value.high >> 64)};
    for (int k = 0; k < limbs; k++)
        to[k] = k < 4 ? limb[k] : 0;
}

static void store_sum(moments *m, syi_i128 sum)
{
    syi_u128 sign = sum < 0 ? ~(syi_u128)0 : 0;
    store(m->sum, SUM_LIMBS, (syi_u256){(syi_u128)sum, sign});
}

/* Integers below 2^62. */
static void add_narrow(moments *m, const double *x, int64_t count)
{
    double scale = syi_pow2(-m->bottom);
    syi_i128 sum = 0;
    syi_u256 squares = {0, 0};
    for (int64_t i = 0; i < count; i++) {
        int64_t value = (int64_t)(x[i] * scale);
        syi_u128 square = (syi_u128)((syi_i128)value * value);
        sum += value;
        squares.low += square;
        squares.high += squares.low < square;
    }
    store_sum(m, sum);
    store(m->squares, SQUARES_LIMBS, squares);
}

/* Integers below 2^114. */
static void add_wide(moments *m, const double *x, int64_t count)
{
    syi_i128 sum = 0;
    syi_u256 squares = {0, 0};
    for (int64_t i = 0; i < count; i++) {
        syi_i128 value = syi_wide_value(x[i], m->bottom);
        sum += value;
        squares =
            syi_wide_add(squares, syi_wide_product(syi_magnitude(value), syi_magnitude(value)));
    }
    store_sum(m, sum);
    store(m->squares, SQUARES_LIMBS, squares);
}

sy_status SYI_ISA_NAME(syi_variance_run)(const syi_piece *piece)
{
    const double *x = piece->segment.in[0];
    moments *m = piece->partial;
    syi_span span = syi_measure(x, piece->segment.count);
    int bits = span.top - span.bottom;
    m->bottom = span.bottom;
    if (span.has_non_finite)
        m->state = MOMENTS_NOT_FINITE;
    else if (moments_are_narrow(&span))
        add_narrow(m, x, piece->segment.count);
    else if (bits <= 114)
        add_wide(m, x, piece->segment.count);
    else
        m->state = MOMENTS_TOO_WIDE;
    return SY_OK;
}
