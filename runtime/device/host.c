/*
 * The pieces of a slab (device/cut.h) are shared out to threads: each begins with its own stretch
 * of them, the same in every call, so that it meets what its caches still hold; then it helps where
 * some are left.
 */
#include "device/host.h"

#include "base/arithmetic.h"
#include "base/mem.h"
#include "device/cursor.h"
#include "device/cut.h"
#include "device/desk.h"
#include "device/partials.h"
#include "device/team.h"
#include "traffic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Threads that have a stretch of their own; more share theirs. */
enum { MOST_STRETCHES = 64 };

/* Pieces that are still to be taken; alone in its line. */
typedef struct stretch {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} stretch;

typedef struct host_pass {
    const syi_job *job;
    const syi_slab *slab;
    const syi_view *view;
    syi_isa isa;
    syi_cut cut;
    unsigned char *partials; /* REDUCE: of the slab's tiles */
    atomic_bool failed;
    pthread_mutex_t collecting;
    syi_outcome *outcome;
    sy_status status; /* of the first thread that failed */
    sy_error error;
    int stretches;
    stretch *stretch;
} host_pass;

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

/* Of windows that go on from row to row those of each row's first columns are none. */
static void blank_rows(const syi_piece *piece, const syi_workload *workload)
{
    const sy_segment *segment = &piece->segment;
    const int64_t warmup = workload->warmup(segment->params);
    for (int k = 0; k < workload->n_outputs; k++)
        for (int64_t row = segment->columns; row < segment->count; row += segment->columns)
            for (int64_t i = row; i < row + warmup; i++)
                segment->out[k][i] = syi_nan();
}

static sy_status run_kernel(const syi_piece *piece, const syi_workload *workload, syi_isa isa)
{
    const syi_run_fn run = workload->run[isa] ? workload->run[isa] : workload->run[SYI_ISA_BASE];
    if (workload->user)
        return run_user(piece, workload);
    SYI_TRY(run(piece));
    if (workload->pattern == SY_PATTERN_WINDOW && piece->segment.count > piece->segment.columns)
        blank_rows(piece, workload);
    return SY_OK;
}

/* As run_elements(), of floats that the kernel takes. */
static sy_status run_floats(const syi_job *job, const syi_view *view, int64_t from, int64_t to,
                            syi_piece *piece, syi_isa isa)
{
    const float *in[SYI_MAX_ARRAYS];
    float *out[SYI_MAX_ARRAYS];
    for (int k = 0; k < job->workload->n_inputs; k++)
        in[k] = (const float *)view->in[k] + from;
    for (int k = 0; k < job->workload->n_outputs; k++)
        out[k] = view->out[k] ? (float *)view->out[k] + to : NULL;
    piece->in_floats = in;
    piece->out_floats = out;
    return run_kernel(piece, job->workload, isa);
}

/* Runs a piece whose segment has everything but its arrays: its first column is element `from` of
 * the view's inputs and element `to` of its outputs, of which some may be NULL. */
static sy_status run_elements(const syi_job *job, const syi_view *view, int64_t from, int64_t to,
                              syi_piece *piece, syi_isa isa, syi_desk *desk)
{
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
    if (job->dtype == SY_F32 && job->workload->takes_floats)
        return run_floats(job, view, from, to, piece, isa);
    if (job->dtype == SY_F32) {
        SYI_TRY(syi_desk_lay(desk, job, view, from, piece, isa));
        SYI_TRY(run_kernel(piece, job->workload, isa));
        syi_desk_clear(desk, job, view, to, piece->segment.count, isa);
        return SY_OK;
    }
    for (int k = 0; k < job->workload->n_inputs; k++)
        in[k] = (const double *)view->in[k] + from;
    for (int k = 0; k < job->workload->n_outputs; k++)
        out[k] = view->out[k] ? (double *)view->out[k] + to : NULL;
    piece->segment.in = in;
    piece->segment.out = out;
    return run_kernel(piece, job->workload, isa);
}

/* Columns of the row that a part has before its own ones, of which column `at` is the first. What
 * begins with a block needs nothing of the one before but what is gone through then, too. */
