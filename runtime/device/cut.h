/* How a slab is cut for the threads of the host. */
#ifndef SYI_DEVICE_CUT_H
#define SYI_DEVICE_CUT_H

#include "device/job.h"

typedef struct syi_cut {
    int threads;
    int past_cache;          /* as in syi_piece */
    int64_t row_tiles;       /* of the slab's stretch of a row */
    int64_t pieces_per_row;  /* of the slab's stretch of a row */
    int64_t pieces, at_once; /* how many a thread takes at once */
    /* 1, or as many whole rows are run as one piece, best some multiple of `beside` of them. */
    int64_t rows_at_once, beside;
} syi_cut;

/* The first tile of a row's piece `k`; behind the last piece, the row's end. So many tiles in so
 * many pieces, none of which has more than one beyond another. */
static inline int64_t syi_cut_tile(const syi_cut *cut, int64_t k)
{
    const int64_t rest = cut->row_tiles % cut->pieces_per_row;
    return cut->row_tiles / cut->pieces_per_row * k + (rest ? rest * k / cut->pieces_per_row : 0);
}

/* For `threads` at most. */
syi_cut syi_cut_of(const syi_job *job, const syi_slab *slab, int threads);

#endif
