/*
 * A slab is cut into pieces, the pieces are shared out to threads. The user's workloads run tile by
 * tile, since their bits may depend on the cut; the built-in reductions go through whole tiles by
 * themselves; the other built-in workloads give the same bits for any cut, so they are cut as the
 * threads need it and the halo allows.
 */
#include "device/host.h"

#include "base/arithmetic.h"
#include "base/mem.h"
#include "device/partials.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Bytes of which a core's share of a common cache does not keep much: somewhat less is a matter of
 * who else uses it. */
#define PAST_CACHE 12582912.0

#define WORTH_A_THREAD 4

/* Tiles that a thread takes at once where nothing speaks for more: enough that a processor, which
 * looks ahead in its memory only along what it reads, reads on for long. */
#define TILES_AT_ONCE 64

typedef struct host_pass {
    const syi_job *job;
    const syi_slab *slab;
    const syi_view *view;
    syi_isa isa;
    int64_t piece_columns;  /* of a piece, whole tiles */
    int64_t pieces_per_row; /* of the slab's stretch of a row */
    int64_t halo;
    syi_past_way past_cache; /* as in syi_piece */
    int64_t row_tiles;       /* of the slab's stretch of a row */
    unsigned char *partials; /* REDUCE: of the slab's tiles */
    atomic_bool failed;
    pthread_mutex_t collecting;
    sy_status status; /* of the first thread that failed */
    sy_error error;
} host_pass;

/* Outputs go past the cache where the work's arrays are larger than what caches keep. Floats are
 * widened in a cache. */
static syi_past_way choose_past(const syi_job *job)
{
    const int64_t arrays = job->workload->n_inputs + job->workload->n_outputs;
    const double size = (double)job->rows * (double)job->columns * (double)arrays;
    return job->dtype == SY_F64 && size > PAST_CACHE / sizeof(double) ? syi_past_detect()
                                                                      : SYI_PAST_NOT;
}

/* Threads that are worth their start: each gets WORTH_A_THREAD tiles of a workload of ours, of a
 * reduction twice as many. What the user's workloads take nobody knows. */
static int choose_threads(const syi_workload *workload, const syi_slab *slab, int threads)
{
    const int64_t worth = workload->user                           ? 1
                          : workload->pattern == SY_PATTERN_REDUCE ? 2 * WORTH_A_THREAD
                                                                   : WORTH_A_THREAD;
    const int64_t most = slab->tiles / worth;
    return most >= threads ? threads : most > 1 ? (int)most : 1;
}

/* What a thread of several takes of `count` at once, at most `most`: little enough that none waits
 * long for the last one. */
static int64_t choose_share(int64_t count, int threads, int64_t most)
{
    int64_t share = threads > 1 ? count / (8 * threads) : most;
    share = share > most ? most : share;
    return share > 1 ? share : 1;
}

/* Pieces of a row that is cut: four for each thread, so that none waits long for the last one, as
 * long as their halos do not matter; else one for each thread. */
static int64_t choose_pieces(int64_t tiles, int64_t halo_tiles, int64_t enough, int threads)
{
    const int64_t worth = halo_tiles > 1 ? 2 * halo_tiles : WORTH_A_THREAD;
    const int64_t pieces = tiles / enough;
    if (pieces >= (int64_t)threads * 4)
        return (int64_t)threads * 4;
    if (pieces > threads)
        return pieces - pieces % threads;
    return tiles / worth < threads ? tiles / worth : threads;
}

/* Tiles of a reduction's piece, at most a row's. A cut costs it nothing, but taking a piece does:
 * of few tiles that is as much as adding them up. */
static int64_t choose_reduced(int64_t tiles, int64_t row_tiles, int threads)
{
    const int64_t half = tiles / (2 * threads);
    int64_t piece = choose_share(tiles, threads, TILES_AT_ONCE);
    if (piece < WORTH_A_THREAD)
        piece = half < WORTH_A_THREAD ? half : WORTH_A_THREAD;
    return piece < row_tiles ? piece : row_tiles;
}

