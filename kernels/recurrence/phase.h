/*
 * How far a recurrence has come in its row, the same for all of them.
 *
 * A piece that sees the row's beginning starts exactly. Any other assumes that the series was
 * constant before the columns it can see, with an error as large as the data; they let that error
 * decay, and what remains of it is claimed as the bound. Whether the claim is true the executor
 * asks `agrees`, from left to right.
 */
#ifndef SYI_KERNELS_RECURRENCE_PHASE_H
#define SYI_KERNELS_RECURRENCE_PHASE_H

#include "isa.h"
#include "recurrence/deviation.h"

/* How a recurrence begins. */
#define SYI_SEED_PARAM                                                                             \
    {                                                                                              \
        "seed_with", "begin with the mean of a period, or with the first value", 0, 1, 0, 1,       \
            (const char *const[])                                                                  \
        {                                                                                          \
            "sma", "first", NULL                                                                   \
        }                                                                                          \
    }

typedef enum syi_phase {
    SYI_PHASE_UNSET,
    SYI_PHASE_BEFORE,  /* no value yet */
    SYI_PHASE_SEEDING, /* macd: the first values are being averaged into the signal's start */
    SYI_PHASE_RUNNING,
    SYI_PHASE_HUGE,    /* beyond the range of the fast arithmetic: everything is in doubt */
    SYI_PHASE_POISONED /* a NaN or infinity has been met */
} syi_phase;

/* Bits of decay that make an assumed start as good as the arithmetic; columns that a piece may ask
 * for at most: beyond, the chain of states takes over. */
#define SYI_HALO_BITS 112.0
#define SYI_HALO_MOST INT64_C(4194304)

SYI_INLINE int64_t syi_recurrence_halo(int64_t seeded, int64_t decay)
{
    int64_t most = decay < SYI_HALO_MOST ? decay : SYI_HALO_MOST;
    return seeded > most ? seeded : most;
}

/* The phase that a value outside of the range leads to. */
SYI_INLINE syi_phase syi_phase_after(double x)
{
    return syi_is_finite(x) ? SYI_PHASE_HUGE : SYI_PHASE_POISONED;
}

SYI_INLINE syi_phase syi_phase_of_seed(const double *x, int64_t count, syi_phase next)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(x[i]) <= SYI_HUGE)) {
            next = syi_phase_after(x[i]);
            if (next == SYI_PHASE_POISONED)
                break;
        }
    return next;
}

/* By how much an assumed deviation may be wrong: the chain of states checks it, so it may be
 * guessed. Constant data make it 0, and then nothing of it comes into doubt. */
SYI_INLINE double syi_assumed_error(const double *x, int64_t count)
{
    double least = x[0], most = x[0];
    for (int64_t i = 0; i < count; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    return 8.0 * SYI_PER_FINE * (most - least);
}

/* Equal steps from value to value. */
SYI_INLINE int syi_is_straight(const double *x, int64_t count)
{
    int64_t bends = 0;
    for (int64_t i = 2; i < count; i++)
        bends += (x[i] - x[i - 1]) - (x[i - 1] - x[i - 2]) != 0.0;
    return bends == 0;
}

/* Room for the left neighbour's own error, however faint: it cuts its columns into other blocks,
 * whose grids may be coarser and, behind a halt or a spike, whose bounds may be others by as much
 * as a block decays. A claim that is not true costs a piece or a lane; with a room of 2^20 and more
 * columns at their beginnings are in doubt. */
SYI_INLINE double syi_claimed_error(double error)
{
    return 0x1p+16 * error + 0x1p-1000;
}

/* What the phases alone say: 1 agreed, 0 not, -1 that the values decide. `from_start`: the piece
 * saw the row's beginning, so it knows. */
SYI_INLINE int syi_phase_agrees(double from_start, double assumed, double known)
{
    if (from_start != 0.0 || assumed == SYI_PHASE_POISONED)
        return 1;
    if (assumed != known)
        return 0;
    return known == SYI_PHASE_RUNNING ? -1 : 1;
}

SYI_INLINE void syi_fill_nan(double *out, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        out[i] = syi_nan();
}

#endif
