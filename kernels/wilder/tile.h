/*
 * A tile of Wilder's averages: eight stretches of a row side by side, so that the loops over them
 * become vector instructions, and no column waits for the one before it.
 *
 * With b = (period - 1) / period the sum at step i of a stretch is
 *
 *     S_i = b^i * (start + term_0 * b^-0 + ... + term_i * b^-i)
 *
 * where b * (the sum before the stretch) is its start. So a stretch is a plain sum of weighted
 * terms, first from 0; then the starts follow one from another, and are added. The quotient of rsi
 * has no use for b^i, atr multiplies by b^i / period. Nothing is ever negative: every error is
 * relative to its result, and what a tile adds to it is below EPSILON.
 *
 * Here and in what includes this IS_RANGE says of what there are averages (wilder/run.h).
 */
#ifndef SYI_KERNELS_WILDER_TILE_H
#define SYI_KERNELS_WILDER_TILE_H

#include "exact/transpose.h"
#include "traffic.h"
#include "wilder/state.h"

#define LANES 8
#define STEPS 64

/* Columns of the smallest tile. */
enum { SHORT = 8 * LANES };

/*
 * Relative errors, in units of u^2 = 2^-106: a stretch's sum 6500 (64^2 * 1.5 for the low parts,
 * which are left to grow, and 6 a step for the weights), the chain of eight starts 8 * 1500 (1100
 * for the low parts, 400 for the power), adding a start 800: together less than SUM_ERROR. What the
 * result is made with adds less than 2400.
 */
#define SUM_ERROR  (SYI_PER_FINE * 0x1p-91)
#define LAST_ERROR 0x1p-94

/* For these terms, and sums that do not fall below LEAST_SUM in a tile, no product loses bits. In a
 * tile a sum keeps 2^-300 of itself at least. */
#define LEAST_SUM  0x1p-700
#define LEAST_TERM 0x1p-350
#define MOST_PRICE 0x1p+100
/* A sum's error that is too loose for a tile, relative to the sum. */
#define MOST_LOOSE 0x1p+40

/* What a lane's steps leave of a sum. */
typedef struct fading {
    syi_dd power;       /* b^steps */
    double fade[LANES]; /* its powers, rounded up: what is left before each lane */
} fading;

typedef struct weights {
    int64_t columns; /* of which tiles are to be; 0: not made yet */
    int64_t steps;   /* that a tile has at most */
    syi_factor_dd b;
    syi_dd back;                            /* 1 / b */
    fading whole, brief;                    /* of a tile of most steps, and of the smallest */
    double high[STEPS], low[STEPS];         /* b^-i */
    double out_high[STEPS], out_low[STEPS]; /* b^i / period, for ranges */
} weights;

/* Sums, one a lane. */
typedef struct sums {
    _Alignas(64) double high[LANES];
    double low[LANES];
} sums;

typedef struct tile {
    /* The terms: rest is what the difference of two prices lost. First as they come, then side by
     * side. */
    _Alignas(64) double high[LANES * STEPS];
    double low[LANES * STEPS];
    double term[STEPS][LANES], rest[STEPS][LANES];
    sums total[STEPS], up[STEPS], total_start, up_start;
    int64_t steps; /* a multiple of 8 */
    int64_t ahead; /* columns from the tile to what is asked for on the way */
    fading left;
    /* Of quick.h: what is in a stretch, of the gains too; of ranges.h: and in its first half. */
    sums last, up_last, half;
} tile;

SYI_INLINE fading fading_of(const syi_factor_dd *b, int64_t steps)
{
    fading left = {syi_wilder_power(b, steps), {1.0}};
    for (int l = 1; l < LANES; l++)
        left.fade[l] = left.fade[l - 1] * left.power.high * (1.0 + 0x1p-40);
    return left;
}

/* first * by^i for all steps. Each waits for the one eight before it, so eight are made at once;
 * what they are off by is as if each had been made from the one before. */
SYI_INLINE void fill_powers(double *high, double *low, syi_dd first, syi_dd by, int64_t steps)
{
    enum { AT_ONCE = 8 };
    syi_dd far = by, next = first;
    for (int n = 1; n < AT_ONCE; n *= 2)
        far = syi_dd_multiply(far, far);
    for (int64_t i = 0; i < steps; i++) {
        if (i >= AT_ONCE)
            next = syi_dd_multiply((syi_dd){high[i - AT_ONCE], low[i - AT_ONCE]}, far);
        high[i] = next.high;
        low[i] = next.low;
        if (i + 1 < AT_ONCE)
            next = syi_dd_multiply(next, by);
    }
}

/* For tiles of at most so many columns, of which there may be too few to make one. The weights stay
 * below 2^16 for ranges, 2^8 for moves, for a grid that holds all of a tile's sums; but the moves'
 * tiles not for a short period, where they would be too small. */
