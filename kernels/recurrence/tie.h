/*
 * Averages that lie in the middle between two doubles but for what is left of long ago. Where an
 * average y' = y + (x - y) / 2^shift has stood so near to a double that this is what is put for it,
 * a few columns later it is a fraction of integers, and a rest that has the sign of what was left
 * before, but is smaller. Where the fraction is such a middle, the sign tells to which double the
 * average rounds: that needs no wider arithmetic.
 */
#ifndef SYI_KERNELS_RECURRENCE_TIE_H
#define SYI_KERNELS_RECURRENCE_TIE_H

#include "exact/bits.h"
#include "exact/wide.h"

/* Bits of the inputs in their common unit, and by which columns add to them: with a sign they fit
 * in 128. And the largest shift: what is put may be a bit further off than half its last bit, which
 * one column makes up for. */
enum { SYI_TIE_INPUTS = 62, SYI_TIE_MORE = 64, SYI_TIE_SHIFT = 32 };

/* The middle between the doubles (odd - 1) * 2^power and (odd + 1) * 2^power; `odd` has 54 bits. */
typedef struct syi_tie {
    uint64_t odd;
    int power, negative;
} syi_tie;

/* The shift of a factor 2 / (period + 1), or 0 if it is none, or too large. */
SYI_INLINE int syi_tie_shift(int64_t period)
{
    const uint64_t half = (uint64_t)(period + 1) / 2;
    const int is_power = period % 2 == 1 && (half & (half - 1)) == 0;
    return is_power && half >> SYI_TIE_SHIFT == 0 ? __builtin_ctzll(half) : 0;
}

/* Whether the average that begins as x[0] and takes up x[1] to x[count] becomes a middle. A rest of
 * up to half the last bit of x[0] must not reach the next one. */
static inline int syi_tie_find(const double *x, int64_t count, int shift, syi_tie *tie)
{
    const syi_span span = syi_measure(x, count + 1);
    syi_i128 sum;
    syi_u128 size;
    int zeros = 0;
    if (span.has_non_finite || span.top - span.bottom > SYI_TIE_INPUTS ||
        count * shift > SYI_TIE_MORE)
        return 0;
    sum = syi_wide_value(x[0], span.bottom);
    for (int64_t k = 1; k <= count; k++) {
        const syi_i128 value = syi_wide_value(x[k], span.bottom);
        sum = sum * ((INT64_C(1) << shift) - 1) + value * ((syi_i128)1 << (k - 1) * shift);
    }
    size = syi_magnitude(sum);
    if ((uint64_t)size == 0) {
        zeros = 64;
        size >>= 64;
    }
    if (size == 0)
        return 0;
    zeros += __builtin_ctzll((uint64_t)size);
    size >>= __builtin_ctzll((uint64_t)size);
    tie->odd = (uint64_t)size;
    tie->power = span.bottom + zeros - (int)count * shift;
    tie->negative = sum < 0;
    return size >> 53 == 1 && tie->power >= syi_split(x[0]).exponent - 1 && tie->power < 900;
}

/* The double that is next to it, on the side of the larger ones or not. */
SYI_INLINE double syi_tie_round(const syi_tie *tie, int is_above)
{
    const uint64_t is_away = is_above != tie->negative;
    const double size = (double)(tie->odd / 2 + is_away) * syi_pow2(tie->power + 1);
    return tie->negative ? -size : size;
}

/* The one that is even, where nothing is left. */
SYI_INLINE double syi_tie_even(const syi_tie *tie)
{
    return syi_tie_round(tie, (tie->odd & 2 ? 1 : 0) != tie->negative);
}

/* Columns from `first` on: inputs, and what is put for their averages, x[i * stride] and
 * y[i * stride]. Where x[0] begins its row the stride is 1, and all inputs are there. */
typedef struct syi_tie_past {
    const double *x, *y;
    int64_t stride, first;
    int is_row;
} syi_tie_past;

/* Whether the average is put as the input. */
SYI_INLINE int syi_tie_stands(const syi_tie_past *past, int64_t i)
{
    return past->y[i * past->stride] == past->x[i * past->stride];
}

/* The sign of what an average is above the input at a column where it stands; 0 if that can't be
 * told. As long as the input is the same, so is the sign. */
static inline int syi_tie_side(const syi_tie_past *past, int64_t at)
{
    const double input = past->x[at * past->stride];
    int64_t i = at;
    while (i >= past->first && past->x[i * past->stride] == input && syi_tie_stands(past, i))
        i--;
    if (i < past->first)
        return 0;
    return (past->y[i * past->stride] > input) - (past->y[i * past->stride] < input);
}

/* Whether nothing but one input has been in a row. */
static inline int syi_tie_is_nothing_left(const syi_tie_past *past, int64_t at)
{
    return past->is_row && syi_count_still(past->x, past->x[at], at) == at;
}

/* Whether column i's average is a tie; then *y becomes what it rounds to. */
static inline int syi_tie_settle(const syi_tie_past *past, int64_t i, int shift, double *y)
{
    double x[SYI_TIE_MORE + 1];
    const int64_t most = SYI_TIE_MORE / shift;
    int64_t stood = i - 1;
    syi_tie tie;
    int side;
    while (stood >= past->first && !syi_tie_stands(past, stood) && i - stood < most)
        stood--;
    if (stood < past->first || !syi_tie_stands(past, stood))
        return 0;
    for (int64_t k = stood; k <= i; k++)
        x[k - stood] = past->x[k * past->stride];
    if (!syi_tie_find(x, i - stood, shift, &tie))
        return 0;
    if (syi_tie_is_nothing_left(past, stood)) {
        *y = syi_tie_even(&tie);
        return 1;
    }
    side = syi_tie_side(past, stood);
    if (side != 0)
        *y = syi_tie_round(&tie, side > 0);
    return side != 0;
}

#endif
