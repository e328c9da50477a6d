/*
 * Numbers for the decisions that double-double cannot make. The true value is
 *
 *     sign * limbs * 2^exponent  +  rest
 *
 * where two bounds of the rest are kept: what the bits could not hold, what was divided and did not
 * come out even, and what is not known of a start.
 *
 * Leading bits alone never prove that a value is exactly zero or exactly halfway between two
 * doubles, which happens (a period of 3 halves, and prices are short decimals), nor on which side
 * of such a point it lies by so little that no number of bits shows it, which happens as well (the
 * average has come near a price that stands still for long, and now the price moves; or near what
 * a price that climbs by equal steps for ever would lead to). So what reaches the bits is always
 * moved over to them: where a value tends to a point that they hold, they come to be that point,
 * and the rest is the distance from it, whose sign is the side.
 *
 * The value is known modulo the prime 2^61 - 1 as well: all operations are rational, so the residue
 * goes through each of them. A value that not even the most bits and the rest tell from a point,
 * and which agrees with it modulo the prime, is believed to be that point: of others one in 2^61
 * agrees.
 */
#ifndef SYI_KERNELS_RECURRENCE_NUMBER_H
#define SYI_KERNELS_RECURRENCE_NUMBER_H

#include <stdint.h>

/* 192 bits are enough for most decisions, 384 for nearly all; the most holds any sum of doubles. */
#define SYI_NUMBER_FEW   3
#define SYI_NUMBER_LEAST 6
#define SYI_NUMBER_MOST  40

/* Between `least` and `most` times 2^exponent; both 0: it is none. */
typedef struct syi_rest {
    double least, most;
    int64_t exponent;
} syi_rest;

typedef struct syi_number {
    int limbs, sign;  /* limbs in use; -1, 0, 1 */
    int64_t exponent; /* sign * (limb[limbs - 1] ... limb[0]) * 2^exponent, top bit set */
    int has_residue;  /* it comes from values that are known exactly, and has the most limbs */
    uint64_t residue; /* with the rest */
    syi_rest rest;
    uint64_t limb[SYI_NUMBER_MOST];
} syi_number;

/* multiply / divisor * 2^-halvings, the divisor odd. */
typedef struct syi_factor {
    uint32_t multiply, divisor;
    int halvings, shift; /* 2^shift times the divisor has the top bit */
    uint64_t reciprocal; /* of that, 2^128 / it - 2^64, rounded down */
    uint64_t residue;
} syi_factor;

/* multiply / divide, both below 2^26; divide is not 0. */
syi_factor syi_factor_of(int64_t multiply, int64_t divide);

/* A finite double, exactly; every number of a computation has as many limbs. */
void syi_number_set(syi_number *out, double x, int limbs);
/* a - b, exactly, of two of them. */
void syi_number_set_difference(syi_number *out, double a, double b, int limbs);
/* Of nothing is known but that its size is at most count * bound, for a finite bound >= 0. */
void syi_number_unknown(syi_number *out, double bound, int64_t count, int limbs);
/* out = a + b, a - b, -a, a * factor. `out` may be an operand. */
void syi_number_add(syi_number *out, const syi_number *a, const syi_number *b);
void syi_number_subtract(syi_number *out, const syi_number *a, const syi_number *b);
void syi_number_negate(syi_number *out, const syi_number *a);
void syi_number_scale(syi_number *out, const syi_number *a, const syi_factor *factor);
/* a *= factor^count */
void syi_number_fade(syi_number *a, const syi_factor *factor, int64_t count);
/* out = a / b, where b's bits are not zero. */
void syi_number_divide(syi_number *out, const syi_number *a, const syi_number *b);

/* The nearest double, ties to even, zero +0; returns non-zero when that is certain, or if it is to
 * be `narrowed` when the float nearest to it is. */
int syi_number_round(const syi_number *a, int narrowed, double *out);

#endif