static void make_weights(weights *w, double period, int64_t columns)
{
    const int64_t held = (int64_t)((IS_RANGE ? 11.0 : 5.5) * (period - 0.5)) / 8 * 8;
    const int64_t least = IS_RANGE ? 0 : STEPS / 2;
    int64_t most = period < 3.0 ? STEPS / 2 : STEPS;
    syi_dd out;
    if (w->columns == columns)
        return;
    w->columns = columns;
    out = syi_dd_divide((syi_dd){1.0, 0.0}, period);
    if (held >= least && held < STEPS)
        most = held;
    w->b = syi_wilder_factor(period);
    w->back = syi_dd_divide((syi_dd){period, 0.0}, period - 1.0);
    w->steps = columns / LANES < most ? columns / LANES / 8 * 8 : most;
    if (w->b.above == 0.0) /* a period of 1 has no memory, and 1 / b no meaning */
        w->steps = 0;
    w->whole = fading_of(&w->b, w->steps);
    w->brief = fading_of(&w->b, SHORT / LANES);
    fill_powers(w->high, w->low, (syi_dd){1.0, 0.0}, w->back, w->steps);
    if (IS_RANGE)
        fill_powers(w->out_high, w->out_low, out, w->b.b, w->steps);
}

SYI_INLINE void set_steps(const weights *w, tile *t, int64_t steps)
{
    t->steps = steps;
    t->left = steps == w->steps        ? w->whole
              : steps == SHORT / LANES ? w->brief
                                       : fading_of(&w->b, steps);
}

/* Asks for columns from `column` on behind x, whole lines; the nearest cache has no room for them
 * yet. The memory is to be busy all the time. */
SYI_INLINE void ask_far(const syi_wilder_prices *x, int64_t column, int count)
{
    uintptr_t at = (uintptr_t)column * sizeof(double);
    for (; count > 0; at += SYI_LINE * sizeof(double), count -= SYI_LINE) {
        syi_ask_far((uintptr_t)x->close + at);
        if (IS_RANGE) {
            syi_ask_far((uintptr_t)x->high + at);
            syi_ask_far((uintptr_t)x->low + at);
        }
    }
}

#if SYI_HAVE_VECTORS

/* Columns as they lie in the row side by side. */
SYI_INLINE void spread(const double *from, int64_t steps, double (*to)[LANES])
{
    for (int l = 0; l < LANES; l += SYI_VECTOR)
        for (int64_t i = 0; i < steps; i += SYI_VECTOR) {
            syi_vec r[SYI_VECTOR];
            syi_vec_columns(from + l * steps + i, steps, r);
            for (int k = 0; k < SYI_VECTOR; k++)
                syi_vec_store(to[i + k] + l, r[k]);
        }
}

#else

/* The same. */
SYI_INLINE void spread(const double *from, int64_t steps, double (*to)[LANES])
{
    for (int64_t i = 0; i < steps; i++)
        for (int l = 0; l < LANES; l++)
            to[i][l] = from[l * steps + i];
}

#endif

#if SYI_HAVE_VECTORS

#define GROUPS (LANES / SYI_VECTOR)

typedef struct group_sum {
    syi_vec high, low;
} group_sum;

SYI_INLINE void add_to(group_sum *sum, syi_vec high, syi_vec low, sums *to, int first)
{
    syi_vec lost;
    syi_vec_two_sum(sum->high, high, &sum->high, &lost);
    sum->low += lost + low;
    syi_vec_store(to->high + first, sum->high);
    syi_vec_store(to->low + first, sum->low);
}

/* The sums of each stretch from 0. The tile behind the one at x is asked for. */
SYI_INLINE void sum_up(const weights *w, tile *t, const syi_wilder_prices *x, int has_rest)
{
    const syi_bits_vec signs = (syi_bits_vec){0} + (UINT64_C(1) << 63);
    for (int q = 0; q < GROUPS; q++) {
        const int first = q * SYI_VECTOR;
        group_sum total = {{0}, {0}}, up = {{0}, {0}};
        for (int64_t i = 0; i < t->steps; i++) {
            const syi_vec high = syi_vec_of(w->high[i]), low = syi_vec_of(w->low[i]);
            if (q == 0)
                ask_far(x, t->ahead + i * LANES, LANES);
            syi_vec term = syi_vec_load(t->term[i] + first), product = high * term;
            syi_vec rest = syi_vec_fma(low, term, syi_vec_fma(high, term, -product));
            if (has_rest)
                rest = syi_vec_fma(high, syi_vec_load(t->rest[i] + first), rest);
            if (!IS_RANGE) {
                syi_bits_vec sign = (syi_bits_vec)product & signs;
                syi_bits_vec gain = (syi_bits_vec)(product > (syi_vec){0});
                add_to(&up, (syi_vec)((syi_bits_vec)product & gain),
                       (syi_vec)((syi_bits_vec)rest & gain), &t->up[i], first);
                product = (syi_vec)((syi_bits_vec)product ^ sign);
                rest = (syi_vec)((syi_bits_vec)rest ^ sign);
            }
            add_to(&total, product, rest, &t->total[i], first);
        }
    }
}

