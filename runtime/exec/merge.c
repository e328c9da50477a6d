/* What remains after the devices: states across cuts, partial sums, roundings in doubt. */
#include "exec/reduce.h"
#include "exec/run.h"

#include "base/arithmetic.h"
#include "base/mem.h"
#include "device/partials.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static int by_position(const void *left, const void *right)
{
    const syi_link *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Columns that are fetched at a time of an array that the host cannot address: 8 MiB. */
#define FETCHED (256 * SYI_TILE)

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Computes a link's columns again from the true state before them. */
static sy_status run_again(const syi_job *job, const syi_carry *start, syi_link *link,
                           syi_doubts *doubts)
{
    const int64_t halo = syi_job_halo(job);
    const int64_t most = syi_job_addressable(job) ? link->columns : FETCHED;
    syi_carry state = *start;
    for (int64_t done = 0; done < link->columns; done += most) {
        syi_slab slab = {.row = link->row,
                         .rows = 1,
                         .first = link->first + done,
                         .columns = smaller(most, link->columns - done)};
        syi_stage stage;
        sy_status status;
        slab.left = smaller(halo, slab.first);
        SYI_TRY(syi_stage_open(job, &slab, 0, &stage));
        status = syi_host_run_stretch(job, &slab, &stage.view, &state, syi_isa_detect(), &link->end,
                                      doubts);
        if (status == SY_OK)
            status = syi_stage_write(job, &slab, &stage);
        syi_stage_close(&stage);
        SYI_TRY(status);
        state = link->end;
    }
    return SY_OK;
}

/* A piece whose assumed beginning does not agree with its left neighbour's end (a NaN or a huge
 * value far to the left) is run again from the true state. */
static sy_status chain(const syi_job *job, syi_outcome *all)
{
    if (all->n_links)
        qsort(all->links, (size_t)all->n_links, sizeof *all->links, by_position);
    for (int64_t i = 1; i < all->n_links; i++) {
        const syi_link *before = &all->links[i - 1];
        syi_link *here = &all->links[i];
        if (here->row != before->row || job->workload->agrees(&here->assumed, &before->end))
            continue;
        SYI_TRY(run_again(job, &before->end, here, &all->doubts));
    }
    return SY_OK;
}

/* Part of a row to be repaired: the slab's columns, of which the outputs are there, and everything
 * to their left that may matter. */
typedef struct patch {
    syi_slab slab;
    syi_stage stage;
} patch;

/* What the decision of columns [first, last) reads of a row: of a window just the windows, as if
 * the row began there. */
static int64_t begin_of_need(const syi_job *job, int64_t first)
{
    int64_t halo = syi_job_halo(job);
    return job->workload->pattern == SY_PATTERN_WINDOW && first > halo ? first - halo : 0;
}

/* The same as `repair` for floats: the row is widened as far as it is needed. */
static sy_status repair_floats(const syi_job *job, const patch *patch, void *const *reduced,
                               int64_t first, int64_t last, syi_seen *seen)
{
    const syi_workload *workload = job->workload;
    const syi_slab *slab = &patch->slab;
    const int64_t begin = begin_of_need(job, first), count = last - begin;
    const int64_t made = reduced ? 1 : count, skipped = reduced ? 0 : first - begin;
    const size_t size = (size_t)(workload->n_inputs * count + workload->n_outputs * made);
    double *room = syi_alloc(size, sizeof *room), *next = room, *out[SYI_MAX_ARRAYS];
    const double *in[SYI_MAX_ARRAYS];
    sy_segment segment = {in, out, 0, count, 0, slab->row, count, job->params};
    sy_status status;
    if (!room)
        return syi_no_memory((uint64_t)size * sizeof *room);
    for (int k = 0; k < workload->n_inputs; k++, next += count) {
        const void *from =
            syi_element_in(patch->stage.view.in[k], SY_F32, begin - (slab->first - slab->left));
        syi_elements_load(next, from, SY_F32, count);
        in[k] = next;
    }
    for (int k = 0; k < workload->n_outputs; k++, next += made)
        out[k] = next;
    status = workload->repair(&segment, first - begin, last - begin, seen);
    for (int k = 0; status == SY_OK && k < workload->n_outputs; k++)
        syi_elements_store(
            reduced ? reduced[k]
                    : syi_element_out(patch->stage.view.out[k], SY_F32, first - slab->first),
            out[k] + skipped, SY_F32, made - skipped);
    syi_free(room);
    return status;
}

/* The address of column 0 of an array that begins at column `first`: what lies before is not looked
 * at, and need not be there. */
static uintptr_t row_start(const void *array, int64_t first)
{
    return (uintptr_t)array - (uintptr_t)first * sizeof(double);
}

/* Of a reduction `reduced` is where its values go; else NULL, the outputs are the patch's. */
static sy_status repair(const syi_job *job, const patch *patch, void *const *reduced, int64_t first,
                        int64_t last, syi_seen *seen)
{
    const double *in[SYI_MAX_ARRAYS];
    double *row_out[SYI_MAX_ARRAYS];
    const syi_slab *slab = &patch->slab;
    sy_segment segment = {in, row_out, 0, job->columns, 0, slab->row, job->columns, job->params};
    syi_arithmetic saved = syi_arithmetic_enter();
    sy_status status;
    for (int k = 0; k < job->workload->n_inputs; k++)
        in[k] = (const double *)row_start(patch->stage.view.in[k], slab->first - slab->left);
    for (int k = 0; k < job->workload->n_outputs; k++)
        row_out[k] =
            reduced ? reduced[k] : (double *)row_start(patch->stage.view.out[k], slab->first);
    if (job->dtype == SY_F32)
        status = repair_floats(job, patch, reduced, first, last, seen);
    else
        status = job->workload->repair(&segment, first, last, seen);
    syi_arithmetic_leave(saved);
    return status;
}

static int by_row_and_first(const void *left, const void *right)
{
    const syi_doubt *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Doubts of one tile are decided together, since each decision walks its tile. */
static int64_t join_doubts(syi_doubts *doubts)
{
    int64_t kept = 0;
    if (doubts->count)
        qsort(doubts->list, (size_t)doubts->count, sizeof *doubts->list, by_row_and_first);
    for (int64_t i = 0; i < doubts->count; i++) {
        syi_doubt *last = kept ? &doubts->list[kept - 1] : NULL;
        syi_doubt here = doubts->list[i];
        if (last && last->row == here.row &&
            (here.first <= last->last || here.first / SYI_TILE == (last->last - 1) / SYI_TILE))
            last->last = here.last > last->last ? here.last : last->last;
        else
            doubts->list[kept++] = here;
    }
    return kept;
}

/* What the threads share. */
typedef struct decision {
    pthread_mutex_t lock;
    sy_status status;
    sy_error error;
} decision;

static patch whole_row(const syi_job *job, int64_t row)
{
    patch all = {.slab = {.row = row, .rows = 1, .columns = job->columns}};
    all.stage.view = syi_view_of_job(job, &all.slab);
    return all;
}

/* `patch` NULL: the host can address everything. */
static void decide_one(const syi_job *job, const patch *patch, const syi_doubt *doubt,
                       syi_seen *seen, decision *all)
{
    const struct patch own = whole_row(job, doubt->row);
    sy_status status = repair(job, patch ? patch : &own, NULL, doubt->first, doubt->last, seen);
    if (status == SY_OK)
        return;
    pthread_mutex_lock(&all->lock);
    if (all->status == SY_OK) {
        all->status = status;
        all->error = *sy_last_error();
    }
    pthread_mutex_unlock(&all->lock);
}

/* As many threads as there are take the doubts; the first failure is told. */
static sy_status decide_all(const syi_job *job, const patch *patch, const syi_doubt *list,
                            int64_t count)
{
    decision all = {.status = SY_OK};
    if (count == 0) /* as a rule; a team of threads is not for nothing */
        return SY_OK;
    pthread_mutex_init(&all.lock, NULL);
#pragma omp parallel if (count > 1)
    {
        syi_seen seen = {0};
        int64_t row = -1;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            if (list[i].row != row)
                seen = (syi_seen){0};
            row = list[i].row;
            decide_one(job, patch, &list[i], &seen, &all);
        }
    }
    pthread_mutex_destroy(&all.lock);
    if (all.status != SY_OK)
        syi_error_adopt(&all.error);
    return all.status;
}

/* How many doubts, from the first of the list on, are decided in one patch, and where that is. */
static int64_t take_patch(const syi_job *job, const syi_doubt *list, int64_t count, syi_slab *out)
{
    const int is_recurrence = job->workload->pattern == SY_PATTERN_RECURRENCE;
    const int64_t most = is_recurrence ? job->columns : FETCHED;
    int64_t taken = 1, halo = syi_job_halo(job);
    while (taken < count && list[taken].row == list[0].row &&
           list[taken].last - list[0].first <= most)
        taken++;
    *out = (syi_slab){.row = list[0].row,
                      .rows = 1,
                      .first = list[0].first,
                      .columns = list[taken - 1].last - list[0].first};
    out->left = is_recurrence ? out->first : smaller(halo, out->first);
    return taken;
}

static sy_status decide_patch(const syi_job *job, const syi_doubt *list, int64_t count,
                              patch *patch)
{
    sy_status status;
    SYI_TRY(syi_stage_open(job, &patch->slab, 1, &patch->stage));
    status = decide_all(job, patch, list, count);
    if (status == SY_OK)
        status = syi_stage_write(job, &patch->slab, &patch->stage);
    syi_stage_close(&patch->stage);
    return status;
}

static sy_status decide(const syi_job *job, syi_doubts *doubts, int64_t *repaired)
{
    int64_t taken;
    doubts->count = join_doubts(doubts);
    for (int64_t i = 0; i < doubts->count; i++)
        *repaired += doubts->list[i].last - doubts->list[i].first;
    if (syi_job_addressable(job))
        return decide_all(job, NULL, doubts->list, doubts->count);
    for (int64_t i = 0; i < doubts->count; i += taken) {
        patch here;
        taken = take_patch(job, &doubts->list[i], doubts->count - i, &here.slab);
        SYI_TRY(decide_patch(job, &doubts->list[i], taken, &here));
    }
    return SY_OK;
}

/* A row whose reduction is not certified. The outputs of the job are in the host's memory. */
static sy_status repair_row(const syi_job *job, int64_t row)
{
    void *at[SYI_MAX_ARRAYS];
    patch all = {.slab = {.row = row, .rows = 1, .columns = job->columns}};
    sy_status status;
    for (int k = 0; k < job->workload->n_outputs; k++)
        at[k] = syi_element_out(job->out[k], job->dtype, row);
    SYI_TRY(syi_stage_open(job, &all.slab, 0, &all.stage));
    status = repair(job, &all, at, 0, job->columns, &(syi_seen){0});
    syi_stage_close(&all.stage);
    return status;
}

static sy_status reduce_row(const syi_job *job, int64_t row, unsigned char *nodes, int64_t count,
                            int64_t *repaired)
{
    int doubt;
    SYI_TRY(syi_reduce_row(job, row, nodes, count, &doubt));
    if (doubt) {
        ++*repaired;
        SYI_TRY(repair_row(job, row));
    }
    syi_reduce_seeds_fixed(job, row);
    return SY_OK;
}

/* The rows' values go to the outputs themselves, or to a copy and from there to a device. */
static sy_status reduce_all(const syi_job *job, const syi_job *local, int64_t *repaired)
{
    const size_t size = job->workload->partial_size;
    unsigned char *nodes;
    int64_t count;
    SYI_TRY(syi_partials_nodes(job, &nodes, &count));
    for (int64_t row = 0; row < job->rows; row++)
        SYI_TRY(reduce_row(local, row, nodes + (size_t)(row * count) * size, count, repaired));
    for (int k = 0; k < job->workload->n_outputs; k++)
        if (local->out[k] != job->out[k])
            SYI_TRY(syi_output_write(job, k, 0, job->rows, local->out[k]));
    return SY_OK;
}

static sy_status reduce(const syi_job *job, int64_t *repaired)
{
    void *out[SYI_MAX_ARRAYS], *copy[SYI_MAX_ARRAYS] = {0};
    syi_job local = *job;
    sy_status status = SY_OK;
    local.out = out;
    for (int k = 0; k < job->workload->n_outputs; k++) {
        out[k] = job->out[k];
        if (syi_place_out(job, k).kind != SYI_ON_DEVICE)
            continue;
        out[k] = copy[k] = syi_alloc((size_t)job->rows, syi_element_size(job->dtype));
        if (!copy[k])
            status = syi_no_memory((uint64_t)job->rows * syi_element_size(job->dtype));
    }
    if (status == SY_OK)
        status = reduce_all(job, &local, repaired);
    for (int k = 0; k < job->workload->n_outputs; k++)
        syi_free(copy[k]);
    return status;
}

static sy_status merge_all(const syi_job *job, syi_outcome *all, int64_t *repaired)
{
    if (job->workload->pattern == SY_PATTERN_REDUCE)
        return reduce(job, repaired);
    if (job->workload->pattern == SY_PATTERN_RECURRENCE)
        SYI_TRY(chain(job, all));
    return decide(job, &all->doubts, repaired);
}

sy_status syi_merge(const syi_job *job, syi_tally *tallies, int count, int64_t *repaired)
{
    syi_outcome all = {0};
    sy_status status = SY_OK;
    syi_arithmetic saved = syi_arithmetic_enter();
    *repaired = 0;
    for (int i = 0; i < count && status == SY_OK; i++) {
        syi_outcome found = {.doubts = tallies[i].total.doubts,
                             .links = tallies[i].total.links,
                             .n_links = tallies[i].total.n_links,
                             .links_capacity = tallies[i].total.links_capacity};
        tallies[i].total.doubts = (syi_doubts){0};
        tallies[i].total.links = NULL;
        tallies[i].total.n_links = tallies[i].total.links_capacity = 0;
        status = syi_outcome_merge(&all, &found);
    }
    if (status == SY_OK)
        status = merge_all(job, &all, repaired);
    syi_arithmetic_leave(saved);
    syi_outcome_clear(&all);
    return status;
}
