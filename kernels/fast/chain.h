/*
 * Exponential averages y[t] = b y[t-1] + a x[t] in fast accuracy, sixteen columns at a time, from
 * sums that double: y = a z, where at the odd columns t
 *
 *     p[t] = x[t] + b x[t-1]           r[t] = q[t] + b^4 q[t-4]
 *     q[t] = p[t] + b^2 p[t-2]         s[t] = r[t] + b^8 r[t-8]
 *     z[t] = s[t] + b^16 z[t-16]
 *
 * and z[t] = x[t] + b z[t-1] at the even ones. So eight chains run side by side, and nothing waits
 * for the column before.
 *
 * A row is cut into blocks at fixed columns. Each starts from zero a fixed number of columns before
 * it (from the row's seed where that is nearer), by when the past counts less than 2^-100: so what
 * a column holds is a function of the columns from there on, whoever computes it. Of the columns
 * before a block only what they leave is wanted, which takes much less work: sums of every
 * sixteenth one, g[t] = x[t] + b^16 g[t-16], of which the doubling sums are the last z.
 */
#ifndef SYI_KERNELS_FAST_CHAIN_H
#define SYI_KERNELS_FAST_CHAIN_H

#include "fast/pairs.h"
#include "kernel.h"

#include <math.h>

/* Where the blocks begin, and how much runs before one; the first `gathered` columns of that are
 * gathered. Whole steps, two or more gathered ones. */
typedef struct syi_chain_cut {
    int64_t decay, gathered, block;
} syi_chain_cut;

/* Over `gathered` columns the chains forget what was before them; over the next ones, which run in
 * full, what is made of the chains does. */
SYI_INLINE syi_chain_cut syi_chain_cut_of(int64_t gathered, int64_t in_full)
{
    const int64_t steps = (gathered + SYI_STEP - 1) / SYI_STEP * SYI_STEP;
    syi_chain_cut cut = {steps + (in_full + SYI_STEP - 1) / SYI_STEP * SYI_STEP, steps, SYI_TILE};
    while (cut.block < 8 * cut.decay)
        cut.block *= 2;
    return cut;
}

/* Columns that a piece needs on its left; `seed`: the column of the first value. */
SYI_INLINE int64_t syi_chain_halo(const syi_chain_cut *cut, int64_t seed)
{
    return cut->block - SYI_TILE + cut->decay + seed + 1;
}

enum { SYI_CHAINS = 2 }; /* side by side, at most */

/* Columns at a time of which nothing is put out, and of a sum that a seed is the mean of. */
enum { SYI_CHUNK = 1024 };

/* The powers of b, and a. */
typedef struct syi_chain {
    double b1, b2, b4, b8, b16, a;
} syi_chain;

/* Of the columns so far: the last p, q and r, the later ones first, and the last z. */
typedef struct syi_chain_state {
    syi_vector p[1], q[1], r[2], z[SYI_PARTS];
} syi_chain_state;

/* high + low squared, to about 100 bits, the high part rounded to nearest. */
SYI_INLINE void syi_chain_square(double *high, double *low)
{
    double square = *high * *high;
    double rest = fma(*high, *high, -square) + 2.0 * *high * *low;
    *high = square + rest;
    *low = rest - (*high - square);
}

/* b = 1 - part / whole. The gain is made 1 for the rounded powers of b. */
SYI_INLINE syi_chain syi_chain_of(double part, double whole)
{
    double high = (whole - part) / whole, low = fma(-high, whole, whole - part) / whole, power[5];
    for (int k = 0; k < 5; k++) {
        power[k] = high;
        syi_chain_square(&high, &low);
    }
    return (syi_chain){.b1 = power[0],
                       .b2 = power[1],
                       .b4 = power[2],
                       .b8 = power[3],
                       .b16 = power[4],
                       .a = (1.0 - power[4]) / ((1.0 + power[0]) * (1.0 + power[1]) *
                                                ((1.0 + power[2]) * (1.0 + power[3])))};
}

/* Nothing before the next column. */
SYI_EITHER void syi_chain_start(syi_chain_state *state)
{
    memset(state, 0, sizeof *state);
}

/* What a step's sums have come to: q, or the z at the odd columns and the last one before them. */
typedef struct syi_chain_sums {
    syi_vector odd[SYI_PARTS], before[1];
} syi_chain_sums;

/*
 * The z of the next sixteen columns of some chains, a constant number, of the inputs x: in three
 * parts, for each sum waits for the one before it, and a processor does not look far ahead for more
 * to do. A loop over steps goes on with one's sums while it begins the next one's.
 */

/* As far as q. One sum of all chains after the other. */
SYI_EITHER void syi_chain_sum_near(int chains, const syi_chain *chain, syi_chain_state *state,
                                   const syi_pairs *const *x, syi_chain_sums *sums)
{
    syi_vector p[SYI_CHAINS][SYI_PARTS];
    SYI_UNROLL(2)
    for (int c = 0; c < chains; c++)
        for (int k = 0; k < SYI_PARTS; k++)
            p[c][k] = syi_fused(x[c]->even[k], chain[c].b1, x[c]->odd[k]);
    SYI_UNROLL(2)
    for (int c = 0; c < chains; c++)
        for (int k = 0; k < SYI_PARTS; k++) {
            sums[c].odd[k] = syi_fused(SYI_BEFORE_1(state[c].p, p[c][k]), chain[c].b2, p[c][k]);
            state[c].p[0] = p[c][k];
        }
}