#else

SYI_INLINE void add_to(sums *sum, int l, double high, double low)
{
    syi_dd s = syi_dd_of_sum(sum->high[l], high);
    sum->high[l] = s.high;
    sum->low[l] += s.low + low;
}

/* The same. */
SYI_INLINE void sum_up(const weights *w, tile *t, const syi_wilder_prices *x, int has_rest)
{
    sums total = {{0.0}, {0.0}}, up = {{0.0}, {0.0}};
    for (int64_t i = 0; i < t->steps; i++) {
        const double high = w->high[i], low = w->low[i];
        ask_far(x, t->ahead + i * LANES, LANES);
        for (int l = 0; l < LANES; l++) {
            double term = t->term[i][l], product = high * term;
            double rest = fma(low, term, fma(high, term, -product));
            if (has_rest)
                rest = fma(high, t->rest[i][l], rest);
            if (IS_RANGE) {
                add_to(&total, l, product, rest);
            } else {
                add_to(&total, l, fabs(product), product < 0.0 ? -rest : rest);
                add_to(&up, l, product > 0.0 ? product : 0.0, product > 0.0 ? rest : 0.0);
            }
        }
        t->total[i] = total;
        if (!IS_RANGE)
            t->up[i] = up;
    }
}

#endif

/* The start of each lane from that of the first, which becomes the one after the last lane:
 * start' = b^steps * (start + sum). */
SYI_INLINE void chain_starts(syi_dd power, const sums *sum, syi_dd *start, sums *starts)
{
    double high[LANES], low[LANES];
    for (int l = 0; l < LANES; l++) {
        high[l] = power.high * sum->high[l];
        low[l] = fma(power.high, sum->high[l], -high[l]);
        low[l] += fma(power.high, sum->low[l], power.low * sum->high[l]);
    }
    for (int l = 0; l < LANES; l++) {
        double product = power.high * start->high;
        double rest = fma(power.high, start->high, -product);
        syi_dd next = syi_dd_of_sum(product, high[l]);
        starts->high[l] = start->high;
        starts->low[l] = start->low;
        rest = fma(power.high, start->low, fma(power.low, start->high, rest));
        *start = (syi_dd){next.high, (next.low + low[l]) + rest};
    }
    *start = syi_dd_of_ordered(start->high, start->low);
}

/* What is left of a sum after the tile, rounded up. */
SYI_INLINE double kept_of(syi_dd power)
{
    double kept = power.high * (1.0 + 0x1p-40);
    for (int lanes = 1; lanes < LANES; lanes *= 2)
        kept *= kept * (1.0 + 0x1p-40);
    return kept;
}

/* A sum that a tile can start from. Where only the state behind it is wanted, it may be off by
 * anything: the error is that of a sum of terms alone. */
SYI_INLINE int is_fit(const syi_deviation *sum, double kept, int is_seen)
{
    if (sum->value.high == 0.0)
        return !is_seen || sum->error == 0.0;
    return sum->value.high * kept >= LEAST_SUM &&
           (!is_seen || sum->error <= MOST_LOOSE * sum->value.high);
}

/* Moves one of the state's sums past the tile. */
SYI_INLINE void chain(const weights *w, const tile *t, const sums *last, syi_deviation *sum,
                      sums *starts)
{
    syi_dd start = syi_dd_multiply(w->b.b, sum->value);
    chain_starts(t->left.power, last, &start, starts);
    sum->value = syi_dd_multiply(w->back, start);
    sum->error = fma(kept_of(t->left.power), sum->error, SUM_ERROR * sum->value.high);
}

/* What a result inherits from a sum, relative to it. */
SYI_INLINE double looseness(const syi_deviation *sum)
{
    double own = sum->value.high == 0.0 ? 0.0 : sum->error / sum->value.high;
    return (own + SUM_ERROR) * (SYI_FINE * (1.0 + 0x1p-40));
}

/* Sums up the tile's terms from the state, which is moved past it; returns the relative error that
 * its outputs have at most. */
SYI_INLINE double sum_tile(const weights *w, tile *t, const syi_wilder_prices *x,
                           syi_wilder_state *s, int has_rest)
{
    double error = LAST_ERROR + looseness(&s->total) + (IS_RANGE ? 0.0 : looseness(&s->up));
    if (has_rest)
        sum_up(w, t, x, 1);
    else
        sum_up(w, t, x, 0);
    chain(w, t, &t->total[t->steps - 1], &s->total, &t->total_start);
    if (!IS_RANGE)
        chain(w, t, &t->up[t->steps - 1], &s->up, &t->up_start);
    return error;
}

#endif
