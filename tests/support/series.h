/*
 * Seeded series for the tests: ordinary prices, and everything that makes rolling arithmetic fail.
 * The same kind, seed and length give the same doubles everywhere.
 */
#ifndef TESTS_SUPPORT_SERIES_H
#define TESTS_SUPPORT_SERIES_H

#include <stdint.h>

typedef enum series_kind {
    SERIES_WALK,        /* geometric walk around 100 */
    SERIES_TICK,        /* the same, rounded to 0.01 */
    SERIES_SPIKES,      /* a walk with values of 1e12 now and then */
    SERIES_OFFSET,      /* 1e8 plus small noise: where a variance cancels */
    SERIES_CONSTANT,    /* one price */
    SERIES_FLATS,       /* a tick walk that often stands still, at times for long */
    SERIES_RAMP,        /* linear, every step the same */
    SERIES_SMALL_TICK,  /* near 0.0016 on a tick of 1e-4 */
    SERIES_ALTERNATING, /* +a, -a, +b, -b ... */
    SERIES_RETURNS,     /* small values around zero */
    SERIES_SUBNORMAL,   /* subnormals and zeros of both signs */
    SERIES_INTEGERS,    /* small whole numbers: ties of even windows */
    SERIES_FULL_RANGE,  /* every exponent below 2^498 (1e150) */
    SERIES_HUGE_MIX,    /* 1e149 and 1e-149 and prices: condition numbers beyond 1e16 */
    SERIES_CANCEL,      /* large values that cancel to a small sum */
    SERIES_LINES,       /* in equal steps for a while, short or long, then in others */
    SERIES_VOLUMES,     /* whole lots of many sizes, and none; at times of too many to be exact */
    SERIES_FINITE_KINDS,
    SERIES_NANS =
        SERIES_FINITE_KINDS, /* a walk with NaNs of several patterns entering and leaving */
    SERIES_INFINITIES,       /* a walk with infinities of both signs */
    SERIES_KINDS
} series_kind;

const char *series_name(series_kind kind);
void series_fill(series_kind kind, uint64_t seed, double *x, int64_t n);

/* The generator beneath (splitmix64). */
uint64_t series_bits(uint64_t *state);
double series_uniform(uint64_t *state);               /* [0, 1) */
int64_t series_below(uint64_t *state, int64_t limit); /* 0 .. limit - 1 */

#endif
