/* The tiles' parts of a row's variance. Compiled for several instruction sets. */
#include "exact/vector.h"
#include "exact/wide.h"
#include "fast/vector.h"
#include "isa.h"
#include "tiles.h"
#include "variance/moments.h"

/* Integers of at most so many bits. */
#define WIDE_BITS 114

/*
 * An integer is the sum of at most six parts: multiples of 2^(20 k), of at most 20 bits with their
 * signs, the last one of 21. So doubles hold the parts' sums, and those of their products by what
 * these are multiples of, exactly: a lane has 2,048 columns at most, and fewer than 2^53 come
 * together.
 */
enum { PART_BITS = 20, LAST_BITS = 21, MOST_PARTS = 6, PRODUCTS = 2 * MOST_PARTS - 1 };
/* Vectors at once: where the sums are more than the registers hold each is put back only for every
 * second one, and one vector's parts, which wait for each other, are made beside the other's. */
enum { AT_ONCE = SYI_WIDTH == 8 ? 1 : 2 };

_Static_assert(WIDE_BITS <= (MOST_PARTS - 1) * PART_BITS + LAST_BITS,
               "the widest have so many parts");
_Static_assert(2 * LAST_BITS + 11 <= 53 && SYI_TILE / SYI_WIDTH <= 2048, "a lane's squares fit");

typedef struct parts {
    double scale;           /* makes multiples of 2^unit of the values */
    int unit;               /* 0, or less for subnormals, which no double makes integers */
    double cut[MOST_PARTS]; /* added and taken away it rounds to part k */
    syi_vector sum[MOST_PARTS], product[PRODUCTS];
} parts;

SYI_INLINE parts begin(int n, int bottom)
{
    const int scale = bottom < -1000 ? -1000 : bottom;
    parts p = {.scale = syi_pow2(-scale), .unit = bottom - scale};
    SYI_UNROLL(6)
    for (int k = 0; k < n; k++)
        p.cut[k] = 1.5 * syi_pow2(52 + PART_BITS * k + p.unit);
    return p;
}

/* Adds `vectors` of them, n parts each; both are constants. */
SYI_INLINE void add_vectors(parts *p, int n, const syi_vector *x, int vectors)
{
    syi_vector part[AT_ONCE][MOST_PARTS];
    for (int v = 0; v < vectors; v++) {
        part[v][0] = x[v] * p->scale;
        SYI_UNROLL(6)
        for (int k = n - 1; k > 0; k--) {
            part[v][k] = (part[v][0] + p->cut[k]) - p->cut[k];
            part[v][0] -= part[v][k];
        }
    }
    SYI_UNROLL(6)
    for (int k = 0; k < n; k++) {
        syi_vector twice[AT_ONCE];
        for (int v = 0; v < vectors; v++) {
            p->sum[k] += part[v][k];
            p->product[2 * k] = syi_exact_product_sum(part[v][k], part[v][k], p->product[2 * k]);
            twice[v] = part[v][k] + part[v][k];
        }
        SYI_UNROLL(6)
        for (int j = 0; j < k; j++)
            for (int v = 0; v < vectors; v++)
                p->product[j + k] = syi_exact_product_sum(twice[v], part[v][j], p->product[j + k]);
    }
}

/* `asks`: for the tile behind this one, so that the memory is busy meanwhile. */
SYI_INLINE void add_parts(parts *p, int n, const double *x, int64_t count, int asks)
{
    int64_t i = 0;
    for (; i + AT_ONCE * SYI_WIDTH <= count; i += AT_ONCE * SYI_WIDTH) {
        syi_vector next[AT_ONCE];
        for (int v = 0; v < AT_ONCE; v++)
            next[v] = SYI_LOAD(x + i + v * SYI_WIDTH);
        if (asks && i % SYI_LINE == 0)
            syi_ask_far((uintptr_t)(x + i) + SYI_TILE * sizeof *x);
        add_vectors(p, n, next, AT_ONCE);
    }
    for (; i < count; i += SYI_WIDTH) {
        const syi_vector rest = syi_load_some(x + i, count - i);
        add_vectors(p, n, &rest, 1);
    }
}

/* The lanes' sum as a number of what they are multiples of. Two lanes of half the columns each are
 * as far as doubles hold it. */
SYI_INLINE int64_t lanes(syi_vector of, int unit)
{
    double lane[SYI_WIDTH];
    of *= syi_pow2(-unit);
    memcpy(lane, &of, sizeof lane);
    for (int width = SYI_WIDTH / 2; width > 1; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return (int64_t)lane[0] + (int64_t)lane[1];
}

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

SYI_INLINE syi_u256 shifted(syi_i128 value, int by)
{
    if (by >= 128)
        return (syi_u256){0, (syi_u128)value << (by - 128)};
    return (syi_u256){(syi_u128)value << by, (syi_u128)(value >> 1 >> (127 - by))};
}

/* Integers of n parts; a constant. */
SYI_INLINE void add_integers(moments *m, int n, const double *x, int64_t count, int asks)
{
    syi_u128 sum = 0;
    syi_u256 squares = {0, 0};
    parts p = begin(n, m->bottom);
    add_parts(&p, n, x, count, asks);
    SYI_UNROLL(6)
    for (int k = 0; k < n; k++)
        sum += (syi_u128)(syi_i128)lanes(p.sum[k], p.unit + PART_BITS * k) << PART_BITS * k;
    SYI_UNROLL(11)
    for (int k = 0; k < 2 * n - 1; k++)
        squares = syi_wide_add(
            squares, shifted(lanes(p.product[k], 2 * p.unit + PART_BITS * k), PART_BITS * k));
    store_sum(m, (syi_i128)sum);
    store(m->squares, SQUARES_LIMBS, squares);
}

/* Not inline: its loops get a tenth slower in there. */
static __attribute__((noinline)) void fill(syi_tile tile, int is_floats, void *partial)
{
    const double *x = tile.in[0] + tile.at;
    const int64_t count = tile.count;
    moments *m = partial;
    syi_span span = syi_measure(x, count);
    const int bits = span.top - span.bottom, asks = tile.asking != SYI_ASKS_NOT;
    (void)is_floats; /* it takes none */
    m->bottom = span.bottom;
    if (span.has_non_finite)
        m->state = MOMENTS_NOT_FINITE;
    else if (bits <= 2 * PART_BITS + LAST_BITS)
        add_integers(m, 3, x, count, asks);
    else if (bits <= 3 * PART_BITS + LAST_BITS)
        add_integers(m, 4, x, count, asks);
    else if (bits <= WIDE_BITS)
        add_integers(m, MOST_PARTS, x, count, asks);
    else
        m->state = MOMENTS_TOO_WIDE;
}

sy_status SYI_ISA_NAME(syi_variance_run)(const syi_piece *piece)
{
    return syi_each_tile(piece, sizeof(moments), fill, syi_asking_of(piece));
}
