/*
 * Of stretches (stretches.h), a lane in which a few values are far from the others, say spikes: its
 * copy is mended, and only the windows that hold such a value are left to blocks, not the lane.
 */
#ifndef SYI_KERNELS_WINDOW_MENDED_H
#define SYI_KERNELS_WINDOW_MENDED_H

#include "exact/vector.h"

#include <math.h>

#if SYI_HAVE_VECTORS

/* Times that a lane is mended at most: each costs a block. */
enum { MENDED_MOST = 4 };
/* Values that are not so many times larger take blocks no longer. */
#define MENDED_ABOVE 0x1p12

/* The windows of a lane that are left to blocks: those with such a value and, in the end, all from
 * the column on where the lane was given up. */
typedef struct mended {
    int64_t from[MENDED_MOST + 1], to[MENDED_MOST + 1]; /* the lane's columns, in order */
    int count;
} mended;

/* Windows of the lane's `columns` are left, those that end with columns [from, to), in order. Gives
 * whether that is worth it. */
SYI_INLINE int mended_leave(mended *m, int64_t from, int64_t to, int64_t columns)
{
    int64_t left = 0;
    if (m->count > 0 && from <= m->to[m->count - 1])
        from = m->from[--m->count];
    if (to <= 0)
        return 1;
    if (m->count == MENDED_MOST)
        return 0;
    m->from[m->count] = from < 0 ? 0 : from;
    m->to[m->count++] = to < columns ? to : columns;
    for (int k = 0; k < m->count; k++)
        left += m->to[k] - m->from[k];
    return 2 * left <= columns;
}

/* The lane has `columns`, and goes no further than `done`. */
SYI_INLINE void mended_end(mended *m, int64_t done, int64_t columns)
{
    const int64_t end = done < columns ? done : columns;
    while (m->count > 0 && m->from[m->count - 1] >= end)
        m->count--;
    if (m->count > 0 && m->to[m->count - 1] > end)
        m->to[m->count - 1] = end;
    if (end < columns) {
        m->from[m->count] = end;
        m->to[m->count++] = columns;
    }
}

/* The bits of the values from x[0] on that are further than `reach` from `middle`. */
SYI_INLINE uint64_t mended_far(const double *x, syi_vec middle, syi_vec reach)
{
    const syi_vec away = syi_vec_abs(syi_vec_less(syi_vec_load(x), middle));
    const syi_vec_mask near = syi_vec_mask_ordered(syi_vec_mask_full(), away, reach);
    return syi_vec_mask_bits(near) ^ ((1 << SYI_VECTOR) - 1);
}

/* Finds what of a lane, x[0 .. count), `before` of which come before its first column, is far from
 * `usual`. Gives whether the lane is worth mending. */
SYI_INLINE int mended_find(mended *m, const double *x, int64_t before, int64_t count,
                           int64_t period, double usual, double reach)
{
    const syi_vec middle = syi_vec_of(usual), most = syi_vec_of(reach);
    m->count = 0;
    /* As if the values changed all the time. */
    if (!(fabs(x[0] - usual) <= reach && fabs(x[count - 1] - usual) <= reach))
        return 0;
    for (int64_t i = 0; i < count; i += SYI_VECTOR)
        for (uint64_t far = mended_far(x + i, middle, most); far; far &= far - 1) {
            const int64_t at = i + __builtin_ctzll(far);
            if (fabs(x[at]) <= MENDED_ABOVE * fabs(usual) ||
                !mended_leave(m, at - before, at - before + period, count - before))
                return 0;
        }
    return 1;
}

/* Mends a lane, if it is worth it, in its copy tile[..][lane]. Gives whether it is then one of
 * values from *least to *most, none of which is more than twice another; if not, nothing of it is
 * left to blocks yet. */
SYI_INLINE int mended_lane(mended *m, const double *x, int64_t before, int64_t count,
                           int64_t period, syi_vec *tile, int lane, double *least, double *most)
{
    const double usual = x[count / 2], reach = 0.33 * fabs(usual);
    if (!mended_find(m, x, before, count, period, usual, reach)) {
        m->count = 0;
        return 0;
    }
    const syi_vec middle = syi_vec_of(usual), away = syi_vec_of(reach);
    syi_vec low = middle, high = middle;
    for (int64_t i = 0; i < count; i += SYI_VECTOR) {
        syi_vec kept = syi_vec_load(x + i);
        for (uint64_t far = mended_far(x + i, middle, away); far; far &= far - 1) {
            const int k = __builtin_ctzll(far);
            tile[i + k][lane] = kept[k] = usual;
        }
        low = syi_vec_min(kept, low);
        high = syi_vec_max(kept, high);
    }
    *least = syi_vec_least(low);
    *most = syi_vec_most(high);
    return 1;
}

#endif
#endif
