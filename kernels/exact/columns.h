/* Columns of lanes, which are stretches of a row or rows, to and from memory: a vector is the same
 * column of all of them. */
#ifndef SYI_KERNELS_EXACT_COLUMNS_H
#define SYI_KERNELS_EXACT_COLUMNS_H

#include "exact/transpose.h"

#if SYI_HAVE_VECTORS

/* At most SYI_VECTOR columns of lanes that are `stride` columns apart. */
SYI_INLINE void syi_lanes_load_some(syi_vec *to, const double *x, int64_t stride, int count)
{
    syi_vec r[SYI_VECTOR];
    if (count == SYI_VECTOR) {
        syi_vec_columns(x, stride, r);
    } else {
        const syi_vec none = {0};
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_VECTOR; k++)
            r[k] = syi_vec_load_some(x + k * stride, count, none);
        syi_vec_transpose(r);
    }
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++)
        to[k] = r[k];
}

/* Any number of them. */
SYI_INLINE void syi_lanes_load(syi_vec *to, const double *x, int64_t stride, int count)
{
    const int whole = count / SYI_VECTOR * SYI_VECTOR;
    SYI_UNROLL(2)
    for (int i = 0; i < whole; i += SYI_VECTOR)
        syi_lanes_load_some(to + i, x + i, stride, SYI_VECTOR);
    if (whole < count)
        syi_lanes_load_some(to + whole, x + whole, stride, count - whole);
}

/* Asks for a line of each lane, `ahead` columns behind x[0]. */
SYI_INLINE void syi_lanes_ask(const double *x, int64_t stride, int ahead)
{
    for (int k = 0; k < SYI_VECTOR; k++)
        syi_ask_for((uintptr_t)(x + k * stride) + (uintptr_t)ahead * sizeof *x, SYI_LINE);
}

/* Asks for what is read behind column x[at] of lanes that go past the cache: of those that go on a
 * block farther, behind those that end soon as much of what the next ones are. */
SYI_INLINE void syi_lanes_ask_on(const double *x, int64_t at, int64_t stride, int go_on, int block)
{
    if (go_on)
        syi_lanes_ask(x + at, stride, block);
    else
        syi_ask_ahead(x + SYI_VECTOR * at, SYI_VECTOR * stride, SYI_VECTOR * SYI_LINE);
}

/* Asks for a line of each of as many lanes behind these. */
SYI_INLINE void syi_lanes_ask_next(const double *x, int64_t stride)
{
    for (int k = SYI_VECTOR; k < 2 * SYI_VECTOR; k++)
        syi_ask_far((uintptr_t)(x + k * stride));
}

/* Asks for a line of each lane that is written soon, `ahead` columns behind y[0]. */
SYI_INLINE void syi_lanes_ask_to_write(double *y, int64_t stride, int ahead)
{
    for (int k = 0; k < SYI_VECTOR; k++)
        syi_ask_to_write((uintptr_t)(y + k * stride) + (uintptr_t)ahead * sizeof *y, SYI_LINE);
}

/* The first `count`. Some processors (Zen) take dozens of cycles to write four by a mask. */
SYI_INLINE void syi_lane_store_some(double *to, syi_vec a, int count)
{
#if SYI_VECTOR == 8
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)a);
#else
    memcpy(to, &a, (size_t)count * sizeof *to);
#endif
}

/* At most SYI_VECTOR columns; only whole vectors go `past` the cache. */
SYI_INLINE void syi_lanes_store_some(double *y, int64_t stride, const syi_vec *from, int count,
                                     int past)
{
    syi_vec r[SYI_VECTOR];
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++)
        r[k] = from[k];
    if (count == SYI_VECTOR) {
        syi_vec_rows(y, stride, r, past);
        return;
    }
    syi_vec_transpose(r);
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++)
        syi_lane_store_some(y + k * stride, r[k], count);
}

/* A line of each lane past the cache, one after another: a processor that has many of them half
 * written waits. */
SYI_INLINE void syi_lanes_store_past(double *y, int64_t stride, const syi_vec *from)
{
    syi_vec r[SYI_LINE / SYI_VECTOR][SYI_VECTOR];
    SYI_UNROLL(2)
    for (int i = 0; i < SYI_LINE / SYI_VECTOR; i++) {
        SYI_UNROLL(8)
        for (int k = 0; k < SYI_VECTOR; k++)
            r[i][k] = from[i * SYI_VECTOR + k];
        syi_vec_transpose(r[i]);
    }
    SYI_UNROLL(8)
    for (int k = 0; k < SYI_VECTOR; k++)
        SYI_UNROLL(2)
    for (int i = 0; i < SYI_LINE / SYI_VECTOR; i++)
        syi_vec_put(y + k * stride + i * SYI_VECTOR, r[i][k], 1);
}

/* At most a line. */
SYI_INLINE void syi_lanes_store(double *y, int64_t stride, const syi_vec *from, int count, int past)
{
    if (count == SYI_LINE && past)
        syi_lanes_store_past(y, stride, from);
    else
        for (int i = 0; i < count; i += SYI_VECTOR)
            syi_lanes_store_some(y + i, stride, from + i,
                                 count - i < SYI_VECTOR ? count - i : SYI_VECTOR, past);
}

#endif
#endif
