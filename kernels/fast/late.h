/*
 * Outputs that are written past the cache one behind the other (syi_lags): what is made of a column
 * at the same time waits in rings, but for the first output, which is behind none.
 */
#ifndef SYI_KERNELS_FAST_LATE_H
#define SYI_KERNELS_FAST_LATE_H

#include "fast/vector.h"

/* Columns that outputs are apart, and of a ring: of all lags and what is made at once. */
enum { SYI_LATE_UNIT = 64, SYI_LATE_RING = 512, SYI_LATE_OUTPUTS = 3 };

typedef struct syi_late {
    _Alignas(64) double ring[SYI_LATE_OUTPUTS - 1][SYI_LATE_RING];
    int64_t lag[SYI_LATE_OUTPUTS];
} syi_late;

SYI_INLINE void syi_late_keep(syi_late *late, int k, int64_t column, syi_vector what)
{
    SYI_STORE(&late->ring[k - 1][column % SYI_LATE_RING], what);
}

SYI_INLINE syi_vector syi_late_kept(const syi_late *late, int k, int64_t column)
{
    return SYI_LOAD(&late->ring[k - 1][column % SYI_LATE_RING]);
}

#endif
