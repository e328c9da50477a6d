/*
 * Long lanes: where the lanes of a slab are much longer than a wrong start takes to decay, they
 * need not run twice. Only the last columns of each, its run-in, are run from a guess; what they
 * end with is claimed to be the start of the next lane, with an error. Then all lanes run and
 * write, block by block, and the end of each says whether what was claimed of the next one's start
 * was true.
 */
#ifndef SYI_KERNELS_RECURRENCE_LONG_H
#define SYI_KERNELS_RECURRENCE_LONG_H

#include "recurrence/stage.h"

#if SYI_HAVE_VECTORS

/* By how much more the guess may be off than the values of a run-in are apart: as far as a spike
 * before them goes. */
#define SYI_LONG_FAR      0x1p44
#define SYI_LONG_FAR_BITS 44.0
/* Columns of a lane in units of those of its run-in: with fewer, running twice is as good; with
 * more, the run-ins hardly count. */
#define SYI_LONG_LEAST 2
#define SYI_LONG_MOST  64

/* Columns that are run from a guess, whole blocks of so many. */
SYI_INLINE int64_t syi_long_run_in(double period, int block)
{
    int64_t columns = syi_decay_columns(period, SYI_HALO_BITS + SYI_LONG_FAR_BITS);
    return (columns + block - 1) / block * block;
}

/* A stretch's long lanes. */
typedef struct syi_long_plan {
    int64_t run_in, lanes, block;
    int64_t less; /* a lane's last block has so many columns less than the others */
    int64_t next; /* before this column they are not tried again */
} syi_long_plan;

/* Columns of each lane from column `at` on, an odd number of blocks, so that few lanes are in the
 * same sets of a cache, but for `less`; 0: too few are left, or short lanes are better. */
SYI_INLINE int64_t syi_long_length(const syi_long_plan *plan, int64_t at, int64_t to)
{
    const int64_t most = SYI_LONG_MOST * plan->run_in / plan->block;
    int64_t blocks = (to - at) / plan->lanes / plan->block;
    blocks = blocks < most ? blocks : most;
    blocks -= blocks % 2 == 0;
    if (at < plan->next || blocks * plan->block < SYI_LONG_LEAST * plan->run_in)
        return 0;
    return blocks * plan->block - plan->less;
}

/* They were tried at column `at` and came so far: where something was wrong, what follows is as a
 * rule no better. */
SYI_INLINE void syi_long_tried(syi_long_plan *plan, int64_t at, int64_t length, int64_t reached)
{
    if (reached < at + plan->lanes * length)
        plan->next = reached + plan->lanes * length;
}

/* What is claimed of an average that a run-in ends with; `left`: what is left there of a guess, in
 * which the values were so far apart. */
SYI_INLINE syi_deviation syi_long_claim(syi_deviation end, double left, double apart)
{
    double guess = left * (SYI_LONG_FAR * SYI_PER_FINE) * apart;
    return (syi_deviation){end.value, syi_claimed_error(end.error) + guess};
}

/* How far some lanes' values have been apart. */
typedef struct syi_long_range {
    syi_vec least, most;
} syi_long_range;

SYI_INLINE syi_long_range syi_long_widen(const syi_long_range *range, syi_vec least, syi_vec most)
{
    return (syi_long_range){syi_vec_min(range->least, least), syi_vec_max(range->most, most)};
}

#endif
#endif
