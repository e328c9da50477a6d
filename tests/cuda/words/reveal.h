/*
 * Makes the kernels that are included behind it show what they round: in the place of a result
 * stand 62 bits that depend on every bit of its high and its low half and of its error bound. What
 * decides about doubts stays as it is.
 */
#ifndef TESTS_CUDA_WORDS_REVEAL_H
#define TESTS_CUDA_WORDS_REVEAL_H

#include "exact/approx.h"
#include "exact/dd.h"

/* A small positive number, so that whoever multiplies it or hands it on keeps it; all NaNs are one.
 */
SYI_INLINE double reveal_words(double high, double low, double error)
{
    const double word[3] = {high, low, error};
    uint64_t mix = 0;
    for (int i = 0; i < 3; i++) {
        mix ^= word[i] != word[i] ? 1 : syi_bits(word[i]);
        mix = (mix ^ mix >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return syi_from_bits((mix ^ mix >> 29) >> 2);
}

SYI_INLINE double reveal_approx(syi_approx a, double unit, double *doubt)
{
    syi_settle(a, unit, doubt);
    return reveal_words(a.high, a.low, a.error);
}

SYI_INLINE double reveal_dd(syi_dd value, double error, double *out)
{
    double doubt = syi_dd_settle(value, error, out);
    *out = reveal_words(value.high, value.low, error);
    return doubt;
}

#define syi_settle    reveal_approx
#define syi_dd_settle reveal_dd

#endif