static int64_t choose_piece_tiles(const syi_job *job, const syi_slab *slab, int threads)
{
    const int64_t halo_tiles = syi_job_halo(job) / SYI_TILE + 1;
    const int64_t enough = halo_tiles > 2 ? 8 * halo_tiles : 16;
    const int64_t tiles = (slab->columns + SYI_TILE - 1) / SYI_TILE;
    int64_t piece = tiles;
    if (job->workload->user)
        return 1;
    /* Others' rows are not cut when there are enough of them for every thread. */
    if (job->workload->pattern == SY_PATTERN_REDUCE) {
        piece = choose_reduced(slab->tiles, tiles, threads);
    } else if (threads > 1 && slab->rows < (int64_t)threads * 4) {
        const int64_t pieces = choose_pieces(tiles, halo_tiles, enough, threads);
        piece = pieces > 1 ? (tiles + pieces - 1) / pieces : tiles;
    }
    /* Floats pass through a thread's desk, which should stay in its cache. */
    if (job->dtype == SY_F32 && piece > enough)
        return enough;
    return piece > 1 ? piece : 1;
}

static sy_status run_user(const syi_piece *piece, const syi_workload *workload)
{
    const sy_workload_def *user = workload->user;
    int code = workload->pattern == SY_PATTERN_REDUCE
                   ? user->reduce(&piece->segment, piece->partials)
                   : user->compute(&piece->segment);
    syi_arithmetic_renew(); /* what a tile leaves behind must not reach the next */
    if (code != 0)
        return syi_fail_device(SY_ERR_USER, -1, code,
                               "workload '%s': its function returned %d for row %lld, columns "
                               "%lld to %lld",
                               workload->name, code, (long long)piece->segment.row,
                               (long long)piece->segment.first,
                               (long long)(piece->segment.first + piece->segment.count - 1));
    return SY_OK;
}

static sy_status run_kernel(const syi_piece *piece, const syi_workload *workload, syi_isa isa)
{
    if (workload->user)
        return run_user(piece, workload);
    return (workload->run[isa] ? workload->run[isa] : workload->run[SYI_ISA_BASE])(piece);
}

/* Where a thread widens floats and collects the doubles that become floats. */
typedef struct desk {
    double *room;
    size_t size; /* in doubles */
} desk;

static sy_status reserve(desk *desk, size_t size)
{
    if (desk->size >= size)
        return SY_OK;
    syi_free(desk->room);
    desk->size = 0;
    desk->room = syi_alloc(size, sizeof *desk->room);
    if (!desk->room)
        return syi_no_memory((uint64_t)size * sizeof *desk->room);
    desk->size = size;
    return SY_OK;
}

static sy_status run_floats(const syi_job *job, const syi_view *view, int64_t from, int64_t to,
                            syi_piece *piece, syi_isa isa, desk *desk)
{
    const syi_workload *workload = job->workload;
    const int64_t left = piece->segment.left, count = piece->segment.count;
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS], *next;
    SYI_TRY(
        reserve(desk, (size_t)(workload->n_inputs * (left + count) + workload->n_outputs * count)));
    next = desk->room;
    for (int k = 0; k < workload->n_inputs; k++, next += left + count) {
        syi_elements_load(next, (const float *)view->in[k] + from - left, SY_F32, left + count);
        in[k] = next + left;
    }
    for (int k = 0; k < workload->n_outputs; k++, next += count)
        out[k] = next;
    piece->segment.in = in;
    piece->segment.out = out;
    SYI_TRY(run_kernel(piece, workload, isa));
    for (int k = 0; k < workload->n_outputs; k++)
        if (view->out[k])
            syi_elements_store((float *)view->out[k] + to, out[k], SY_F32, count);
    return SY_OK;
}

/* Runs a piece whose segment has everything but its arrays: its first column is element `from` of
 * the view's inputs and element `to` of its outputs, of which some may be NULL. */
static sy_status run_elements(const syi_job *job, const syi_view *view, int64_t from, int64_t to,
                              syi_piece *piece, syi_isa isa, desk *desk)
{
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
    if (job->dtype == SY_F32)
        return run_floats(job, view, from, to, piece, isa, desk);
    for (int k = 0; k < job->workload->n_inputs; k++)
        in[k] = (const double *)view->in[k] + from;
    for (int k = 0; k < job->workload->n_outputs; k++)
        out[k] = view->out[k] ? (double *)view->out[k] + to : NULL;
    piece->segment.in = in;
    piece->segment.out = out;
    return run_kernel(piece, job->workload, isa);
}

