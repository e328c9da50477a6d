/* Non-negative integers of a fixed largest size, for the decisions that only exact arithmetic can
 * make. They are rare, so clarity comes before speed. */
#ifndef SYI_KERNELS_EXACT_BIG_H
#define SYI_KERNELS_EXACT_BIG_H

#include "exact/bits.h"

/* The largest number is met in the comparison of a band's squares (exact/decide.c): below 6,500
 * bits. */
#define SYI_BIG_LIMBS 104

typedef struct syi_big {
    int size; /* limbs in use; the last one is not zero */
    uint64_t limb[SYI_BIG_LIMBS];
} syi_big;

void syi_big_set(syi_big *a, const uint64_t *limbs, int count);
void syi_big_copy(syi_big *out, const syi_big *a); /* no more than what is in use */
int syi_big_compare(const syi_big *a, const syi_big *b);
int64_t syi_big_bit_length(const syi_big *a);
/* a = |(-1)^a_negative a + (-1)^b_negative b|; whether that sum is negative. */
int syi_big_add_signed(syi_big *a, int a_negative, const syi_big *b, int b_negative);
/* bits >= 0 unless a is zero. */
void syi_big_shift_left(syi_big *a, int64_t bits);
void syi_big_scale(syi_big *a, uint64_t factor);
void syi_big_square(syi_big *out, const syi_big *a);
/* a /= divisor; returns the remainder. */
uint64_t syi_big_divide(syi_big *a, uint64_t divisor);

#endif
