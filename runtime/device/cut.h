/* How a slab is cut for the threads of the host. */
#ifndef SYI_DEVICE_CUT_H
#define SYI_DEVICE_CUT_H

#include "device/job.h"

typedef struct syi_cut {
    int threads;
    int past_cache;          /* as in syi_piece */
    int64_t row_tiles;       /* of the slab's stretch of a row */
    int64_t piece_columns;   /* of a piece, whole tiles */
    int64_t pieces_per_row;  /* of the slab's stretch of a row */
    int64_t pieces, at_once; /* how many a thread takes at once */
} syi_cut;

/* For `threads` at most. */
syi_cut syi_cut_of(const syi_job *job, const syi_slab *slab, int threads);

#endif
