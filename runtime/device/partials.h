/*
 * The partials of a reduction between the devices and the merge. The merge folds a row's tiles in a
 * canonical tree: neighbours pairwise, a last one without a neighbour passes as it is. Its lower
 * levels are folded here as the tiles come, so that what is kept is little however long a row is.
 */
#ifndef SYI_DEVICE_PARTIALS_H
#define SYI_DEVICE_PARTIALS_H

#include "device/job.h"

/* Of a REDUCE job, whose `partials` it becomes. Where a seed shall put the tiles into another order
 * first, and for a user's workload, whose functions are not called before the merge, each tile is
 * kept by itself. */
sy_status syi_partials_create(const syi_job *job, syi_partials **out);
void syi_partials_destroy(syi_partials **partials);

/* Takes the partials of `count` tiles from `tile` on, which are overwritten. Tiles may come in any
 * order and again, then with the same bits; several threads may call. */
sy_status syi_partials_put(const syi_job *job, int64_t tile, int64_t count,
                           unsigned char *partials);

/* When all tiles have come: nodes of the tree, `*count` neighbours a row, row after row. */
sy_status syi_partials_nodes(const syi_job *job, unsigned char **nodes, int64_t *count);

/* Folds neighbours, which are overwritten, into the first one. */
sy_status syi_partials_fold(const syi_job *job, unsigned char *nodes, int64_t count);

#endif
