/*
 * Scanned windows whose results go past the cache: whole lines, evenly among the computing of
 * others, for a burst of them is waited for. Until then they are kept, those of bands as what they
 * are made of: where a vector is a line, and there are several outputs, in rings, which leave the
 * near caches to what is computed; else until the batch has been computed.
 */
#ifndef SYI_KERNELS_FAST_SCAN_PAST_H
#define SYI_KERNELS_FAST_SCAN_PAST_H

#include "fast/scan.h"
#include "fast/spread_task.h"

/* What a window's results are made of, and columns of a lane at most. */
enum { PARTS = SYI_SPREAD_KIND == SYI_WINDOW_BANDS ? 2 : 1, SCAN_LANE_PAST = 1024 };

/* A lane's columns, a block before them, and where its results go. */
typedef struct scan_lane {
    const double *x, *before;
    double *to[OUTPUTS];
} scan_lane;

/* Makes results of their parts. */
SYI_INLINE void scan_results(const syi_vector *part, syi_vector *out)
{
    if (SYI_SPREAD_KIND == SYI_WINDOW_BANDS)
        syi_scan_bands(part[0], part[1], out);
    else
        out[0] = part[0];
}

SYI_INLINE void scan_put(double *to, syi_vector row, int count)
{
    if (count == SYI_WIDTH)
        SYI_STORE(to, row);
    else
        memcpy(to, &row, (size_t)count * sizeof *to);
}

/* Puts the results of a lane's columns from `first` on. */
SYI_INLINE void scan_put_results(const scan_lane *lane, int64_t first, int count,
                                 const syi_vector *part)
{
    syi_vector out[OUTPUTS];
    scan_results(part, out);
    for (int j = 0; j < OUTPUTS; j++)
        scan_put(lane->to[j] + first, out[j], count);
}

/* Puts columns that are no whole line, of which there are the parts. */
static void scan_put_columns(double *const *out, const double *const *part, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const syi_vector zero = {0};
        const syi_vector here[] = {zero + part[0][i], zero + part[PARTS - 1][i]};
        syi_vector result[OUTPUTS];
        scan_results(here, result);
        for (int j = 0; j < OUTPUTS; j++)
            out[j][i] = result[j][0];
    }
}

#if SYI_WIDTH == 8 && SYI_SPREAD_OUTPUTS > 1
#include "fast/scan_rings.h"
#else
#include "fast/scan_kept.h"
#endif

#endif
