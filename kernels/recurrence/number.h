/*
 * Numbers for the decisions that double-double cannot make: many leading bits, a rigorous bound of
 * the error, and what the true value is modulo the prime 2^61 - 1.
 *
 * Leading bits alone never prove that a value is exactly zero or exactly halfway between two
 * doubles, which happens (a period of 3 halves, and prices are short decimals). The residue does: a
 * value whose bits cannot be told from such a point, and which agrees with it modulo the prime, is
 * that point. All operations are rational, so the residue goes through each of them.
 */
#ifndef SYI_KERNELS_RECURRENCE_NUMBER_H
#define SYI_KERNELS_RECURRENCE_NUMBER_H

#include <stdint.h>

/* 192 bits are enough for most decisions, 384 for nearly all; the most holds any sum of doubles. */
#define SYI_NUMBER_FEW   3
#define SYI_NUMBER_LEAST 6
#define SYI_NUMBER_MOST  40

typedef struct syi_number {
    int limbs, sign;  /* limbs in use; -1, 0, 1 */
    int64_t exponent; /* sign * (limb[limbs - 1] ... limb[0]) * 2^exponent, top bit set */
    uint64_t residue;
    long double error; /* its range outlasts that of double, its precision does not matter */
    uint64_t limb[SYI_NUMBER_MOST];
} syi_number;

/* multiply / divide, both below 2^26. */
typedef struct syi_factor {
    uint32_t multiply, divide;
    uint64_t residue;
} syi_factor;

syi_factor syi_factor_of(int64_t multiply, int64_t divide);

/* A finite double, exactly; every number of a computation has as many limbs. */
void syi_number_set(syi_number *out, double x, int limbs);
/* out = a + b, a - b, -a, a * factor. `out` may be an operand. */
void syi_number_add(syi_number *out, const syi_number *a, const syi_number *b);
void syi_number_subtract(syi_number *out, const syi_number *a, const syi_number *b);
void syi_number_negate(syi_number *out, const syi_number *a);
void syi_number_scale(syi_number *out, const syi_number *a, const syi_factor *factor);
/* out = a / b, b not zero. Its error is without bound when b may be zero. */
void syi_number_divide(syi_number *out, const syi_number *a, const syi_number *b);

/* The nearest double, ties to even, zero +0; returns non-zero when that is certain. Residues are
 * believed only of values computed from the very beginning of their series. */
int syi_number_round(const syi_number *a, int has_residue, double *out);

#endif
