/* The tiles' parts of a row's variance. Compiled for several instruction sets. */
#include "exact/wide.h"
#include "isa.h"
#include "tiles.h"
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

/* Integers of at most so many bits. */
#define WIDE_BITS 114

/* What the values of one exponent add up to, as integers below 2^53. */
typedef struct bucket {
    syi_i128 sum;
    syi_u128 squares;
} bucket;

/* Adding to the exponent's own sums needs no shift, nor more than 128 bits for a tile's squares.
 * Neighbours go to different buckets, so that one need not wait for the other. */
static void fill_buckets(const double *x, int64_t count, int bottom, bucket (*buckets)[2])
{
    for (int64_t i = 0; i < count; i++) {
        syi_parts parts = syi_split(x[i]);
        int64_t value = parts.negative ? -(int64_t)parts.mantissa : (int64_t)parts.mantissa;
        bucket *b = &buckets[parts.mantissa ? parts.exponent - bottom : 0][i & 1];
        b->sum += value;
        b->squares += (syi_u128)parts.mantissa * parts.mantissa;
    }
}

static void add_wide(moments *m, const double *x, int64_t count)
{
    bucket buckets[WIDE_BITS - 53 + 1][2] = {{{0, 0}}};
    syi_u128 sum = 0;
    syi_u256 squares = {0, 0};
    fill_buckets(x, count, m->bottom, buckets);
    for (int k = 0; k <= WIDE_BITS - 53; k++) {
        syi_u128 square = buckets[k][0].squares + buckets[k][1].squares;
        sum += (syi_u128)(buckets[k][0].sum + buckets[k][1].sum) << k;
        squares = syi_wide_add(squares, (syi_u256){square << 2 * k, square >> 1 >> (127 - 2 * k)});
    }
    store_sum(m, (syi_i128)sum);
    store(m->squares, SQUARES_LIMBS, squares);
}

/* Not inline: its loops get a tenth slower in there. */
static __attribute__((noinline)) void tile(const sy_segment *segment, int64_t at, int64_t count,
                                           syi_asking asking, void *partial)
{
    (void)asking;
    const double *x = segment->in[0] + at;
    moments *m = partial;
    syi_span span = syi_measure(x, count);
    int bits = span.top - span.bottom;
    m->bottom = span.bottom;
    if (span.has_non_finite)
        m->state = MOMENTS_NOT_FINITE;
    else if (moments_are_narrow(&span))
        add_narrow(m, x, count);
    else if (bits <= WIDE_BITS)
        add_wide(m, x, count);
    else
        m->state = MOMENTS_TOO_WIDE;
}

sy_status SYI_ISA_NAME(syi_variance_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(moments), tile, SYI_ASKS_NOT);
}