static int64_t columns_before(const host_pass *pass, int64_t at, int goes_on)
{
    const int64_t visible = pass->slab->left + at, block = syi_job_block(pass->job);
    const int64_t first = pass->slab->first + at, left = syi_job_left(pass->job, first, goes_on);
    int64_t wanted = left;
    if (pass->cut.left < left && !syi_job_is_seeding(pass->job, first))
        wanted = pass->cut.left;
    if (block > 0) /* or where a tile does, which is where slabs begin */
        wanted -= block - SYI_TILE - first % block;
    return visible < wanted ? visible : wanted;
}

/* Where the part of a piece ends that begins with column `at`; the piece goes on to `last`. Where
 * an exact recurrence begins with a guess, the part has few columns, for they are computed again
 * where that was wrong (exec/merge.c). */
static int64_t part_end(const host_pass *pass, const syi_piece *piece, int is_chain, int64_t at,
                        int64_t last)
{
    const int is_guess = is_chain && !piece->start && piece->segment.left < piece->segment.first;
    const int64_t tiles = 2 * pass->cut.left / SYI_TILE + 1,
                  few = SYI_TILE * (tiles < 4 ? 4 : tiles);
    const int64_t first = pass->slab->first, unit = pass->cut.unit;
    int64_t end = last;
    if (last - at > pass->cut.part_columns) /* a unit at least */
        end = (first + at + pass->cut.part_columns) / unit * unit - first;
    return is_guess && end - at >= 4 * few ? at + few : end;
}

/* Runs the next part of a piece, column `from` of the view's inputs and column `to` of its outputs
 * on. The state at its end goes to *before, where the next one's start may be. */
static sy_status run_part(const host_pass *pass, int64_t from, int64_t to, syi_piece *piece,
                          syi_carry *before, syi_desk *desk, syi_outcome *found)
{
    const sy_segment *segment = &piece->segment;
    syi_link link;
    if (pass->job->workload->pattern != SY_PATTERN_RECURRENCE || segment->count >= segment->columns)
        return run_elements(pass->job, pass->view, from, to, piece, pass->isa, desk);
    link = (syi_link){segment->row, segment->first, segment->count, {{0}}, {{0}}};
    piece->assumed = &link.assumed;
    piece->end = &link.end;
    SYI_TRY(run_elements(pass->job, pass->view, from, to, piece, pass->isa, desk));
    *before = link.end;
    return syi_outcome_add_link(found, &link);
}

/* Runs a piece; what it finds goes to the calling thread's `found`. The user's reductions may take
 * less than a microsecond for it, and meanwhile the processor loads nothing of the next one: so
 * `piece` comes with what is the same in all. It may go by parts, of which a recurrence's begin
 * with the state at the end of the one before; of an exact one the first part, too, where `is_next`
 * says that *before is the state at the end of the piece on the left. */
static sy_status run_piece(const host_pass *pass, const syi_cursor *here, syi_piece *piece,
                           int is_next, syi_carry *before, syi_desk *desk, syi_outcome *found)
{
    const syi_slab *slab = pass->slab;
    const syi_workload *workload = pass->job->workload;
    const int is_recurrence = workload->pattern == SY_PATTERN_RECURRENCE;
    const int is_chain = syi_job_is_chain(pass->job);
    const int64_t row = here->row * pass->view->stride;
    const int64_t last = here->end < slab->columns ? here->end : slab->columns;
    sy_segment *segment = &piece->segment;
    segment->row = slab->row + here->row;
    piece->start = is_chain && is_next ? before : NULL;
    for (int64_t at = here->first; at < last; at += segment->count) {
        if (pass->partials)
            piece->partials =
                pass->partials +
                (size_t)((here->row * pass->cut.columns + at) / SYI_TILE) * workload->partial_size;
        segment->first = slab->first + at;
        segment->left = columns_before(pass, at, piece->start != NULL);
        segment->count = here->rows * (part_end(pass, piece, is_chain, at, last) - at);
        piece->behind =
            (slab->rows - 1 - here->row) * pass->view->stride + slab->columns - at - segment->count;
        SYI_TRY(run_part(pass, row + at + slab->left, row + at, piece, before, desk, found));
        piece->start = is_recurrence ? before : NULL;
    }
    return SY_OK;
}

/* The next pieces for a thread, from the first stretch that is not empty, its own first; false when
 * all are. */
