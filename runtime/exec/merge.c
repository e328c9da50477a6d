/* What remains after the devices: states across cuts and partial sums; roundings in doubt are
 * repair.c's. */
#include "exec/reduce.h"
#include "exec/repair.h"
#include "exec/run.h"
#include "exec/share.h"

#include "base/arithmetic.h"
#include "base/mem.h"
#include "device/cut.h"
#include "device/partials.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int by_position(const void *left, const void *right)
{
    const syi_link *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A column's results, as they lie in memory. */
typedef struct results {
    unsigned char of[SYI_MAX_ARRAYS][sizeof(double)];
} results;

static results results_at(const syi_job *job, const syi_view *view, int64_t column)
{
    results now = {{{0}}};
    const size_t bytes = job->dtype == SY_F32 ? sizeof(float) : sizeof(double);
    for (int k = 0; k < job->workload->n_outputs; k++)
        memcpy(now.of[k], syi_element_out(view->out[k], job->dtype, column), bytes);
    return now;
}

/* Columns of a fast recurrence that are computed again at once. */
enum { AGAIN = 64 * SYI_TILE };

static int64_t columns_again(const syi_job *job, const syi_link *link, int stops)
{
    const int64_t unit = syi_job_unit_columns(job), most = (AGAIN + unit - 1) / unit * unit;
    const int64_t part = smaller(syi_part_columns(job, 1, 0), stops ? most : link->columns);
    return syi_job_addressable(job) ? part : smaller(part, SYI_FETCHED);
}

/* Computes a link's columns again from the true state before them. In fast accuracy a column owes
 * nothing to those far before it but a value that it holds, or that it is lost: where a result is
 * what it was, so are all behind it. */
static sy_status run_again(const syi_job *job, const syi_carry *start, syi_link *link,
                           syi_doubts *doubts)
{
    const int stops = syi_job_addressable(job) && !syi_job_is_chain(job) && !job->workload->user;
    const int64_t most = columns_again(job, link, stops);
    const syi_carry end = link->end;
    syi_carry state = *start;
    for (int64_t done = 0; done < link->columns; done += most) {
        syi_slab slab = {.row = link->row,
                         .rows = 1,
                         .first = link->first + done,
                         .columns = smaller(most, link->columns - done)};
        syi_stage stage;
        sy_status status;
        results before = {{{0}}}, now = before;
        slab.left = smaller(syi_job_left(job, slab.first, 1), slab.first);
        SYI_TRY(syi_gate_pass(job->gate, 0));
        SYI_TRY(syi_stage_open(job, &slab, 0, &stage));
        if (stops)
            before = results_at(job, &stage.view, slab.columns - 1);
        status = syi_host_run_stretch(job, &slab, &stage.view, &state, syi_isa_detect(), &link->end,
                                      doubts);
        if (stops)
            now = results_at(job, &stage.view, slab.columns - 1);
        if (status == SY_OK)
            status = syi_stage_write(job, &slab, &stage);
        syi_stage_close(&stage);
        SYI_TRY(status);
        state = link->end;
        if (stops && !memcmp(&before, &now, sizeof now)) {
            link->end = done + most < link->columns ? end : state;
            return SY_OK;
        }
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

static int is_before(const syi_doubt *doubt, const syi_link *link)
{
    return doubt->row != link->row ? doubt->row < link->row : doubt->first < link->first;
}

/* Takes the doubts in the first `halo` columns of a link, and those no farther behind them, from a
 * sorted list, from *at on, which becomes the first of the others; gives the column behind them. */
static int64_t take_doubts(syi_doubts *doubts, const syi_link *link, int64_t halo, int64_t *at)
{
    const int64_t last = link->first + link->columns;
    int64_t end = link->first;
    while (*at < doubts->count && is_before(&doubts->list[*at], link))
        ++*at;
    for (; *at < doubts->count; ++*at) {
        syi_doubt *next = &doubts->list[*at];
        if (next->row != link->row || next->first >= smaller(end + halo, last))
            break;
        end = next->last > end ? next->last : end;
        next->last = next->first;
    }
    return end;
}

/* As `sharpen`; what is taken from the doubts is left empty, what is in doubt then goes to `left`.
 */
static sy_status begin_again(const syi_job *job, syi_outcome *all, syi_doubts *left)
{
    const int64_t halo = syi_job_halo(job);
    int64_t at = 0;
    syi_doubts_sort(&all->doubts);
    for (int64_t i = 1; i < all->n_links && at < all->doubts.count; i++) {
        const syi_link *before = &all->links[i - 1], *here = &all->links[i];
        syi_link again = {.row = here->row, .first = here->first};
        if (here->row != before->row)
            continue;
        again.columns = take_doubts(&all->doubts, here, halo, &at) - here->first;
        SYI_TRY(run_again(job, &before->end, &again, left));
    }
    return SY_OK;
}

/* What a piece takes for the state before it has a bound of its own, which may be large beside what
 * is left of the true one where nothing moves. So what is in doubt soon after its beginning is
 * computed again from its left neighbour's end, with all before it: little is in doubt then. */
static sy_status sharpen(const syi_job *job, syi_outcome *all)
{
    syi_doubts *doubts = &all->doubts, left = {0};
    sy_status status = begin_again(job, all, &left);
    int64_t kept = 0;
    for (int64_t i = 0; i < doubts->count; i++)
        if (doubts->list[i].first < doubts->list[i].last)
            doubts->list[kept++] = doubts->list[i];
    doubts->count = kept;
    if (status == SY_OK)
        status = syi_doubts_join(doubts, &left);
    syi_doubts_clear(&left);
    return status;
}

/* What threads share: the rows' nodes, `count` of each. */
typedef struct reduction {
    const syi_job *job;
    unsigned char *nodes;
    int64_t count;
    _Atomic int64_t repaired;
} reduction;

static sy_status reduce_row(void *argument, int64_t row)
{
    reduction *all = argument;
    const size_t size = (size_t)all->count * all->job->workload->partial_size;
    int doubt;
    SYI_TRY(syi_reduce_row(all->job, row, all->nodes + (size_t)row * size, all->count, &doubt));
    if (doubt) {
        atomic_fetch_add(&all->repaired, 1);
        SYI_TRY(syi_gate_pass(all->job->gate, 0));
        SYI_TRY(syi_repair_reduction(all->job, row));
    }
    syi_reduce_seeds_fixed(all->job, row);
    return SY_OK;
}

/* The rows' values go to the outputs themselves, or to a copy and from there to a device. The
 * user's functions are called by one thread, and so is a device for what is in doubt. */
static sy_status reduce_all(const syi_job *job, const syi_job *local, int64_t *repaired)
{
    enum { AT_ONCE = 64 };
    const int is_shared = !job->workload->user && syi_job_addressable(job);
    const int64_t at_once = is_shared ? AT_ONCE : job->rows;
    reduction all = {.job = local};
    SYI_TRY(syi_partials_nodes(job, &all.nodes, &all.count));
    SYI_TRY(syi_share(job, job->rows, at_once, 4 * at_once, reduce_row, &all));
    *repaired += all.repaired;
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
    if (job->workload->pattern == SY_PATTERN_RECURRENCE) {
        SYI_TRY(chain(job, all));
        SYI_TRY(sharpen(job, all));
    }
    return syi_repair_doubts(job, &all->doubts, repaired);
}

sy_status syi_merge(const syi_job *job, syi_tally *tallies, int count, int64_t *repaired)
{
    syi_outcome all = {0};
    sy_status status = SY_OK;
    syi_arithmetic_renew(); /* whatever the caller's functions have left */
    *repaired = 0;
    for (int i = 0; i < count && status == SY_OK; i++) {
        if (!tallies[i].total.links && !tallies[i].total.doubts.list)
            continue;
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
    syi_outcome_clear(&all);
    return status;
}
