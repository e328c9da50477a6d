/*
 * A tile's sum the quick way: a lane's sum is held with a shift added that is so large that adding
 * a term rounds it to a multiple of g; what that took from the term is summed beside. How large the
 * terms are is guessed from the first ones and seen at the end: where the guess was wrong the tile
 * is summed up again, what holds a NaN the other way.
 *
 * Let all terms be below `limit` and g = 2^-43 limit: a lane's 256 terms at most stay below 2^51 g,
 * so its sum is exact. A rest is at most g / 2; 256 of them are below 2^7 g and lose 2^-38 g in
 * being added up, products as much again, and 32 lanes 2^-32 g = 2^-75 limit. Four lanes' sums are
 * below 2^53 g, so that adding them up is exact, too; so are all lanes' of 1,024 columns, whose
 * rests are below 2^9 g and lose 2^-41 g in being added up.
 */
#ifndef SYI_KERNELS_EXACT_TOTAL_RUN_H
#define SYI_KERNELS_EXACT_TOTAL_RUN_H

#include "exact/total.h"
#include "exact/vector.h"
#include "tiles.h"

/* A tile's x[i], or x[i] * y[i] with `products`, which is a constant. */
typedef struct syi_total_terms {
    syi_reader x, y;
    int64_t count;
    int products;
} syi_total_terms;

SYI_INLINE syi_total_terms syi_total_terms_of(const syi_tile *tile, int products, int is_floats)
{
    const syi_reader x = syi_reader_of(tile, 0, 0, is_floats);
    return (syi_total_terms){x, products ? syi_reader_of(tile, 1, 0, is_floats) : x, tile->count,
                             products};
}

#if SYI_HAVE_VECTORS

_Static_assert(SYI_VECTOR == SYI_WIDTH, "what is read is what is summed up");

#define TOTAL_VECTORS 4
#define TOTAL_STEP    (TOTAL_VECTORS * SYI_VECTOR)
#define TOTAL_SHIFT   768.0  /* in units of limit */
#define TOTAL_SIZE    0x1p16 /* 2^-75 limit in units of SYI_TOTAL_LOSS * limit */
#define TOTAL_ROOM    0x1p6  /* what later terms may be larger than the first ones */
#define TOTAL_SHORT   1024   /* columns of which the sum is below 2^53 g */

typedef struct total_lanes {
    syi_vec high[TOTAL_VECTORS], low[TOTAL_VECTORS], most[TOTAL_VECTORS];
} total_lanes;

/* A vector of terms, x or with `products` x * y, to lane k. */
SYI_INLINE void total_take(total_lanes *lanes, int k, syi_vec x, syi_vec y, int products)
{
    const syi_vec term = products ? x * y : x, before = lanes->high[k];
    const syi_vec rest = products ? syi_vec_fma(x, y, -term) : term;
    lanes->high[k] = before + term;
    syi_vec lost = term - syi_vec_less(lanes->high[k], before);
    lanes->low[k] = syi_vec_plus(lanes->low[k], products ? lost + rest : lost);
    lanes->most[k] = syi_vec_max(lanes->most[k], syi_vec_abs(term));
}

SYI_INLINE void total_step(total_lanes *lanes, const syi_total_terms *t, int64_t i)
{
    for (int k = 0; k < TOTAL_VECTORS; k++) {
        const int place = k * SYI_VECTOR;
        const syi_vec x = syi_reader_at(t->x, i + place, place);
        total_take(lanes, k, x, t->products ? syi_reader_at(t->y, i + place, place) : x,
                   t->products);
    }
}

/* The last columns, fewer than a step. */
SYI_INLINE void total_rest(total_lanes *lanes, const syi_total_terms *t, int64_t i)
{
    SYI_UNROLL(4)
    for (int k = 0; k < TOTAL_VECTORS; k++, i += SYI_VECTOR) {
        const int64_t left = t->count - i;
        if (left <= 0)
            break;
        const syi_vec x = syi_reader_some(t->x, i, left);
        total_take(lanes, k, x, t->products ? syi_reader_some(t->y, i, left) : x, t->products);
    }
}

/* The largest of the first terms. */
SYI_INLINE double total_first(const syi_total_terms *t)
{
    syi_vec most = {0};
    for (int64_t i = 0; i < TOTAL_STEP && i < t->count; i += SYI_VECTOR) {
        syi_vec term = syi_reader_some(t->x, i, t->count - i);
        if (t->products)
            term *= syi_reader_some(t->y, i, t->count - i);
        most = syi_vec_max(most, syi_vec_abs(term));
    }
    return syi_vec_most(most);
}