static bool take(host_pass *pass, int thread, int *empty, syi_cursor *here, int64_t *end)
{
    const syi_cut *cut = &pass->cut;
    for (; *empty < pass->stretches; ++*empty) {
        stretch *stretch = &pass->stretch[(thread + *empty) % pass->stretches];
        const int64_t index = atomic_fetch_add(&stretch->next, cut->at_once);
        if (index >= stretch->end)
            continue;
        *here = syi_cursor_at(cut, index);
        *end = index + cut->at_once < stretch->end ? index + cut->at_once : stretch->end;
        return true;
    }
    return false;
}

/* A thread's share: takes pieces until none is left. */
static sy_status run_pieces(host_pass *pass, int thread, syi_outcome *found)
{
    const syi_arithmetic saved = syi_arithmetic_enter();
    syi_piece piece = {.segment = {.columns = pass->job->columns, .params = pass->job->params},
                       .is_claim = 1,
                       .doubts = &found->doubts,
                       .past_cache = pass->cut.past_cache,
                       .asks = syi_gains_by_asking(),
                       .waits = syi_waits_for_writes(),
                       .products = syi_divides_slowly()};
    syi_desk desk = {.past_cache = pass->cut.past_cache};
    sy_status status = SY_OK;
    syi_cursor here = {0};
    syi_carry before;
    int64_t end = 0, done = -2; /* the piece that ended with `before` */
    int empty = 0;
    while (status == SY_OK && !atomic_load(&pass->failed)) {
        if (here.index == end && !take(pass, thread, &empty, &here, &end))
            break;
        here.rows =
            end - here.index < pass->cut.rows_at_once ? end - here.index : pass->cut.rows_at_once;
        status = run_piece(pass, &here, &piece, here.piece > 0 && here.index == done + 1, &before,
                           &desk, found);
        done = here.index;
        syi_cursor_step(&pass->cut, &here);
        if (status != SY_OK)
            atomic_store(&pass->failed, 1);
    }
    syi_past_done();
    syi_desk_free(&desk);
    syi_arithmetic_leave(saved);
    return status;
}

/* Adds what the thread found, as a rule nothing; keeps the first failure. */
static void run_share(void *argument, int thread)
{
    host_pass *pass = argument;
    syi_outcome found = {0};
    sy_status status = run_pieces(pass, thread, &found), merged;
    if (status == SY_OK && found.n_links == 0 && found.doubts.count == 0)
        return; /* they end at once, and would wait for each other longer than for their pieces */
    pthread_mutex_lock(&pass->collecting);
    merged = syi_outcome_merge(pass->outcome, &found);
    status = status != SY_OK ? status : merged;
    if (status != SY_OK && pass->status == SY_OK) {
        pass->status = status;
        pass->error = *sy_last_error();
    }
    pthread_mutex_unlock(&pass->collecting);
}

static void share_out(host_pass *pass, stretch *stretch)
{
    const int64_t pieces = pass->cut.pieces, beside = pass->cut.beside;
    const int64_t groups = (pieces + beside - 1) / beside;
    const int count = pass->cut.threads < MOST_STRETCHES ? pass->cut.threads : MOST_STRETCHES;
    int64_t begin = 0;
    pass->stretches = count;
    pass->stretch = stretch;
    for (int k = 0; k < count; k++, begin = stretch[k - 1].end) {
        atomic_init(&stretch[k].next, begin);
        stretch[k].end = begin + beside * (groups / count + (k < groups % count));
        if (stretch[k].end > pieces)
            stretch[k].end = pieces;
    }
}

static sy_status run_threads(host_pass *pass)
{
    stretch stretch[MOST_STRETCHES];
    share_out(pass, stretch);
    if (pass->cut.threads == 1)
        return run_pieces(pass, 0, pass->outcome);
    pthread_mutex_init(&pass->collecting, NULL);
    syi_team_run(pass->cut.threads, pass->job->outside, run_share, pass);
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
                      .cut = syi_cut_of(job, slab, options->threads),
                      .partials = partials,
                      .outcome = found};
    return run_threads(&pass);
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
    syi_desk desk = {0};
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
    syi_past_done();
    syi_arithmetic_leave(saved);
    syi_desk_free(&desk);
    return status;
}