/* A piece of the pass: its number, row and first column in the slab. */
typedef struct cursor {
    int64_t index, row, at;
} cursor;

static void cursor_step(const host_pass *pass, cursor *cursor)
{
    cursor->index++;
    cursor->at += pass->piece_columns;
    if (cursor->at >= pass->slab->columns) {
        cursor->row++;
        cursor->at = 0;
    }
}

/* Runs a piece; what it finds goes to the calling thread's `found`. The user's reductions may take
 * less than a microsecond for it, and meanwhile the processor loads nothing of the next one: so
 * `piece` comes with what is the same in all. */
static sy_status run_piece(const host_pass *pass, const cursor *here, syi_piece *piece, desk *desk,
                           syi_outcome *found)
{
    const syi_slab *slab = pass->slab;
    const syi_workload *workload = pass->job->workload;
    const int64_t visible = slab->left + here->at, rest = slab->columns - here->at;
    const int64_t start = here->row * pass->view->stride + here->at;
    sy_segment *segment = &piece->segment;
    syi_link link;
    segment->row = slab->row + here->row;
    segment->first = slab->first + here->at;
    segment->count = rest < pass->piece_columns ? rest : pass->piece_columns;
    segment->left = visible < pass->halo ? visible : pass->halo;
    if (pass->partials)
        piece->partials =
            pass->partials +
            (size_t)(here->row * pass->row_tiles + here->at / SYI_TILE) * workload->partial_size;
    if (workload->pattern == SY_PATTERN_RECURRENCE) {
        link = (syi_link){segment->row, segment->first, segment->count, {{0}}, {{0}}};
        piece->assumed = &link.assumed;
        piece->end = &link.end;
    }
    SYI_TRY(run_elements(pass->job, pass->view, start + slab->left, start, piece, pass->isa, desk));
    if (piece->end && segment->count < segment->columns)
        return syi_outcome_add_link(found, &link);
    return SY_OK;
}

/* One thread's part: takes pieces until none is left, `some` at once. */
static sy_status run_pieces(host_pass *pass, _Atomic int64_t *next, int64_t pieces, int64_t some,
                            syi_outcome *found)
{
    const syi_arithmetic saved = syi_arithmetic_enter();
    syi_piece piece = {.segment = {.columns = pass->job->columns, .params = pass->job->params},
                       .doubts = &found->doubts,
                       .past_cache = pass->past_cache};
    desk desk = {0};
    sy_status status = SY_OK;
    cursor here = {0, 0, 0};
    int64_t end = 0;
    while (status == SY_OK && !atomic_load(&pass->failed)) {
        if (here.index == end) {
            const int64_t index = atomic_fetch_add(next, some);
            if (index >= pieces)
                break;
            here = (cursor){index, index / pass->pieces_per_row,
                            index % pass->pieces_per_row * pass->piece_columns};
            end = index + some < pieces ? index + some : pieces;
        }
        status = run_piece(pass, &here, &piece, &desk, found);
        cursor_step(pass, &here);
        if (status != SY_OK)
            atomic_store(&pass->failed, 1);
    }
    syi_free(desk.room);
    syi_arithmetic_leave(saved);
    return status;
}

/* Adds what a thread found; keeps the first failure. */
static void collect(host_pass *pass, sy_status status, syi_outcome *found, syi_outcome *outcome)
{
    sy_status merged;
    pthread_mutex_lock(&pass->collecting);
    merged = syi_outcome_merge(outcome, found);
    status = status != SY_OK ? status : merged;
    if (status != SY_OK && pass->status == SY_OK) {
        pass->status = status;
        pass->error = *sy_last_error();
    }
    pthread_mutex_unlock(&pass->collecting);
}