/* From there to the odd columns' z. */
SYI_EITHER void syi_chain_sum_far(int chains, const syi_chain *chain, syi_chain_state *state,
                                  syi_chain_sums *sums)
{
    syi_vector r[SYI_CHAINS][SYI_PARTS];
    SYI_UNROLL(2)
    for (int c = 0; c < chains; c++)
        for (int k = 0; k < SYI_PARTS; k++) {
            const syi_vector q = sums[c].odd[k];
            r[c][k] = syi_fused(SYI_BEFORE_2(state[c].q, q), chain[c].b4, q);
            state[c].q[0] = q;
        }
    SYI_UNROLL(2)
    for (int c = 0; c < chains; c++)
        for (int k = 0; k < SYI_PARTS; k++) {
            sums[c].odd[k] = syi_fused(SYI_BEFORE_4(state[c].r, r[c][k]), chain[c].b8, r[c][k]);
            state[c].r[1] = state[c].r[0];
            state[c].r[0] = r[c][k];
        }
    SYI_UNROLL(2)
    for (int c = 0; c < chains; c++) {
        sums[c].before[0] = state[c].z[SYI_PARTS - 1];
        for (int k = 0; k < SYI_PARTS; k++)
            sums[c].odd[k] = state[c].z[k] = syi_fused(state[c].z[k], chain[c].b16, sums[c].odd[k]);
    }
}

/* And to those of the even ones. */
SYI_EITHER void syi_chain_sum_even(int chains, const syi_chain *chain, const syi_chain_sums *sums,
                                   const syi_pairs *const *x, syi_pairs *z)
{
    SYI_UNROLL(2)
    for (int c = 0; c < chains; c++) {
        syi_vector before = sums[c].before[0];
        for (int k = 0; k < SYI_PARTS; k++) {
            z[c].odd[k] = sums[c].odd[k];
            z[c].even[k] =
                syi_fused(SYI_BEFORE_1(&before, z[c].odd[k]), chain[c].b1, x[c]->even[k]);
            before = z[c].odd[k];
        }
    }
}

/* All of it at once. */
SYI_EITHER void syi_chain_steps(int chains, const syi_chain *chain, syi_chain_state *state,
                                const syi_pairs *const *x, syi_pairs *z)
{
    syi_chain_sums sums[SYI_CHAINS];
    syi_chain_sum_near(chains, chain, state, x, sums);
    syi_chain_sum_far(chains, chain, state, sums);
    syi_chain_sum_even(chains, chain, sums, x, z);
}

/* The same of one chain. */
SYI_EITHER void syi_chain_step(const syi_chain *chain, syi_chain_state *state, const syi_pairs *x,
                               syi_pairs *z)
{
    syi_chain_steps(1, chain, state, &x, z);
}

/* Of columns before a block: the sums, and how far they have been doubled. */
typedef struct syi_chain_gathered {
    syi_pairs sum[SYI_CHAINS];
    syi_chain_state doubled[SYI_CHAINS];
} syi_chain_gathered;

SYI_EITHER void syi_chain_gather_start(int chains, syi_chain_gathered *past)
{
    for (int c = 0; c < chains; c++) {
        memset(&past->sum[c], 0, sizeof past->sum[c]);
        syi_chain_start(&past->doubled[c]);
    }
}

/* Adds a step's inputs x. */
SYI_EITHER void syi_chain_gather(int chains, const syi_chain *chain, syi_chain_gathered *past,
                                 const syi_pairs *x)
{
    for (int c = 0; c < chains; c++)
        for (int k = 0; k < SYI_PARTS; k++) {
            past->sum[c].even[k] = syi_fused(past->sum[c].even[k], chain[c].b16, x[c].even[k]);
            past->sum[c].odd[k] = syi_fused(past->sum[c].odd[k], chain[c].b16, x[c].odd[k]);
        }
}

/* The same for the last two steps, after which the states, which begin with nothing, are those at
 * the block. */
SYI_EITHER void syi_chain_gather_last(int chains, const syi_chain *chain, syi_chain_gathered *past,
                                      const syi_pairs *x, syi_chain_state *state)
{
    const syi_pairs *inputs[SYI_CHAINS], *sums[SYI_CHAINS];
    syi_pairs z[SYI_CHAINS];
    syi_chain_gather(chains, chain, past, x);
    for (int c = 0; c < chains; c++) {
        inputs[c] = &x[c];
        sums[c] = &past->sum[c];
        memset(past->doubled[c].z, 0, sizeof past->doubled[c].z);
    }
    syi_chain_steps(chains, chain, state, inputs, z);
    syi_chain_steps(chains, chain, past->doubled, sums, z);
    for (int c = 0; c < chains; c++)
        memcpy(state[c].z, past->doubled[c].z, sizeof state[c].z);
}

/* What is left of a past that is followed by zeros is let go before it comes down to the subnormal
 * numbers, which make processors slow: before every so many columns, and by a number that adding
 * and taking away rounds to a multiple of 2^-752. In those columns an average over two still keeps
 * 2^-256. What is 2^54 times as large stays as it is. */
enum { SYI_CHAIN_LET_GO = 256 };
#define SYI_CHAIN_FAINT 0x1p-700

/* `next`: the column of the row that begins the next step. */
SYI_EITHER void syi_chain_let_go(syi_chain_state *state, int64_t next)
{
    if (next % SYI_CHAIN_LET_GO == 0)
        for (int k = 0; k < SYI_PARTS; k++)
            state->z[k] = (state->z[k] + SYI_CHAIN_FAINT) - SYI_CHAIN_FAINT;
}

/* The input that makes the next y `seed`, after a start. */
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
