/*
 * The rolling kernels' shared engine. The data of a stretch are integers times a power of two, so
 * the window's sum and its sum of squares slide along exactly, by adding the newest and dropping
 * the oldest value: nothing drifts, and where a row is cut cannot matter. Rounding is certified
 * from double-double values; what is not certified is decided by comparing integers.
 */
#ifndef SYI_KERNELS_WINDOW_H
#define SYI_KERNELS_WINDOW_H

#include "isa.h"

#define SYI_MAX_PERIOD 16777216.0

typedef enum syi_window_kind {
    SYI_WINDOW_MEAN,      /* out[0] */
    SYI_WINDOW_DEVIATION, /* out[0] */
    SYI_WINDOW_SCORE,     /* out[0]: (newest value - mean) / deviation */
    SYI_WINDOW_BANDS      /* out[0..2]: mean + width * deviation, mean, mean - width * deviation */
} syi_window_kind;

typedef struct syi_window {
    syi_window_kind kind;
    int64_t period, ddof;
    double width;
} syi_window;

SYI_INLINE int syi_window_outputs(syi_window_kind kind)
{
    return kind == SYI_WINDOW_BANDS ? 3 : 1;
}

SYI_ISA_DECLARE_AS(sy_status, syi_window_run, (const syi_piece *piece, const syi_window *window));

/* The parameter lists' common members: params[0] is the period. */
#define SYI_PERIOD_PARAM                                                                           \
    {                                                                                              \
        .name = "period", .summary = "columns in the window", .min = 1, .max = SYI_MAX_PERIOD,     \
        .fallback = 20, .is_integer = 1                                                            \
    }
#define SYI_DDOF_PARAM                                                                             \
    {                                                                                              \
        .name = "ddof", .summary = "what is taken from the count in the variance's divisor",       \
        .min = 0, .max = SYI_MAX_PERIOD, .fallback = 0, .is_integer = 1                            \
    }

/* period - 1, which is both the halo and the first column with a value. */
int64_t syi_window_halo(const double *params);
/* The longest windows that go by stretches (window/stretches.h), and those for which short rows are
 * run beside each other (window/rows.h). */
#define SYI_STRETCH_PERIOD 512
#define SYI_BESIDE_PERIOD  128

/* Of rows that are no longer most columns of a long window would be computed in vain. */
int64_t syi_window_joined_from(const double *params);
/* The same in fast accuracy, where scanned windows (fast/scan.h) mind the rows themselves. */
int64_t syi_spread_joined_from(const double *params);
/* The same of exact deviations, scores and bands, which mind the rows themselves. */
int64_t syi_squares_joined_from(const double *params);
sy_status syi_window_check(double period, double ddof);
/* Decides a stretch of a whole row by computing it alone. */
sy_status syi_window_repair(const sy_segment *row, int64_t first, int64_t last, int n_outputs,
                            syi_run_fn run);

#endif
