/* The exact sums of a tile's values and squares, which `variance` merges and rounds at the end. */
#ifndef SYI_KERNELS_VARIANCE_MOMENTS_H
#define SYI_KERNELS_VARIANCE_MOMENTS_H

#include "exact/bits.h"

/* 190 bits hold what data spanning 114 bits in a tile sum up to; what does not fit is left to the
 * repair. */
#define SUM_LIMBS     3
#define SQUARES_LIMBS 6

typedef enum moments_state {
    MOMENTS_HELD = 0,   /* the sums are there */
    MOMENTS_TOO_WIDE,   /* they did not fit */
    MOMENTS_NOT_FINITE, /* there is a NaN or an infinity */
} moments_state;

typedef struct moments {
    int32_t state, bottom;   /* the data are integers times 2^bottom */
    uint64_t sum[SUM_LIMBS]; /* two's complement */
    uint64_t squares[SQUARES_LIMBS];
} moments;

#endif
