/*
 * Exponential smoothing in vectors whose elements, the lanes, are stretches of one row. For
 * y' = y + a * (x - y) the value is y = pivot + high + low; `high` is a multiple of a grid's unit
 * g, `low` a few of them:
 *
 *     e = x_high - high;   high' = high + a * e, to a multiple of g;
 *     low' = b * low + a * x_low + (a * e - (high' - high)),   b = 1 - a
 *
 * with x - pivot = x_high + x_low. `high` is held with `shift` = 3/2 * 2^52 g added, so that it is
 * rounded by being added to. That is ten operations, and nothing is lost but in `low`. Where the
 * last bits of the values are worth at least g, as those of prices that move little are, x_low is
 * 0, and x_high with the shift is x plus one number, which as a rule is a double: seven operations.
 *
 * Pivot and grid are chosen anew every few columns, a block, from what the values need: the pivot
 * is a value of the row, so that on a flat stretch, where y decays towards it, the grid becomes
 * finer with what is left. A bound of the error goes along (in units of SYI_FINE).
 *
 * The error of a step, in units of g / 2^53. Let |x - pivot| and |high| be below 2^50 g / room. The
 * result of the innermost fma is at most 1/2 g; with the rest of a, 3/4 g; with x_low, 5/4 g, or
 * 3/4 + a * |x_low| / g; so |low| stays below L = (3/4 + a |x_low| / g) / a + 2. Four roundings,
 * and a and b not being doubles, make 4 + 3 a |x_low| / g + 2 L at most.
 */
#ifndef SYI_KERNELS_RECURRENCE_STAGE_H
#define SYI_KERNELS_RECURRENCE_STAGE_H

#include "exact/columns.h"
#include "recurrence/phase.h"

#if SYI_HAVE_VECTORS

/* g in units of the largest power of two in the block, and the shift in those of g. */
#define SYI_STAGE_UNIT  0x1p-49
#define SYI_STAGE_SHIFT 12.0
/* Below this nothing is refined: the bound's own bits must remain. */
#define SYI_STAGE_FLOOR 0x1p-800
/* A low that is smaller is subnormal within a block, or soon after. */
#define SYI_STAGE_LEAST 0x1p-960
/* 1 / 2^53, in units of SYI_FINE. */
#define SYI_STAGE_LOSS (0x1p-53 * SYI_PER_FINE)

/* The longest block, in columns. */
#define SYI_STAGE_BLOCK 64

typedef struct syi_stage_terms {
    syi_vec a, rest, b;               /* a + rest = 2 / (p + 1) */
    double low_most;                  /* |low| in units of g, */
    double low_more;                  /* and that by which it grows in a block, but for x_low */
    double noise;                     /* what a block adds to the error, per g, */
    double noise_low;                 /* or per |low| */
    double left[SYI_STAGE_BLOCK + 1]; /* of an error after so many columns, rounded up */
    double decay;                     /* the same after a whole block */
} syi_stage_terms;

/* `high` without the shift between blocks, with it inside of one. */
typedef struct syi_stage {
    syi_vec high, low, error;
} syi_stage;

/* Field by field, so that the compiler keeps it in registers. */
SYI_INLINE syi_stage syi_stage_copy(const syi_stage *s)
{
    return (syi_stage){s->high, s->low, s->error};
}

/* `input_low` bounds |x_low| in units of g. */
SYI_INLINE syi_stage_terms syi_stage_terms_of(double period, double input_low, int block)
{
    syi_dd a = syi_dd_divide((syi_dd){2.0, 0.0}, period + 1.0);
    double b = (period - 1.0) / (period + 1.0), columns = 0.5 * (period + 1.0) * (1.0 + 0x1p-40);
    syi_stage_terms k = {.a = syi_vec_of(a.high), .rest = syi_vec_of(a.low), .b = syi_vec_of(b)};
    k.left[0] = 1.0;
    for (int i = 1; i <= SYI_LINE; i++)
        k.left[i] = k.left[i - 1] * (b * (1.0 + 0x1p-48));
    for (int i = SYI_LINE + 1; i <= block; i++) /* which wait less for each other */
        k.left[i] = k.left[i - SYI_LINE] * (k.left[SYI_LINE] * (1.0 + 0x1p-48));
    k.decay = k.left[block];
    k.low_most = 0.75 * columns + input_low + 2.0;
    k.low_more = 0.75 * block + 2.0;
    columns = columns < block ? columns : block;
    k.noise_low = SYI_STAGE_LOSS * 2.0 * (columns + 1.0);
    k.noise = k.noise_low * (2.5 + 1.5 * input_low + k.low_most);
    return k;
}

/* The pivot moves by `by` + `by_low` (of which the sum is rounded once). */
SYI_INLINE void syi_stage_move(syi_stage *s, syi_vec by, syi_vec by_low)
{
    syi_vec high, rest, low;
    syi_vec_two_sum(s->high, -by, &high, &rest);
    low = s->low + (rest - by_low);
    s->error += (syi_vec_abs(rest) + syi_vec_abs(by_low) + syi_vec_abs(low)) *
                syi_vec_of(2.0 * SYI_STAGE_LOSS);
    syi_vec_two_sum(high, low, &s->high, &s->low);
}

/* On to the grid, and with the shift. A low that no grid will ever take up is let go before it is
 * subnormal, where a processor may take a hundred times as long for a product. */