/* One thread alone does without OpenMP, whose teams of one are not for nothing. */
static sy_status run_threads(host_pass *pass, int64_t pieces, int threads, syi_outcome *outcome)
{
    _Atomic int64_t next = 0;
    const int64_t piece_tiles = pass->piece_columns / SYI_TILE;
    const int64_t some = choose_share(pieces, threads, TILES_AT_ONCE / piece_tiles);
    if (threads == 1)
        return run_pieces(pass, &next, pieces, pieces, outcome);
    pthread_mutex_init(&pass->collecting, NULL);
#pragma omp parallel num_threads(threads)
    {
        syi_outcome found = {0};
        sy_status status = run_pieces(pass, &next, pieces, some, &found);
        collect(pass, status, &found, outcome);
    }
    pthread_mutex_destroy(&pass->collecting);
    if (pass->status != SY_OK)
        syi_error_adopt(&pass->error);
    return pass->status;
}

/* `partials`: where those of the slab's tiles go, zeroed; NULL: it is no reduction. */
static sy_status run_slab(const syi_job *job, const syi_slab *slab, const syi_view *view,
                          const syi_host_options *options, unsigned char *partials,
                          syi_outcome *found)
{
    host_pass pass = {.job = job,
                      .slab = slab,
                      .view = view,
                      .isa = options->isa,
                      .halo = syi_job_halo(job),
                      .past_cache = choose_past(job),
                      .partials = partials};
    int64_t piece_tiles, pieces;
    int threads = choose_threads(job->workload, slab, options->threads);
    piece_tiles = choose_piece_tiles(job, slab, threads);
    pass.row_tiles = (slab->columns + SYI_TILE - 1) / SYI_TILE;
    pass.piece_columns = piece_tiles * SYI_TILE;
    pass.pieces_per_row = (pass.row_tiles + piece_tiles - 1) / piece_tiles;
    pieces = slab->rows * pass.pieces_per_row;
    if (threads > pieces)
        threads = pieces ? (int)pieces : 1;
    return run_threads(&pass, pieces, threads, found);
}

sy_status syi_host_reduce(const syi_job *job, const syi_slab *slab, const syi_view *view,
                          const syi_host_options *options, unsigned char *partials)
{
    syi_outcome found = {0};
    sy_status status;
    memset(partials, 0, (size_t)slab->tiles * job->workload->partial_size);
    status = run_slab(job, slab, view, options, partials, &found);
    syi_outcome_clear(&found);
    return status;
}

static sy_status reduce(const syi_job *job, const syi_slab *slab, const syi_view *view,
                        const syi_host_options *options)
{
    const size_t size = job->workload->partial_size;
    unsigned char *partials = syi_alloc((size_t)slab->tiles, size);
    sy_status status;
    if (!partials)
        return syi_no_memory((uint64_t)slab->tiles * size);
    status = syi_host_reduce(job, slab, view, options, partials);
    if (status == SY_OK)
        status = syi_partials_put(job, slab->tile, slab->tiles, partials);
    syi_free(partials);
    return status;
}

sy_status syi_host_run(const syi_job *job, const syi_slab *slab, const syi_view *view,
                       const syi_host_options *options, syi_outcome *outcome)
{
    syi_outcome found = {0};
    sy_status status;
    if (job->workload->pattern == SY_PATTERN_REDUCE)
        return reduce(job, slab, view, options);
    status = run_slab(job, slab, view, options, NULL, &found);
    if (status == SY_OK)
        return syi_outcome_merge(outcome, &found);
    syi_outcome_clear(&found); /* the slab counts as not begun */
    return status;
}

sy_status syi_host_run_stretch(const syi_job *job, const syi_slab *slab, const syi_view *view,
                               const syi_carry *start, syi_isa isa, syi_carry *end,
                               syi_doubts *doubts)
{
    const syi_arithmetic saved = syi_arithmetic_enter();
    desk desk = {0};
    syi_carry assumed;
    syi_piece piece = {.start = start, .assumed = &assumed, .end = end, .doubts = doubts};
    sy_status status;
    piece.segment = (sy_segment){.first = slab->first,
                                 .count = slab->columns,
                                 .left = slab->left,
                                 .row = slab->row,
                                 .columns = job->columns,
                                 .params = job->params};
    status = run_elements(job, view, slab->left, 0, &piece, isa, &desk);
    syi_arithmetic_leave(saved);
    syi_free(desk.room);
    return status;
}
