/* How a slab is cut for the threads of the host. */
#ifndef SYI_DEVICE_CUT_H
#define SYI_DEVICE_CUT_H

#include "device/job.h"

typedef struct syi_cut {
    int threads;
    int past_cache; /* as in syi_piece */
    /* The slab's stretch of a row, whose pieces begin at multiples of `unit` columns of the row;
     * where tiles are not cut it has whole ones. All but the first go through `before` columns more
     * than are theirs, and than it does. */
    int64_t first, columns, unit, before;
    int64_t pieces_per_row;
    int64_t share, rest;     /* of all that they go through each piece's, and what is left then */
    int64_t pieces, at_once; /* how many a thread takes at once */
    int64_t part_columns;    /* of a piece, that are run at once, */
    int64_t left;            /* and those before them that its kernel gets, at most */
    /* 1, or as many whole rows are run as one piece, best some multiple of `beside` of them. */
    int64_t rows_at_once, beside;
} syi_cut;

/* The slab's column with which a row's piece `k` begins; behind the last piece, its end. The pieces
 * have as much to do, but for a unit. */
static inline int64_t syi_cut_column(const syi_cut *cut, int64_t k)
{
    const int64_t pieces = cut->pieces_per_row;
    int64_t at = cut->share * k + (cut->rest ? cut->rest * k / pieces : 0);
    if (k == 0 || k == pieces)
        return k ? cut->columns : 0;
    at += cut->first - (k - 1) * cut->before + cut->unit / 2;
    return at / cut->unit * cut->unit - cut->first;
}

/* Columns of a piece that one of the threads runs at once. */
int64_t syi_part_columns(const syi_job *job, int threads, int past_cache);

/* For `threads` at most. */
syi_cut syi_cut_of(const syi_job *job, const syi_slab *slab, int threads);

#endif
