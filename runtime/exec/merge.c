/* What remains after the devices: states across cuts, partial sums, roundings in doubt. */
#include "exec/reduce.h"
#include "exec/run.h"

#include "base/arithmetic.h"
#include "base/mem.h"

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
        SYI_TRY(syi_host_run_stretch(job, here->row, here->first, here->columns, &before->end,
                                     syi_isa_detect(), &here->end, &all->doubts));
    }
    return SY_OK;
}

/* What the decision of columns [first, last) reads of a row: of a window just the windows, as if
 * the row began there. */
static int64_t begin_of_need(const syi_job *job, int64_t first)
{
    int64_t halo = syi_job_halo(job);
    return job->workload->pattern == SY_PATTERN_WINDOW && first > halo ? first - halo : 0;
}

/* The same for floats: the row is widened as far as it is needed. */
static sy_status repair_floats(const syi_job *job, int64_t row, int64_t first, int64_t last)
{
    const syi_workload *workload = job->workload;
    const bool reduces = workload->pattern == SY_PATTERN_REDUCE;
    const int64_t begin = begin_of_need(job, first), count = last - begin;
    const int64_t made = reduces ? 1 : count, skipped = reduces ? 0 : first - begin;
    const int64_t at = reduces ? row : row * job->columns + first;
    const size_t size = (size_t)(workload->n_inputs * count + workload->n_outputs * made);
    double *room = syi_alloc(size, sizeof *room), *next = room, *out[SYI_MAX_ARRAYS];
    const double *in[SYI_MAX_ARRAYS];
    sy_segment segment = {in, out, 0, count, 0, row, count, job->params};
    sy_status status;
    if (!room)
        return syi_no_memory((uint64_t)size * sizeof *room);
    for (int k = 0; k < workload->n_inputs; k++, next += count) {
        const void *from = syi_element_in(job->in[k], SY_F32, row * job->columns + begin);
        syi_elements_load(next, from, SY_F32, count);
        in[k] = next;
    }
    for (int k = 0; k < workload->n_outputs; k++, next += made)
        out[k] = next;
    status = workload->repair(&segment, first - begin, last - begin);
    for (int k = 0; status == SY_OK && k < workload->n_outputs; k++)
        syi_elements_store(syi_element_out(job->out[k], SY_F32, at), out[k] + skipped, SY_F32,
                           made - skipped);
    syi_free(room);
    return status;
}

static sy_segment whole_row(const syi_job *job, int64_t row, const double **in, double **out)
{
    int64_t out_stride = job->workload->pattern == SY_PATTERN_REDUCE ? 1 : job->columns;
    for (int k = 0; k < job->workload->n_inputs; k++)
        in[k] = (const double *)job->in[k] + row * job->columns;
    for (int k = 0; k < job->workload->n_outputs; k++)
        out[k] = (double *)job->out[k] + row * out_stride;
    return (sy_segment){in, out, 0, job->columns, 0, row, job->columns, job->params};
}

static sy_status repair(const syi_job *job, int64_t row, int64_t first, int64_t last)
{
    const double *in[SYI_MAX_ARRAYS];
    double *out[SYI_MAX_ARRAYS];
    fenv_t saved = syi_arithmetic_enter();
    sy_status status;
    if (job->dtype == SY_F32) {
        status = repair_floats(job, row, first, last);
    } else {
        sy_segment segment = whole_row(job, row, in, out);
        status = job->workload->repair(&segment, first, last);
    }
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

/* The doubts are decided by as many threads as there are; the first failure is told. */
typedef struct decision {
    pthread_mutex_t lock;
    sy_status status;
    sy_error error;
} decision;

static void decide_one(const syi_job *job, const syi_doubt *doubt, decision *all)
{
    sy_status status = repair(job, doubt->row, doubt->first, doubt->last);
    if (status == SY_OK)
        return;
    pthread_mutex_lock(&all->lock);
    if (all->status == SY_OK) {
        all->status = status;
        all->error = *sy_last_error();
    }
    pthread_mutex_unlock(&all->lock);
}

static sy_status decide(const syi_job *job, syi_doubts *doubts, int64_t *repaired)
{
    decision all = {.status = SY_OK};
    doubts->count = join_doubts(doubts);
    for (int64_t i = 0; i < doubts->count; i++)
        *repaired += doubts->list[i].last - doubts->list[i].first;
    pthread_mutex_init(&all.lock, NULL);
#pragma omp parallel for schedule(dynamic) if (doubts->count > 1)
    for (int64_t i = 0; i < doubts->count; i++)
        decide_one(job, &doubts->list[i], &all);
    pthread_mutex_destroy(&all.lock);
    if (all.status != SY_OK)
        syi_error_adopt(&all.error);
    return all.status;
}

/* A row whose reduction is not certified. */
static sy_status reduce_row(const syi_job *job, int64_t row, int64_t *repaired)
{
    int doubt;
    SYI_TRY(syi_reduce_row(job, row, &doubt));
    if (doubt) {
        ++*repaired;
        SYI_TRY(repair(job, row, 0, job->columns));
    }
    syi_reduce_seeds_fixed(job, row);
    return SY_OK;
}

static sy_status merge_all(const syi_job *job, syi_outcome *all, int64_t *repaired)
{
    if (job->workload->pattern == SY_PATTERN_REDUCE) {
        for (int64_t row = 0; row < job->rows; row++)
            SYI_TRY(reduce_row(job, row, repaired));
        return SY_OK;
    }
    if (job->workload->pattern == SY_PATTERN_RECURRENCE)
        SYI_TRY(chain(job, all));
    return decide(job, &all->doubts, repaired);
}

sy_status syi_merge(const syi_job *job, syi_tally *tallies, int count, int64_t *repaired)
{
    syi_outcome all = {0};
    sy_status status = SY_OK;
    fenv_t saved = syi_arithmetic_enter();
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