/* In any order: of what it is exact for, or loses little. */
SYI_INLINE double total_across(syi_vec a)
{
    double lane[SYI_VECTOR];
    syi_vec_store(lane, a);
    for (int width = SYI_VECTOR / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            lane[k] += lane[k + width];
    return lane[0];
}

/* All lanes' sums. Of two vectors' and four vectors' sums none is rounded, nor, of a short tile,
 * is the whole one. */
SYI_INLINE syi_total total_fold(const total_lanes *lanes, double shift, int64_t count)
{
    const syi_vec *h = lanes->high, *l = lanes->low, start = syi_vec_of(shift);
    syi_vec high = ((h[0] - start) + (h[1] - start)) + ((h[2] - start) + (h[3] - start));
    syi_vec low = (l[0] + l[1]) + (l[2] + l[3]);
    syi_total part[SYI_VECTOR];
    if (count <= TOTAL_SHORT) {
        syi_two_sum(total_across(high), total_across(low), &part[0].high, &part[0].low);
        return part[0];
    }
    for (int k = 0; k < SYI_VECTOR; k++)
        part[k] = (syi_total){high[k], low[k], 0.0};
    for (int width = SYI_VECTOR / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            part[k] = syi_total_add(part[k], part[k + width]);
    return part[0];
}

/* With terms below `limit`; 0 when they are not: then *most is what they are below, infinite when
 * one is a NaN, which the sum shows, whatever the comparisons made of it. */
SYI_INLINE int total_below(const syi_total_terms *t, double limit, double *most, syi_total *total)
{
    total_lanes lanes = {{{0}}, {{0}}, {{0}}};
    const syi_vec *m = lanes.most;
    int64_t i = 0;
    for (int k = 0; k < TOTAL_VECTORS; k++)
        lanes.high[k] = syi_vec_of(TOTAL_SHIFT * limit);
    for (; i + TOTAL_STEP <= t->count; i += TOTAL_STEP)
        total_step(&lanes, t, i);
    total_rest(&lanes, t, i);
    *total = total_fold(&lanes, TOTAL_SHIFT * limit, t->count);
    total->size = TOTAL_SIZE * limit;
    *most = syi_vec_most(syi_vec_max(syi_vec_max(m[0], m[1]), syi_vec_max(m[2], m[3])));
    *most = total->high == total->high ? *most : INFINITY;
    return *most < limit;
}

/* A power of two above `size`; 0: it is too small or too large for this way. */
SYI_INLINE double total_above(double size, double room)
{
    if (!(size > 0x1p-800 && size < 0x1p800))
        return 0.0;
    return syi_from_bits(syi_bits(size) & (UINT64_C(0x7ff) << 52)) * (2.0 * room);
}

/* 0 when it is not to be had this way. Where the first terms said too little the second limit is
 * right: a spike or two cost no more than to sum up twice. */
SYI_INLINE int total_quick(const syi_total_terms *t, syi_total *total)
{
    double most = total_first(t);
    double room = TOTAL_ROOM;
    for (int k = 0; k < 2; k++, room = 1.0) {
        double limit = total_above(most, room);
        if (limit == 0.0)
            return 0;
        if (total_below(t, limit, &most, total))
            return 1;
    }
    return 0;
}

#endif

/* The long way through floats. */
static __attribute__((noinline)) syi_total total_of_floats(const float *x, const float *y,
                                                           int products, int64_t count)
{
    double room[2][SYI_TILE];
    syi_floats_widen(room[0], x, count, 0);
    if (products)
        syi_floats_widen(room[1], y, count, 0);
    return syi_total_of(room[0], products ? room[1] : NULL, products, count);
}

/* A tile's sum, with `products` that of its inputs' products. */
SYI_INLINE syi_total syi_total_of_tile(syi_tile tile, int products, int is_floats)
{
    const syi_total_terms t = syi_total_terms_of(&tile, products, is_floats);
#if SYI_HAVE_VECTORS
    syi_total total;
    if (total_quick(&t, &total))
        return total;
#endif
    if (is_floats)
        return total_of_floats(t.x.floats, t.y.floats, products, t.count);
    return syi_total_of(t.x.x, t.y.x, products, t.count);
}

#endif
