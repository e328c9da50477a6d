/* What a device is asked to do, and how a span of tiles lies in memory. */
#ifndef SYI_DEVICE_JOB_H
#define SYI_DEVICE_JOB_H

#include "base/arithmetic.h"
#include "device/element.h"
#include "kernel.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct syi_trace syi_trace;       /* trace.h */
typedef struct syi_partials syi_partials; /* partials.h */

/* A distribution as its devices see it: the whole arrays, read-only but for `out`, of which every
 * device writes its own tiles' part. */
typedef struct syi_job {
    const syi_workload *workload;
    const double *params;
    int64_t rows, columns;
    sy_dtype dtype;
    const void *const *in; /* as in sy_work */
    void *const *out;
    const struct syi_places *places; /* of `in` and `out` (place.h); NULL: all in plain memory */
    syi_partials *partials;          /* REDUCE: where those of the tiles go */
    /* REDUCE: the seed of the merge, and what the seeds 1 .. n_seeds give, one array per output,
     * [n_seeds][rows]. `moves`: the seeds do move the result (fast accuracy). */
    uint64_t seed;
    int moves;
    int64_t n_seeds;
    double *const *seeded;
    struct syi_gate *gate;
    syi_trace *trace;              /* NULL: nobody wants it */
    struct syi_arena *memory;      /* of the call, for its own thread */
    const syi_arithmetic *outside; /* its caller's; NULL: not known */
    int threads;                   /* of the context's CPU; 0: it has none */
} syi_job;

/* Tiles are numbered row by row: tile = row * tiles_per_row + column / SYI_TILE. */
typedef struct syi_tiles {
    int64_t first, count;
} syi_tiles;

int64_t syi_tiles_per_row(int64_t columns);
int64_t syi_job_tiles(const syi_job *job);
/* The last tile of a row may be shorter than the others. */
int64_t syi_tiles_elements(const syi_job *job, syi_tiles span);
int64_t syi_job_halo(const syi_job *job);
/* Whether it is an exact recurrence, whose pieces go on from each other. What is never in doubt, in
 * fast accuracy, consists of blocks that begin anew. */
int syi_job_is_chain(const syi_job *job);
/* Whether an exact recurrence has no value yet before column `first` of a row: to go on there it
 * needs all that is before, as its first value does. */
int syi_job_is_seeding(const syi_job *job, int64_t first);
/* Columns before a piece that its kernel gets, whose first column is `first`: the halo, but few
 * where it `goes_on`, from the state at an exact recurrence's end. */
int64_t syi_job_left(const syi_job *job, int64_t first, int goes_on);
/* Of the workload's blocks; 0: it has none. */
int64_t syi_job_block(const syi_job *job);
/* Of the units that a GPU cuts its slabs into. The workload has a GPU form. */
int64_t syi_job_unit_columns(const syi_job *job);

/* A stretch of a span that is one contiguous piece of every array: a part of one row, or whole
 * rows. `left` columns before `first` belong to it as inputs (0 for whole rows). */
typedef struct syi_slab {
    int64_t row, rows;
    int64_t first, columns, left;
    int64_t tile, tiles;
} syi_slab;

/* Tiles of a row that a reduction folds together. */
#define SYI_TILE_GROUP 64

/* Cuts the next slab of at most `max_tiles` tiles (>= 1) off the front of the span. Longer ones end
 * where those groups of tiles do, or a recurrence's blocks. */
syi_slab syi_slab_take(const syi_job *job, syi_tiles *span, int64_t max_tiles);

/* Elements of an input of this slab, with its `left`; and of one output. */
int64_t syi_slab_inputs(const syi_slab *slab);
int64_t syi_slab_outputs(const syi_job *job, const syi_slab *slab);

/* Where a slab's elements (of the job's dtype) are: in[k] at (slab.row, slab.first - slab.left),
 * out[k] at (slab.row, slab.first), rows `stride` elements apart. */
typedef struct syi_view {
    const void *in[SYI_MAX_ARRAYS];
    void *out[SYI_MAX_ARRAYS];
    int64_t stride;
} syi_view;

syi_view syi_view_of_job(const syi_job *job, const syi_slab *slab);

/* One piece of a recurrence that is not a whole row: the state it took at its beginning and the one
 * it reached. The executor checks that neighbours agree. */
typedef struct syi_link {
    int64_t row, first, columns;
    syi_carry assumed, end;
} syi_link;

/* What a device has done of a span, and what it found. */
typedef struct syi_outcome {
    int64_t tiles_done; /* a prefix of the span; the rest is to be redone elsewhere */
    int64_t elements_done;
    double copy_in_ms, compute_ms, copy_out_ms, busy_ms;
    int retries;
    syi_doubts doubts;
    syi_link *links;
    int64_t n_links, links_capacity;
    int64_t joined; /* the first so many links have been joined where they can be */
} syi_outcome;

/* Columns of a joined link at most: what has to be computed again at once when its left neighbour
 * turns out to have ended otherwise. */
#define SYI_LINK_MOST (64 * SYI_TILE)

sy_status syi_outcome_add_link(syi_outcome *outcome, const syi_link *link);
/* Joins neighbours that agree, so that short pieces of a long row do not fill the memory. Only when
 * every tile of the outcome's links counts as done. */
void syi_outcome_join_links(syi_outcome *outcome, const syi_workload *workload);
/* Moves everything of `from` to `into`, or nothing on failure; `from` is left empty. */
sy_status syi_outcome_merge(syi_outcome *into, syi_outcome *from);
void syi_outcome_clear(syi_outcome *outcome);

/* Counts tiles done over all devices and asks the caller whether to go on. */
typedef struct syi_gate {
    sy_progress_fn progress;
    void *user;
    int64_t tiles, asked_at;
    _Atomic int64_t done;
    atomic_bool cancelled;
    pthread_mutex_t asking;
} syi_gate;

void syi_gate_init(syi_gate *gate, sy_progress_fn progress, void *user, int64_t tiles);
void syi_gate_destroy(syi_gate *gate);
/* SY_ERR_CANCELLED once the caller has asked to stop. */
sy_status syi_gate_pass(syi_gate *gate, int64_t tiles);

#endif
