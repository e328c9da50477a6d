/*
 * Sixteen columns, apart: the even and the odd ones, which make eight pairs. Within a vector the
 * pairs of its first half are at the even places, those of its second half at the odd ones: the
 * order in which one instruction takes columns apart, and puts them together again. On a GPU a
 * vector is eight threads, which hold a pair each (fast/lanes.h).
 */
#ifndef SYI_KERNELS_FAST_PAIRS_H
#define SYI_KERNELS_FAST_PAIRS_H

#include "fast/either.h"
#include "traffic.h"

enum { SYI_STEP = 16, SYI_PARTS = SYI_STEP / (2 * SYI_WIDTH) };

typedef struct syi_pairs {
    syi_vector even[SYI_PARTS], odd[SYI_PARTS];
} syi_pairs;

#ifndef SYI_KERNEL /* which fast/lanes.h has defined */

/* SYI_BEFORE_n: for each pair of `v` the value of the n-th pair before it; before[0] is the vector
 * that `v` follows, before[1] the one that before[0] follows. */
#if SYI_WIDTH == 8

#define SYI_LOWER(a, b)         SYI_PICK(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define SYI_UPPER(a, b)         SYI_PICK(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define SYI_BEFORE_1(before, v) SYI_PICK((before)[0], v, 7, 14, 8, 9, 10, 11, 12, 13)
#define SYI_BEFORE_2(before, v) SYI_PICK((before)[0], v, 5, 12, 7, 14, 8, 9, 10, 11)
#define SYI_BEFORE_4(before, v) SYI_PICK((before)[0], v, 1, 8, 3, 10, 5, 12, 7, 14)

#elif SYI_WIDTH == 4

#define SYI_LOWER(a, b) SYI_PICK(a, b, 0, 4, 2, 6)
#define SYI_UPPER(a, b) SYI_PICK(a, b, 1, 5, 3, 7)
#ifdef __AVX2__
/* By two instructions, the second of which a Zen 1 splits in eight; for the pick gcc takes
 * three. */
#define SYI_BEFORE_1(before, v)                                                                    \
    ((syi_vector)_mm256_permute2f128_pd(_mm256_shuffle_pd((__m256d)(before)[0], (__m256d)(v), 4),  \
                                        (__m256d)(v), 0x21))
#else
#define SYI_BEFORE_1(before, v) SYI_PICK((before)[0], v, 3, 6, 4, 5)
#endif
#define SYI_BEFORE_2(before, v) SYI_PICK((before)[0], v, 1, 4, 3, 6)
#define SYI_BEFORE_4(before, v) ((before)[0])

#else

#define SYI_LOWER(a, b)         SYI_PICK(a, b, 0, 2)
#define SYI_UPPER(a, b)         SYI_PICK(a, b, 1, 3)
#define SYI_BEFORE_1(before, v) SYI_PICK((before)[0], v, 1, 2)
#define SYI_BEFORE_2(before, v) ((before)[0])
#define SYI_BEFORE_4(before, v) ((before)[1])

#endif

SYI_INLINE void syi_pairs_load(syi_pairs *to, const double *from)
{
    for (int k = 0; k < SYI_PARTS; k++) {
        syi_vector a = SYI_LOAD(from + 2 * k * SYI_WIDTH);
        syi_vector b = SYI_LOAD(from + (2 * k + 1) * SYI_WIDTH);
        to->even[k] = SYI_LOWER(a, b);
        to->odd[k] = SYI_UPPER(a, b);
    }
}

SYI_INLINE void syi_pairs_store(double *to, const syi_pairs *from)
{
    for (int k = 0; k < SYI_PARTS; k++) {
        SYI_STORE(to + 2 * k * SYI_WIDTH, SYI_LOWER(from->even[k], from->odd[k]));
        SYI_STORE(to + (2 * k + 1) * SYI_WIDTH, SYI_UPPER(from->even[k], from->odd[k]));
    }
}

#endif

/* Times `factor`; a zero becomes +0. */
SYI_EITHER void syi_pairs_scale(syi_pairs *values, double factor)
{
    for (int k = 0; k < SYI_PARTS; k++) {
        values->even[k] = syi_plus_zero(values->even[k] * factor);
        values->odd[k] = syi_plus_zero(values->odd[k] * factor);
    }
}

#endif
