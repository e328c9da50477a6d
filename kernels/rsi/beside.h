/* Short rows of rsi in fast accuracy, side by side (fast/beside.h). */
#ifndef SYI_KERNELS_RSI_BESIDE_H
#define SYI_KERNELS_RSI_BESIDE_H

#include "fast/beside.h"
#include "rsi/fast.h"

#if SYI_HAVE_VECTORS

/* The sums of the moves of columns 1 .. seed of each row: of one that is a gain, by `sign`. */
SYI_INLINE syi_vector sums_beside(const syi_vector *close, int64_t seed, double sign)
{
    const syi_vector none = {0};
    syi_vector move[SYI_BESIDE_SEED];
    for (int64_t i = 0; i < seed; i++)
        move[i] = syi_larger(none, sign * (close[i + 1] - close[i]));
    return syi_beside_sum(move, seed);
}

/* A step's gains and losses. */
SYI_INLINE void moves_beside(const syi_walk *walk, int64_t at, syi_vector *before, syi_vector *gain,
                             syi_vector *loss)
{
    const syi_vector none = {0};
    syi_beside_load(walk, 0, at, loss);
    for (int i = 0; i < SYI_STEP; i++) {
        const syi_vector close = loss[i], move = close - *before;
        gain[i] = syi_larger(move, none);
        loss[i] = gain[i] - move;
        *before = close;
    }
}

/* A step's columns [from, to) of gains become values, of losses sums of both; *held is the value
 * before them, which stays where hardly anything is left, or always if it `forgets`. */
SYI_INLINE void divide_beside(int64_t from, int64_t to, int forgets, syi_vector *gain,
                              syi_vector *loss, syi_vector *held)
{
    syi_bits_vec faint = {0};
    for (int64_t i = from; i < to; i++) {
        loss[i] += gain[i];
        faint |= (syi_bits_vec)(loss[i] < SYI_RSI_FAINT);
        gain[i] = SYI_RSI_OF(gain[i], loss[i]);
    }
    for (int64_t i = from; i < to && syi_vec_any(faint); i++) {
        gain[i] = syi_vec_pick((syi_bits_vec)(loss[i] < SYI_RSI_FAINT), *held, gain[i]);
        *held = forgets ? *held : gain[i];
    }
    *held = forgets ? *held : gain[to - 1];
}

static uint8_t syi_rsi_beside(const void *of_both, const syi_walk *walk)
{
    const syi_chain chain = *(const syi_chain *)of_both;
    const int64_t columns = syi_beside_columns(walk), seed = walk->seed;
    const int64_t first = seed / SYI_STEP * SYI_STEP;
    syi_beside_chain gains = {0}, losses = {0};
    syi_vector close[SYI_BESIDE_SEED], before = {0}, held = before + SYI_RSI_STILL;
    syi_beside_first(walk, 0, seed + 1, close);
    const syi_vector up = sums_beside(close, seed, 1.0), down = sums_beside(close, seed, -1.0);
    if (first > 0)
        before = close[first - 1];
    for (int64_t at = first; at < columns; at += SYI_STEP) {
        const int64_t left = columns - at, count = left < SYI_STEP ? left : SYI_STEP;
        syi_vector gain[SYI_STEP], loss[SYI_STEP];
        moves_beside(walk, at, &before, gain, loss);
        if (at == first) {
            syi_beside_begin(gain, seed - at, up);
            syi_beside_begin(loss, seed - at, down);
        }
        syi_beside_step(&chain, &gains, gain);
        syi_beside_step(&chain, &losses, loss);
        divide_beside(at < seed ? seed - at : 0, count, seed == 1, gain, loss, &held);
        syi_beside_store(walk, 0, at, gain);
    }
    return syi_beside_sound(&losses, up + down);
}

#endif

#endif
