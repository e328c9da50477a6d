/* Ratios to whole numbers of tiles. Pure. */
#ifndef SYI_MODEL_SHARE_H
#define SYI_MODEL_SHARE_H

#include "base/error.h"

/* Divides `tiles` by `ratios` (>= 0, sum > 0) with the largest-remainder method: each gets the
 * whole part of its quota, what is left goes to the largest remainders, the lower index first on
 * ties. The shares add up to `tiles`. */
sy_status syi_share_tiles(const double *ratios, int count, int64_t tiles, int64_t *shares);

/* Gives one tile of the largest share to everybody who has a ratio and no tile, if there are enough
 * for all. */
void syi_share_with_all(const double *ratios, int count, int64_t *shares);

#endif
