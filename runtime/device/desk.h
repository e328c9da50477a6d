/*
 * Floats on the host: kernels compute with doubles, so a thread has a desk, where the floats of a
 * part of its piece are widened, and where the doubles lie that become floats. It is small enough
 * to stay in a core's own cache.
 */
#ifndef SYI_DEVICE_DESK_H
#define SYI_DEVICE_DESK_H

#include "device/job.h"

typedef struct syi_desk {
    int past_cache; /* the floats of results are put past it */
    double *room;
    size_t size; /* in doubles */
    /* As the segment of the piece on the desk has them. */
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
} syi_desk;

/* Columns before a part that its kernel gets: the halo, of which a recurrence does with less. */
int64_t syi_desk_left(const syi_job *job, int threads);

/* Columns of a row that are best on the desk of one of the threads at once. */
int64_t syi_desk_columns(const syi_job *job, int threads, int past_cache);
/* Of a group of rows that is better run side by side, even where it fills a second cache. */
int64_t syi_desk_rows(const syi_job *job, int threads);

/* Widens the inputs of a piece, which lacks nothing but its arrays and gets those of the desk; its
 * first column is element `from` of the view's inputs. */
sy_status syi_desk_lay(syi_desk *desk, const syi_job *job, const syi_view *view, int64_t from,
                       syi_piece *piece, syi_isa isa);

/* Narrows the results to element `to` of the view's outputs on, of which some may be NULL. */
void syi_desk_clear(const syi_desk *desk, const syi_job *job, const syi_view *view, int64_t to,
                    int64_t count, syi_isa isa);

void syi_desk_free(syi_desk *desk);

#endif
