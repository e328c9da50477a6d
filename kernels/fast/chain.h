/*
 * Exponential averages y[t] = b y[t-1] + a x[t] in fast accuracy, as y[t] = a s[t] + b^16 y[t-16]
 * with s[t] the sum of b^k x[t-k] over k < 16, itself put together from 4 and 4 columns: sixteen
 * independent chains, so nothing waits for the column before.
 *
 * A row is cut into blocks at fixed columns. Each starts from zero a fixed number of columns before
 * it (from the row's seed where that is nearer), by when the past counts less than 2^-100: so what
 * a column holds is a function of the columns from there on, whoever computes it.
 */
#ifndef SYI_KERNELS_FAST_CHAIN_H
#define SYI_KERNELS_FAST_CHAIN_H

#include "fast/vector.h"

#include <math.h>

enum { SYI_CHAIN_LAG = 16, SYI_CHAIN_CHUNK = 1024, SYI_CHAIN_VECTORS = SYI_CHAIN_LAG / SYI_WIDTH };

/* Where the blocks begin, and how much runs before one. */
typedef struct syi_chain_cut {
    int64_t decay, block;
} syi_chain_cut;

SYI_INLINE syi_chain_cut syi_chain_cut_of(int64_t decay)
{
    syi_chain_cut cut = {(decay + SYI_CHAIN_LAG - 1) / SYI_CHAIN_LAG * SYI_CHAIN_LAG, SYI_TILE};
    while (cut.block < 8 * cut.decay)
        cut.block *= 2;
    return cut;
}

/* Columns that a piece needs on its left; `seed`: the column of the first value. */
SYI_INLINE int64_t syi_chain_halo(const syi_chain_cut *cut, int64_t seed)
{
    return cut->block - SYI_TILE + cut->decay + seed + 1;
}

typedef struct syi_chain {
    double b1, b2, b4, b8, b16, a;
    double y[SYI_CHAIN_LAG];                                       /* the last values */
    double fours[SYI_CHAIN_LAG + SYI_CHAIN_CHUNK + SYI_CHAIN_LAG]; /* sums over 4, 16 old ones */
} syi_chain;

/* high + low squared, to about 100 bits, the high part rounded to nearest. */
SYI_INLINE void syi_chain_square(double *high, double *low)
{
    double square = *high * *high;
    double rest = fma(*high, *high, -square) + 2.0 * *high * *low;
    *high = square + rest;
    *low = rest - (*high - square);
}

/* b = 1 - part / whole. The gain is made 1 for the rounded powers of b. */
static inline void syi_chain_open(syi_chain *chain, double part, double whole)
{
    double high = (whole - part) / whole, low = fma(-high, whole, whole - part) / whole;
    double *const powers[] = {&chain->b1, &chain->b2, &chain->b4, &chain->b8, &chain->b16};
    for (int k = 0; k < 5; k++) {
        *powers[k] = high;
        syi_chain_square(&high, &low);
    }
    chain->a = (1.0 - chain->b16) /
               ((1.0 + chain->b1) * (1.0 + chain->b2) * ((1.0 + chain->b4) * (1.0 + chain->b8)));
}

/* Nothing before the next column. */
static inline void syi_chain_start(syi_chain *chain)
{
    memset(chain->y, 0, sizeof chain->y);
    memset(chain->fours, 0, SYI_CHAIN_LAG * sizeof *chain->fours);
}

SYI_INLINE void syi_chain_step(const syi_chain *chain, int64_t i, syi_vector *y)
{
    for (int k = 0; k < SYI_CHAIN_VECTORS; k++) {
        const double *at = chain->fours + SYI_CHAIN_LAG + i + k * SYI_WIDTH;
        syi_vector later = SYI_LOAD(at) + SYI_LOAD(at - 4) * chain->b4;
        syi_vector earlier = SYI_LOAD(at - 8) + SYI_LOAD(at - 12) * chain->b4;
        y[k] = (later + earlier * chain->b8) * chain->a + y[k] * chain->b16;
    }
}

/* The next `count` (at most a chunk) values y of the inputs x, of which x[-3] and, behind the end,
 * as many as make whole steps can be read. */
SYI_INLINE void syi_chain_run(syi_chain *chain, const double *x, double *y, int64_t count)
{
    double *fours = chain->fours + SYI_CHAIN_LAG;
    syi_vector value[SYI_CHAIN_VECTORS];
    int64_t whole = count - count % SYI_CHAIN_LAG, left = count - whole;
    for (int64_t i = 0; i < count; i += SYI_WIDTH) {
        syi_vector later = SYI_LOAD(x + i) + SYI_LOAD(x + i - 1) * chain->b1;
        syi_vector earlier = SYI_LOAD(x + i - 2) + SYI_LOAD(x + i - 3) * chain->b1;
        SYI_STORE(fours + i, later + earlier * chain->b2);
    }
    memcpy(value, chain->y, sizeof value);
    for (int64_t i = 0; i < whole; i += SYI_CHAIN_LAG) {
        syi_chain_step(chain, i, value);
        memcpy(y + i, value, sizeof value);
    }
    memcpy(chain->y, value, sizeof value);
    if (left) {
        syi_chain_step(chain, whole, value);
        memcpy(y + whole, value, (size_t)left * sizeof *y);
        memmove(chain->y, chain->y + left, (size_t)(SYI_CHAIN_LAG - left) * sizeof *y);
        memcpy(chain->y + SYI_CHAIN_LAG - left, value, (size_t)left * sizeof *y);
    }
    memmove(chain->fours, chain->fours + count, SYI_CHAIN_LAG * sizeof *fours);
}

/* The input that makes the next value `seed`, after a start. */
SYI_INLINE double syi_chain_seed(const syi_chain *chain, double seed)
{
    return seed / chain->a;
}

/* What a piece tells its neighbours: whether a value that is not finite has been met. */
SYI_INLINE syi_carry syi_chain_carry(int dead)
{
    return (syi_carry){{1.0, dead ? 1.0 : 0.0}};
}

static inline int syi_chain_agrees(const syi_carry *assumed, const syi_carry *end)
{
    return assumed->word[1] == end->word[1];
}

#endif
