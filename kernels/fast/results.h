/*
 * Results that are written from left to right, vectors at a time. Those that go past the cache
 * (traffic.h) are put together to vectors that no two lines share, wherever the results begin, and
 * are written as soon as they are complete: stores that are spread evenly among the computing take
 * no time beside it, while a burst of them has to be waited for.
 */
#ifndef SYI_KERNELS_FAST_RESULTS_H
#define SYI_KERNELS_FAST_RESULTS_H

#include "fast/late.h"
#include "fast/pairs.h"

typedef struct syi_results {
    double *y;       /* of the next column */
    syi_vector held; /* past the cache: of the columns before it, */
    int shift;       /* so many of which are not written */
} syi_results;

/* `past` is a constant wherever results are put. With it, the columns of a vector before y are
 * there and nobody else's. */
SYI_INLINE syi_results syi_results_at(double *y, int past)
{
    syi_results to = {y, {0}, 0};
    if (past) {
        to.shift = (int)((uintptr_t)y / sizeof *y % SYI_WIDTH);
        if (to.shift > 0) /* else it would be waited for in vain */
            to.held = SYI_LOAD(y - SYI_WIDTH);
    }
    return to;
}

/* The vector that begins `shift` columns before `next`, which follows `held`. */
SYI_INLINE syi_vector syi_results_before(syi_vector held, syi_vector next, int shift)
{
#if SYI_WIDTH == 8
    const __m512i first = _mm512_set_epi64(15, 14, 13, 12, 11, 10, 9, 8);
    const __m512i from = _mm512_sub_epi64(first, _mm512_set1_epi64(shift));
    return (syi_vector)_mm512_permutex2var_pd((__m512d)held, from, (__m512d)next);
#elif SYI_WIDTH == 4
    return shift == 0   ? next
           : shift == 1 ? SYI_PICK(held, next, 3, 4, 5, 6)
           : shift == 2 ? SYI_PICK(held, next, 2, 3, 4, 5)
                        : SYI_PICK(held, next, 1, 2, 3, 4);
#else
    return shift == 0 ? next : SYI_PICK(held, next, 1, 2);
#endif
}

SYI_INLINE void syi_results_put(syi_results *to, syi_vector next, int past)
{
    if (past) {
        syi_store_past(to->y - to->shift, syi_results_before(to->held, next, to->shift));
        to->held = next;
    } else {
        SYI_STORE(to->y, next);
    }
    to->y += SYI_WIDTH;
}

SYI_INLINE void syi_results_put_pairs(syi_results *to, const syi_pairs *pairs, int past)
{
    for (int k = 0; k < SYI_PARTS; k++) {
        syi_results_put(to, SYI_LOWER(pairs->even[k], pairs->odd[k]), past);
        syi_results_put(to, SYI_UPPER(pairs->even[k], pairs->odd[k]), past);
    }
}

/* The same of a step's columns, from `at` on of those that are put so; what is put waits in
 * output k's ring. */
SYI_INLINE void syi_results_put_late(syi_results *to, syi_late *late, int k, int64_t at,
                                     const syi_pairs *pairs)
{
    const int64_t from = at - late->lag[k];
    for (int i = 0; i < SYI_PARTS; i++) {
        syi_late_keep(late, k, at + 2 * i * SYI_WIDTH, SYI_LOWER(pairs->even[i], pairs->odd[i]));
        syi_late_keep(late, k, at + (2 * i + 1) * SYI_WIDTH,
                      SYI_UPPER(pairs->even[i], pairs->odd[i]));
    }
    for (int i = 0; i < SYI_STEP && from >= 0; i += SYI_WIDTH)
        syi_results_put(to, syi_late_kept(late, k, from + i), 1);
}

/* What still waits of `count` columns. */
SYI_INLINE void syi_results_put_waiting(syi_results *to, const syi_late *late, int k, int64_t count)
{
    int64_t at = count > late->lag[k] ? count - late->lag[k] : 0;
    for (; at < count; at += SYI_WIDTH)
        syi_results_put(to, syi_late_kept(late, k, at), 1);
}

/* What is still held; more may follow. No more than that: the line before it is on its way past the
 * cache, and would be waited for. */
SYI_INLINE void syi_results_end(const syi_results *to)
{
    if (to->shift > 0)
        syi_store_some(to->y - to->shift, syi_results_before(to->held, to->held, to->shift),
                       to->shift);
}

#endif
