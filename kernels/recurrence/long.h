/*
 * Long lanes: where the lanes of a slab are longer than a wrong start takes to decay, they need not
 * run twice. Only the last columns of each, its run-in, are run from a guess; what they end with is
 * claimed to be the start of the next lane, with an error. Then all lanes run and write, block by
 * block, and the end of each says whether what was claimed of the next one's start was true.
 *
 * A run-in begins in plain doubles, with which a column takes less than half of the time: what they
 * lose decays like the guess, in the columns behind them that are run as all others.
 */
#ifndef SYI_KERNELS_RECURRENCE_LONG_H
#define SYI_KERNELS_RECURRENCE_LONG_H

#include "recurrence/stage.h"

#if SYI_HAVE_VECTORS

/* By how much more the guess may be off than the values of a block are apart: as far as a spike
 * before them goes. */
#define SYI_LONG_FAR      0x1p44
#define SYI_LONG_FAR_BITS 44.0
/* Bits below those to which the guess decays, where lanes are long enough; with the least still
 * hardly a value is in doubt. */
#define SYI_LONG_MOST_BITS  SYI_HALO_BITS
#define SYI_LONG_LEAST_BITS 72.0
/* Bits of decay behind the plain doubles. */
#define SYI_LONG_EXACT_BITS 44.0
/* The longest lanes in units of their run-in, which then hardly counts. */
#define SYI_LONG_MOST 64

/* Lines of lanes that stay in a near cache, and columns that longer ones are apart within a page.
 */
enum { SYI_LONG_FEW = 512, SYI_LONG_APART = 5 * SYI_LINE };

/* A stretch's long lanes. */
typedef struct syi_long_plan {
    int64_t most, least, exact; /* columns of a run-in, whole blocks; those that are not plain */
    int64_t lanes, block;
    int64_t next; /* before this column they are not tried again */
} syi_long_plan;

SYI_INLINE syi_long_plan syi_long_plan_of(double period, int64_t lanes, int64_t block, int64_t from)
{
    const double bits[] = {SYI_LONG_MOST_BITS + SYI_LONG_FAR_BITS,
                           SYI_LONG_LEAST_BITS + SYI_LONG_FAR_BITS, SYI_LONG_EXACT_BITS};
    int64_t columns[3];
    for (int i = 0; i < 3; i++)
        columns[i] = (syi_decay_columns(period, bits[i]) + block - 1) / block * block;
    return (syi_long_plan){columns[0], columns[1], columns[2], lanes, block, from};
}

/* Columns of each lane from column `at` on; 0: too few are left, or short lanes are better. They
 * are an odd number of lines, so that not all lanes are at the same place within 256 bytes, nor,
 * where outputs lie so, too (as large arrays of malloc do), all lines that are written together:
 * for that an Intel processor takes a quarter longer. Where they are long they are apart within a
 * page (syi_lags). */
SYI_INLINE int64_t syi_long_length(const syi_long_plan *plan, int64_t at, int64_t to)
{
    const int64_t most = SYI_LONG_MOST * plan->most / SYI_LINE;
    int64_t lines = (to - at) / plan->lanes / SYI_LINE;
    lines = lines < most ? lines : most;
    lines -= lines % 2 == 0;
    while (lines > SYI_LONG_FEW && !syi_is_spread(lines * SYI_LINE, plan->lanes, SYI_LONG_APART))
        lines -= 2;
    return at < plan->next || lines * SYI_LINE < plan->least ? 0 : lines * SYI_LINE;
}

/* Columns of the run-in of lanes of such a length: no more than half of it, if so many do. */
SYI_INLINE int64_t syi_long_run_in(const syi_long_plan *plan, int64_t length)
{
    const int64_t half = length / 2 / plan->block * plan->block;
    const int64_t enough = half > plan->least ? half : plan->least;
    return enough < plan->most ? enough : plan->most;
}

/* They were tried at column `at` and came so far: where something was wrong, what follows is as a
 * rule no better. */
SYI_INLINE void syi_long_tried(syi_long_plan *plan, int64_t at, int64_t length, int64_t reached)
{
    if (reached < at + plan->lanes * length)
        plan->next = reached + plan->lanes * length;
}

/* What a lane's values are told from: that of its extremes which is no spike. */
SYI_INLINE syi_vec syi_long_pivot(syi_vec least, syi_vec most)
{
    const syi_bits_vec low = (syi_bits_vec)(syi_vec_abs(least) < syi_vec_abs(most));
    return syi_vec_pick(low, least, most);
}

/* One column of an average in plain doubles. */
SYI_INLINE syi_vec syi_long_guess(const syi_stage_terms *k, syi_vec average, syi_vec x)
{
    return syi_vec_fma(k->b, average, k->a * x);
}

/* Its error after a block of `count` of them, of values and averages up to `size` of which
 * `input_error` was known: a column loses four roundings at most. */
SYI_INLINE syi_vec syi_long_error(const syi_stage_terms *k, syi_vec error, syi_vec size,
                                  syi_vec input_error, int count)
{
    const double lost = 8.0 * SYI_STAGE_LOSS * k->low_most;
    return error * k->left[count] + size * lost + input_error * syi_stage_gain(k, count);
}

/* Bits below those of a result that a claim of what plain doubles lose decays to: hardly one is in
 * doubt. */
#define SYI_LONG_KEPT_BITS 0x1p64

/* Whether a lane's end knows nothing of what a block of plain doubles loses, of values and averages
 * up to `size`, say those behind a spike, if `left` of it is left there and results are of the size
 * of `usual`. */
SYI_INLINE int syi_long_is_forgotten(const syi_stage_terms *k, syi_vec size, syi_vec usual,
                                     double left)
{
    const double lost = syi_claimed_error(8.0 * 0x1p-53 * k->low_most * left);
    return !syi_vec_any((syi_bits_vec)(size * (lost * SYI_LONG_KEPT_BITS) > usual));
}

/* How far the values of a block are apart, in that where it is least but where they all are one. */
#define SYI_LONG_STILL 0x1p+1000
SYI_INLINE syi_vec syi_long_apart(syi_vec apart, syi_vec least, syi_vec most)
{
    const syi_vec here = most - least;
    const syi_bits_vec moves = (syi_bits_vec)(here > (syi_vec){0});
    return syi_vec_pick(moves, syi_vec_min(apart, here), apart);
}

SYI_INLINE int syi_long_is_still(syi_vec apart)
{
    return syi_vec_any((syi_bits_vec)(apart == syi_vec_of(SYI_LONG_STILL)));
}

/* What is claimed of an average that a run-in ends with; `left`: what is left there of a guess. */
SYI_INLINE syi_deviation syi_long_claim(syi_deviation end, double left, double apart)
{
    double guess = left * (SYI_LONG_FAR * SYI_PER_FINE) * apart;
    return (syi_deviation){end.value, syi_claimed_error(end.error) + guess};
}

#endif
#endif