SYI_INLINE void syi_stage_enter(syi_stage *s, syi_vec shift)
{
    syi_vec shifted = s->high + shift, low = s->low + (s->high - (shifted - shift));
    syi_vec size = syi_vec_abs(low);
    syi_bits_vec kept = (syi_bits_vec)(size >= SYI_STAGE_LEAST);
    s->error += (syi_vec)((syi_bits_vec)size & ~kept) * syi_vec_of(2.0 * SYI_PER_FINE);
    s->low = (syi_vec)((syi_bits_vec)low & kept);
    s->high = shifted;
}

/* x_high has the shift, too. `even`: x_low is 0, whatever it says. */
SYI_INLINE void syi_stage_step(syi_stage *s, const syi_stage_terms *k, syi_vec x_high,
                               syi_vec x_low, int even)
{
    syi_vec e = x_high - s->high, next = syi_vec_fma(k->a, e, s->high);
    syi_vec rest = syi_vec_fma(k->rest, e, syi_vec_fma(k->a, e, s->high - next));
    s->low = syi_vec_fma(k->b, s->low, even ? rest : syi_vec_fma(k->a, x_low, rest));
    s->high = next;
}

/* What has been taken up after `count` columns of an error of x. */
SYI_INLINE double syi_stage_gain(const syi_stage_terms *k, int count)
{
    return 1.0 - k->left[count] + 0x1p-36;
}

/* The most that |low| is in a block that begins with it; `input_low` bounds |x_low|. */
SYI_INLINE syi_vec syi_stage_low(const syi_stage_terms *k, syi_vec low, syi_vec input_low,
                                 syi_vec unit)
{
    const syi_vec more = syi_vec_fma(unit, syi_vec_of(k->low_more), input_low);
    return syi_vec_min(unit * syi_vec_of(k->low_most), syi_vec_abs(low) + more);
}

/* What a block adds to the error in which |low| is so large at most. */
SYI_INLINE syi_vec syi_stage_noise(const syi_stage_terms *k, syi_vec low, syi_vec input_low,
                                   syi_vec unit)
{
    const syi_vec inputs = syi_vec_fma(unit, syi_vec_of(2.5), input_low * syi_vec_of(1.5));
    return (inputs + low) * syi_vec_of(k->noise_low);
}

/* After `count` columns of a block, which add `noise` to the error; `input_error` is that of x. */
SYI_INLINE void syi_stage_leave(syi_stage *s, const syi_stage_terms *k, syi_vec shift,
                                syi_vec noise, syi_vec input_error, int count)
{
    s->high -= shift;
    s->error = s->error * syi_vec_of(k->left[count]) + noise +
               input_error * syi_vec_of(syi_stage_gain(k, count));
}

/* What is held for a lane between blocks, as its distance from where the pivot is `pivot` away;
 * that may be off by `pivot_error`. */
SYI_INLINE syi_deviation syi_stage_deviation(const syi_stage *s, int lane, syi_dd pivot,
                                             double pivot_error)
{
    const syi_dd value = syi_dd_add(pivot, syi_dd_of_sum(s->high[lane], s->low[lane]));
    return (syi_deviation){value, s->error[lane] + pivot_error + SYI_DD_ERROR * fabs(value.high)};
}

/* What a block's values are held with. */
typedef struct syi_stage_grid {
    syi_vec pivot, shift, raise, unit; /* raise: shift - pivot */
    /* Whether x - pivot is a multiple of the unit for all x, and `raise` exact. */
    syi_bits_vec even;
} syi_stage_grid;

/* For x from least to most and magnitudes below `size`, times `room`. A number's last bit is worth
 * 2^-52 of its binade. */
SYI_INLINE void syi_stage_choose(syi_stage_grid *grid, syi_vec least, syi_vec most, syi_vec size,
                                 double room)
{
    syi_vec smallest = syi_vec_min(syi_vec_abs(least), syi_vec_abs(most));
    const syi_vec binade = syi_vec_binade(syi_vec_max(size, syi_vec_of(SYI_STAGE_FLOOR)));
    syi_vec unit = binade * syi_vec_of(room * SYI_STAGE_UNIT), rest;
    grid->shift = binade * syi_vec_of(room * SYI_STAGE_SHIFT);
    grid->unit = (syi_vec)((syi_bits_vec)unit & (syi_bits_vec)(size > 0.0));
    syi_vec_two_sum(grid->shift, -grid->pivot, &grid->raise, &rest);
    grid->even = (syi_bits_vec)(grid->unit * 0x1p52 <= smallest) & (syi_bits_vec)(rest == 0.0);
}

/* x_high with the shift, and x_low where it is not `even`. */
SYI_INLINE syi_vec syi_stage_high(const syi_stage_grid *grid, syi_vec x, int even, syi_vec *low)
{
    const syi_vec part = x - grid->pivot, high = even ? x + grid->raise : part + grid->shift;
    *low = part - (high - grid->shift);
    return high;
}

/* Whether x - pivot is exact for all x from least to most, the pivot being one of them. */
SYI_INLINE syi_bits_vec syi_stage_is_near(syi_vec least, syi_vec most)
{
    syi_vec a = syi_vec_abs(least), b = syi_vec_abs(most);
    syi_vec larger = syi_vec_max(a, b), smaller = syi_vec_min(a, b);
    return (syi_bits_vec)(smaller + smaller >= larger) & (syi_bits_vec)(least * most > 0.0);
}

/* Of all lanes. */
SYI_INLINE int syi_stage_is_even(const syi_stage_grid *grid)
{
    return !syi_vec_any(~grid->even);
}

#endif
#endif
